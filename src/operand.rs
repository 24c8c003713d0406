//! The axes of a product, and its two operands.

use crate::words::words;

words! {
    /// An axis of a product.
    pub enum Axis {
        /// Rows of C.
        M = "M",
        /// Columns of C.
        N = "N",
        /// Along the dot products.
        K = "K",
    }
}

words! {
    /// One of the two operands.
    pub enum OperandKind {
        /// The left one, M x K.
        A = "A",
        /// The right one, K x N.
        B = "B",
    }
}

impl OperandKind {
    /// Both, in order.
    pub const BOTH: [Self; 2] = [Self::A, Self::B];

    /// B for A, A for B.
    pub const fn other(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
        }
    }

    /// 0 for A, 1 for B.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The axis of a product that this operand has beside K.
    pub const fn axis(self) -> Axis {
        match self {
            Self::A => Axis::M,
            Self::B => Axis::N,
        }
    }
}
