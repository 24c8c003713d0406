//! The axes of a product, and its two operands.

/// An axis of a product.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Axis {
    /// Rows of C.
    M,
    /// Columns of C.
    N,
    /// Along the dot products.
    K,
}

impl Axis {
    /// `M`, `N` or `K`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::M => "M",
            Self::N => "N",
            Self::K => "K",
        }
    }
}

/// One of the two operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum OperandKind {
    /// The left one, M x K.
    A,
    /// The right one, K x N.
    B,
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

    /// `A` or `B`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::A => "A",
            Self::B => "B",
        }
    }

    /// The axis of a product that this operand has beside K.
    pub const fn axis(self) -> Axis {
        match self {
            Self::A => Axis::M,
            Self::B => Axis::N,
        }
    }
}
