//! The product of two panels, vectorized: `accumulators += A·B`, k by k, each sum a chain of fused
//! multiply-adds in the order of k.
//!
//! A panel is packed in [`Sections`] of slots: one section after the other, and within a section k
//! by k, so that what a microkernel reads lies in one piece.

use crate::{
    numeric::Accumulator,
    sys::{
        fma::PanelSection,
        simd::{Vectorized, vector_bytes},
    },
};

pub(super) use crate::sys::fma::ROWS;

/// Columns of accumulators kept in registers: two vectors. With 32 registers there are 8 rows of
/// them, with 16 there are 4, so that a step of K loads 6 vectors for 8 multiply-adds.
pub(super) fn register_columns<T>() -> usize {
    (2 * vector_bytes() / size_of::<T>()).clamp(LEAST, MOST)
}

/// Rows of accumulators kept in registers, of so many bytes each: two vectors of AVX2 fill half of
/// its registers with four.
const fn register_rows(bytes: usize) -> usize {
    if bytes == 64 { ROWS / 2 } else { ROWS }
}

/// The narrowest and the widest section of columns that there is a microkernel for.
const LEAST: usize = 4;
const MOST: usize = 32;

/// The slots of a panel, cut into pieces: as wide as is allowed while there are so many left, then
/// narrower.
#[derive(Clone)]
pub(super) struct Sections {
    next: usize,
    slots: usize,
    widest: usize,
}

impl Sections {
    /// Of `slots` slots, a multiple of 8; `widest` is a power of two, at least 4.
    #[inline(always)]
    pub fn of(slots: usize, widest: usize) -> Self {
        Self { next: 0, slots, widest }
    }
}

impl Iterator for Sections {
    /// First slot, and number of slots.
    type Item = (usize, usize);

    #[inline(always)]
    fn next(&mut self) -> Option<(usize, usize)> {
        let (first, left) = (self.next, self.slots - self.next);
        while self.widest > left {
            self.widest /= 2;
        }
        self.next += self.widest;
        (left > 0).then_some((first, self.widest))
    }
}

/// One product of panels.
pub(super) struct Product<'p, T> {
    /// K x rows, in sections of [`ROWS`].
    pub a: &'p [T],
    /// K x columns, in sections of [`register_columns`].
    pub b: &'p [T],
    /// Rows of the product.
    pub rows: usize,
    /// Columns of the product.
    pub columns: usize,
    /// Columns of the widest section of B.
    pub widest: usize,
    /// Products that are added at once, where the numbers say that it matters which.
    pub step: usize,
    /// Rows x columns.
    pub accumulators: &'p mut [T],
}

impl<T: Accumulator> Vectorized for Product<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        for (column, width) in Sections::of(self.columns, self.widest) {
            match width {
                32 => self.section::<32>(column),
                16 => self.section::<16>(column),
                8 => self.section::<8>(column),
                _ => self.section::<4>(column),
            }
        }
    }
}

/// A block of code for each number: indices of registers have to be constants.
macro_rules! each {
    ($i:ident in [$($number:literal)*] $code:block) => {
        $({
            const $i: usize = $number;
            $code
        })*
    };
}

impl<T: Accumulator> Product<'_, T> {
    #[inline(always)]
    fn section<const COLUMNS: usize>(&mut self, column: usize) {
        let depth = self.a.len() / self.rows;
        let b = &self.b[column * depth..][..COLUMNS * depth];
        for (row, a) in (0..self.rows).step_by(ROWS).zip(self.a.chunks_exact(ROWS * depth)) {
            let mut section = PanelSection {
                a,
                b,
                columns: COLUMNS,
                accumulators: &mut self.accumulators[row * self.columns + column..],
                pitch: self.columns,
            };
            if T::multiply_section(&mut section) {
                continue;
            }
            each!(PART in [0 1] {
                let rows = const { register_rows(COLUMNS * size_of::<T>()) };
                if PART * rows < ROWS {
                    let accumulators = &mut self.accumulators[(row + PART * rows) * self.columns + column..];
                    if T::IN_STEPS {
                        for (a, b) in a.chunks(ROWS * self.step).zip(b.chunks(COLUMNS * self.step)) {
                            tile::<T, COLUMNS, PART>(a, b, accumulators, self.columns);
                        }
                    } else {
                        tile::<T, COLUMNS, PART>(a, b, accumulators, self.columns);
                    }
                }
            });
        }
    }
}

/// Some rows of `COLUMNS` accumulators, the first of them at `accumulators[0]`: all of each eight
/// of A, or a half. Where it matters what is added at once, all of it is.
#[inline(always)]
fn tile<T: Accumulator, const COLUMNS: usize, const PART: usize>(
    a: &[T],
    b: &[T],
    accumulators: &mut [T],
    columns: usize,
) {
    let rows = const { register_rows(COLUMNS * size_of::<T>()) };
    // Copied one by one: what checks that slices do not overlap takes their addresses, and keeps
    // them in memory.
    let mut registers = [[T::default(); COLUMNS]; ROWS];
    each!(I in [0 1 2 3 4 5 6 7] {
        if I < rows && !T::IN_STEPS {
            let sums = &accumulators[I * columns..][..COLUMNS];
            registers[I].iter_mut().zip(sums).for_each(|(register, sum)| *register = *sum);
        }
    });
    for (a, b) in a.as_chunks::<ROWS>().0.iter().zip(b.as_chunks::<COLUMNS>().0) {
        each!(I in [0 1 2 3 4 5 6 7] {
            if I < rows {
                registers[I] = row(registers[I], a[(PART * rows + I) % ROWS], b);
            }
        });
    }
    each!(I in [0 1 2 3 4 5 6 7] {
        if I < rows {
            let sums = &mut accumulators[I * columns..][..COLUMNS];
            if T::IN_STEPS {
                sums.iter_mut().zip(registers[I]).for_each(|(sum, of_step)| *sum = sum.plus(of_step));
            } else {
                sums.iter_mut().zip(&registers[I]).for_each(|(sum, register)| *sum = *register);
            }
        }
    });
}

#[inline(always)]
fn row<T: Accumulator, const COLUMNS: usize>(
    mut accumulators: [T; COLUMNS],
    a: T,
    b: &[T; COLUMNS],
) -> [T; COLUMNS] {
    for (sum, b) in accumulators.iter_mut().zip(b) {
        *sum = sum.mul_add(a, *b);
    }
    accumulators
}
