//! The axes of a product, its two operands, and the frame in which a kernel has them.

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

impl Axis {
    /// The same axis in the other frame.
    pub(crate) const fn exchange(self) -> Self {
        match self {
            Self::M => Self::N,
            Self::N => Self::M,
            Self::K => Self::K,
        }
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

    const fn exchange(self) -> Self {
        self.other()
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

/// Whose A and B a kernel has. A column-major C makes them change places, and so does an A that comes from registers: `Dᵀ = Bᵀ·Aᵀ` has
/// the same bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Frame {
    /// The user's.
    AsGiven,
    /// The user's B and A, transposed, and D transposed with them.
    Exchanged,
}

impl From<bool> for Frame {
    fn from(exchanged: bool) -> Self {
        if exchanged { Self::Exchanged } else { Self::AsGiven }
    }
}

impl Frame {
    /// Whether A and B have changed places: what `framed!` asks, and what is told of a description. Nothing else forks on it.
    pub const fn is_exchanged(self) -> bool {
        matches!(self, Self::Exchanged)
    }

    /// The other one.
    pub const fn exchange(self) -> Self {
        match self {
            Self::AsGiven => Self::Exchanged,
            Self::Exchanged => Self::AsGiven,
        }
    }
}

/// Gives types that know how to `exchange` the function that asks whether they have to: the one place that does.
macro_rules! framed {
    ($($Type:ty),*) => {
        $(impl $Type {
            /// From the user's frame to this one, or back: A and B, and all that belongs to them, change places where they do.
            #[must_use]
            pub const fn framed(self, frame: $crate::operand::Frame) -> Self {
                if frame.is_exchanged() { self.exchange() } else { self }
            }
        })*
    };
    (of $($generic:ident)*; $Type:ty) => {
        impl<$($generic),*> $Type {
            /// From the user's frame to this one, or back: A and B, and all that belongs to them, change places where they do.
            #[must_use]
            pub fn framed(self, frame: $crate::operand::Frame) -> Self {
                if frame.is_exchanged() { self.exchange() } else { self }
            }
        }
    };
}
pub(crate) use framed;

framed!(Axis, OperandKind);
