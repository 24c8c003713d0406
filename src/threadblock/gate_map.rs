//! Columns of B in a tile whose epilogue has a gate.
//!
//! A kernel multiplies 2N columns of B for N columns of D. In the tile of a warp or of a consumer,
//! the columns of the gate come first, followed by as many columns that the gate multiplies. A
//! thread therefore holds both accumulators of each of its elements of D, and stores D as a kernel
//! with tiles of half as many columns does.
//!
//! ```text
//! column of B's tile     w * warp + g * warp / 2 + r       g = 0: gate, g = 1: up; r < warp / 2
//! column of D's tile     w * warp / 2 + r
//! ```
//!
//! Twin: `kernels/threadblock/gate_map.cuh`.

use crate::layout::{
    algebra::Composed,
    index_map::{Coord, IndexMap, affine},
};

/// Map from a column of B's tile to the column of D's tile, plus the columns of D's tile for the
/// second matrix of B.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GateMap {
    /// Columns of B in the tile of a warp or of a consumer.
    pub warp: u32,
    /// Columns of B in the tile of a CTA.
    pub tile: u32,
}

impl GateMap {
    /// Returns the matrix of a column of B, 0 for the gate, and the column of D's tile.
    pub const fn column(&self, column: u32) -> (u32, u32) {
        let half = self.warp / 2;
        (column / half % 2, column / self.warp * half + column % half)
    }
}

impl IndexMap for GateMap {
    fn domain(&self) -> Coord {
        Coord { row: 1, column: self.tile }
    }

    fn codomain(&self) -> u32 {
        self.tile
    }

    fn at(&self, point: Coord) -> Option<u32> {
        let (matrix, column) = self.column(point.column);
        Some(matrix * (self.tile / 2) + column)
    }

    fn layout(&self) -> Option<Composed> {
        let half = self.warp / 2;
        let columns = [(half, 1), (2, self.tile / 2), (self.tile / self.warp, half)];
        affine(self.domain(), &[(1, 0)], &columns)
    }
}

#[cfg(test)]
mod tests {
    use super::GateMap;
    use crate::layout::index_map::laws;

    /// Each column of both matrices is one column of the tile, at the place of the layout.
    #[test]
    fn columns_of_both_matrices_fill_the_tile() {
        for (warp, tile) in [(16, 16), (32, 128), (64, 128), (256, 256), (48, 144)] {
            let map = GateMap { warp, tile };
            assert_eq!(laws::bijective(&map), Ok(()), "{map:?}");
        }
        assert_eq!(GateMap { warp: 8, tile: 16 }.column(13), (1, 5));
    }
}
