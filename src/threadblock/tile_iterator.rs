//! Elements of an operand in each tile, and the bounds of the operand.
//!
//! The operand is viewed as an MN x K matrix. The tile at `origin` and step `t` along K covers rows
//! `origin ..` and columns `t * tile_k ..`. Elements beyond either extent are read as zeros. Their
//! products change no sum except for the sign of a zero, and every executor does the same.
//!
//! Twin: `kernels/threadblock/tile_iterator.cuh`.

/// Walk of one block over one operand, along K.
#[derive(Clone, Copy, Debug)]
pub struct TileIterator {
    /// First row of the tile: an index along M or N of the problem.
    pub origin: u64,
    /// Number of rows of the operand.
    pub extent_mn: u64,
    /// Number of columns of the operand.
    pub extent_k: u64,
    /// K extent of a tile.
    pub tile_k: u32,
}

impl TileIterator {
    /// Returns the (row, column) in the operand of element (`mn`, `k`) of tile `tile`, or `None`
    /// beyond the operand.
    pub const fn element(&self, tile: u32, mn: u32, k: u32) -> Option<(u64, u64)> {
        let row = self.origin + mn as u64;
        let column = tile as u64 * self.tile_k as u64 + k as u64;
        if row < self.extent_mn && column < self.extent_k { Some((row, column)) } else { None }
    }
}
