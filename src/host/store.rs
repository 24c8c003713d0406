//! Stores accumulators to D through the epilogue, row by row.

use super::{
    epilogue::{Buffers, Epilogue},
    operands::{Operands, Product},
    parallel::parallel_pieces,
};
use crate::{
    call::Source,
    epilogue::Beside,
    error::Error,
    numeric::{ComputeKind, Computed, ElementKind},
    operand::Vectors,
};

/// Number of columns from which on the epilogue evaluates the row so far. A row of this size stays
/// in the L1 cache.
const SPAN: usize = 512;

/// Rows of D per parallel piece.
const ROWS: usize = 8;

/// Largest size of D, in bytes, that is stored as one piece.
const FEW: usize = 1 << 15;

/// The accumulators of a batch of CTAs.
pub(super) struct Blocks<'a> {
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
    /// The errors of [`Epilogue::of`].
    pub fn store(&self, product: &mut Product<'_>) -> Result<(), Error> {
        match product.operands.class.compute {
            ComputeKind::F32 => self.rows::<f32>(product),
            ComputeKind::F64 => self.rows::<f64>(product),
            ComputeKind::I32 => self.rows::<i32>(product),
        }
    }

    /// Stores rows of D in parallel, computed in type `E`.
    fn rows<E: Computed>(&self, product: &mut Product<'_>) -> Result<(), Error> {
        let Product { operands, source, d } = product;
        let (class, problem) = (operands.class, &operands.problem);
        let mut order: Vec<usize> = (0..self.tiles.len()).collect();
        order.sort_by_key(|&block| self.tiles[block]);
        let [first, last] = [order.first(), order.last()]
            .map(|block| block.map_or(0, |&block| self.tiles[block].0 as usize));
        let (first, last) = (first * self.extents.0, problem.m.min((last + 1) * self.extents.0));
        let (epilogue, element) =
            (Epilogue::<E>::of(operands, self.kind)?, class.output.element.bytes_of(1) as usize);
        // The leading dimension of a single row may be any number.
        let line = problem.d.strides[0].max(1).saturating_mul(element);
        let end = d.len().min(last.saturating_mul(line));
        let d = d.get_mut(first.saturating_mul(line)..end).unwrap_or_default();
        let span =
            Span { epilogue, element, operands, source: *source, ldc: problem.source().strides[0] };
        let piece = if d.len() <= FEW { d.len() } else { line.saturating_mul(ROWS) };
        parallel_pieces(d, piece, |number, rows| {
            let mut buffers = Buffers::default();
            for (i, d) in rows.chunks_mut(line).enumerate() {
                self.row(&span, &order, first + number * ROWS + i, &mut buffers, d);
            }
        });
        Ok(())
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
    /// Stores the accumulators in `buffers`, which begin at `column`, to row `row` of D. Clears the
    /// buffers.
    fn store(&self, row: usize, column: usize, buffers: &mut Buffers<E>, d: &mut [u8]) {
        let count = buffers.accumulators.len().min(self.operands.problem.n.saturating_sub(column));
        let range = |first: usize| first * self.element..(first + count) * self.element;
        let c = match self.source {
            Source::None => None,
            Source::InPlace => d.get(range(column)),
            Source::Matrix(c) => c.get(range(row * self.ldc + column)),
        };
        let mut vectors = Vectors::NONE;
        self.operands.beside(row, column..column + count, &mut vectors);
        self.epilogue.read(
            buffers,
            &Beside { source: c, vectors: vectors.as_ref().map(|_, vector| vector.as_slice()) },
            count,
        );
        match d.get_mut(range(column)) {
            Some(d) => self.epilogue.write(buffers, count, d),
            None => buffers.accumulators.clear(),
        }
    }
}
