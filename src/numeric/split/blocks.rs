//! Which block of K a tile of a split product reads.

use super::SplitKind;
use crate::operand::{Frame, OperandKind};

/// The map (operand, tile along K) to the block of that operand's row from which the tile is copied.
///
/// An operand's row is its parts, side by side, each of so many blocks of a tile's depth. The products of one block follow each other:
/// tile `t` is product `t mod products` of block `t / products`, and so
///
/// ```text
/// block = part(operand, t mod products) * blocks + t / products
/// ```
///
/// Without a split it is `t`.
///
/// Twin: `numeric::SplitBlocks` of `kernels/numeric/split.cuh`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SplitBlocks {
    /// How factors are split.
    pub split: SplitKind,
    /// Whose A and B a kernel has: products are made in the user's order, so that bits depend on no layout.
    pub frame: Frame,
    /// Blocks of one part.
    pub blocks: u32,
}

impl SplitBlocks {
    /// The blocks of rows of `length` elements, all parts of which are padded to whole tiles of `depth`; without a split, the tiles that
    /// they take.
    pub const fn of((split, frame): (SplitKind, Frame), length: usize, depth: u32) -> Self {
        let blocks = length.div_ceil(depth as usize) as u32;
        Self { split, frame, blocks: blocks / split.parts() }
    }

    /// Tiles along K.
    pub const fn tiles(&self) -> u32 {
        self.blocks.saturating_mul(self.split.products().len() as u32)
    }

    /// The block of an operand that a tile reads; of tiles beyond the last one, a block beyond the last.
    pub const fn block(&self, operand: OperandKind, tile: u32) -> u32 {
        let products = self.split.products();
        let count = products.len() as u32;
        products[(tile % count) as usize][operand.framed(self.frame).index()] * self.blocks + tile / count
    }
}
