//! The byte offsets at which products read a stage.

use crate::program::WarpSpecializedProgram;
use falchion::{
    internals::{schedule::Fault, shape::OperandKind},
    threadblock::StageTile,
    warp::TiledMma,
};

/// Byte offsets into an operand's part of a stage, by (instruction tile, row or column of it, k).
pub(crate) struct Reading {
    pub(super) extent: u32,
    pub(super) depth: u32,
    pub(super) bytes: Vec<u32>,
}

impl Reading {
    /// Evaluates the descriptors of an operand, or the loads of A into registers. Without `wgmma`,
    /// threads read by other maps, and the result is empty.
    ///
    /// # Errors
    /// [`Fault::LeftOut`] if a start address is missing, [`Fault::NotADescriptor`] if a descriptor
    /// cannot encode its offsets, and [`Fault::BeyondStage`] for bytes beyond the operand's part of
    /// the stage.
    pub fn new(program: &WarpSpecializedProgram, operand: OperandKind) -> Result<Self, Fault> {
        let components = &program.components;
        match (&components.mma, components.tile(operand)) {
            (TiledMma::Wgmma(_, Some(load)), _) if operand == OperandKind::A => {
                Self::from_fragments(program, load.tile)
            }
            (_, StageTile::Warpgroup(tile)) => Self::from_descriptors(program, operand, tile),
            (_, StageTile::Threads { .. }) => Ok(Self { extent: 0, depth: 0, bytes: Vec::new() }),
        }
    }

    /// Returns the K-depth of a stage, in elements.
    pub fn depth(&self) -> usize {
        self.depth as usize
    }

    /// Returns the offsets of some rows or columns of an instruction tile, k by k. Empty if the
    /// tile does not exist.
    pub fn rows(&self, number: u32, first: u32, count: u32) -> &[u32] {
        let from = ((number * self.extent + first) * self.depth) as usize;
        self.bytes.get(from..from + (count * self.depth) as usize).unwrap_or_default()
    }
}
