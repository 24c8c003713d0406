//! Epilogues with a gate: the rules of their kernels.
//!
//! [`GateMap`] has the columns of B in a tile.

use crate::{
    nest::GemmDesc,
    refusal::Refusal,
    shape::{Axis, Mnk, OperandKind},
    threadblock::GateMap,
    warp::ThreadTiles,
};

/// Columns of D whose accumulators a lane of a warpgroup holds together.
const OCTET: u32 = 8;

/// Bytes of a row of the narrowest swizzle of D.
const NARROWEST_SWIZZLE: u32 = 32;

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

    /// Returns the divisor of the columns of half a warp tile.
    const fn columns_of_gate(&self) -> u32 {
        if let Some(components) = self.components() {
            if let Some(tiles) = components.threads() {
                return neighbors(tiles);
            }
            let boxed = match components.tile(OperandKind::B).boxed() {
                Some(columns) => columns,
                None => OCTET,
            };
            let stored = self.output.element.elements_in(NARROWEST_SWIZZLE);
            return if boxed > stored { boxed } else { stored };
        }
        let base = self.base();
        let (b, run) = (base.operand(OperandKind::B), neighbors(&base.tiles));
        if b.k_contiguous || b.access <= run { run } else { b.access }
    }
}

/// Returns the columns of a warp tile before a lane's next run of neighbors begins.
const fn neighbors(tiles: &ThreadTiles) -> u32 {
    tiles.lanes.n * tiles.interleave[1]
}
