//! What TMA is told: the boxes of the operands, and of D.

use super::WarpSpecialized;
use crate::{
    layout::Order,
    numeric::ElementKind,
    operand::OperandKind,
    refusal::{Operand, Refusal},
    smem::Along,
    threadblock::{TensorMapDesc, TensorMatrix, tensor_map::MOST_BOX},
    warp::mma_warpgroup::ROWS,
};

impl WarpSpecialized {
    /// Rows of A, or columns of B, in one copy: an atom's row along MN; else as many as a box has,
    /// the share in equal parts.
    pub const fn box_mn(&self, operand: OperandKind) -> u32 {
        let tile = self.tile(operand);
        if let Some(mn) = tile.boxed() {
            return mn;
        }
        let share = tile.mn() / self.ring.shares(operand);
        let mut parts = share.div_ceil(MOST_BOX as u32);
        while !share.is_multiple_of(parts * tile.multiple()) {
            parts += 1;
        }
        share / parts
    }

    /// Copies of one block for each stage.
    pub const fn copies(&self, operand: OperandKind) -> u32 {
        self.tile(operand).mn() / self.ring.shares(operand) / self.box_mn(operand)
    }

    /// What TMA is told of an operand, seen as `mn` x `depth` of such leading dimension, or of so
    /// many of them so many elements apart: its boxes are what one copy moves. The bits of tf32
    /// move as they are.
    ///
    /// # Errors
    /// Those of [`TensorMatrix::map`].
    pub const fn operand_map(
        &self,
        operand: OperandKind,
        element: ElementKind,
        (mn, depth): (u64, u64),
        (leading, batch): (u64, Option<(u64, u64)>),
    ) -> Result<TensorMapDesc, Refusal> {
        let tile = self.tile(operand);
        let element = if element.is(ElementKind::Tf32) { ElementKind::F32 } else { element };
        // Row-major where K is contiguous.
        let order = if tile.along().is(Along::K) { Order::Row } else { Order::Col };
        let matrix = TensorMatrix::new(Operand::of(operand), element, order, (mn, depth), leading);
        TensorMatrix { batch, ..matrix }.map((self.box_mn(operand), tile.k()), tile.swizzle())
    }

    /// Rows of D in one box: all of a subtile's; of a column-major D, a row of the swizzle.
    pub const fn subtile_box_rows(&self) -> u32 {
        let whole = self.ring.staging_bytes / ROWS;
        let Some(bytes) = whole.checked_div(self.subtile_columns) else { return 0 };
        match (self.layout_c, self.subtile_swizzle.span_bytes()) {
            (Order::Col, Some(span)) if span < ROWS * bytes => span / bytes,
            _ => ROWS,
        }
    }

    /// What TMA is told of an m x n C or D, or of a batch of them: its boxes are subtiles, or as
    /// many of a subtile side by side along M as it has rows.
    ///
    /// # Errors
    /// Those of [`TensorMatrix::map`].
    pub const fn subtile_map(
        &self,
        name: Operand,
        c: ElementKind,
        extents: (u64, u64),
        (leading, batch): (u64, Option<(u64, u64)>),
    ) -> Result<TensorMapDesc, Refusal> {
        TensorMatrix { batch, ..TensorMatrix::new(name, c, self.layout_c, extents, leading) }
            .map((self.subtile_box_rows(), self.subtile_columns), self.subtile_swizzle)
    }
}
