//! Layouts as maps from rows and columns, for pictures and counts of bank conflicts.

use super::{Composed, Layout, LayoutError};

/// Layout of rank 1 or 2 as a map. Its first mode counts rows, and its second mode counts columns.
/// Both coordinates are integers, regardless of nesting.
///
/// ```
/// use falchion_layout::{Layout, Map};
/// let map = Map::new(&"(2,3):(3,1)".parse::<Layout>()?)?;
/// assert_eq!((map.extents, map.codomain, map.layout.offset(1)), ((2, 3), 6, Ok(3)));
/// # Ok::<(), falchion_layout::LayoutError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Map {
    /// Layout.
    pub layout: Composed,
    /// Number of rows and of columns.
    pub extents: (u32, u32),
    /// Upper bound of the offsets, exclusive.
    pub codomain: u32,
}

impl Map {
    /// Creates the map of a layout.
    ///
    /// # Errors
    /// [`LayoutError::Rank`] for a rank above 2. [`LayoutError::MapTooLarge`] if the size or the
    /// cosize exceeds 32 bits.
    pub fn new(layout: &Layout) -> Result<Self, LayoutError> {
        Self::from_layout(Composed::from(layout.clone()))
    }

    /// Creates the map of a composed layout.
    ///
    /// # Errors
    /// The errors of [`new`](Self::new).
    pub fn from_layout(layout: Composed) -> Result<Self, LayoutError> {
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
