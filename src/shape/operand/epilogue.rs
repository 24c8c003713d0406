//! Operands of an epilogue by name.

use crate::shape::{
    OperandKind, framed,
    words::{same_text, words},
};

words! {
    /// Operand of an epilogue. The index is the position in [`ALL`](EpilogueOperand::ALL); C is
    /// operand 0.
    #[derive(PartialOrd, Ord)]
    pub enum EpilogueOperand {
        /// Matrix C, m x n.
        Source = "c",
        /// Bias with one value per row of D.
        BiasM = "bias_m",
        /// Bias with one value per column of D.
        BiasN = "bias_n",
        /// Scale with one value per row of D.
        ScaleM = "scale_m",
        /// Scale with one value per column of D.
        ScaleN = "scale_n",
        /// Auxiliary matrix 1, m x n.
        Aux1 = "aux1",
        /// Auxiliary matrix 2, m x n.
        Aux2 = "aux2",
        /// Auxiliary matrix 3, m x n.
        Aux3 = "aux3",
        /// Auxiliary matrix 4, m x n.
        Aux4 = "aux4",
        /// Maximum of absolute values over D, a result.
        Amax = "amax",
        /// Maximum of absolute values of each row of D, a result.
        RowAmax = "row_amax",
        /// Maximum of absolute values of each column of D, a result.
        ColAmax = "col_amax",
        /// Sum of each row of D, a result.
        RowSum = "row_sum",
        /// Sum of each column of D, a result.
        ColSum = "col_sum",
        /// Sum of the squares of each row of D, a result.
        RowSumsq = "row_sumsq",
        /// Sum of the squares of each column of D, a result.
        ColSumsq = "col_sumsq",
        /// Scalar alpha in memory.
        AlphaPtr = "alpha_ptr",
        /// Scalar beta in memory.
        BetaPtr = "beta_ptr",
    }
}

impl EpilogueOperand {
    /// Number of operands that have a name.
    pub const COUNT: usize = Self::ALL.len();

    /// The vectors, with one value per row or per column of D.
    pub const VECTORS: [Self; 4] = [Self::BiasM, Self::BiasN, Self::ScaleM, Self::ScaleN];

    /// The auxiliary matrices.
    pub const AUXILIARY: [Self; 4] = [Self::Aux1, Self::Aux2, Self::Aux3, Self::Aux4];

    /// The reductions of values of an epilogue. A reduction is only written, and its elements have
    /// the compute type.
    pub const REDUCTIONS: [Self; 7] = [
        Self::Amax,
        Self::RowAmax,
        Self::ColAmax,
        Self::RowSum,
        Self::ColSum,
        Self::RowSumsq,
        Self::ColSumsq,
    ];

    /// The reductions that are maxima of absolute values.
    pub const MAXIMA: [Self; 3] = [Self::Amax, Self::RowAmax, Self::ColAmax];

    /// The reductions that are sums.
    pub const SUMS: [Self; 4] = [Self::RowSum, Self::ColSum, Self::RowSumsq, Self::ColSumsq];

    /// Returns the auxiliary matrix `number`, 1 to 4.
    ///
    /// # Panics
    /// If there is no such matrix. In a constant, the panic fails the build.
    pub(crate) const fn auxiliary(number: usize) -> Self {
        assert!(
            number > 0 && number <= Self::AUXILIARY.len(),
            "auxiliary matrices have the numbers 1 to 4"
        );
        Self::AUXILIARY[number - 1]
    }

    /// Returns the operand of a name in expressions. `source` is another name of C.
    pub(crate) const fn from_name(name: &[u8]) -> Option<Self> {
        if same_text(name, b"source") {
            return Some(Self::Source);
        }
        let mut i = 0;
        while i < Self::COUNT {
            if same_text(Self::ALL[i].name().as_bytes(), name) {
                return Some(Self::ALL[i]);
            }
            i += 1;
        }
        None
    }

    /// Returns the axis of a vector, as the operand with the same axis: A for one value per row of
    /// D, B for one value per column. Returns `None` for a matrix, and for a single value.
    pub const fn side(self) -> Option<OperandKind> {
        match self {
            Self::BiasM | Self::ScaleM | Self::RowAmax | Self::RowSum | Self::RowSumsq => {
                Some(OperandKind::A)
            }
            Self::BiasN | Self::ScaleN | Self::ColAmax | Self::ColSum | Self::ColSumsq => {
                Some(OperandKind::B)
            }
            _ => None,
        }
    }

    /// Returns whether the operand is an m x n matrix.
    pub const fn is_matrix(self) -> bool {
        self.is(Self::Source) || self.is_in(&Self::AUXILIARY)
    }

    /// Returns whether the operand is a scalar in memory: one value for all GEMMs of a batch, or
    /// one value per GEMM.
    pub const fn is_scalar(self) -> bool {
        matches!(self, Self::AlphaPtr | Self::BetaPtr)
    }

    /// Returns whether an epilogue can write the operand.
    pub const fn is_result(self) -> bool {
        self.is_in(&Self::REDUCTIONS) || self.is_in(&Self::AUXILIARY)
    }

    /// Returns whether the operand is one of the [`REDUCTIONS`](Self::REDUCTIONS).
    pub const fn is_reduction(self) -> bool {
        self.is_in(&Self::REDUCTIONS)
    }

    /// Returns whether the operand is one of the [`SUMS`](Self::SUMS).
    pub const fn is_sum(self) -> bool {
        self.is_in(&Self::SUMS)
    }

    /// Returns whether the operand is a sum of squares.
    pub const fn sums_squares(self) -> bool {
        matches!(self, Self::RowSumsq | Self::ColSumsq)
    }

    const fn is_in(self, operands: &[Self]) -> bool {
        let mut i = 0;
        while i < operands.len() {
            if self.is(operands[i]) {
                return true;
            }
            i += 1;
        }
        false
    }

    /// Returns the operand in the transposed GEMM.
    pub const fn swapped(self) -> Self {
        match self {
            Self::BiasM => Self::BiasN,
            Self::BiasN => Self::BiasM,
            Self::ScaleM => Self::ScaleN,
            Self::ScaleN => Self::ScaleM,
            Self::RowAmax => Self::ColAmax,
            Self::ColAmax => Self::RowAmax,
            Self::RowSum => Self::ColSum,
            Self::ColSum => Self::RowSum,
            Self::RowSumsq => Self::ColSumsq,
            Self::ColSumsq => Self::RowSumsq,
            other => other,
        }
    }

    /// Returns the index in [`ALL`](Self::ALL).
    pub const fn index(self) -> usize {
        self as usize
    }

    /// Returns whether both operands are the same, for use in `const fn`s.
    pub const fn is(self, other: Self) -> bool {
        self as u8 == other as u8
    }
}

framed!(EpilogueOperand);

/// Optional values, one per [`EpilogueOperand`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EpilogueOperands<T>([Option<T>; EpilogueOperand::COUNT]);

impl<T> Default for EpilogueOperands<T> {
    fn default() -> Self {
        Self::NONE
    }
}

/// Collects values by operand. The last value for an operand counts.
impl<T> FromIterator<(EpilogueOperand, T)> for EpilogueOperands<T> {
    fn from_iter<I: IntoIterator<Item = (EpilogueOperand, T)>>(values: I) -> Self {
        let mut operands = Self::NONE;
        values.into_iter().for_each(|(operand, value)| *operands.slot(operand) = Some(value));
        operands
    }
}

impl<T> EpilogueOperands<T> {
    /// No value for any operand.
    pub const NONE: Self = Self([const { None }; EpilogueOperand::COUNT]);

    /// Calls `of` for each operand and collects the values.
    pub fn by(of: impl FnMut(EpilogueOperand) -> Option<T>) -> Self {
        Self(EpilogueOperand::ALL.map(of))
    }

    /// Returns whether there is no value for any operand, as in most calls.
    pub const fn is_empty(&self) -> bool {
        let mut i = 0;
        while i < self.0.len() {
            if self.0[i].is_some() {
                return false;
            }
            i += 1;
        }
        true
    }

    /// Returns the value for one operand.
    pub const fn get(&self, operand: EpilogueOperand) -> Option<&T> {
        self.0[operand.index()].as_ref()
    }

    /// Returns a mutable reference to the slot of one operand.
    pub const fn slot(&mut self, operand: EpilogueOperand) -> &mut Option<T> {
        &mut self.0[operand.index()]
    }

    /// Returns an iterator over the present values.
    pub fn iter(&self) -> impl Iterator<Item = (EpilogueOperand, &T)> + Clone {
        EpilogueOperand::ALL
            .into_iter()
            .zip(&self.0)
            .filter_map(|(operand, value)| Some((operand, value.as_ref()?)))
    }

    /// Returns an iterator over mutable references to the present values.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (EpilogueOperand, &mut T)> {
        EpilogueOperand::ALL
            .into_iter()
            .zip(&mut self.0)
            .filter_map(|(operand, value)| Some((operand, value.as_mut()?)))
    }

    /// Applies `f` to each present value.
    pub fn map<U>(self, mut f: impl FnMut(EpilogueOperand, T) -> U) -> EpilogueOperands<U> {
        self.filter_map(|operand, value| Some(f(operand, value)))
    }

    /// Applies `f` to each present value, and drops the values for which `f` returns `None`.
    pub fn filter_map<U>(
        self,
        mut f: impl FnMut(EpilogueOperand, T) -> Option<U>,
    ) -> EpilogueOperands<U> {
        if self.is_empty() {
            return EpilogueOperands::NONE;
        }
        let mut operands = EpilogueOperand::ALL.into_iter();
        EpilogueOperands(self.0.map(|value| f(operands.next()?, value?)))
    }

    /// Applies a fallible `f` to each present value.
    ///
    /// # Errors
    /// The first error of `f`.
    pub fn try_map<U, E>(
        self,
        mut f: impl FnMut(EpilogueOperand, T) -> Result<U, E>,
    ) -> Result<EpilogueOperands<U>, E> {
        let mut values = EpilogueOperands::NONE;
        if self.is_empty() {
            return Ok(values);
        }
        for (operand, value) in EpilogueOperand::ALL.into_iter().zip(self.0) {
            *values.slot(operand) = value.map(|value| f(operand, value)).transpose()?;
        }
        Ok(values)
    }

    /// Returns references to the values.
    pub fn as_ref(&self) -> EpilogueOperands<&T> {
        EpilogueOperands(self.0.each_ref().map(Option::as_ref))
    }

    /// Returns the operands in the transposed GEMM.
    #[must_use]
    pub fn swapped(mut self) -> Self {
        if self.is_empty() {
            return self;
        }
        Self::by(|operand| self.slot(operand.swapped()).take())
    }
}
