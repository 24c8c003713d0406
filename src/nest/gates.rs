//! Epilogues with a gate: the rules of their kernels.
//!
//! [`GateMap`] has the columns of B in a tile.

use crate::{
    nest::GemmDesc,
    refusal::Refusal,
    shape::{Axis, Mnk, OperandKind},
    threadblock::GateMap,
};

impl GemmDesc {
    /// Returns whether an operand has two matrices: B if the epilogue has a gate.
    pub(crate) const fn gates(&self, operand: OperandKind) -> bool {
        matches!(operand, OperandKind::B) && self.epilogue.is_gated()
    }

    /// Returns the extents of D that a tile of the kernel computes.
    pub const fn tile_of_d(&self, tile: Mnk) -> Mnk {
        if self.epilogue.is_gated() { Mnk { n: tile.n / 2, ..tile } } else { tile }
    }

    /// Returns the columns of B in a tile, if the epilogue has a gate.
    pub(crate) const fn gate_map(&self, tile: Mnk) -> Option<GateMap> {
        let map = GateMap { warp: self.warp().n, tile: tile.n };
        if self.epilogue.is_gated() { Some(map) } else { None }
    }

    /// Returns the columns of D that a warp or a consumer computes.
    pub(crate) const fn warp_columns_of_d(&self) -> u32 {
        self.tile_of_d(self.warp()).n
    }

    /// Checks the rules of an epilogue with a gate. All other rules hold.
    pub(crate) const fn check_gates(&self) -> Result<(), Refusal> {
        if !self.epilogue.is_gated() {
            return Ok(());
        }
        let order = self.frame.d_order();
        if self.frame.swapped || !order.is_row() {
            return Err(Refusal::gates_swapped(order));
        }
        if self.work.mode.is_array() {
            return Err(Refusal::GATES_OF_ARRAY);
        }
        if matches!(self.work.mode.groups(), Some(Axis::N)) {
            return Err(Refusal::GATES_OF_GROUPS);
        }
        if self.operands[1].indexed {
            return Err(Refusal::GATES_OF_INDEX);
        }
        if self.emulation().decomposes() {
            return Err(Refusal::gates_of_terms(self.emulation()));
        }
        let (warp_n, of) = (self.warp().n, 2 * self.columns_of_gate());
        if !warp_n.is_multiple_of(of) {
            return Err(Refusal::gates_of_warp(warp_n, of));
        }
        Ok(())
    }

    /// Returns the divisor of the columns of half a warp tile in a CTA without a producer.
    pub(super) const fn columns_of_gate_without_producer(&self) -> u32 {
        let base = self.base();
        let (b, run) = (base.operand(OperandKind::B), base.tiles.run_of_lanes());
        if b.k_contiguous || b.access <= run { run } else { b.access }
    }
}
