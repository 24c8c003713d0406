//! Transpose of a small block of a matrix in one thread's registers.
//!
//! For elements of 4 and 8 bytes, the transpose only renames registers. For smaller elements,
//! `prmt` permutes bytes of several words into one. Each pair of result words needs at most two
//! instructions.
//!
//! Twin: `kernels/thread/transpose.cuh`. Source: `prmt`, PTX ISA, section "Data Movement and
//! Conversion Instructions".

/// Yields the elements of column `column` of a block whose rows have `columns` elements each.
pub fn take_column<T>(block: &[T], columns: usize, column: usize) -> impl Iterator<Item = &T> {
    block.iter().skip(column).step_by(columns.max(1))
}
