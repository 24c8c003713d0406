//! Index maps: where things lie and who does what, as values under law.
//!
//! Every map of the library, from tile to shared memory, from thread to vector, from lane and register to coordinate, from
//! block to tile, is an [`IndexMap`]. So one set of [`laws`] tests them all, one function draws them, and one number, the
//! [`fingerprint`], says whether the CUDA twin is the same map: NVRTC evaluates the twin over the whole domain and compares.
//!
//! Twin: `kernels/index.cuh`.

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
        self.offsets.get(point.row as usize * self.domain.column as usize + point.column as usize).copied().flatten()
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
    points(map).fold(2_166_136_261, |hash, point| (hash ^ map.at(point).unwrap_or(LEFT_OUT)).wrapping_mul(16_777_619))
}

/// The map as rows of offsets, `.` where a point is left out.
pub fn draw(map: &dyn IndexMap) -> String {
    let extent = map.domain();
    let width = map.codomain().saturating_sub(1).to_string().len();
    let mut text = String::new();
    for row in 0..extent.row {
        for column in 0..extent.column {
            let cell = map.at(at(row, column)).map_or(".".to_owned(), |offset| offset.to_string());
            text.push_str(&format!("{}{cell:>width$}", if column == 0 { "" } else { " " }));
        }
        text.push('\n');
    }
    text
}

/// What every map of a kind has to satisfy.
pub mod laws {
    use super::{Coord, IndexMap, points};
    use core::fmt;

    /// A point at which a law does not hold.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub enum Violation {
        /// The map sends the point beyond its codomain.
        Outside {
            /// The point.
            point: Coord,
            /// Where it goes.
            offset: u32,
        },
        /// Two points go to one offset.
        Shared {
            /// The earlier point.
            first: Coord,
            /// The later point.
            second: Coord,
            /// The offset of both.
            offset: u32,
        },
        /// No point goes to the offset.
        Missed {
            /// The offset.
            offset: u32,
        },
        /// Neighbours along a row do not lie side by side.
        Apart {
            /// The first point of the vector.
            point: Coord,
        },
    }

    impl fmt::Display for Violation {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            match self {
                Self::Outside { point, offset } => write!(f, "({}, {}) goes outside, to {offset}", point.row, point.column),
                Self::Shared { first, second, offset } => {
                    write!(f, "({}, {}) and ({}, {}) both go to {offset}", first.row, first.column, second.row, second.column)
                }
                Self::Missed { offset } => write!(f, "nothing goes to {offset}"),
                Self::Apart { point } => write!(f, "the vector at ({}, {}) does not lie in one piece", point.row, point.column),
            }
        }
    }

    /// No two points share an offset, and every offset lies in the codomain.
    pub fn injective(map: &dyn IndexMap) -> Result<(), Violation> {
        preimages(map).map(|_| ())
    }

    /// Injective, and every offset of the codomain is reached: `|domain'| = |codomain|` for the points that are not left out.
    pub fn bijective(map: &dyn IndexMap) -> Result<(), Violation> {
        match preimages(map)?.iter().position(Option::is_none) {
            None => Ok(()),
            Some(offset) => Err(Violation::Missed { offset: offset as u32 }),
        }
    }

    /// Each run of `vector` neighbours along a row that starts at a multiple of `vector` lies at consecutive offsets, the
    /// first of them a multiple of `vector`.
    pub fn vectors_whole(map: &dyn IndexMap, vector: u32) -> Result<(), Violation> {
        let extent = map.domain();
        for point in points(map).filter(|point| point.column % vector == 0 && point.column + vector <= extent.column) {
            let first = map.at(point);
            let whole = first.is_none_or(|first| {
                first % vector == 0 && (1..vector).all(|i| map.at(super::at(point.row, point.column + i)) == Some(first + i))
            });
            if !whole {
                return Err(Violation::Apart { point });
            }
        }
        Ok(())
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
