//! The fast mode: strips of D side by side, each in blocks that stay in the cache.

use super::element::Rule;
use crate::{
    call::{Source, View},
    host::parallel::parallel_pieces,
    layout::Order,
    pass::transpose::TransposeCall,
};
use bytemuck::Pod;

/// Rows and columns of a block: its lines of A and of D stay in the first-level cache together.
const BLOCK: usize = 32;

/// Elements of a matrix below which a batch is shared out by matrices and not by strips.
const SMALL: usize = 1 << 16;

/// One batch of transposes, of which there are some.
pub(super) fn run<T: Pod + Send + Sync>(call: TransposeCall<&[T], &mut [T]>, rule: &impl Rule<T>) {
    let TransposeCall { rows, columns, batch, a, b, d, .. } = call;
    let (ldd, stride, d) = (d.leading(Order::Row), d.batch_stride, d.memory);
    let length = (columns - 1) * ldd + rows;
    let of = |number: usize| One {
        rows,
        ldd,
        a: numbered(&a, number),
        b: b.map(|b| numbered(&b, number)),
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

/// A matrix of a batch; nothing of one that is not read, and so need not be there.
fn numbered<'a, T>(batch: &View<&'a [T]>, number: usize) -> View<&'a [T]> {
    batch.with(batch.memory.get(number.saturating_mul(batch.batch_stride)..).unwrap_or_default())
}

/// One matrix of the batch.
struct One<'a, T> {
    rows: usize,
    ldd: usize,
    a: View<&'a [T]>,
    b: Source<View<&'a [T]>>,
}

impl<T: Pod> One<'_, T> {
    /// The rows of D that are in `d`, from row `first` on.
    fn strip(&self, first: usize, d: &mut [T], rule: &impl Rule<T>) {
        for from in (0..self.rows).step_by(BLOCK) {
            let upto = self.rows.min(from + BLOCK);
            for (line, row) in d.chunks_mut(self.ldd).enumerate() {
                let column = first + line;
                for (i, element) in (from..upto).zip(&mut row[from..upto]) {
                    let old = *element;
                    let y = || self.b.matrix().map_or(old, |b| b.memory[b.offset(column, i)]);
                    *element = rule.of(|| self.a.memory[self.a.offset(i, column)], y);
                }
            }
        }
    }
}
