//! Coordinates of a layout, their offsets, and slices.

use super::{Layout, LayoutError, Mode, int_tuple::write_tuple, layout::Tree};
use core::fmt;

/// A coordinate: an integer, a tuple of coordinates, or `_` for all of a mode.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Coordinate {
    /// Coordinate of a whole mode, counted colexicographically.
    At(u64),
    /// One coordinate per mode.
    Tuple(Vec<Coordinate>),
    /// `_`: every coordinate of a mode.
    All,
}

impl From<u64> for Coordinate {
    fn from(index: u64) -> Self {
        Self::At(index)
    }
}

impl<const N: usize> From<[u64; N]> for Coordinate {
    fn from(members: [u64; N]) -> Self {
        Self::Tuple(members.into_iter().map(Self::At).collect())
    }
}

impl fmt::Display for Coordinate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::At(index) => index.fmt(f),
            Self::All => f.write_str("_"),
            Self::Tuple(members) => write_tuple(f, members),
        }
    }
}

impl Layout {
    /// Returns the offset of a coordinate: `crd2idx(c, shape, stride)`.
    ///
    /// # Errors
    /// [`LayoutError::NotCompatible`] if the coordinate does not fit the shape.
    /// [`LayoutError::OutsideShape`] if it is outside of the shape.
    ///
    /// ```
    /// # use falchion_layout::Layout;
    /// let layout: Layout = "(2,4):(1,2)".parse()?;
    /// assert_eq!((layout.offset(5)?, layout.offset([1, 2])?), (5, 5));
    /// # Ok::<(), falchion_layout::LayoutError>(())
    /// ```
    pub fn offset(&self, coordinate: impl Into<Coordinate>) -> Result<u64, LayoutError> {
        self.offset_of(&coordinate.into())
    }

    fn offset_of(&self, coordinate: &Coordinate) -> Result<u64, LayoutError> {
        match (coordinate, &self.tree) {
            (Coordinate::At(index), _) => {
                let most = self.size() - 1;
                if *index > most {
                    return Err(LayoutError::OutsideShape {
                        index: *index,
                        shape: self.shape().to_string(),
                        most,
                    });
                }
                self.extended(*index)
            }
            (Coordinate::Tuple(members), Tree::Modes(modes)) if members.len() == modes.len() => {
                members
                    .iter()
                    .zip(modes)
                    .try_fold(0, |sum, (member, mode)| Ok(sum + mode.offset_of(member)?))
            }
            _ => Err(self.incompatible(coordinate)),
        }
    }

    fn incompatible(&self, coordinate: &Coordinate) -> LayoutError {
        LayoutError::NotCompatible {
            coordinate: coordinate.to_string(),
            shape: self.shape().to_string(),
        }
    }

    /// Returns the offset of an integer, which may exceed the size. Beyond the size, the last leaf
    /// continues without end. CuTe composes this extended function.
    ///
    /// # Errors
    /// [`LayoutError::Overflow`] if the offset exceeds 64 bits.
    pub fn extended(&self, index: u64) -> Result<u64, LayoutError> {
        let mut state = Some((index, 0u64, None::<Mode>));
        self.folded((), &mut |(), leaf| {
            state = state.and_then(|(rest, sum, before)| match before {
                None => Some((rest, sum, Some(leaf))),
                Some(Mode { extent, stride }) => {
                    let sum = (rest % extent.value)
                        .checked_mul(stride.value)
                        .and_then(|term| sum.checked_add(term))?;
                    Some((rest / extent.value, sum, Some(leaf)))
                }
            });
        });
        let end = |(rest, sum, last): (u64, u64, Option<Mode>)| {
            rest.checked_mul(last?.stride.value)?.checked_add(sum)
        };
        state.and_then(end).ok_or(LayoutError::Overflow { what: "an offset" })
    }

    /// Returns the coordinate of an integer, nested like the shape: `idx2crd(i, shape)`.
    ///
    /// # Errors
    /// [`LayoutError::OutsideShape`] if the integer is not below the size.
    ///
    /// ```
    /// # use falchion_layout::Layout;
    /// assert_eq!("(3,(2,3))".parse::<Layout>()?.coordinate(16)?.to_string(), "(1,(1,2))");
    /// # Ok::<(), falchion_layout::LayoutError>(())
    /// ```
    pub fn coordinate(&self, index: u64) -> Result<Coordinate, LayoutError> {
        fn walk(layout: &Layout, rest: &mut u64) -> Coordinate {
            match &layout.tree {
                Tree::Leaf(leaf) => {
                    let at = *rest % leaf.extent.value;
                    *rest /= leaf.extent.value;
                    Coordinate::At(at)
                }
                Tree::Modes(modes) => {
                    Coordinate::Tuple(modes.iter().map(|mode| walk(mode, rest)).collect())
                }
            }
        }
        let most = self.size() - 1;
        if index > most {
            return Err(LayoutError::OutsideShape { index, shape: self.shape().to_string(), most });
        }
        Ok(walk(self, &mut { index }))
    }

    /// `slice_and_offset`: returns the layout of the modes under `_`, and the offset of the rest of
    /// the coordinate. The layout is `None` without a `_`. Each `_` in a tuple becomes one mode, so
    /// a single one gives a tuple of rank 1.
    ///
    /// # Errors
    /// [`LayoutError::NotCompatible`] if the coordinate does not fit the shape.
    /// [`LayoutError::OutsideShape`] if it is outside of the shape.
    ///
    /// ```
    /// # use falchion_layout::{Coordinate, Layout};
    /// let column = Coordinate::Tuple(vec![Coordinate::All, Coordinate::At(3)]);
    /// let (slice, offset) = "(2,4):(1,2)".parse::<Layout>()?.slice(&column)?;
    /// assert_eq!((slice.map(|slice| slice.to_string()), offset), (Some("(2):(1)".into()), 6));
    /// # Ok::<(), falchion_layout::LayoutError>(())
    /// ```
    pub fn slice(&self, coordinate: &Coordinate) -> Result<(Option<Self>, u64), LayoutError> {
        let (kept, offset) = self.cut(coordinate)?;
        let layout = match (coordinate, kept.as_slice()) {
            (_, []) => None,
            (Coordinate::All, _) => Some(self.clone()),
            _ => Some(Self::join(kept)),
        };
        Ok((layout, offset))
    }

    /// Returns the modes under `_`, one tuple per nested coordinate, and the offset of the rest.
    fn cut(&self, coordinate: &Coordinate) -> Result<(Vec<Self>, u64), LayoutError> {
        match (coordinate, &self.tree) {
            (Coordinate::All, _) => Ok((vec![self.clone()], 0)),
            (Coordinate::At(_), _) => Ok((Vec::new(), self.offset_of(coordinate)?)),
            (Coordinate::Tuple(members), Tree::Modes(modes)) if members.len() == modes.len() => {
                let (mut kept, mut offset) = (Vec::new(), 0);
                for (member, mode) in members.iter().zip(modes) {
                    let (inner, more) = mode.cut(member)?;
                    offset += more;
                    kept.extend(inner);
                }
                Ok((kept, offset))
            }
            _ => Err(self.incompatible(coordinate)),
        }
    }
}
