//! The vectorized product of two panels: `accumulators += A·B`, k by k. Each sum is a chain of
//! fused multiply-adds in ascending k.
//!
//! A panel is packed in [`Sections`] of slots: section after section, and k by k within a section.
//! A microkernel therefore reads contiguous memory.

use crate::{
    numeric::Accumulator,
    sys::{
        fma::PanelSection,
        simd::{Vectorized, vector_bytes},
    },
};

pub(in crate::host) use crate::sys::fma::ROWS;

/// Returns the columns of accumulators in registers: two vectors. With 32 vector registers, 8 rows
/// are in registers; with 16, 4 rows. With 4 rows, a k-step loads 6 vectors for 8 multiply-adds.
pub(in crate::host) fn register_columns<T>() -> usize {
    (2 * vector_bytes() / size_of::<T>()).clamp(LEAST, MOST)
}

/// Returns the rows of accumulators in registers, for rows of `bytes` bytes. With AVX2, 4 rows of
/// two vectors fill half of the 16 registers.
const fn register_rows(bytes: usize) -> usize {
    if bytes == 64 { ROWS / 2 } else { ROWS }
}

/// Columns of the narrowest and of the widest section that has a microkernel.
const LEAST: usize = 4;
const MOST: usize = 32;

/// Iterates over sections of a panel's slots. Each section is the widest power of two that fits
/// into the remaining slots, up to `widest`.
#[derive(Clone)]
pub(in crate::host) struct Sections {
    next: usize,
    slots: usize,
    widest: usize,
}

impl Sections {
    /// Starts at slot 0. `slots` is a multiple of 8, and `widest` is a power of two of at least 4.
    #[inline(always)]
    pub fn new(slots: usize, widest: usize) -> Self {
        Self { next: 0, slots, widest }
    }
}

impl Iterator for Sections {
    /// First slot of the section, and its number of slots.
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

/// The product of a panel of A and a panel of B.
pub(in crate::host) struct Product<'p, T> {
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
    /// Number of k per instruction, if [`Accumulator::IN_STEPS`] is set.
    pub step: usize,
    /// Rows x columns.
    pub accumulators: &'p mut [T],
}

impl<T: Accumulator> Vectorized for Product<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        for (column, width) in Sections::new(self.columns, self.widest) {
            match width {
                32 => self.section::<32>(column),
                16 => self.section::<16>(column),
                8 => self.section::<8>(column),
                _ => self.section::<4>(column),
            }
        }
    }
}

/// Repeats a block of code for each literal, because register indices must be constants.
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

/// Computes some rows of `COLUMNS` accumulators, the first of them at `accumulators[0]`: all rows
/// of a section of A, or half of them. If [`Accumulator::IN_STEPS`] is set, `a` and `b` are the
/// operands of one instruction.
#[inline(always)]
fn tile<T: Accumulator, const COLUMNS: usize, const PART: usize>(
    a: &[T],
    b: &[T],
    accumulators: &mut [T],
    columns: usize,
) {
    let rows = const { register_rows(COLUMNS * size_of::<T>()) };
    // Copies element by element: `copy_from_slice` takes the addresses of the slices, which keeps
    // the accumulators in memory.
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
