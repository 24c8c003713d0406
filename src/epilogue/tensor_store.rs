//! From a warpgroup's accumulators to D, slice by slice.
//!
//! A slice has the 64 rows of an instruction and as many columns as make 128 bytes of D, or 64, or 32, whichever the consumer's
//! columns are a whole number of. It passes through the epilogue into a staging buffer, swizzled as the copy engine reads it, and from
//! there to D: while one slice is on its way the next is made, and the last are on their way while the next tile is multiplied. C comes
//! the same way before: its slice lands in the buffer that D's will leave, so each lane finds C where it puts D.
//!
//! ```text
//! slice = (row of instructions) * (slices side by side) + column of slices        buffer = slice mod staging buffers
//! ```
//!
//! Twin: `kernels/epilogue/tensor_store.cuh`.

use crate::{
    index::{Coord, IndexMap},
    threadblock::{TensorSwizzle, WarpSpecialized},
    warp::mma_warpgroup::ROWS,
};

/// The map (row, column) of a slice to an offset in its staging buffer, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StagingMap {
    columns: u32,
    row_bytes: u32,
    swizzle: TensorSwizzle,
}

impl StagingMap {
    /// That of a description's components.
    pub const fn of(components: &WarpSpecialized) -> Self {
        let columns = components.slice_columns;
        Self { columns, row_bytes: components.ring.staging_bytes / ROWS, swizzle: components.slice_swizzle }
    }

    /// Bytes of an element.
    pub const fn element_bytes(&self) -> u32 {
        self.row_bytes / self.columns
    }
}

impl IndexMap for StagingMap {
    fn domain(&self) -> Coord {
        Coord { row: ROWS, column: self.columns }
    }

    fn codomain(&self) -> u32 {
        ROWS * self.row_bytes
    }

    fn at(&self, point: Coord) -> Option<u32> {
        let inside = point.row < ROWS && point.column < self.columns;
        inside.then(|| self.swizzle.apply(point.row * self.row_bytes + point.column * self.element_bytes()))
    }
}
