//! What divides, multiplies or selects: a layout, or one tiler for each mode.

use super::{Int, IntTuple, Layout, LayoutError};

/// The second operand of divides, products and [`compose_by`](Layout::compose_by). CuTe's: a layout
/// acts on the whole, a tuple of tilers mode by mode, a shape as a tuple of layouts of stride 1,
/// `_` not at all.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Tiler {
    /// Acts on the whole layout as a function of an integer.
    Layout(Layout),
    /// Acts mode by mode.
    Tuple(Vec<Tiler>),
    /// `_`: leaves a mode as it is.
    All,
}

impl Tiler {
    /// A shape as a tiler: each of its integers `s` is the layout `s:1`.
    ///
    /// # Errors
    /// An extent of 0, an empty tuple.
    pub fn shape(shape: &IntTuple) -> Result<Self, LayoutError> {
        match shape {
            IntTuple::Int(_) => Layout::compact(shape).map(Self::Layout),
            IntTuple::Tuple(members) if members.is_empty() => Err(LayoutError::EmptyTuple),
            IntTuple::Tuple(members) => {
                members.iter().map(Self::shape).collect::<Result<_, _>>().map(Self::Tuple)
            }
        }
    }

    /// The tiler of some extents, mode by mode.
    ///
    /// # Errors
    /// An extent of 0, no extents.
    pub fn extents(extents: impl IntoIterator<Item = Int>) -> Result<Self, LayoutError> {
        Self::shape(&IntTuple::of(extents))
    }
}

impl From<Layout> for Tiler {
    fn from(layout: Layout) -> Self {
        Self::Layout(layout)
    }
}

impl<const N: usize> From<[Self; N]> for Tiler {
    fn from(members: [Self; N]) -> Self {
        Self::Tuple(members.into())
    }
}
