//! Which elements of an operand make up a tile, and which of them exist.
//!
//! The tile at block `origin` and step `t` along K covers rows `origin .. origin + tile_mn` and
//! columns `t * tile_k ..` of the operand seen as an MN x K matrix. Elements beyond either extent
//! read as zero, so a product over them changes nothing but the sign of a zero, alike everywhere.
//!
//! Twin: `kernels/threadblock/tile_iterator.cuh`.

/// The walk of one block over one operand, along K.
#[derive(Clone, Copy, Debug)]
pub struct TileIterator {
    /// First row of the tile: an M or N of the problem.
    pub origin: u64,
    /// Rows of the operand.
    pub extent_mn: u64,
    /// Columns of the operand.
    pub extent_k: u64,
    /// Depth of a tile.
    pub tile_k: u32,
}

impl TileIterator {
    /// The element (`mn`, `k`) of tile `tile`, as (row, column) of the operand; `None` where there
    /// is none.
    pub const fn element(&self, tile: u32, mn: u32, k: u32) -> Option<(u64, u64)> {
        let row = self.origin + mn as u64;
        let column = tile as u64 * self.tile_k as u64 + k as u64;
        if row < self.extent_mn && column < self.extent_k { Some((row, column)) } else { None }
    }
}
