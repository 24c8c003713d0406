//! Blocks of K that the k-tiles of a decomposed GEMM read.

use super::EmulationKind;
use crate::shape::{Frame, OperandKind};

/// Map from (operand, k-tile) to the block of the operand's row from which the tile is copied.
///
/// A row of a decomposed operand is the concatenation of its terms. Each term has `blocks` blocks,
/// and a block has the depth of a k-tile. All products of terms of one block are consecutive
/// k-tiles. Tile `t` therefore multiplies terms of block `t / products` of K:
///
/// ```text
/// block = term(operand, t mod products) * blocks + t / products
/// ```
///
/// Here, `products` is the number of products of terms. Without emulation, the block is `t`.
///
/// Twin: `numeric::EmulationBlocks` of `kernels/numeric/emulation.cuh`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EmulationBlocks {
    /// Emulation of f32.
    pub emulation: EmulationKind,
    /// Frame of the kernel. Products follow the user's order of A and B, so the bits do not depend
    /// on the layouts.
    pub frame: Frame,
    /// Blocks per term.
    pub blocks: u32,
}

impl EmulationBlocks {
    /// Returns the map for rows of `length` elements, in which each term is padded to whole tiles
    /// of `depth`. Without emulation, the blocks are the tiles of the row.
    pub const fn new(
        (emulation, frame): (EmulationKind, Frame),
        length: usize,
        depth: u32,
    ) -> Self {
        let blocks = length.div_ceil(depth as usize) as u32;
        Self { emulation, frame, blocks: blocks / emulation.terms() }
    }

    /// Returns the number of k-tiles.
    pub const fn tiles(&self) -> u32 {
        self.blocks.saturating_mul(self.emulation.products().len() as u32)
    }

    /// Returns the block of an operand that a tile reads. Tiles beyond the last read a block beyond
    /// the last.
    pub const fn block(&self, operand: OperandKind, tile: u32) -> u32 {
        let products = self.emulation.products();
        let count = products.len() as u32;
        products[(tile % count) as usize][operand.leave(self.frame).index()] * self.blocks
            + tile / count
    }
}
