//! A law of maps whose offsets are accessed as vectors.

use falchion::internals::index::{Coord, IndexMap, at, points};
use std::fmt;

/// A vector whose elements do not lie side by side, or that is not aligned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Apart {
    /// The first point of the vector.
    pub point: Coord,
}

impl fmt::Display for Apart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the vector at ({}, {}) does not lie in one piece",
            self.point.row, self.point.column
        )
    }
}

/// Each run of `vector` neighbours along a row that starts at a multiple of `vector` lies at
/// consecutive offsets, the first of them a multiple of `vector`.
pub fn vectors_whole(map: &dyn IndexMap, vector: u32) -> Result<(), Apart> {
    let extent = map.domain();
    for point in points(map)
        .filter(|point| point.column % vector == 0 && point.column + vector <= extent.column)
    {
        let first = map.at(point);
        let whole = first.is_none_or(|first| {
            first % vector == 0
                && (1..vector).all(|i| map.at(at(point.row, point.column + i)) == Some(first + i))
        });
        if !whole {
            return Err(Apart { point });
        }
    }
    Ok(())
}
