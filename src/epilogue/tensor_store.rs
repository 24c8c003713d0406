//! From a warpgroup's accumulators to D, subtile by subtile.
//!
//! A subtile has the 64 rows of an instruction and as many columns as make 128 bytes of D, or 64, or 32, whichever the consumer's
//! columns are a whole number of. It passes through the epilogue into a staging buffer, swizzled as TMA reads it, and from
//! there to D: while one subtile is on its way the next is made, and the last are on their way while the next tile is multiplied. C comes
//! the same way before: its subtile lands in the buffer that D's will leave, so each lane finds C where it puts D.
//!
//! ```text
//! subtile = (row of instructions) * (subtiles side by side) + column of subtiles        buffer = subtile mod staging buffers
//! ```
//!
//! Of a column-major D, which a kernel has whose A comes from registers, a subtile is columns of those 64 rows: boxes side by side along M whose
//! lines are 128 bytes of a column. A thread has two neighbouring rows of each of its columns.
//!
//! Twin: `kernels/epilogue/tensor_store.cuh`.

use crate::{
    index::{Coord, IndexMap, affine},
    layout::algebra::Composed,
    threadblock::{SwizzleMode, WarpSpecialized},
    warp::mma_warpgroup::ROWS,
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
        let (columns, row_bytes) = (components.subtile_columns, components.ring.staging_bytes / ROWS);
        // Where threads store there are no subtiles.
        let element_bytes = match row_bytes.checked_div(columns) {
            Some(bytes) => bytes,
            None => 0,
        };
        let box_rows = if components.layout_c.is_row() { None } else { Some(components.subtile_box_rows()) };
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
            Some(rows) => ((point.row / rows * self.columns + point.column) * rows + point.row % rows) * self.element_bytes,
        };
        inside.then(|| self.swizzle.apply(linear))
    }

    fn layout(&self) -> Option<Composed> {
        let (columns, bytes) = (self.columns, self.element_bytes);
        let modes = match self.box_rows {
            None => ([(ROWS, columns * bytes), (1, 0)], (columns, bytes)),
            Some(rows) => ([(rows, bytes), (ROWS / rows, columns * rows * bytes)], (columns, rows * bytes)),
        };
        affine(self.domain(), &modes.0, &[modes.1])?.swizzled(self.swizzle.of_elements(1)?).ok()
    }
}
