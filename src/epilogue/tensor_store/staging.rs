//! Layout of a subtile of D in its staging buffer, and each thread's part of it.
//!
//! Twin: `kernels/epilogue/tensor_store/staging.cuh`.

use crate::{
    layout::{
        algebra::Composed,
        index_map::{Coord, IndexMap, affine},
    },
    threadblock::{SwizzleMode, WarpSpecialized},
    warp::warpgroup::{FragmentRows, ROWS, THREADS},
};

/// Map from (row, column) of a subtile to an offset in its staging buffer, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StagingMap {
    columns: u32,
    element_bytes: u32,
    /// Rows per box for a column-major D.
    box_rows: Option<u32>,
    swizzle: SwizzleMode,
}

impl StagingMap {
    /// Returns the map of a main loop.
    pub const fn new(components: &WarpSpecialized) -> Self {
        let (columns, row_bytes) =
            (components.subtile_columns, components.ring.staging_bytes / ROWS);
        // If threads store D, subtiles do not exist.
        let element_bytes = match row_bytes.checked_div(columns) {
            Some(bytes) => bytes,
            None => 0,
        };
        let box_rows =
            if components.layout_c.is_row() { None } else { Some(components.subtile_box_rows()) };
        Self { columns, element_bytes, box_rows, swizzle: components.subtile_swizzle }
    }

    /// Returns the size of an element in bytes.
    pub const fn element_bytes(&self) -> u32 {
        self.element_bytes
    }
}

impl IndexMap for StagingMap {
    fn domain(&self) -> Coord {
        Coord { row: ROWS, column: self.columns }
    }

    fn codomain(&self) -> u32 {
        ROWS * self.columns * self.element_bytes
    }

    fn at(&self, point: Coord) -> Option<u32> {
        let inside = point.row < ROWS && point.column < self.columns;
        let linear = match self.box_rows {
            None => (point.row * self.columns + point.column) * self.element_bytes,
            Some(rows) => {
                ((point.row / rows * self.columns + point.column) * rows + point.row % rows)
                    * self.element_bytes
            }
        };
        inside.then(|| self.swizzle.apply(linear))
    }

    fn layout(&self) -> Option<Composed> {
        let (columns, bytes) = (self.columns, self.element_bytes);
        let modes = match self.box_rows {
            None => ([(ROWS, columns * bytes), (1, 0)], (columns, bytes)),
            Some(rows) => {
                ([(rows, bytes), (ROWS / rows, columns * rows * bytes)], (columns, rows * bytes))
            }
        };
        affine(self.domain(), &modes.0, &[modes.1])?.swizzled(self.swizzle.for_elements(1)?).ok()
    }
}

/// Map from (thread, accumulator of a subtile) to the offset of its element of D in the staging
/// buffer, in bytes. It composes the accumulator's row and column with the layout of the subtile.
/// Kernels compute it from the addresses of their accesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StagedMap {
    staging: StagingMap,
    rows: FragmentRows,
}

impl StagedMap {
    /// Returns the map of a main loop.
    pub const fn new(components: &WarpSpecialized) -> Self {
        Self { staging: StagingMap::new(components), rows: components.fragment_rows() }
    }
}

impl IndexMap for StagedMap {
    fn domain(&self) -> Coord {
        Coord { row: THREADS, column: ROWS * self.staging.columns / THREADS }
    }

    fn codomain(&self) -> u32 {
        self.staging.codomain()
    }

    fn at(&self, point: Coord) -> Option<u32> {
        let Coord { row: thread, column: i } = point;
        let place = Coord {
            row: self.rows.row(thread, i / 2 % 2),
            column: 2 * (thread % 4) + i % 2 + 8 * (i / 4),
        };
        self.staging.at(place).filter(|_| thread < THREADS)
    }

    /// Returns the layout of the staging buffer composed with the order of elements by threads.
    /// `None` for crossed rows, because a swizzle of the rows and the buffer's swizzle do not
    /// compose to one.
    fn layout(&self) -> Option<Composed> {
        let (next, lower) = self.rows.strides();
        let threads = [(4, 2 * ROWS), (8, next), (4, ROWS / 4)];
        let held = [(2, ROWS), (2, lower), (self.staging.columns / 8, 8 * ROWS)];
        let elements = affine(self.domain(), &threads, &held)
            .filter(|_| !matches!(self.rows, FragmentRows::Crossed))?;
        self.staging.layout()?.compose_by(&elements.layout.into()).ok()
    }
}
