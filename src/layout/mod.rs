//! Where a matrix lies in memory.
//!
//! `C = A·B` stored by columns has the bytes of `Cᵀ = Bᵀ·Aᵀ` stored by rows. So a column-major C
//! exchanges the operands and transposes their layouts ([`Frame`]), and the kernel writes rows.

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
    const fn exchange(self) -> Self {
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

    /// Whose A and B a kernel has that writes rows, where the user's C and D are of this order.
    pub(crate) const fn frame(self) -> Frame {
        match self {
            Self::Row => Frame::AsGiven,
            Self::Col => Frame::Exchanged,
        }
    }
}

impl Orders {
    const fn exchange(self) -> Self {
        Self { a: self.b.transposed(), b: self.a.transposed(), c: self.c.transposed() }
    }
}

framed!(Order, Orders);
