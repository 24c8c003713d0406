//! Layout of a matrix in memory.
//!
//! A column-major C has the bytes of the row-major `Cᵀ = Bᵀ·Aᵀ`. A kernel that writes rows computes
//! a column-major C from swapped operands with transposed layouts ([`Frame`]).

pub(crate) mod index_map;
mod matrix_type;

pub use falchion_layout as algebra;
pub use matrix_type::MatrixType;

use crate::shape::{Frame, OperandKind, framed, words::words};

words! {
    /// Contiguous index of a matrix.
    #[derive(Default)]
    pub enum Order {
        /// Rows are contiguous: element (i, j) is at `i * ld + j`.
        #[default]
        Row = "row",
        /// Columns are contiguous: element (i, j) is at `i + j * ld`.
        Col = "col",
    }
}

impl Order {
    /// Returns the order of the transposed matrix in the same bytes.
    pub const fn transposed(self) -> Self {
        match self {
            Self::Row => Self::Col,
            Self::Col => Self::Row,
        }
    }

    /// Returns whether rows are contiguous.
    pub const fn is_row(self) -> bool {
        matches!(self, Self::Row)
    }

    /// Returns the smallest leading dimension of a `rows` x `columns` matrix, in elements.
    pub const fn packed(self, rows: usize, columns: usize) -> usize {
        match self {
            Self::Row => columns,
            Self::Col => rows,
        }
    }

    /// Returns the offset of element (`row`, `column`) in elements.
    pub const fn offset(self, row: usize, column: usize, leading: usize) -> usize {
        match self {
            Self::Row => row * leading + column,
            Self::Col => row + column * leading,
        }
    }
}

/// Layout of a matrix in memory, as a type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a layout of falchion",
    label = "not a layout",
    note = "layouts are RowMajor and ColMajor"
)]
pub trait Layout: 'static {
    /// Layout as a value.
    const ORDER: Order;
}

/// Rows are contiguous.
#[derive(Clone, Copy, Debug)]
pub struct RowMajor;

/// Columns are contiguous, as in BLAS.
#[derive(Clone, Copy, Debug)]
pub struct ColMajor;

impl Layout for RowMajor {
    const ORDER: Order = Order::Row;
}

impl Layout for ColMajor {
    const ORDER: Order = Order::Col;
}

/// Orders of A, of B, and of C and D, as given by the user.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[doc(hidden)]
pub struct Orders {
    /// Order of A.
    pub a: Order,
    /// Order of B.
    pub b: Order,
    /// Order of C and D.
    pub c: Order,
}

impl Order {
    const fn swapped(self) -> Self {
        self.transposed()
    }

    /// Returns whether K is contiguous in an operand of this order.
    pub const fn along_k(self, operand: OperandKind) -> bool {
        match operand {
            OperandKind::A => self.is_row(),
            OperandKind::B => !self.is_row(),
        }
    }

    /// Returns the order of an operand in which K is contiguous (`along_k`), or M or N otherwise.
    pub const fn for_operand(operand: OperandKind, along_k: bool) -> Self {
        if Self::Row.along_k(operand) == along_k { Self::Row } else { Self::Col }
    }
}

impl Frame {
    /// Returns the frame of a kernel that writes a row-major D, for a user's D of this order.
    pub(crate) const fn for_output(order: Order) -> Self {
        if order.is_row() { Self::USER } else { Self::SWAPPED }
    }

    /// Returns the order of C and D in the kernel's GEMM.
    pub const fn d_order(self) -> Order {
        if self.column_major_d { Order::Col } else { Order::Row }
    }

    /// Returns this frame with another order of the kernel's D.
    #[must_use]
    pub const fn with_d_order(self, order: Order) -> Self {
        Self { column_major_d: !order.is_row(), ..self }
    }
}

impl Orders {
    const fn swapped(self) -> Self {
        Self { a: self.b.transposed(), b: self.a.transposed(), c: self.c.transposed() }
    }
}

framed!(Order, Orders);
