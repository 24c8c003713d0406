//! Nested tuples of integers.

use super::{Int, LayoutError};
use core::fmt;

/// Shape or stride: an integer, or a tuple of nested tuples. Prints in CuTe's notation, for example
/// `(_8,(2,4))`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum IntTuple {
    /// One integer.
    Int(Int),
    /// A tuple, which is not empty.
    Tuple(Vec<IntTuple>),
}

impl IntTuple {
    /// Creates a tuple of integers.
    pub fn from_ints(values: impl IntoIterator<Item = Int>) -> Self {
        Self::Tuple(values.into_iter().map(Self::Int).collect())
    }

    /// Returns the number of members; 1 for an integer.
    pub fn rank(&self) -> usize {
        match self {
            Self::Int(_) => 1,
            Self::Tuple(members) => members.len(),
        }
    }

    /// Returns the nesting depth; 0 for an integer.
    pub fn depth(&self) -> usize {
        match self {
            Self::Int(_) => 0,
            Self::Tuple(members) => 1 + members.iter().map(Self::depth).max().unwrap_or(0),
        }
    }

    /// Returns the product of all integers.
    ///
    /// # Errors
    /// [`LayoutError::Overflow`] if the product exceeds 64 bits.
    pub fn product(&self) -> Result<Int, LayoutError> {
        match self {
            Self::Int(int) => Ok(*int),
            Self::Tuple(members) => {
                let mut product = Int::fixed(1);
                for member in members {
                    product = product.times(member.product()?)?;
                }
                Ok(product)
            }
        }
    }
}

impl From<Int> for IntTuple {
    fn from(int: Int) -> Self {
        Self::Int(int)
    }
}

impl From<u64> for IntTuple {
    fn from(value: u64) -> Self {
        Self::Int(value.into())
    }
}

impl<const N: usize> From<[u64; N]> for IntTuple {
    fn from(values: [u64; N]) -> Self {
        Self::from_ints(values.map(Int::dynamic))
    }
}

impl fmt::Display for IntTuple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(int) => int.fmt(f),
            Self::Tuple(members) => write_tuple(f, members),
        }
    }
}

/// Writes `(a,b,..)` without spaces, as CuTe prints tuples.
pub(super) fn write_tuple<T: fmt::Display>(
    f: &mut fmt::Formatter<'_>,
    members: impl IntoIterator<Item = T>,
) -> fmt::Result {
    f.write_str("(")?;
    for (i, member) in members.into_iter().enumerate() {
        write!(f, "{}{member}", if i == 0 { "" } else { "," })?;
    }
    f.write_str(")")
}
