//! A small block of a matrix, turned in one thread's registers.
//!
//! Elements of 4 and 8 bytes change names and nothing moves; of smaller ones, bytes of several
//! words are permuted into one, two instructions for each pair of words of the result or fewer.
//!
//! Twin: `kernels/thread/turn.cuh`. Source: `prmt`, PTX ISA, section "Data Movement and Conversion
//! Instructions".

/// Column `column` of a block of rows, `columns` elements each: its elements in order.
pub fn turned<T>(block: &[T], columns: usize, column: usize) -> impl Iterator<Item = &T> {
    block.iter().skip(column).step_by(columns.max(1))
}
