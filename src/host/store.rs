//! Stores accumulators to D through the epilogue, row by row.

use super::{
    epilogue::{Buffers, Epilogue},
    operands::{Operands, Product},
    parallel::parallel_pieces,
};
use crate::{
    Error,
    numeric::{ComputeKind, Computed, ElementKind},
    operand::Source,
    shape::{EpilogueOperand, EpilogueOperands},
};
use core::ops::Range;

/// Number of columns from which on the epilogue evaluates the row so far. A row of this size stays
/// in the L1 cache.
const SPAN: usize = 512;

/// Rows of D per parallel piece.
const ROWS: usize = 8;

/// Largest size of D, in bytes, that is stored as one piece.
const FEW: usize = 1 << 15;

/// The accumulators of a batch of CTAs.
pub struct Blocks<'a> {
    /// The tile (row, column) of each CTA.
    pub tiles: &'a [(u32, u32)],
    /// Rows and columns of a tile.
    pub extents: (usize, usize),
    /// The accumulators of each CTA in row-major order, at the head of its piece.
    pub accumulators: &'a [u8],
    /// Elements per piece.
    pub piece: usize,
    /// Element type of the accumulators.
    pub kind: ElementKind,
}

impl Blocks<'_> {
    /// Stores the tiles. If a tile occurs twice, the later one overwrites the earlier one.
    ///
    /// # Errors
    /// The errors of [`Epilogue::new`].
    pub fn store(&self, product: &mut Product<'_>) -> Result<(), Error> {
        match product.operands.desc.output.compute {
            ComputeKind::F32 => self.rows::<f32>(product),
            ComputeKind::F64 => self.rows::<f64>(product),
            ComputeKind::I32 => self.rows::<i32>(product),
        }
    }

    /// Stores rows of D in parallel, computed in type `E`.
    fn rows<E: Computed>(&self, product: &mut Product<'_>) -> Result<(), Error> {
        let Product { operands, source, d } = product;
        let (desc, problem) = (operands.desc, &operands.problem);
        let mut order: Vec<usize> = (0..self.tiles.len()).collect();
        order.sort_by_key(|&block| self.tiles[block]);
        let [first, last] = [order.first(), order.last()]
            .map(|block| block.map_or(0, |&block| self.tiles[block].0 as usize));
        let (first, last) = (first * self.extents.0, problem.m.min((last + 1) * self.extents.0));
        let (epilogue, element) =
            (Epilogue::<E>::new(operands, self.kind)?, desc.output.element.bytes_of(1) as usize);
        // The leading dimension of a single row may be any number.
        let line = problem.d.strides[0].max(1).saturating_mul(element);
        let end = d.len().min(last.saturating_mul(line));
        let d = d.get_mut(first.saturating_mul(line)..end).unwrap_or_default();
        let span =
            Span { epilogue, element, operands, source: *source, ldc: problem.source().strides[0] };
        // Rows with few columns are evaluated together.
        let narrow = problem.n <= self.extents.1.min(SPAN / 2);
        let at_once = if narrow { SPAN / problem.n.max(1) } else { ROWS };
        let piece = if d.len() <= FEW { d.len() } else { line.saturating_mul(at_once) };
        parallel_pieces(d, piece, |number, rows| {
            let (mut buffers, first) = (Buffers::default(), first + number * at_once);
            if narrow {
                let mut gathered = GatheredRows::default();
                for (i, rows) in rows.chunks_mut(line.saturating_mul(at_once)).enumerate() {
                    let place = (first + i * at_once, line);
                    self.narrow(&span, &order, place, &mut gathered, &mut buffers, rows);
                }
                return;
            }
            for (i, d) in rows.chunks_mut(line).enumerate() {
                self.row(&span, &order, first + i, &mut buffers, d);
            }
        });
        Ok(())
    }

    /// Stores rows of a D that has one column of tiles. The first row is `first`, and rows are
    /// `line` bytes apart.
    fn narrow<E: Computed>(
        &self,
        span: &Span<'_, E>,
        order: &[usize],
        (first, line): (usize, usize),
        gathered: &mut GatheredRows,
        buffers: &mut Buffers<E>,
        d: &mut [u8],
    ) {
        let (tile_m, tile_n) = self.extents;
        let (n, bytes) = (span.operands.problem.n, self.kind.bytes_of(1) as usize);
        let columns = n / span.columns_per_output();
        let reads_operands = span.operands.epilogue.iter().next().is_some();
        let (mut of_strip, mut known) = (None, u32::MAX);
        gathered.clear();
        for (i, d) in d.chunks(line).enumerate() {
            let (row, strip) = (first + i, ((first + i) / tile_m) as u32);
            if strip != known {
                let behind = order.partition_point(|&block| self.tiles[block].0 <= strip);
                let last = order[..behind].last();
                (of_strip, known) = (last.filter(|&&block| self.tiles[block].0 == strip), strip);
            }
            let Some(block) = of_strip else { continue };
            let at = (block * self.piece + row % tile_m * tile_n) * bytes;
            gathered.accumulators.extend_from_slice(&self.accumulators[at..][..n * bytes]);
            if let Some(c) = span.source_of(row, 0..columns, d) {
                let source = gathered.operands.slot(EpilogueOperand::Source);
                source.get_or_insert_default().extend_from_slice(c);
            }
            if reads_operands {
                span.operands.beside((0, row, 0..columns), &mut gathered.operands);
            }
            gathered.rows.push(i);
        }
        let count = gathered.rows.len() * columns;
        gathered.results.resize(count * span.element, 0);
        span.epilogue.append(buffers, &gathered.accumulators, gathered.rows.len() * n);
        let operands = gathered.operands.as_ref().map(|_, bytes| bytes.as_slice());
        span.epilogue.read(buffers, &operands, count);
        span.epilogue.write(buffers, count, &mut gathered.results);
        span.epilogue.write_operands(buffers, span.operands, 0, |i| {
            (first + gathered.rows[i / columns], i % columns)
        });
        let results = gathered.results.chunks_exact((columns * span.element).max(1));
        for (&i, results) in gathered.rows.iter().zip(results) {
            if let Some(d) = d.get_mut(i * line..).and_then(|d| d.get_mut(..results.len())) {
                d.copy_from_slice(results);
            }
        }
    }

    /// Stores one row of D from all tiles that cover it.
    fn row<E: Computed>(
        &self,
        span: &Span<'_, E>,
        order: &[usize],
        row: usize,
        buffers: &mut Buffers<E>,
        d: &mut [u8],
    ) {
        let (tile_m, tile_n) = self.extents;
        let (strip, within) = ((row / tile_m) as u32, row % tile_m);
        let first = order.partition_point(|&block| self.tiles[block].0 < strip);
        let bytes = self.kind.bytes_of(1) as usize;
        let mut begin = 0;
        for &block in order[first..].iter().take_while(|&&block| self.tiles[block].0 == strip) {
            let column = self.tiles[block].1 as usize * tile_n;
            let known = buffers.accumulators.len();
            if begin + known != column || known >= SPAN {
                span.store(row, begin, buffers, d);
                begin = column;
            }
            let line = &self.accumulators[(block * self.piece + within * tile_n) * bytes..]
                [..tile_n * bytes];
            span.epilogue.append(buffers, line, tile_n);
        }
        span.store(row, begin, buffers, d);
    }
}

/// Consecutive bytes of several rows of D, and of the operands of their epilogue.
#[derive(Default)]
struct GatheredRows {
    accumulators: Vec<u8>,
    operands: EpilogueOperands<Vec<u8>>,
    results: Vec<u8>,
    /// Numbers of the rows.
    rows: Vec<usize>,
}

impl GatheredRows {
    fn clear(&mut self) {
        self.accumulators.clear();
        self.operands.iter_mut().for_each(|(_, bytes)| bytes.clear());
        self.rows.clear();
    }
}

/// The storing of contiguous columns of a row.
struct Span<'a, E> {
    epilogue: Epilogue<'a, E>,
    /// Bytes per element of C and D.
    element: usize,
    operands: &'a Operands<'a>,
    source: Source<&'a [u8]>,
    ldc: usize,
}

impl<E: Computed> Span<'_, E> {
    /// Returns the bytes of C for some columns of a row of D. `d` holds the bytes of D.
    fn source_of<'d>(&'d self, row: usize, columns: Range<usize>, d: &'d [u8]) -> Option<&'d [u8]> {
        let bytes = |first: usize| {
            (first + columns.start) * self.element..(first + columns.end) * self.element
        };
        match self.source {
            Source::None => None,
            Source::InPlace => d.get(bytes(0)),
            Source::Matrix(c) => c.get(bytes(row * self.ldc)),
        }
    }

    /// Returns the columns of B per column of D.
    const fn columns_per_output(&self) -> usize {
        self.operands.desc.epilogue.columns_per_output()
    }

    /// Stores the accumulators in `buffers`, which begin at column `column` of B, to row `row` of
    /// D. Clears the buffers.
    fn store(&self, row: usize, column: usize, buffers: &mut Buffers<E>, d: &mut [u8]) {
        let (each, n) = (self.columns_per_output(), self.operands.problem.n);
        let count = buffers.accumulators.len().min(n.saturating_sub(column)) / each;
        let column = column / each;
        let range = |first: usize| first * self.element..(first + count) * self.element;
        let c = self.source_of(row, column..column + count, d);
        let mut beside = EpilogueOperands::NONE;
        self.operands.beside((0, row, column..column + count), &mut beside);
        let mut operands = beside.as_ref().map(|_, bytes| bytes.as_slice());
        *operands.slot(EpilogueOperand::Source) = c;
        self.epilogue.read(buffers, &operands, count);
        match d.get_mut(range(column)) {
            Some(d) => self.epilogue.write(buffers, count, d),
            None => return buffers.accumulators.clear(),
        }
        self.epilogue.write_operands(buffers, self.operands, 0, |i| (row, column + i));
    }
}
