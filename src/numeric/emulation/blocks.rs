//! Blocks of K that the k-tiles of a decomposed GEMM read.

use super::EmulationKind;
use crate::operand::{Frame, OperandKind};

/// Map from (operand, k-tile) to the block of the operand's row from which the tile is copied.
///
/// A row of a decomposed operand is the concatenation of its terms, `blocks` blocks per term; a
/// block is as deep as a tile. All products of one block are consecutive k-tiles: tile `t` is
/// product `t mod products` of block `t / products`, and
/// products`, and so
///
/// ```text
/// block = term(operand, t mod products) * blocks + t / products
/// ```
///
/// Without emulation, the block is `t`.
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
