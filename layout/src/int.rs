//! Integers that record whether their value is static.

use super::LayoutError;
use core::fmt;
use typenum::Unsigned;

/// Extent or stride: its value, and whether the value is static (known at compile time). Prints
/// `_8` for a static value, and `8` for a dynamic value.
///
/// The result of an operation is static if both operands are static, or if one static operand
/// determines the result, as in `_0 * n = _0`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Int {
    /// Value.
    pub value: u64,
    /// Whether the value is known at compile time.
    pub is_static: bool,
}

impl Int {
    /// Creates a dynamic value.
    pub const fn dynamic(value: u64) -> Self {
        Self { value, is_static: false }
    }

    /// Creates a static value, for example `_8`.
    pub const fn fixed(value: u64) -> Self {
        Self { value, is_static: true }
    }

    /// Creates a static value from a typenum integer.
    ///
    /// ```
    /// use falchion_layout::Int;
    /// assert_eq!(Int::from_type::<typenum::U8>().to_string(), "_8");
    /// ```
    pub const fn from_type<N: Unsigned>() -> Self {
        Self::fixed(N::U64)
    }

    /// Creates a static value from a const generic.
    pub const fn constant<const N: u64>() -> Self {
        Self::fixed(N)
    }

    /// Creates a constant of the algebra (an extent of 1, a stride of 0) that is static if `self`
    /// is static.
    pub(super) const fn beside(self, value: u64) -> Self {
        Self { value, is_static: self.is_static }
    }

    const fn with(self, other: Self, value: u64) -> Self {
        Self { value, is_static: self.is_static && other.is_static }
    }

    /// Returns `self * other`.
    ///
    /// # Errors
    /// [`LayoutError::Overflow`] if the result exceeds 64 bits.
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

    /// Returns `self + other`.
    ///
    /// # Errors
    /// [`LayoutError::Overflow`] if the result exceeds 64 bits.
    pub fn plus(self, other: Self) -> Result<Self, LayoutError> {
        let value =
            self.value.checked_add(other.value).ok_or(LayoutError::Overflow { what: "a sum" })?;
        Ok(self.with(other, value))
    }

    /// Returns `floor(self / other)`. The divisor must not be 0.
    pub(super) const fn over(self, other: Self) -> Self {
        self.with(other, self.value / other.value)
    }

    /// Returns `ceil(self / other)`. The divisor must not be 0.
    pub(super) const fn ceil_over(self, other: Self) -> Self {
        self.with(other, self.value.div_ceil(other.value))
    }

    /// Returns `self mod other`. The divisor must not be 0.
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
