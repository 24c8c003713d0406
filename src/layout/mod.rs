//! Where a matrix lies in memory.
//!
//! A column-major C has the bytes of the row-major `Cᵀ = Bᵀ·Aᵀ`. A kernel that writes rows computes
//! a column-major C from swapped operands with transposed layouts ([`Frame`]).

mod matrix_type;

pub use falchion_layout as algebra;
pub use matrix_type::MatrixType;

use crate::{
    operand::{Frame, OperandKind, framed},
    words::words,
};

words! {
    /// Which index of a matrix runs through consecutive addresses.
    #[derive(Default)]
    pub enum Order {
        /// A row is contiguous: element (i, j) at `i * ld + j`.
        #[default]
        Row = "row",
        /// A column is contiguous: element (i, j) at `i + j * ld`.
        Col = "col",
    }
}

impl Order {
    /// The order of the transposed matrix in the same bytes.
    pub const fn transposed(self) -> Self {
        match self {
            Self::Row => Self::Col,
            Self::Col => Self::Row,
        }
    }

    /// Whether a row is contiguous.
    pub const fn is_row(self) -> bool {
        matches!(self, Self::Row)
    }

    /// The smallest leading dimension of a `rows` x `columns` matrix, in elements.
    pub const fn packed(self, rows: usize, columns: usize) -> usize {
        match self {
            Self::Row => columns,
            Self::Col => rows,
        }
    }

    /// Where element (`row`, `column`) lies, in elements.
    pub const fn offset(self, row: usize, column: usize, leading: usize) -> usize {
        match self {
            Self::Row => row * leading + column,
            Self::Col => row + column * leading,
        }
    }
}

/// Where a matrix lies in memory, as a type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a layout of falchion",
    label = "not a layout",
    note = "layouts are RowMajor and ColMajor"
)]
pub trait Layout: 'static {
    /// The same fact, as a value.
    const ORDER: Order;
}

/// A row is contiguous.
#[derive(Clone, Copy, Debug)]
pub struct RowMajor;

/// A column is contiguous, as in BLAS.
#[derive(Clone, Copy, Debug)]
pub struct ColMajor;

impl Layout for RowMajor {
    const ORDER: Order = Order::Row;
}

impl Layout for ColMajor {
    const ORDER: Order = Order::Col;
}

/// The layouts of A, B and of C and D, as the user wrote them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[doc(hidden)]
pub struct Orders {
    /// Of A.
    pub a: Order,
    /// Of B.
    pub b: Order,
    /// Of C and D.
    pub c: Order,
}

impl Order {
    const fn swapped(self) -> Self {
        self.transposed()
    }

    /// Whether K runs through consecutive addresses of an operand of this order.
    pub const fn along_k(self, operand: OperandKind) -> bool {
        match operand {
            OperandKind::A => self.is_row(),
            OperandKind::B => !self.is_row(),
        }
    }

    /// The order of an operand through whose consecutive addresses K runs, or M or N.
    pub const fn of_operand(operand: OperandKind, along_k: bool) -> Self {
        if Self::Row.along_k(operand) == along_k { Self::Row } else { Self::Col }
    }
}

impl Frame {
    /// The frame of a kernel that writes a row-major D, for a user's D of this order.
    pub(crate) const fn for_output(order: Order) -> Self {
        if order.is_row() { Self::USER } else { Self::SWAPPED }
    }

    /// The order of C and D in the kernel's GEMM.
    pub const fn d_order(self) -> Order {
        if self.column_major_d { Order::Col } else { Order::Row }
    }

    /// The same frame with another order of the kernel's D.
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
