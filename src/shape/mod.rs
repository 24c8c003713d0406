//! Tile shapes, and the axes and operands that they extend over. Shapes are const generics for the
//! user, and typenum numbers for bounds that relate two shapes.
//!
//! A threadblock tile is a multiple of a warp tile, and a warp tile is a multiple of an
//! instruction. [`TiledBy`] expresses this rule as a bound, so the compiler and the editor report a
//! violation.

mod operand;
pub(crate) mod words;

pub(crate) use operand::framed;
#[doc(hidden)]
pub use operand::{Axis, EpilogueOperand, EpilogueOperands, Frame, OperandKind};

use crate::Error;
use core::{
    fmt,
    ops::{Div, Rem},
    str::FromStr,
};
use typenum::{Const, Mod, NonZero, Quot, ToUInt, U, U0, Unsigned};

/// An M x N x K shape of a tile or of a problem, in elements.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(deny_unknown_fields)
)]
pub struct Mnk {
    /// Rows of C.
    pub m: u32,
    /// Columns of C.
    pub n: u32,
    /// Length of the dot products.
    pub k: u32,
}

impl Mnk {
    /// The shape with extents of 0.
    pub(crate) const ZERO: Self = Self::new(0, 0, 0);

    /// Returns the shape `m` x `n` x `k`.
    pub const fn new(m: u32, n: u32, k: u32) -> Self {
        Self { m, n, k }
    }

    /// Returns the number of M x N tiles that cover an m x n matrix, or `u64::MAX` if the number
    /// does not fit.
    pub const fn tiles_of(&self, (m, n): (usize, usize)) -> u64 {
        let [down, across] =
            [m.div_ceil(at_least_one(self.m) as usize), n.div_ceil(at_least_one(self.n) as usize)];
        (down as u64).saturating_mul(across as u64)
    }
}

impl FromStr for Mnk {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let extents: Option<Vec<u32>> = text.split('x').map(|extent| extent.parse().ok()).collect();
        match extents.as_deref() {
            Some(&[m, n, k]) => Ok(Self::new(m, n, k)),
            _ => {
                let because = "the value must be a shape MxNxK, such as 128x128x8".to_owned();
                Err(Error::KnobText { knob: "shape".to_owned(), text: text.to_owned(), because })
            }
        }
    }
}

impl fmt::Display for Mnk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}x{}", self.m, self.n, self.k)
    }
}

/// An M x N shape of a cluster, in CTAs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Mn {
    /// Along M.
    pub m: u32,
    /// Along N.
    pub n: u32,
}

impl Mn {
    /// The shape 1 x 1.
    pub const ONE: Self = Self { m: 1, n: 1 };

    /// Returns `m` times `n`: the CTAs of a cluster.
    pub(crate) const fn count(self) -> u32 {
        self.m.saturating_mul(self.n)
    }
}

impl fmt::Display for Mn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.m, self.n)
    }
}

/// An M x N x K tile, in elements.
#[derive(Clone, Copy, Debug)]
pub struct GemmShape<const M: usize, const N: usize, const K: usize>;

/// A tile shape, as a type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tile shape",
    label = "not a tile shape",
    note = "write GemmShape<M, N, K> with extents from 1 to 1024"
)]
pub trait Shape: 'static {
    /// Extent along M.
    type M: Unsigned + NonZero;
    /// Extent along N.
    type N: Unsigned + NonZero;
    /// Extent along K.
    type K: Unsigned + NonZero;
    /// The shape as a value.
    const MNK: Mnk = Mnk { m: Self::M::U32, n: Self::N::U32, k: Self::K::U32 };
}

impl<const M: usize, const N: usize, const K: usize> Shape for GemmShape<M, N, K>
where
    Const<M>: ToUInt<Output: Unsigned + NonZero + 'static>,
    Const<N>: ToUInt<Output: Unsigned + NonZero + 'static>,
    Const<K>: ToUInt<Output: Unsigned + NonZero + 'static>,
{
    type M = U<M>;
    type N = U<N>;
    type K = U<K>;
}

/// A shape that is a multiple of `Inner` along M, N, and K.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a whole number of `{Inner}` tiles along M, N and K",
    label = "this tile does not divide evenly",
    note = "the threadblock tile must be a multiple of the warp tile, and the warp tile of the instruction, along each of M, N and K"
)]
pub trait TiledBy<Inner> {}

impl<O: Shape, I: Shape> TiledBy<I> for O
where
    O::M: Rem<I::M> + Div<I::M>,
    O::N: Rem<I::N> + Div<I::N>,
    O::K: Rem<I::K> + Div<I::K>,
    Mod<O::M, I::M>: Whole,
    Mod<O::N, I::N>: Whole,
    Mod<O::K, I::K>: Whole,
    Quot<O::M, I::M>: Unsigned,
    Quot<O::N, I::N>: Unsigned,
    Quot<O::K, I::K>: Unsigned,
{
}

/// A remainder of zero.
#[diagnostic::on_unimplemented(
    message = "tile shapes must nest: an outer tile is not a whole number of inner tiles",
    label = "this configuration does not nest",
    note = "the threadblock tile must be a multiple of the warp tile, and the warp tile of the instruction, along each of M, N and K"
)]
pub trait Whole {}
impl Whole for U0 {}

/// Returns `x`, or 1 if `x` is 0: a divisor for values that are not checked yet.
pub(crate) const fn at_least_one(x: u32) -> u32 {
    if x == 0 { 1 } else { x }
}
