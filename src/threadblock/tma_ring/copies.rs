//! Tensor maps of A, B, C, and D: the boxes that TMA copies.

use crate::{
    layout::Order,
    numeric::ElementKind,
    refusal::{Operand, Refusal},
    shape::OperandKind,
    threadblock::{
        TensorMapDesc, TensorMatrix, smem::Along, tensor_map::MOST_BOX, tma_ring::WarpSpecialized,
    },
    warp::warpgroup::ROWS,
};

impl WarpSpecialized {
    /// Returns the rows of A, or columns of B, in one copy. An MN-major tile uses the swizzle
    /// atom's extent along MN. Otherwise the block's share is cut into the fewest equal boxes that
    /// TMA allows.
    pub const fn box_mn(&self, operand: OperandKind) -> u32 {
        let tile = self.tile(operand);
        if let Some(mn) = tile.boxed() {
            return mn;
        }
        let share = tile.mn() / self.ring.shares(operand);
        if let Some(gate) = self.gate_of(operand) {
            return self.gate_box(gate, share);
        }
        let mut parts = share.div_ceil(MOST_BOX as u32);
        while !share.is_multiple_of(parts * tile.multiple()) {
            parts += 1;
        }
        share / parts
    }

    /// Returns the number of copies that one block issues per stage for an operand.
    pub const fn copies(&self, operand: OperandKind) -> u32 {
        self.tile(operand).mn() / self.ring.shares(operand) / self.box_mn(operand)
    }

    /// Returns the tensor map of an operand, viewed as `mn` x `depth` with a leading dimension.
    /// `batch` holds the number of matrices and their distance in elements. One copy moves
    /// one box. tf32 bits are copied unchanged.
    ///
    /// # Errors
    /// The errors of [`TensorMatrix::map`].
    pub const fn operand_map(
        &self,
        operand: OperandKind,
        element: ElementKind,
        (mn, depth): (u64, u64),
        (leading, batch): (u64, Option<(u64, u64)>),
    ) -> Result<TensorMapDesc, Refusal> {
        let tile = self.tile(operand);
        let element = if element.is(ElementKind::Tf32) { ElementKind::F32 } else { element };
        // The matrix is row-major if K is contiguous.
        let order = if tile.along().is(Along::K) { Order::Row } else { Order::Col };
        let matrix =
            TensorMatrix::new(Operand::from_kind(operand), element, order, (mn, depth), leading);
        TensorMatrix { batch, ..matrix }.map((self.box_mn(operand), tile.k()), tile.swizzle())
    }

    /// Returns the rows of D in one box: all rows of a subtile, or, for a column-major D, the rows
    /// that span one swizzle row.
    pub const fn subtile_box_rows(&self) -> u32 {
        let whole = self.ring.staging_bytes / ROWS;
        let Some(bytes) = whole.checked_div(self.subtile_columns) else { return 0 };
        match (self.layout_c, self.subtile_swizzle.span_bytes()) {
            (Order::Col, Some(span)) if span < ROWS * bytes => span / bytes,
            _ => ROWS,
        }
    }

    /// Returns the tensor map of an m x n C or D, or of a batch of them. A box is a subtile. For a
    /// column-major D, several boxes side by side along M make up one subtile.
    ///
    /// # Errors
    /// The errors of [`TensorMatrix::map`].
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
