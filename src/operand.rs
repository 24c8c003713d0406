//! Axes, operands, and epilogue vectors of a GEMM, and the frame of a kernel.

use crate::words::words;

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

words! {
    /// Vector that an epilogue reads, with one value per row or per column of D.
    pub enum VectorKind {
        /// Bias with one value per row of D.
        BiasM = "bias_m",
        /// Bias with one value per column of D.
        BiasN = "bias_n",
        /// Scale with one value per row of D.
        ScaleM = "scale_m",
        /// Scale with one value per column of D.
        ScaleN = "scale_n",
    }
}

impl VectorKind {
    /// Returns the operand whose axis the vector runs along: A for rows of D, B for columns of D.
    pub const fn side(self) -> OperandKind {
        match self {
            Self::BiasM | Self::ScaleM => OperandKind::A,
            Self::BiasN | Self::ScaleN => OperandKind::B,
        }
    }

    /// Returns the vector in the transposed GEMM.
    pub const fn swapped(self) -> Self {
        match self {
            Self::BiasM => Self::BiasN,
            Self::BiasN => Self::BiasM,
            Self::ScaleM => Self::ScaleN,
            Self::ScaleN => Self::ScaleM,
        }
    }

    /// Returns the index in [`ALL`](Self::ALL).
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// Optional values, one per [`VectorKind`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Vectors<T>([Option<T>; VectorKind::ALL.len()]);

impl<T> Default for Vectors<T> {
    fn default() -> Self {
        Self::NONE
    }
}

impl<T> Vectors<T> {
    /// No value for any vector.
    pub const NONE: Self = Self([const { None }; VectorKind::ALL.len()]);

    /// Calls `of` for each vector and collects the values.
    pub fn by(of: impl FnMut(VectorKind) -> Option<T>) -> Self {
        Self(VectorKind::ALL.map(of))
    }

    /// Returns the value for one vector.
    pub const fn get(&self, kind: VectorKind) -> Option<&T> {
        self.0[kind.index()].as_ref()
    }

    /// Returns a mutable reference to the slot of one vector.
    pub const fn slot(&mut self, kind: VectorKind) -> &mut Option<T> {
        &mut self.0[kind.index()]
    }

    /// Returns an iterator over the present values.
    pub fn iter(&self) -> impl Iterator<Item = (VectorKind, &T)> + Clone {
        VectorKind::ALL
            .into_iter()
            .zip(&self.0)
            .filter_map(|(kind, vector)| Some((kind, vector.as_ref()?)))
    }

    /// Returns an iterator over mutable references to the present values.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (VectorKind, &mut T)> {
        VectorKind::ALL
            .into_iter()
            .zip(&mut self.0)
            .filter_map(|(kind, vector)| Some((kind, vector.as_mut()?)))
    }

    /// Applies `f` to each present value.
    pub fn map<U>(self, mut f: impl FnMut(VectorKind, T) -> U) -> Vectors<U> {
        let mut kinds = VectorKind::ALL.into_iter();
        Vectors(self.0.map(|vector| Some(f(kinds.next()?, vector?))))
    }

    /// Applies a fallible `f` to each present value.
    ///
    /// # Errors
    /// The first error of `f`.
    pub fn try_map<U, E>(
        self,
        mut f: impl FnMut(VectorKind, T) -> Result<U, E>,
    ) -> Result<Vectors<U>, E> {
        let mut vectors = Vectors::NONE;
        for (kind, vector) in VectorKind::ALL.into_iter().zip(self.0) {
            *vectors.slot(kind) = vector.map(|vector| f(kind, vector)).transpose()?;
        }
        Ok(vectors)
    }

    /// Returns references to the values.
    pub fn as_ref(&self) -> Vectors<&T> {
        Vectors(self.0.each_ref().map(Option::as_ref))
    }

    /// Returns the vectors in the transposed GEMM.
    #[must_use]
    pub fn swapped(mut self) -> Self {
        Self::by(|kind| self.slot(kind.swapped()).take())
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
/// [`Call`](crate::call::Call), whose type is generic, also reads the bit [`Frame::swapped`] to swap
/// A and B.
macro_rules! framed {
    ($($Type:ty),*) => {
        $(impl $Type {
            /// From the user's frame to the kernel's frame.
            #[must_use]
            pub const fn enter(self, frame: $crate::operand::Frame) -> Self {
                if frame.swapped { self.swapped() } else { self }
            }

            /// From the kernel's frame to the user's frame.
            #[must_use]
            pub const fn leave(self, frame: $crate::operand::Frame) -> Self {
                // Swapping twice changes nothing.
                self.enter(frame)
            }
        })*
    };
}
pub(crate) use framed;

framed!(Axis, OperandKind, VectorKind);
