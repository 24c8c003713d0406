//! Where a subtile of D lies in its staging buffer, and where each thread's part of it lies.
//!
//! Twin: `kernels/epilogue/tensor_store/staging.cuh`.

use crate::{
    index::{Coord, IndexMap, affine},
    layout::algebra::Composed,
    threadblock::{SwizzleMode, WarpSpecialized},
    warp::mma_warpgroup::{FragmentRows, ROWS, THREADS},
};

/// The map (row, column) of a subtile to an offset in its staging buffer, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StagingMap {
    columns: u32,
    element_bytes: u32,
    /// Rows of a box, of a column-major D.
    box_rows: Option<u32>,
    swizzle: SwizzleMode,
}

impl StagingMap {
    /// That of a description's components.
    pub const fn of(components: &WarpSpecialized) -> Self {
        let (columns, row_bytes) =
            (components.subtile_columns, components.ring.staging_bytes / ROWS);
        // Where threads store there are no subtiles.
        let element_bytes = match row_bytes.checked_div(columns) {
            Some(bytes) => bytes,
            None => 0,
        };
        let box_rows =
            if components.layout_c.is_row() { None } else { Some(components.subtile_box_rows()) };
        Self { columns, element_bytes, box_rows, swizzle: components.subtile_swizzle }
    }

    /// Bytes of an element.
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
        affine(self.domain(), &modes.0, &[modes.1])?.swizzled(self.swizzle.of_elements(1)?).ok()
    }
}

/// The map (thread, accumulator of a subtile) to the byte of the staging buffer at which its
/// element of D lies: the accumulator's row and column, and where the subtile has them. Kernels
/// compute it by the addresses of their accesses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StagedMap {
    staging: StagingMap,
    rows: FragmentRows,
}

impl StagedMap {
    /// That of a description's components.
    pub const fn of(components: &WarpSpecialized) -> Self {
        Self { staging: StagingMap::of(components), rows: components.fragment_rows() }
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

    /// The staging's layout after that of its elements by threads. Crossed rows are behind a
    /// swizzle of their own, and two swizzles are none.
    fn layout(&self) -> Option<Composed> {
        let (next, lower) = self.rows.strides();
        let threads = [(4, 2 * ROWS), (8, next), (4, ROWS / 4)];
        let held = [(2, ROWS), (2, lower), (self.staging.columns / 8, 8 * ROWS)];
        let elements = affine(self.domain(), &threads, &held)
            .filter(|_| !matches!(self.rows, FragmentRows::Crossed))?;
        self.staging.layout()?.compose_by(&elements.layout.into()).ok()
    }
}
