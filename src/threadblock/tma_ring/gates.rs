//! Copies of the two matrices of B that a gate combines. One tensor map has both.
//!
//! ```text
//! B is contiguous along   tensor                       box
//! K                       {K, N, 2 matrices}           {k, columns of one matrix, 1}
//! N, with a swizzle       {N, 2 matrices, K}           {columns of a swizzle, 1, k}
//! N, without a swizzle    {N, 2 matrices, K}           {half of a warp tile, 2, k}
//! ```
//!
//! Boxes end at the N columns of each matrix, so nothing outside is read.

use crate::{
    nest::GemmDesc,
    numeric::ElementKind,
    refusal::{Refusal, hold},
    shape::OperandKind,
    threadblock::{
        GateMap, TensorMapDesc, WarpSpecialized,
        smem::Along,
        tensor_map::{MOST_BOX, MOST_RANK},
    },
};

/// Columns of which a box of a K-major B is a multiple.
const OCTET: u32 = 8;

/// Bytes of a row of the narrowest swizzle of D.
const NARROWEST_SWIZZLE: u32 = 32;

impl GemmDesc {
    /// Returns the divisor of the columns of half a consumer's tile.
    pub(crate) const fn columns_of_gate_on_ring(&self) -> u32 {
        // `check` has the components of a valid description.
        let Some(components) = self.components() else { return OCTET };
        if let Some(tiles) = components.threads() {
            return tiles.run_of_lanes();
        }
        let boxed = match components.tile(OperandKind::B).boxed() {
            Some(columns) => columns,
            None => OCTET,
        };
        let stored = self.output.element.elements_in(NARROWEST_SWIZZLE);
        if boxed > stored { boxed } else { stored }
    }
}

impl WarpSpecialized {
    /// Returns the gate's columns, for operand B of an epilogue with a gate.
    pub(crate) const fn gate_of(&self, operand: OperandKind) -> Option<GateMap> {
        match operand {
            OperandKind::A => None,
            OperandKind::B => self.gate,
        }
    }

    /// Returns whether a box has columns of both matrices.
    pub(crate) const fn boxes_both_gates(&self) -> bool {
        let tile = self.tile(OperandKind::B);
        self.gate.is_some() && tile.along().is(Along::Mn) && tile.boxed().is_none()
    }

    /// Returns the columns of B per copy if the tile's layout fixes none: the columns of a warp, or
    /// the most columns of one matrix that divide the CTA's share.
    pub(super) const fn gate_box(&self, gate: GateMap, share: u32) -> u32 {
        if self.boxes_both_gates() {
            return gate.warp;
        }
        let half = gate.warp / 2;
        let mut columns = if half < MOST_BOX as u32 { half } else { MOST_BOX as u32 };
        if columns > share {
            columns = share;
        }
        columns = columns / OCTET * OCTET;
        while columns > OCTET && !(share.is_multiple_of(columns) && half.is_multiple_of(columns)) {
            columns -= OCTET;
        }
        columns
    }

    /// Returns the tensor map of both matrices of B, `n` x `depth` each, which are `apart` elements
    /// apart. [`operand_map`](Self::operand_map) has the other arguments.
    ///
    /// # Errors
    /// The errors of [`operand_map`](Self::operand_map), and [`Refusal`] of a distance that no
    /// tensor map supports.
    pub(crate) const fn gate_map(
        &self,
        element: ElementKind,
        extents: (u64, u64),
        (leading, batch): (u64, Option<(u64, u64)>),
        apart: u64,
    ) -> Result<TensorMapDesc, Refusal> {
        let mut map = hold!(self.operand_map(OperandKind::B, element, extents, (leading, batch)));
        // The matrices are dimension 2 of a K-major B, and dimension 1 otherwise.
        let at = if self.tile(OperandKind::B).along().is(Along::K) { 2 } else { 1 };
        let mut dimension = MOST_RANK - 1;
        while dimension > at {
            map.dims[dimension] = map.dims[dimension - 1];
            map.box_dims[dimension] = map.box_dims[dimension - 1];
            map.strides_bytes[dimension - 1] = map.strides_bytes[dimension - 2];
            dimension -= 1;
        }
        (map.dims[at], map.box_dims[at], map.rank) = (2, 1, map.rank + 1);
        map.strides_bytes[at - 1] = map.element.matrix_bytes(apart);
        if self.boxes_both_gates() {
            (map.box_dims[0], map.box_dims[at]) = (map.box_dims[0] / 2, 2);
        }
        hold!(map.check());
        Ok(map)
    }
}
