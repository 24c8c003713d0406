//! Which block of K a tile of a decomposed product reads.

use super::EmulationKind;
use crate::operand::{Frame, OperandKind};

/// The map (operand, k-tile) to the block of that operand's row from which the tile is copied.
///
/// An operand's row is its parts, side by side, each of so many blocks of a tile's depth. The
/// products of one block follow each other: tile `t` is product `t mod products` of block `t /
/// products`, and so
///
/// ```text
/// block = part(operand, t mod products) * blocks + t / products
/// ```
///
/// Without emulation it is `t`.
///
/// Twin: `numeric::EmulationBlocks` of `kernels/numeric/emulation.cuh`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EmulationBlocks {
    /// How f32 is emulated.
    pub emulation: EmulationKind,
    /// Whose A and B a kernel has: products are made in the user's order, so that bits depend on no
    /// layout.
    pub frame: Frame,
    /// Blocks of one part.
    pub blocks: u32,
}

impl EmulationBlocks {
    /// The blocks of rows of `length` elements, all parts of which are padded to whole tiles of
    /// `depth`; without emulation, the tiles that they take.
    pub const fn of((emulation, frame): (EmulationKind, Frame), length: usize, depth: u32) -> Self {
        let blocks = length.div_ceil(depth as usize) as u32;
        Self { emulation, frame, blocks: blocks / emulation.parts() }
    }

    /// K-tiles.
    pub const fn tiles(&self) -> u32 {
        self.blocks.saturating_mul(self.emulation.products().len() as u32)
    }

    /// The block of an operand that a tile reads; of tiles beyond the last one, a block beyond the
    /// last.
    pub const fn block(&self, operand: OperandKind, tile: u32) -> u32 {
        let products = self.emulation.products();
        let count = products.len() as u32;
        products[(tile % count) as usize][operand.leave(self.frame).index()] * self.blocks
            + tile / count
    }
}
