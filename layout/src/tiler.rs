//! Tilers: operands that divide, multiply, or select a layout.

use super::{Int, IntTuple, Layout, LayoutError};

/// Second operand of divides, products, and [`compose_by`](Layout::compose_by), as in CuTe. A
/// layout acts on the whole layout. A tuple of tilers acts mode by mode. A shape acts as a tuple of
/// layouts with stride 1. `_` leaves its mode unchanged.
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
    /// Creates a tiler from a shape. Each integer `s` of the shape becomes the layout `s:1`.
    ///
    /// # Errors
    /// [`LayoutError::ZeroExtent`] for an extent of 0. [`LayoutError::EmptyTuple`] for an empty
    /// tuple.
    pub fn shape(shape: &IntTuple) -> Result<Self, LayoutError> {
        match shape {
            IntTuple::Int(_) => Layout::compact(shape).map(Self::Layout),
            IntTuple::Tuple(members) if members.is_empty() => Err(LayoutError::EmptyTuple),
            IntTuple::Tuple(members) => {
                members.iter().map(Self::shape).collect::<Result<_, _>>().map(Self::Tuple)
            }
        }
    }

    /// Creates the tiler of extents, one per mode.
    ///
    /// # Errors
    /// [`LayoutError::ZeroExtent`] for an extent of 0. [`LayoutError::EmptyTuple`] without extents.
    pub fn extents(extents: impl IntoIterator<Item = Int>) -> Result<Self, LayoutError> {
        Self::shape(&IntTuple::from_ints(extents))
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
