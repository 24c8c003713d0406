//! Axes and operands of a GEMM, operands of its epilogue, and the frame of a kernel.

mod epilogue;

pub use epilogue::{EpilogueOperand, EpilogueOperands};

use crate::shape::words::words;

words! {
    /// Axis of a GEMM.
    pub enum Axis {
        /// Rows of A, C, and D.
        M = "M",
        /// Columns of B, C, and D.
        N = "N",
        /// Summation axis: columns of A, rows of B.
        K = "K",
    }
}

impl Axis {
    /// Returns the axis in the transposed GEMM.
    pub(crate) const fn swapped(self) -> Self {
        match self {
            Self::M => Self::N,
            Self::N => Self::M,
            Self::K => Self::K,
        }
    }
}

words! {
    /// Input operand of a GEMM.
    pub enum OperandKind {
        /// Left operand, M x K.
        A = "A",
        /// Right operand, K x N.
        B = "B",
    }
}

impl OperandKind {
    /// Both operands, in the order of their indices.
    pub const BOTH: [Self; 2] = [Self::A, Self::B];

    /// Returns the other operand.
    pub const fn other(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
        }
    }

    const fn swapped(self) -> Self {
        self.other()
    }

    /// Returns 0 for A, 1 for B.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Returns the operand with this axis. For K, which both operands have, returns A.
    pub const fn along(axis: Axis) -> Self {
        match axis {
            Axis::M | Axis::K => Self::A,
            Axis::N => Self::B,
        }
    }

    /// Returns the axis of the operand other than K.
    pub const fn axis(self) -> Axis {
        match self {
            Self::A => Axis::M,
            Self::B => Axis::N,
        }
    }
}

/// The relation of a kernel's GEMM to the user's GEMM, as two bits.
///
/// A kernel can compute the transposed GEMM `Dᵀ = Bᵀ·Aᵀ`, because a matrix and its transpose have
/// the same bytes. The kernel's A is then the user's Bᵀ. Swapped operands give a row-major kernel a
/// column-major D, bring an M-major A to registers, and map a small M to the instruction's N.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Frame {
    /// Whether the kernel computes the transposed GEMM.
    pub swapped: bool,
    /// Whether C and D are column-major in the kernel's GEMM.
    pub column_major_d: bool,
}

impl Frame {
    /// The user's GEMM with a row-major D.
    pub const USER: Self = Self { swapped: false, column_major_d: false };

    /// The transposed GEMM with a row-major D.
    pub const SWAPPED: Self = Self { swapped: true, ..Self::USER };

    /// The frame of the transposed kernel. The kernel's D keeps its order, so the user's D gets the
    /// other order.
    #[must_use]
    pub(crate) const fn swapped(self) -> Self {
        Self { swapped: !self.swapped, ..self }
    }
}

/// Gives types with a function `swapped` the functions `enter` and `leave`. Only
/// [`Call`](crate::operand::Call), whose type is generic, also reads the bit [`Frame::swapped`] to swap
/// A and B.
macro_rules! framed {
    ($($Type:ty),*) => {
        $(impl $Type {
            /// From the user's frame to the kernel's frame.
            #[must_use]
            pub const fn enter(self, frame: $crate::shape::Frame) -> Self {
                if frame.swapped { self.swapped() } else { self }
            }

            /// From the kernel's frame to the user's frame.
            #[must_use]
            pub const fn leave(self, frame: $crate::shape::Frame) -> Self {
                // Swapping twice changes nothing.
                self.enter(frame)
            }
        })*
    };
}
pub(crate) use framed;

framed!(Axis, OperandKind);
