//! Index maps: where things lie and who does what, as values under law.
//!
//! Every map of the library, from tile to shared memory, from thread to vector, from lane and
//! register to coordinate, from block to tile, is an [`IndexMap`]. So one set of [`laws`] tests
//! them all, one picture draws them, and one number, the [`fingerprint`], says whether the CUDA
//! twin is the same map: NVRTC evaluates the twin over the whole domain and compares. A map that is
//! affine up to a swizzle states its CuTe [`layout`](IndexMap::layout).
//!
//! Twin: `kernels/index.cuh`.

use crate::layout::algebra::{self, Composed, Int, Layout};
use std::sync::Arc;

/// A point of a map's domain. What rows and columns are, each map says.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Coord {
    /// The slower index.
    pub row: u32,
    /// The faster index.
    pub column: u32,
}

/// A point.
pub const fn at(row: u32, column: u32) -> Coord {
    Coord { row, column }
}

/// A map from a rectangle of points to offsets.
pub trait IndexMap: Send + Sync {
    /// The rectangle: rows and columns.
    fn domain(&self) -> Coord;
    /// Offsets lie below this.
    fn codomain(&self) -> u32;
    /// Where a point of the domain goes; `None` when the map leaves it out.
    fn at(&self, point: Coord) -> Option<u32>;
    /// The map in CuTe's notation, where it is affine up to a swizzle: the first mode counts rows,
    /// the second columns. A point whose offset is not below the codomain is one that the map
    /// leaves out.
    fn layout(&self) -> Option<Composed> {
        None
    }
}

/// The layout of a map over `domain`: of its rows and of its columns the modes (extent, stride),
/// the fastest first, coalesced. `None` where they end before the domain does.
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

/// A map of any kind, shared.
pub type Map = Arc<dyn IndexMap>;

/// A map, evaluated once: its offsets as a table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Tabled {
    domain: Coord,
    codomain: u32,
    offsets: Vec<Option<u32>>,
}

impl Tabled {
    /// The table of a map.
    pub fn of(map: &dyn IndexMap) -> Self {
        Self::by(map.domain(), map.codomain(), |point| map.at(point))
    }

    /// The table of a formula over a rectangle of points.
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

    /// Beyond the domain, points are left out.
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

/// Every point of a map, row by row.
pub fn points(map: &dyn IndexMap) -> impl Iterator<Item = Coord> + use<> {
    points_of(map.domain())
}

fn points_of(extent: Coord) -> impl Iterator<Item = Coord> + use<> {
    (0..extent.row).flat_map(move |row| (0..extent.column).map(move |column| at(row, column)))
}

/// What a left-out point counts as in a fingerprint. `kernels/index.cuh` spells the same number.
pub const LEFT_OUT: u32 = u32::MAX;

/// FNV-1a over the offsets of the whole domain, row by row.
pub fn fingerprint(map: &dyn IndexMap) -> u32 {
    points(map).fold(2_166_136_261, |hash, point| {
        (hash ^ map.at(point).unwrap_or(LEFT_OUT)).wrapping_mul(16_777_619)
    })
}

/// What every map of a kind has to satisfy.
pub mod laws {
    use super::{Coord, IndexMap, points};

    /// A point at which a law does not hold.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
    pub enum Violation {
        /// The map sends the point beyond its codomain.
        #[error("({}, {}) goes outside, to {offset}", .point.row, .point.column)]
        Outside {
            /// The point.
            point: Coord,
            /// Where it goes.
            offset: u32,
        },
        /// Two points go to one offset.
        #[error("({}, {}) and ({}, {}) both go to {offset}", .first.row, .first.column, .second.row, .second.column)]
        Shared {
            /// The earlier point.
            first: Coord,
            /// The later point.
            second: Coord,
            /// The offset of both.
            offset: u32,
        },
        /// No point goes to the offset.
        #[error("nothing goes to {offset}")]
        Missed {
            /// The offset.
            offset: u32,
        },
    }

    /// No two points share an offset, and every offset lies in the codomain.
    pub fn injective(map: &dyn IndexMap) -> Result<(), Violation> {
        preimages(map).map(|_| ())
    }

    /// Injective, and every offset of the codomain is reached: `|domain'| = |codomain|` for the
    /// points that are not left out.
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
