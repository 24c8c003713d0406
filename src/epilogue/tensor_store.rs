//! From a warpgroup's accumulators to D, subtile by subtile.
//!
//! A subtile has the 64 rows of an instruction and as many columns as make 128 bytes of D, or 64,
//! or 32, whichever the consumer's columns are a whole number of. It passes through the epilogue
//! into a staging buffer, swizzled as TMA reads it, and from there to D: while one subtile is on
//! its way the next is made, and the last are on their way while the next tile is multiplied. C
//! comes the same way before: its subtile lands in the buffer that D's will leave, so each lane
//! finds C where it puts D.
//!
//! ```text
//! subtile = (row of instructions) * (subtiles side by side) + column of subtiles        buffer = subtile mod staging buffers
//! ```
//!
//! Of a column-major D a subtile is columns of those 64 rows: boxes side by side along M whose
//! lines are 128 bytes of a column. Where A comes from registers a thread has two neighbouring rows
//! of each of its columns, which one access stages together; where it does not, rows r and r + 8 of
//! neighbouring columns, as of a row-major D: elements of 16 bits are staged, and C's found, as
//! transposed matrices of 8 x 8, others one by one.
//!
//! Twin: `kernels/epilogue/tensor_store.cuh`.

mod staging;

pub use staging::{StagedMap, StagingMap};
