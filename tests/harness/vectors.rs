//! Law of maps whose offsets are accessed as vectors.

use crate::harness::prelude::*;
use std::fmt;

/// Vector that is not contiguous or not aligned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Apart {
    /// First point of the vector.
    pub point: Coord,
}

impl fmt::Display for Apart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the vector at ({}, {}) is not contiguous or not aligned",
            self.point.row, self.point.column
        )
    }
}

/// Checks each run of `vector` neighbors along a row that starts at a multiple of `vector`. It must
/// have consecutive offsets, and its first offset must be a multiple of `vector`.
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
