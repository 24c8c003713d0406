//! Integers that know whether a type knows them.

use super::LayoutError;
use core::fmt;
use typenum::Unsigned;

/// An extent or a stride: its value, and whether it is known while compiling. Prints `_8` when it
/// is, `8` when it is not.
///
/// The result of an operation is static when both operands are, or when a static operand alone
/// decides it, as `_0 * n = _0`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Int {
    /// The value.
    pub value: u64,
    /// Whether a type carries the value.
    pub is_static: bool,
}

impl Int {
    /// A value known at run time.
    pub const fn dynamic(value: u64) -> Self {
        Self { value, is_static: false }
    }

    /// A value known while compiling, `_8` for one.
    pub const fn fixed(value: u64) -> Self {
        Self { value, is_static: true }
    }

    /// The value of a typenum integer, static.
    ///
    /// ```
    /// use falchion_layout::Int;
    /// assert_eq!(Int::of::<typenum::U8>().to_string(), "_8");
    /// ```
    pub const fn of<N: Unsigned>() -> Self {
        Self::fixed(N::U64)
    }

    /// The value of a const generic, static.
    pub const fn constant<const N: u64>() -> Self {
        Self::fixed(N)
    }

    /// A constant of the algebra itself (an extent of 1, a stride of 0), as static as the integer
    /// it stands beside.
    pub(super) const fn beside(self, value: u64) -> Self {
        Self { value, is_static: self.is_static }
    }

    const fn with(self, other: Self, value: u64) -> Self {
        Self { value, is_static: self.is_static && other.is_static }
    }

    /// `self * other`.
    ///
    /// # Errors
    /// [`LayoutError::Overflow`] beyond 64 bits.
    pub fn times(self, other: Self) -> Result<Self, LayoutError> {
        if self == Self::fixed(0) || other == Self::fixed(0) {
            return Ok(Self::fixed(0));
        }
        let value = self
            .value
            .checked_mul(other.value)
            .ok_or(LayoutError::Overflow { what: "a product" })?;
        Ok(self.with(other, value))
    }

    /// `self + other`.
    ///
    /// # Errors
    /// [`LayoutError::Overflow`] beyond 64 bits.
    pub fn plus(self, other: Self) -> Result<Self, LayoutError> {
        let value =
            self.value.checked_add(other.value).ok_or(LayoutError::Overflow { what: "a sum" })?;
        Ok(self.with(other, value))
    }

    /// `floor(self / other)`, of a divisor that is not 0.
    pub(super) const fn over(self, other: Self) -> Self {
        self.with(other, self.value / other.value)
    }

    /// `ceil(self / other)`, of a divisor that is not 0.
    pub(super) const fn ceil_over(self, other: Self) -> Self {
        self.with(other, self.value.div_ceil(other.value))
    }

    /// `self mod other`, of a divisor that is not 0.
    pub(super) const fn modulo(self, other: Self) -> Self {
        if other.is_static && other.value == 1 {
            return Self::fixed(0);
        }
        self.with(other, self.value % other.value)
    }
}

impl From<u64> for Int {
    fn from(value: u64) -> Self {
        Self::dynamic(value)
    }
}

impl fmt::Display for Int {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.is_static { "_" } else { "" }, self.value)
    }
}
