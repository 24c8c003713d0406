//! From sums to D: the epilogue, along rows.

use super::run::{Problem, Typed};
use crate::{
    device::arguments::Source,
    epilogue::{EpilogueDesc, Rows, evaluate},
    numeric::{Combination, Element, Narrow, Widen},
};
use rayon::prelude::*;

/// What an element of C or D is in memory.
type Stored<T> = <<T as Combination>::C as Element>::Storage;

/// Columns that are evaluated at once, at least where there are so many: their rows stay in the first-level cache.
const SPAN: usize = 512;

/// What becomes of sums.
pub(super) struct Store<'a, T: Combination> {
    epilogue: &'a EpilogueDesc,
    problem: &'a Problem,
    /// Of the block's tile: rows and columns.
    tile: (usize, usize),
    source: Source<&'a [Stored<T>]>,
}

/// Room for a row, to be used again.
struct Buffers<T: Combination> {
    accumulators: Vec<T::Epilogue>,
    source: Vec<T::Epilogue>,
    rows: Rows<T::Epilogue>,
}

impl<T: Combination> Default for Buffers<T> {
    fn default() -> Self {
        Self { accumulators: Vec::new(), source: Vec::new(), rows: Rows::default() }
    }
}

impl<'a, T: Combination> Store<'a, T> {
    pub fn new(typed: &'a Typed<'_, T>, source: Source<&'a [Stored<T>]>) -> Self {
        let desc = typed.desc;
        let tile = (desc.threadblock.m as usize, desc.threadblock.n as usize);
        Self { epilogue: &desc.epilogue, problem: &typed.problem, tile, source }
    }

    /// Stores blocks, each at a tile (row, column) and with its sums at the head of a piece of `sums`; a later one overwrites an
    /// earlier one. Rows of D are stored side by side.
    pub fn blocks(&self, tiles: &[(u32, u32)], sums: &[T::Accumulator], piece: usize, d: &mut [Stored<T>]) {
        let (m, (tile_m, tile_n)) = (self.problem.m, self.tile);
        let mut order: Vec<usize> = (0..tiles.len()).collect();
        order.sort_by_key(|&block| tiles[block]);
        let [first, last] = [order.first(), order.last()].map(|block| block.map_or(0, |&block| tiles[block].0 as usize));
        let rows = d.par_chunks_mut(self.problem.ldd.max(1)).enumerate().take(m.min((last + 1) * tile_m)).skip(first * tile_m);
        let rows = rows.with_min_len(8);
        rows.for_each_init(Buffers::default, |buffers, (row, d)| {
            let (strip, within) = ((row / tile_m) as u32, row % tile_m);
            let first = order.partition_point(|&block| tiles[block].0 < strip);
            let mut begin = 0;
            for &block in order[first..].iter().take_while(|&&block| tiles[block].0 == strip) {
                let column = tiles[block].1 as usize * tile_n;
                if begin + buffers.accumulators.len() != column || buffers.accumulators.len() >= SPAN {
                    self.span(row, begin, buffers, d);
                    begin = column;
                }
                let line = &sums[block * piece + within * tile_n..][..tile_n];
                buffers.accumulators.extend(line.iter().map(|&x| Widen::<T::Epilogue>::widen(x)));
            }
            self.span(row, begin, buffers, d);
        });
    }

    /// Stores the accumulators in `buffers`, which begin at `column`, to row `row` of D; and forgets them.
    fn span(&self, row: usize, column: usize, buffers: &mut Buffers<T>, d: &mut [Stored<T>]) {
        let columns = buffers.accumulators.len().min(self.problem.n.saturating_sub(column));
        let c = match self.source {
            Source::None => &[][..],
            Source::InPlace => d.get(column..column + columns).unwrap_or_default(),
            Source::Matrix(c) => {
                let at = row * self.problem.ldc + column;
                c.get(at..at + columns).unwrap_or_default()
            }
        };
        buffers.source.clear();
        buffers.source.extend(c.iter().map(|&x| Widen::<T::Epilogue>::widen(x)));
        let Buffers { accumulators, source, rows } = buffers;
        let results = evaluate(self.epilogue, &self.problem.scalars, &accumulators[..columns], source, rows);
        if let Some(to) = d.get_mut(column..column + columns) {
            to.iter_mut().zip(results).for_each(|(to, &x)| *to = Narrow::<Stored<T>>::narrow(x));
        }
        accumulators.clear();
    }
}
