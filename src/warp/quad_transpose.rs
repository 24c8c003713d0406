//! Exchange of elements between the four lanes that share a row of a warpgroup's accumulators,
//! before a matrix is stored beside D.
//!
//! A lane has two columns of each octet of columns. Stores of such pairs fill half of a 32-byte
//! sector per row if elements have 16 bits. The exchange transposes the pairs of some octets within
//! the quad, so that each lane has neighbors in one octet, and one store takes up to 16 bytes:
//!
//! ```text
//! before   lane l has columns  8 o + 2 l + i,                                i < 2,  o < octets
//! after    lane l has columns  8 (l mod octets) + 2 octets (l / octets) + i, i < 2 octets
//! ```
//!
//! Twin: `kernels/warp/quad_transpose.cuh`.

use crate::{
    layout::{
        algebra::Composed,
        index_map::{Coord, IndexMap, affine, at},
    },
    numeric::ElementKind,
};

/// Lanes of a quad.
const LANES: u32 = 4;

/// Columns of an octet.
const OCTET: u32 = 8;

/// Most bytes per store.
const MOST_BYTES: u32 = 16;

/// Map from (lane of the quad, element) to the column of the element that the lane holds after the
/// exchange.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QuadTranspose {
    /// Octets of columns: 1, 2, or 4.
    pub octets: u32,
}

impl QuadTranspose {
    /// Returns the exchange for the stores of a subtile with `columns` columns: as many octets as a
    /// store of 16 bytes and the subtile allow. An exchange of one octet moves nothing.
    pub const fn new(element: ElementKind, columns: u32) -> Self {
        let mut octets = LANES;
        while octets > 1
            && (element.bytes_of(2 * octets) > MOST_BYTES
                || !columns.is_multiple_of(octets * OCTET))
        {
            octets /= 2;
        }
        Self { octets }
    }

    /// Returns the C++ name of the exchange for a subtile with `columns` columns.
    pub fn twin(element: ElementKind, columns: u32) -> String {
        // A lane has two rows, and a quarter of the columns.
        format!("epilogue::QuadStores<{}, 2, {}>::Exchange", element.cuda(), columns / LANES)
    }

    /// Returns the neighbors that a lane has after the exchange.
    pub const fn run(self) -> u32 {
        2 * self.octets
    }
}

impl IndexMap for QuadTranspose {
    fn domain(&self) -> Coord {
        at(LANES, self.run())
    }

    fn codomain(&self) -> u32 {
        LANES * self.run()
    }

    /// Follows the steps of the exchange backward. In the step of a bit, lanes that differ in the
    /// bit swap the pairs whose numbers have the bit of the other lane.
    fn at(&self, Coord { row, column }: Coord) -> Option<u32> {
        let (mut lane, mut pair) = (row, column / 2);
        let mut bit = self.octets / 2;
        while bit > 0 {
            let swapped = (lane ^ pair) & bit;
            (lane, pair) = (lane ^ swapped, pair ^ swapped);
            bit /= 2;
        }
        Some(pair * OCTET + lane * 2 + column % 2)
    }

    fn layout(&self) -> Option<Composed> {
        let run = self.run();
        let lanes = [(self.octets, OCTET), (LANES / self.octets, run)];
        affine(self.domain(), &lanes, &[(run, 1)])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::index_map::laws;

    const ALL: [QuadTranspose; 3] =
        [QuadTranspose { octets: 1 }, QuadTranspose { octets: 2 }, QuadTranspose { octets: 4 }];

    /// Exchanges the columns of a quad as the kernel does: `pairs[lane][pair]` is the first column
    /// of a pair.
    fn exchange(pairs: &mut [Vec<u32>]) {
        let octets = pairs[0].len();
        let mut bit = 1;
        while bit < octets {
            let before = pairs.to_vec();
            for (lane, kept) in pairs.iter_mut().enumerate() {
                for pair in (0..octets).filter(|pair| pair & bit == 0) {
                    let upper = lane & bit != 0;
                    let sent = &before[lane ^ bit];
                    if upper {
                        kept[pair] = sent[pair + bit];
                    } else {
                        kept[pair + bit] = sent[pair];
                    }
                }
            }
            bit *= 2;
        }
    }

    #[test]
    fn lanes_hold_neighbors_after_the_exchange() {
        for map in ALL {
            assert_eq!(laws::bijective(&map), Ok(()));
            let mut pairs: Vec<Vec<u32>> = (0..LANES)
                .map(|lane| (0..map.octets).map(|octet| octet * OCTET + lane * 2).collect())
                .collect();
            exchange(&mut pairs);
            for (lane, held) in (0..).zip(&pairs) {
                let first = lane % map.octets * OCTET + lane / map.octets * map.run();
                for element in 0..map.run() {
                    let column = held[element as usize / 2] + element % 2;
                    assert_eq!(column, first + element, "{map:?}, lane {lane}");
                    assert_eq!(map.at(at(lane, element)), Some(column), "{map:?}, lane {lane}");
                }
            }
        }
    }

    #[test]
    fn stores_have_at_most_16_bytes_of_a_subtile() {
        use ElementKind::{Bf16, E4m3, F32, F64};
        let octets = |element, columns| QuadTranspose::new(element, columns).octets;
        assert_eq!([64, 32, 16, 8].map(|columns| octets(Bf16, columns)), [4, 4, 2, 1]);
        assert_eq!([32, 16, 8].map(|columns| octets(F32, columns)), [2, 2, 1]);
        assert_eq!([128, 32, 16, 8].map(|columns| octets(E4m3, columns)), [4, 4, 2, 1]);
        assert_eq!([32, 16].map(|columns| octets(F64, columns)), [1, 1]);
    }
}
