//! A layout: a function from coordinates to offsets, as a tree of modes.
//!
//! Twin: `layout/kernels/layout.cuh`.

use super::{Int, IntTuple, LayoutError, int_tuple::write_tuple};
use core::fmt;

/// Leaf of a layout: `extent` coordinates, whose offsets are multiples of `stride`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Mode {
    /// Number of coordinates.
    pub extent: Int,
    /// Offset between neighboring coordinates.
    pub stride: Int,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) enum Tree {
    Leaf(Mode),
    Modes(Vec<Layout>),
}

/// CuTe's layout `shape:stride`. It is the function `L(c) = sum of c_i * d_i` over the leaves, with
/// `c_i < s_i`.
///
/// An integer stands for the coordinate that it counts out colexicographically, with the first mode
/// fastest. Extents are at least 1. Size and cosize fit into 64 bits. Layouts are equal if their
/// texts are equal, so `8:1` differs from `_8:_1`.
///
/// ```
/// use falchion_layout::Layout;
/// let layout: Layout = "(_8,(2,4)):(_1,(8,16))".parse()?;
/// assert_eq!((layout.rank(), layout.depth(), layout.size(), layout.cosize()), (2, 2, 64, 64));
/// assert_eq!(layout.offset(9)?, 9);
/// assert_eq!("(2,4)".parse::<Layout>()?.to_string(), "(2,4):(1,2)");
/// # Ok::<(), falchion_layout::LayoutError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Layout {
    pub(super) tree: Tree,
}

impl Layout {
    /// Creates the layout `shape:stride`.
    ///
    /// # Errors
    /// [`LayoutError::NotCongruent`] if shape and stride nest differently.
    /// [`LayoutError::EmptyTuple`] for an empty tuple. [`LayoutError::ZeroExtent`] for an extent of
    /// 0. [`LayoutError::Overflow`] if the size or the cosize exceeds 64 bits.
    pub fn new(
        shape: impl Into<IntTuple>,
        stride: impl Into<IntTuple>,
    ) -> Result<Self, LayoutError> {
        let (shape, stride) = (shape.into(), stride.into());
        let differ =
            || LayoutError::NotCongruent { shape: shape.to_string(), stride: stride.to_string() };
        zip(&shape, &stride).ok_or_else(differ)?.bounded()
    }

    /// Creates the compact column-major layout of a shape. Each stride is the product of the
    /// previous extents.
    ///
    /// # Errors
    /// [`LayoutError::EmptyTuple`] for an empty tuple. [`LayoutError::ZeroExtent`] for an extent of
    /// 0. [`LayoutError::Overflow`] if the size exceeds 64 bits.
    pub fn compact(shape: &IntTuple) -> Result<Self, LayoutError> {
        fn grow(shape: &IntTuple, next: &mut Option<Int>) -> Result<Layout, LayoutError> {
            match shape {
                IntTuple::Int(extent) => {
                    let stride = next.unwrap_or(extent.beside(1));
                    *next = Some(extent.times(stride)?);
                    let one = *extent == Int::fixed(1);
                    Ok(Layout::mode_of(*extent, if one { Int::fixed(0) } else { stride }))
                }
                IntTuple::Tuple(members) => members
                    .iter()
                    .map(|member| grow(member, next))
                    .collect::<Result<_, _>>()
                    .map(Layout::join),
            }
        }
        grow(shape, &mut None)?.bounded()
    }

    /// Concatenates layouts, each of which becomes one mode.
    ///
    /// # Errors
    /// [`LayoutError::EmptyTuple`] without layouts. [`LayoutError::Overflow`] if the size or the
    /// cosize exceeds 64 bits.
    pub fn concat(modes: impl IntoIterator<Item = Self>) -> Result<Self, LayoutError> {
        Self::join(modes.into_iter().collect()).bounded()
    }

    pub(super) const fn mode_of(extent: Int, stride: Int) -> Self {
        Self { tree: Tree::Leaf(Mode { extent, stride }) }
    }

    pub(super) const fn join(modes: Vec<Self>) -> Self {
        Self { tree: Tree::Modes(modes) }
    }

    /// Creates a layout from leaves: a tuple, or the leaf itself if there is only one.
    pub(super) fn from_leaves(leaves: &[Mode]) -> Self {
        match leaves {
            [leaf] => Self { tree: Tree::Leaf(*leaf) },
            _ => Self::join(leaves.iter().map(|leaf| Self { tree: Tree::Leaf(*leaf) }).collect()),
        }
    }

    /// Checks that all extents are at least 1, and that the size and the cosize fit into 64 bits.
    pub(super) fn bounded(self) -> Result<Self, LayoutError> {
        fn walk(layout: &Layout, size: &mut u64, last: &mut u64) -> Result<(), LayoutError> {
            match &layout.tree {
                Tree::Leaf(Mode { extent, .. }) if extent.value == 0 => {
                    Err(LayoutError::ZeroExtent)
                }
                Tree::Leaf(Mode { extent, stride }) => {
                    *size = size
                        .checked_mul(extent.value)
                        .ok_or(LayoutError::Overflow { what: "the size of the layout" })?;
                    let reach = (extent.value - 1)
                        .checked_mul(stride.value)
                        .and_then(|reach| last.checked_add(reach));
                    *last = reach
                        .filter(|last| *last < u64::MAX)
                        .ok_or(LayoutError::Overflow { what: "the cosize of the layout" })?;
                    Ok(())
                }
                Tree::Modes(modes) if modes.is_empty() => Err(LayoutError::EmptyTuple),
                Tree::Modes(modes) => modes.iter().try_for_each(|mode| walk(mode, size, last)),
            }
        }
        walk(&self, &mut 1, &mut 0)?;
        Ok(self)
    }

    /// Returns the leaves in order.
    pub fn leaves(&self) -> Vec<Mode> {
        fn walk(layout: &Layout, leaves: &mut Vec<Mode>) {
            match &layout.tree {
                Tree::Leaf(leaf) => leaves.push(*leaf),
                Tree::Modes(modes) => modes.iter().for_each(|mode| walk(mode, leaves)),
            }
        }
        let mut leaves = Vec::with_capacity(8);
        walk(self, &mut leaves);
        leaves
    }

    /// Returns the top-level modes. A single leaf is its own only mode.
    pub fn modes(&self) -> &[Self] {
        match &self.tree {
            Tree::Leaf(_) => core::slice::from_ref(self),
            Tree::Modes(modes) => modes,
        }
    }

    /// Returns the number of top-level modes.
    pub fn rank(&self) -> usize {
        self.modes().len()
    }

    /// Returns the nesting depth of the modes; 0 for a single leaf.
    pub fn depth(&self) -> usize {
        match &self.tree {
            Tree::Leaf(_) => 0,
            Tree::Modes(modes) => 1 + modes.iter().map(Self::depth).max().unwrap_or(0),
        }
    }

    /// Returns the number of coordinates.
    pub fn size(&self) -> u64 {
        self.folded(1, &mut |size, leaf| size * leaf.extent.value)
    }

    /// Returns the size, which is static if all extents are static.
    pub(super) fn size_int(&self) -> Int {
        let is_static = self.folded(true, &mut |all, leaf| all && leaf.extent.is_static);
        Int { value: self.size(), is_static }
    }

    /// Returns the largest offset plus one.
    pub fn cosize(&self) -> u64 {
        self.folded(1, &mut |last, leaf| last + (leaf.extent.value - 1) * leaf.stride.value)
    }

    pub(super) fn folded<T>(&self, start: T, f: &mut impl FnMut(T, Mode) -> T) -> T {
        match &self.tree {
            Tree::Leaf(leaf) => f(start, *leaf),
            Tree::Modes(modes) => modes.iter().fold(start, |folded, mode| mode.folded(folded, f)),
        }
    }

    /// Returns the shape.
    pub fn shape(&self) -> IntTuple {
        self.projected(|leaf| leaf.extent)
    }

    /// Returns the stride.
    pub fn stride(&self) -> IntTuple {
        self.projected(|leaf| leaf.stride)
    }

    fn projected(&self, f: impl Fn(&Mode) -> Int + Copy) -> IntTuple {
        match &self.tree {
            Tree::Leaf(leaf) => IntTuple::Int(f(leaf)),
            Tree::Modes(modes) => {
                IntTuple::Tuple(modes.iter().map(|mode| mode.projected(f)).collect())
            }
        }
    }
}

/// Combines a shape and a stride leaf by leaf. `None` if they nest differently.
fn zip(shape: &IntTuple, stride: &IntTuple) -> Option<Layout> {
    match (shape, stride) {
        (IntTuple::Int(extent), IntTuple::Int(stride)) => Some(Layout::mode_of(*extent, *stride)),
        (IntTuple::Tuple(extents), IntTuple::Tuple(strides)) if extents.len() == strides.len() => {
            extents
                .iter()
                .zip(strides)
                .map(|(extent, stride)| zip(extent, stride))
                .collect::<Option<_>>()
                .map(Layout::join)
        }
        _ => None,
    }
}

/// Shape or stride of a layout, for printing.
struct Half<'l>(&'l Layout, fn(&Mode) -> Int);

impl fmt::Display for Half<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0.tree {
            Tree::Leaf(leaf) => self.1(leaf).fmt(f),
            Tree::Modes(modes) => write_tuple(f, modes.iter().map(|mode| Half(mode, self.1))),
        }
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", Half(self, |leaf| leaf.extent), Half(self, |leaf| leaf.stride))
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.extent, self.stride)
    }
}
