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

    /// The vector that stands for it where all matrices are transposed.
    pub const fn exchange(self) -> Self {
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

    /// Those of the product whose matrices are all transposed.
    #[must_use]
    pub fn exchange(mut self) -> Self {
        Self::by(|kind| self.slot(kind.exchange()).take())
    }
}

/// Whose A and B a kernel has. A column-major C makes them change places, and so do an A that comes
/// from registers and few rows, which are few columns then: `Dᵀ = Bᵀ·Aᵀ` has the same bytes.
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
    /// Whether A and B have changed places: what `framed!` asks, and what is told of a description.
    /// Nothing else forks on it.
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

/// Gives types that know how to `exchange` the function that asks whether they have to: the one
/// place that does.
macro_rules! framed {
    ($($Type:ty),*) => {
        $(impl $Type {
            /// From the user's frame to this one, or back: A and B, and all that belongs to them,
            /// change places where they do.
            #[must_use]
            pub const fn framed(self, frame: $crate::operand::Frame) -> Self {
                if frame.is_exchanged() { self.exchange() } else { self }
            }
        })*
    };
    (of $($generic:ident)*; $Type:ty) => {
        impl<$($generic),*> $Type {
            /// From the user's frame to this one, or back: A and B, and all that belongs to them,
            /// change places where they do.
            #[must_use]
            pub fn framed(self, frame: $crate::operand::Frame) -> Self {
                if frame.is_exchanged() { self.exchange() } else { self }
            }
        }
    };
}
pub(crate) use framed;

framed!(Axis, OperandKind);
