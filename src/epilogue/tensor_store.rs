//! Store of a warpgroup's accumulators to D by TMA, subtile by subtile.
//!
//! A subtile has the 64 rows of an instruction. Its columns make up 128, 64, or 32 bytes of D: the
//! largest that divides the consumer's columns. The epilogue writes a subtile to a staging buffer
//! with the swizzle of TMA, and TMA copies it to D. While one subtile is in flight, the next is
//! computed; the last ones are in flight while the next tile is multiplied. TMA copies C in the
//! same way: its subtile lands in the buffer of D's subtile, so each lane finds C at the offset
//! where it writes D.
//!
//! ```text
//! subtile = (row of instructions) * (subtiles side by side) + column of subtiles        buffer = subtile mod staging buffers
//! ```
//!
//! For a column-major D, a subtile consists of columns of those 64 rows: boxes side by side along
//! M, whose lines are 128 bytes of a column. If A comes from registers, a thread holds two
//! neighboring rows of each of its columns, and one access stages both. Otherwise, it holds rows r
//! and r + 8 of neighboring columns, as for a row-major D. Elements of 16 bits are then staged, and
//! those of C read, as transposed matrices of 8 x 8; others move one by one.
//!
//! Twin: `kernels/epilogue/tensor_store.cuh`.

mod reduction;
mod staging;

pub use staging::{StagedMap, StagingMap};
