//! Layouts as maps from rows and columns, so that one function draws them and one rule counts their
//! bank conflicts.

use super::{Composed, Layout, LayoutError};

/// A layout of rank 1 or 2 as a map: its first mode counts rows, its second columns; both as
/// integers, however they nest.
///
/// ```
/// use falchion_layout::{Layout, Map};
/// let map = Map::new(&"(2,3):(3,1)".parse::<Layout>()?)?;
/// assert_eq!((map.extents, map.codomain, map.layout.offset(1)), ((2, 3), 6, Ok(3)));
/// # Ok::<(), falchion_layout::LayoutError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Map {
    /// The layout.
    pub layout: Composed,
    /// Rows and columns.
    pub extents: (u32, u32),
    /// Offsets lie below this.
    pub codomain: u32,
}

impl Map {
    /// The map of a layout.
    ///
    /// # Errors
    /// A rank above 2; a size or cosize beyond 32 bits.
    pub fn new(layout: &Layout) -> Result<Self, LayoutError> {
        Self::of(Composed::from(layout.clone()))
    }

    /// The map of a composed layout.
    ///
    /// # Errors
    /// Those of [`new`](Self::new).
    pub fn of(layout: Composed) -> Result<Self, LayoutError> {
        let (rank, modes) = (layout.layout.rank(), layout.layout.modes());
        if rank > 2 {
            return Err(LayoutError::Rank {
                what: "a picture or a map",
                layout: layout.layout.to_string(),
                rank,
                wanted: 2,
            });
        }
        let narrow =
            |wide: u64| u32::try_from(wide).map_err(|_| LayoutError::MapTooLarge { value: wide });
        narrow(layout.layout.size())?;
        let extents = (narrow(modes[0].size())?, narrow(modes.get(1).map_or(1, Layout::size))?);
        let codomain = narrow(layout.cosize())?;
        Ok(Self { layout, extents, codomain })
    }
}
