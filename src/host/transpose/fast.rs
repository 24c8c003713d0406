//! The fast mode: strips of D side by side, each in blocks that stay in the cache.

use super::element::Rule;
use crate::{
    host::parallel::parallel_pieces,
    pass::transpose::{Strided, TransposeShapes},
};
use bytemuck::Pod;

/// Rows and columns of a block: its lines of A and of D stay in the first-level cache together.
const BLOCK: usize = 32;

/// Elements of a matrix below which a batch is shared out by matrices and not by strips.
const SMALL: usize = 1 << 16;

/// One batch of transposes.
pub(super) fn run<T: Pod + Send + Sync>(
    shapes: &TransposeShapes,
    a: &[T],
    b: Option<(&[T], Strided)>,
    d: &mut [T],
    rule: &impl Rule<T>,
) {
    let TransposeShapes { rows, columns, batch, .. } = *shapes;
    let (length, stride) = ((columns - 1) * shapes.d.leading + rows, shapes.d.stride);
    let of = |number: usize| One {
        rows,
        leading: [shapes.a.leading, b.map_or(0, |(_, b)| b.leading), shapes.d.leading],
        a: a.get(number * shapes.a.stride..).unwrap_or_default(),
        b: b.map(|(elements, b)| &elements[number * b.stride..]),
    };
    if batch > 1 && rows * columns < SMALL && stride >= length {
        let matrices = &mut d[..(batch - 1) * stride + length];
        parallel_pieces(matrices, stride, |number, d| of(number).strip(0, &mut d[..length], rule));
        return;
    }
    for number in 0..batch {
        let (one, d) = (of(number), &mut d[number * stride..][..length]);
        parallel_pieces(d, shapes.d.leading.saturating_mul(BLOCK), |strip, d| one.strip(strip * BLOCK, d, rule));
    }
}

/// One matrix of the batch.
struct One<'a, T> {
    rows: usize,
    /// Of A, B and D.
    leading: [usize; 3],
    a: &'a [T],
    /// Absent where B is D, or not read.
    b: Option<&'a [T]>,
}

impl<T: Pod> One<'_, T> {
    /// The rows of D that are in `d`, from row `first` on.
    fn strip(&self, first: usize, d: &mut [T], rule: &impl Rule<T>) {
        let [lda, ldb, ldd] = self.leading;
        for from in (0..self.rows).step_by(BLOCK) {
            let upto = self.rows.min(from + BLOCK);
            for (line, row) in d.chunks_mut(ldd).enumerate() {
                let column = first + line;
                for (i, element) in (from..upto).zip(&mut row[from..upto]) {
                    let old = *element;
                    let y = || self.b.map_or(old, |b| b[column * ldb + i]);
                    *element = rule.of(|| self.a[i * lda + column], y);
                }
            }
        }
    }
}
