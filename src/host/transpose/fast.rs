//! Computes strips of D in parallel, each in blocks that fit into the
//! cache.

use super::element::Elementwise;
use crate::{
    host::parallel::parallel_pieces,
    layout::Order,
    operand::{Problem, Source, View},
};
use bytemuck::Pod;

/// Rows and columns of a block. Its lines of A and of D fit into the L1 cache together.
const BLOCK: usize = 32;

/// Elements of a matrix below which the threads divide a batch by matrices instead of by strips.
const SMALL: usize = 1 << 16;

/// Runs all transposes of a batch.
pub(super) fn run<T: Pod + Send + Sync>(
    problem: &Problem,
    a: View<&[T]>,
    c: Source<View<&[T]>>,
    d: &mut [T],
    rule: &impl Elementwise<T>,
) {
    let Problem { m: columns, n: rows, batch, .. } = *problem;
    let (ldd, stride) = (problem.d.leading(Order::Row), problem.d.batch_stride);
    let length = (columns - 1) * ldd + rows;
    let of = |number: usize| One {
        rows,
        ldd,
        a: numbered(&a, number),
        c: c.map(|c| numbered(&c, number)),
    };
    if batch > 1 && rows * columns < SMALL && stride >= length {
        let matrices = &mut d[..(batch - 1) * stride + length];
        parallel_pieces(matrices, stride, |number, d| of(number).strip(0, &mut d[..length], rule));
        return;
    }
    for number in 0..batch {
        let (one, d) = (of(number), &mut d[number * stride..][..length]);
        parallel_pieces(d, ldd.saturating_mul(BLOCK), |strip, d| one.strip(strip * BLOCK, d, rule));
    }
}

/// Returns matrix `number` of a batch. The slice is empty if the memory ends before it, because a
/// matrix that is not read may be missing.
fn numbered<'a, T>(batch: &View<&'a [T]>, number: usize) -> View<&'a [T]> {
    batch.with(batch.memory.get(number.saturating_mul(batch.batch_stride)..).unwrap_or_default())
}

/// One matrix of the batch.
struct One<'a, T> {
    rows: usize,
    ldd: usize,
    a: View<&'a [T]>,
    c: Source<View<&'a [T]>>,
}

impl<T: Pod> One<'_, T> {
    /// Computes the rows of D in `d`, which begin with row `first`.
    fn strip(&self, first: usize, d: &mut [T], rule: &impl Elementwise<T>) {
        for from in (0..self.rows).step_by(BLOCK) {
            let upto = self.rows.min(from + BLOCK);
            for (line, row) in d.chunks_mut(self.ldd).enumerate() {
                let column = first + line;
                for (i, element) in (from..upto).zip(&mut row[from..upto]) {
                    let old = *element;
                    let y = || self.c.matrix().map_or(old, |c| c.memory[c.offset(column, i)]);
                    *element = rule.apply(|| self.a.memory[self.a.offset(column, i)], y);
                }
            }
        }
    }
}
