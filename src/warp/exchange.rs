//! Exchange of elements between the lanes that share a row of a tile, before D is stored one
//! element at a time.
//!
//! A lane holds runs of neighboring elements, because it loads them as vectors (blocked order). In
//! blocked order, single-element stores of neighboring lanes are one run apart, so every store
//! touches each sector of the row. The exchange takes as many rounds as a run has elements.
//! Afterwards, neighboring lanes hold neighboring elements (striped order). In each round, a lane
//! publishes one element, and every lane that reads from it in that round reads this element:
//!
//! ```text
//! in round t lane l takes  column ((t + l) mod run) * lanes + l   of the row's lanes * run columns
//! from lane                ((t + l) mod run) * (lanes / run) + l / run
//! ```
//!
//! Twin: `kernels/warp/exchange.cuh`. Source: CUB, `WarpExchange`, which coined the terms blocked
//! and striped.

use crate::{
    layout::index_map::{Coord, IndexMap},
    nest::{GemmDesc, OutputDesc},
    numeric::ElementKind,
    shape::{Axis, at_least_one},
    thread::mma::packed,
    warp::ThreadTiles,
};

/// Map from (lane, round) to the column of the element that the lane receives, in a row of `lanes *
/// run` columns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BlockedToStriped {
    /// Neighboring elements per lane before the exchange.
    pub run: u32,
    /// Lanes that share the row.
    pub lanes: u32,
}

impl BlockedToStriped {
    /// Returns the exchange of a kernel. `None` if the kernel adds the elements of rows: a kernel
    /// with another alignment has another exchange, but must add in the same order.
    pub(crate) fn for_kernel(desc: &GemmDesc, tiles: &ThreadTiles) -> Option<Self> {
        if desc.epilogue.sum_along(Axis::N).is_some() {
            return None;
        }
        let OutputDesc { access, accumulator, .. } = desc.output;
        Self::new(tiles, accumulator, tiles.store_access(access))
    }

    /// Returns the exchange for tiles whose D is stored `store_access` elements at a time. Returns
    /// `None` unless stores are single elements, a lane has neighboring elements, and enough lanes
    /// share a row. Also `None` if a register holds two accumulators, and on tensor cores, where a
    /// lane's two elements are next to the next lane's.
    pub const fn new(
        tiles: &ThreadTiles,
        accumulator: ElementKind,
        store_access: u32,
    ) -> Option<Self> {
        let (run, lanes) = (tiles.interleave[1], tiles.lanes.n);
        let alone =
            store_access == 1 && packed(accumulator, tiles.thread()) == 1 && !tiles.lanes.quads;
        if alone && run > 1 && lanes.is_multiple_of(run) { Some(Self { run, lanes }) } else { None }
    }

    /// Returns the C++ name of the exchange.
    pub fn twin(&self) -> String {
        format!("warp::BlockedToStriped<{}, {}>", self.run, self.lanes)
    }

    /// Returns the lane from which `lane` receives an element in `round`.
    pub const fn source(&self, lane: u32, round: u32) -> u32 {
        (round + lane) % self.run * (self.lanes / at_least_one(self.run)) + lane / self.run
    }

    /// Returns the element of its run that a lane publishes in a round.
    pub const fn published(&self, lane: u32, round: u32) -> u32 {
        (lane / at_least_one(self.lanes / at_least_one(self.run)) + self.run - round) % self.run
    }
}

impl IndexMap for BlockedToStriped {
    fn domain(&self) -> Coord {
        Coord { row: self.lanes, column: self.run }
    }

    fn codomain(&self) -> u32 {
        self.lanes * self.run
    }

    fn at(&self, point: Coord) -> Option<u32> {
        let from = self.source(point.row, point.column);
        Some(from * self.run + self.published(from, point.column))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After all rounds, a lane holds every `lanes`-th column starting at its own, each once. In
    /// each round, all lanes that read from a lane need the element that it publishes.
    #[test]
    fn blocks_become_stripes() {
        for run in [1, 2, 4, 8, 16] {
            for lanes in
                [1, 2, 4, 8, 16, 32].into_iter().filter(|lanes: &u32| lanes.is_multiple_of(run))
            {
                let map = BlockedToStriped { run, lanes };
                for lane in 0..lanes {
                    let mut taken: Vec<_> = (0..run)
                        .map(|round| map.at(Coord { row: lane, column: round }).unwrap())
                        .collect();
                    taken.sort_unstable();
                    assert_eq!(
                        taken,
                        (0..run).map(|stripe| stripe * lanes + lane).collect::<Vec<_>>(),
                        "{map:?} {lane}"
                    );
                    for round in 0..run {
                        let stripe = (round + lane) % run;
                        let wanted = stripe * lanes + lane;
                        assert_eq!(
                            (wanted / run, wanted % run),
                            (
                                map.source(lane, round),
                                map.published(map.source(lane, round), round)
                            )
                        );
                    }
                }
            }
        }
    }

    /// The exchange exists only if D is stored one element at a time, a lane has neighbors, and a
    /// stripe is a whole number of runs.
    #[test]
    fn lanes_that_have_no_neighbors_exchange_nothing() {
        use crate::{shape::Mnk, warp::LaneArrangement};
        let tiles = |run, n, quads| ThreadTiles {
            block: Mnk { m: 64, n: 64, k: 8 },
            warp: Mnk { m: 32, n: 64, k: 8 },
            lanes: LaneArrangement { m: 32 / n, n, quads },
            interleave: [4, run],
        };
        let exchanges = |run, n, access| {
            BlockedToStriped::new(&tiles(run, n, false), ElementKind::F32, access).is_some()
        };
        assert_eq!([exchanges(4, 8, 1), exchanges(2, 8, 1)], [true; 2]);
        assert_eq!([exchanges(1, 8, 1), exchanges(4, 2, 1), exchanges(4, 8, 2)], [false; 3]);
        assert_eq!(BlockedToStriped::new(&tiles(4, 8, false), ElementKind::F16, 1), None);
        assert_eq!(BlockedToStriped::new(&tiles(2, 4, true), ElementKind::F32, 1), None);
    }
}
