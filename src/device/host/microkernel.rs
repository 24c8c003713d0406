//! The product of two panels, vectorized: `sums += Aᵀ·B`, k by k, each sum a chain of fused multiply-adds in the order of k.

use crate::{numeric::Accumulator, sys::simd::Vectorized};

/// Rows of sums kept in registers.
const ROWS: usize = 8;

/// One product of panels.
pub(super) struct Product<'p, T> {
    /// K x rows, row by row of k.
    pub a: &'p [T],
    /// K x columns.
    pub b: &'p [T],
    /// Rows of the product.
    pub rows: usize,
    /// Columns of the product.
    pub columns: usize,
    /// Rows x columns.
    pub sums: &'p mut [T],
}

impl<T: Accumulator> Vectorized for Product<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        for row in (0..self.rows).step_by(ROWS) {
            let mut column = 0;
            // Two vectors of 64 bytes abreast while there is room, then less: widths of warp tiles are powers of two.
            let wide = 128 / size_of::<T>();
            while column < self.columns {
                match self.columns - column {
                    left if wide == 32 && left >= 32 => column += self.tile::<32>(row, column),
                    left if left >= 16 => column += self.tile::<16>(row, column),
                    _ => column += self.tile::<8>(row, column),
                }
            }
        }
    }
}

impl<T: Accumulator> Product<'_, T> {
    #[inline(always)]
    fn tile<const COLUMNS: usize>(&mut self, row: usize, column: usize) -> usize {
        let mut sums = [[T::default(); COLUMNS]; ROWS];
        for (i, line) in sums.iter_mut().enumerate() {
            let at = (row + i) * self.columns + column;
            line.copy_from_slice(&self.sums[at..at + COLUMNS]);
        }
        for (a, b) in self.a.chunks_exact(self.rows).zip(self.b.chunks_exact(self.columns)) {
            let (Ok(a), Ok(b)) =
                (<&[T; ROWS]>::try_from(&a[row..row + ROWS]), <&[T; COLUMNS]>::try_from(&b[column..column + COLUMNS]))
            else {
                continue;
            };
            for i in 0..ROWS {
                for j in 0..COLUMNS {
                    sums[i][j] = sums[i][j].mul_add(a[i], b[j]);
                }
            }
        }
        for (i, line) in sums.iter().enumerate() {
            let at = (row + i) * self.columns + column;
            self.sums[at..at + COLUMNS].copy_from_slice(line);
        }
        COLUMNS
    }
}
