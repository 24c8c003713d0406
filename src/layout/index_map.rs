//! Index maps: values that map coordinates to offsets, with property tests.
//!
//! Every map of the library is an [`IndexMap`]: from tile to shared memory, from thread to vector,
//! from lane and register to coordinate, and from CTA to tile. One set of [`laws`] therefore tests
//! all maps, and one function draws them. The [`fingerprint`] proves that the CUDA twin is the same
//! map: NVRTC evaluates the twin over the whole domain and compares the hashes. A map that is
//! affine up to a swizzle states its CuTe [`layout`](IndexMap::layout).
//!
//! Twin: `kernels/layout/index_map.cuh`.

use crate::layout::algebra::{self, Composed, Int, Layout};
use std::sync::Arc;

/// A point of a map's domain. Each map defines the meaning of its rows and columns.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Coord {
    /// The slower index.
    pub row: u32,
    /// The faster index.
    pub column: u32,
}

/// Returns the point (`row`, `column`).
pub const fn at(row: u32, column: u32) -> Coord {
    Coord { row, column }
}

/// A map from a rectangle of points to offsets.
pub trait IndexMap: Send + Sync {
    /// Returns the size of the domain: rows and columns.
    fn domain(&self) -> Coord;
    /// Returns the size of the codomain. All offsets are smaller.
    fn codomain(&self) -> u32;
    /// Returns the offset of a point of the domain; `None` if the map leaves it out.
    fn at(&self, point: Coord) -> Option<u32>;
    /// Returns the map in CuTe's notation if it is affine up to a swizzle. The first mode counts
    /// rows, and the second mode counts columns. The map leaves out each point whose offset is
    /// outside of the codomain.
    fn layout(&self) -> Option<Composed> {
        None
    }
}

/// Returns the coalesced layout of a map over `domain`. Rows and columns are lists of modes
/// (extent, stride), the fastest first. `None` if the modes are shorter than the domain.
pub fn affine(domain: Coord, rows: &[(u32, u32)], columns: &[(u32, u32)]) -> Option<Composed> {
    let side = |extent: u32, modes: &[(u32, u32)]| {
        let size = modes.iter().map(|mode| u64::from(mode.0)).product::<u64>();
        let mode = |&(extent, stride): &(u32, u32)| {
            Layout::new(Int::fixed(extent.into()), Int::fixed(stride.into()))
        };
        let modes =
            modes.iter().map(mode).collect::<Result<Vec<_>, _>>().and_then(Layout::concat).ok()?;
        (size >= u64::from(extent)).then(|| modes.coalesce())
    };
    Layout::concat([side(domain.row, rows)?, side(domain.column, columns)?])
        .ok()
        .map(Composed::from)
}

impl IndexMap for algebra::Map {
    fn domain(&self) -> Coord {
        at(self.extents.0, self.extents.1)
    }

    fn codomain(&self) -> u32 {
        self.codomain
    }

    fn at(&self, point: Coord) -> Option<u32> {
        if point.row >= self.extents.0 || point.column >= self.extents.1 {
            return None;
        }
        let index = u64::from(point.row) + u64::from(point.column) * u64::from(self.extents.0);
        u32::try_from(self.layout.offset(index).ok()?).ok()
    }

    fn layout(&self) -> Option<Composed> {
        Some(self.layout.clone())
    }
}

/// A shared map of any type.
pub type Map = Arc<dyn IndexMap>;

/// A map as a table of its offsets.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tabled {
    domain: Coord,
    codomain: u32,
    offsets: Vec<Option<u32>>,
}

impl Tabled {
    /// Evaluates a map over its domain.
    pub fn new(map: &dyn IndexMap) -> Self {
        Self::by(map.domain(), map.codomain(), |point| map.at(point))
    }

    /// Evaluates a formula over a rectangle of points.
    pub fn by(domain: Coord, codomain: u32, formula: impl Fn(Coord) -> Option<u32>) -> Self {
        Self { domain, codomain, offsets: points_of(domain).map(formula).collect() }
    }
}

impl IndexMap for Tabled {
    fn domain(&self) -> Coord {
        self.domain
    }

    fn codomain(&self) -> u32 {
        self.codomain
    }

    /// Leaves out all points beyond the domain.
    fn at(&self, point: Coord) -> Option<u32> {
        if point.column >= self.domain.column {
            return None;
        }
        self.offsets
            .get(point.row as usize * self.domain.column as usize + point.column as usize)
            .copied()
            .flatten()
    }
}

/// Returns every point of a map's domain, row by row.
pub fn points(map: &dyn IndexMap) -> impl Iterator<Item = Coord> + use<> {
    points_of(map.domain())
}

fn points_of(extent: Coord) -> impl Iterator<Item = Coord> + use<> {
    (0..extent.row).flat_map(move |row| (0..extent.column).map(move |column| at(row, column)))
}

/// The value of a left-out point in a fingerprint. `kernels/layout/index_map.cuh` defines the same
/// number.
pub const LEFT_OUT: u32 = u32::MAX;

/// Returns the FNV-1a hash of the offsets of the whole domain, row by row.
pub fn fingerprint(map: &dyn IndexMap) -> u32 {
    points(map).fold(2_166_136_261, |hash, point| {
        (hash ^ map.at(point).unwrap_or(LEFT_OUT)).wrapping_mul(16_777_619)
    })
}

/// The properties of index maps.
pub mod laws {
    use super::{Coord, IndexMap, points};

    /// A point or an offset that violates a property.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
    pub enum Violation {
        /// The map sends the point outside of its codomain.
        #[error("({}, {}) goes outside, to {offset}", .point.row, .point.column)]
        Outside {
            /// The point.
            point: Coord,
            /// The offset of the point.
            offset: u32,
        },
        /// Two points have one offset.
        #[error("({}, {}) and ({}, {}) both go to {offset}", .first.row, .first.column, .second.row, .second.column)]
        Shared {
            /// The earlier point.
            first: Coord,
            /// The later point.
            second: Coord,
            /// The offset of both.
            offset: u32,
        },
        /// No point has the offset.
        #[error("nothing goes to {offset}")]
        Missed {
            /// The offset.
            offset: u32,
        },
    }

    /// Checks that no two points share an offset, and that every offset is in the codomain.
    pub fn injective(map: &dyn IndexMap) -> Result<(), Violation> {
        preimages(map).map(|_| ())
    }

    /// Checks that the map is injective and reaches every offset of the codomain. Left-out points
    /// do not count.
    pub fn bijective(map: &dyn IndexMap) -> Result<(), Violation> {
        match preimages(map)?.iter().position(Option::is_none) {
            None => Ok(()),
            Some(offset) => Err(Violation::Missed { offset: offset as u32 }),
        }
    }

    fn preimages(map: &dyn IndexMap) -> Result<Vec<Option<Coord>>, Violation> {
        let mut seen: Vec<Option<Coord>> = vec![None; map.codomain() as usize];
        for second in points(map) {
            let Some(offset) = map.at(second) else { continue };
            match seen.get_mut(offset as usize) {
                None => return Err(Violation::Outside { point: second, offset }),
                Some(slot) => {
                    if let Some(first) = slot.replace(second) {
                        return Err(Violation::Shared { first, second, offset });
                    }
                }
            }
        }
        Ok(seen)
    }
}
