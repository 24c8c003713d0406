//! The source of A for Hopper's tensor cores, shared memory or registers, and the order of D in the
//! kernel's frame.

use crate::nest::{AOperandKind, GemmDesc, Pins};

impl GemmDesc {
    /// Returns the description with the source of A resolved. If A comes from registers and only B
    /// is MN-major, the operands are swapped, and D becomes column-major in the kernel's frame.
    #[must_use]
    pub(crate) const fn settled(self) -> Self {
        match self.mma.a_operand() {
            AOperandKind::Shared => self,
            AOperandKind::Registers => self.with_a_along_m(),
            AOperandKind::Auto => {
                let registers = self.pinned(REGISTERS).with_a_along_m();
                if registers.check().is_ok() { registers } else { self.pinned(SHARED) }
            }
        }
    }

    /// Returns the description with swapped operands if A is K-major and B is N-major.
    const fn with_a_along_m(self) -> Self {
        let is_b = self.operands[0].layout.is_row()
            && self.operands[1].layout.is_row()
            && self.frame.d_order().is_row();
        if !is_b {
            return self;
        }
        self.with_swapped_operands()
    }

    /// Returns the description with a row-major D in the kernel's frame. If the operands must be
    /// swapped for that, A comes from shared memory.
    #[must_use]
    pub(crate) const fn with_row_major_d(self) -> Self {
        if self.frame.d_order().is_row() {
            return self;
        }
        self.with_swapped_operands().pinned(SHARED)
    }

    /// Returns the description with a column-major D in the kernel's frame, and swapped operands.
    ///
    /// A small M of the user's D then maps to the kernel's columns, of which an instruction may
    /// have 8. The user's types, layouts, and knobs do not change. Shapes belong to the kernel and
    /// do not change either. SIMT kernels, and kernels with A from registers, are returned
    /// unchanged.
    ///
    /// ```
    /// use falchion::{layout::Order, prelude::*};
    /// type Bf16Gemm = Gemm<Bf16, RowMajor, Bf16, ColMajor, Bf16, RowMajor, f32, TensorOp, Sm90>;
    /// let columns = Bf16Gemm::DESC.with_rows_as_columns();
    /// assert_eq!((columns.frame.d_order(), columns.frame.swapped), (Order::Col, true));
    /// assert_eq!((columns.orders(), columns.user_pins()), (Bf16Gemm::DESC.orders(), Bf16Gemm::DESC.user_pins()));
    /// ```
    #[doc(hidden)]
    #[must_use]
    pub const fn with_rows_as_columns(self) -> Self {
        let stores_columns =
            self.mma.stages_d() && matches!(self.mma.a_operand(), AOperandKind::Shared);
        if !(stores_columns && self.frame.d_order().is_row()) {
            return self;
        }
        self.with_swapped_operands()
    }

    /// Returns whether D is column-major in the kernel's frame and A comes from shared memory.
    #[doc(hidden)]
    #[must_use]
    pub const fn is_of_columns(&self) -> bool {
        self.mma.stages_d()
            && !self.frame.d_order().is_row()
            && matches!(self.mma.a_operand(), AOperandKind::Shared)
    }
}

const REGISTERS: Pins = Pins { a_operand: Some(AOperandKind::Registers), ..Pins::NONE };
const SHARED: Pins = Pins { a_operand: Some(AOperandKind::Shared), ..Pins::NONE };

impl GemmDesc {
    /// Returns whether consumers load A into registers before they multiply it.
    pub const fn a_from_registers(&self) -> bool {
        matches!(self.mma.a_operand(), AOperandKind::Registers)
    }
}
