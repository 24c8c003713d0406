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
    /// The axis of the transposed GEMM.
    pub(crate) const fn swapped(self) -> Self {
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

    const fn swapped(self) -> Self {
        self.other()
    }

    /// 0 for A, 1 for B.
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The operand that has this axis beside K; A of K, which both have.
    pub const fn along(axis: Axis) -> Self {
        match axis {
            Axis::M | Axis::K => Self::A,
            Axis::N => Self::B,
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

words! {
    /// A vector of a call that an epilogue reads: one value a row of D, or one a column.
    pub enum VectorKind {
        /// A bias, a value a row.
        BiasM = "bias_m",
        /// A bias, a value a column.
        BiasN = "bias_n",
        /// A scale, a value a row.
        ScaleM = "scale_m",
        /// A scale, a value a column.
        ScaleN = "scale_n",
    }
}

impl VectorKind {
    /// Whose rows, or columns, have a value each: A's rows are D's.
    pub const fn side(self) -> OperandKind {
        match self {
            Self::BiasM | Self::ScaleM => OperandKind::A,
            Self::BiasN | Self::ScaleN => OperandKind::B,
        }
    }

    /// The vector of the transposed GEMM.
    pub const fn swapped(self) -> Self {
        match self {
            Self::BiasM => Self::BiasN,
            Self::BiasN => Self::BiasM,
            Self::ScaleM => Self::ScaleN,
            Self::ScaleN => Self::ScaleM,
        }
    }

    /// Its number among [`ALL`](Self::ALL).
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// What there is of each vector.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Vectors<T>([Option<T>; VectorKind::ALL.len()]);

impl<T> Default for Vectors<T> {
    fn default() -> Self {
        Self::NONE
    }
}

impl<T> Vectors<T> {
    /// None of any.
    pub const NONE: Self = Self([const { None }; VectorKind::ALL.len()]);

    /// What `of` has of each.
    pub fn by(of: impl FnMut(VectorKind) -> Option<T>) -> Self {
        Self(VectorKind::ALL.map(of))
    }

    /// What there is of one.
    pub const fn get(&self, kind: VectorKind) -> Option<&T> {
        self.0[kind.index()].as_ref()
    }

    /// The place of one.
    pub const fn slot(&mut self, kind: VectorKind) -> &mut Option<T> {
        &mut self.0[kind.index()]
    }

    /// Those that are there.
    pub fn iter(&self) -> impl Iterator<Item = (VectorKind, &T)> + Clone {
        VectorKind::ALL
            .into_iter()
            .zip(&self.0)
            .filter_map(|(kind, vector)| Some((kind, vector.as_ref()?)))
    }

    /// The same, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (VectorKind, &mut T)> {
        VectorKind::ALL
            .into_iter()
            .zip(&mut self.0)
            .filter_map(|(kind, vector)| Some((kind, vector.as_mut()?)))
    }

    /// Something else of each that is there.
    pub fn map<U>(self, mut f: impl FnMut(VectorKind, T) -> U) -> Vectors<U> {
        let mut kinds = VectorKind::ALL.into_iter();
        Vectors(self.0.map(|vector| Some(f(kinds.next()?, vector?))))
    }

    /// Something else of each that is there, where that succeeds.
    ///
    /// # Errors
    /// The first of `f`.
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

    /// The same by reference.
    pub fn as_ref(&self) -> Vectors<&T> {
        Vectors(self.0.each_ref().map(Option::as_ref))
    }

    /// The vectors of the transposed GEMM.
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

/// Gives types with a function `swapped` the functions `enter` and `leave`. No other function
/// reads the bit [`Frame::swapped`] to swap A and B.
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
