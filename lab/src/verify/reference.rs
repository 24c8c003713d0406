//! `A·B` and `|A|·|B|`, in higher precision than any kernel's, on some of the rows.
//!
//! | elements | sums in | error of a sum |
//! |---|---|---|
//! | f32, tf32, f16, bf16, e4m3, e5m2 | binary64; products are exact in it | `gamma_k(2^-53) (|A||B|)` |
//! | i8, u8 | binary64, exact below 2^53 = 2^39 products | none, modulo 2^32 |
//! | i32 | 64-bit integers that wrap | none, modulo 2^32 |
//! | f64 | pairs of binary64 (Dot2 of Ogita, Rump, Oishi 2005) | `2^-53 |sum| + gamma_k(2^-53)^2 (|A||B|)` |
//!
//! The code reads only the requested rows of A. It reads B once per group of [`ROWS`] rows.

use super::{
    number,
    scaled::{line, scaled},
};
use core::ops::Range;
use falchion::{
    Error,
    arch::OpKind,
    internals::{
        least_exponent,
        operand::{HostSlice, View},
        sys::simd::{Vectorized, dispatch},
    },
    numeric::{ElementKind, EmulationKind, HostTransform, Multiplied, Tf32},
};

/// Rows per task.
pub(super) const ROWS: usize = 32;
/// Columns per task.
pub(super) const COLUMNS: usize = 64;
/// Steps along K that are gathered at once.
const DEPTH: usize = 128;
/// Rows and columns of sums in registers.
const TILE: (usize, usize) = (4, 8);

/// One element of the product A·B.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Sum {
    /// The sum of the products, divided by `scale`.
    pub value: f64,
    /// The sum of the magnitudes of the finite products, divided by `scale`.
    pub magnitude: f64,
    /// 1, or a power of 2 for products that would overflow binary64.
    pub scale: f64,
    /// Whether all factors are whole numbers.
    pub whole: bool,
    /// Whether all factors are multiplied without rounding. tf32 reads only some bits of an `f32`,
    /// and bf16x1 rounds it.
    pub read: bool,
    /// The statistics of the row of A and of the column of B.
    pub lines: [Line; 2],
}

/// The magnitudes of a row of A or a column of B.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Line {
    /// Sum of the magnitudes.
    pub total: f64,
    /// Largest magnitude.
    pub largest: f64,
}

/// Properties of the factors of a row of A or a column of B.
#[derive(Clone, Copy)]
struct Factors {
    whole: bool,
    read: bool,
    line: Line,
}

/// An operand: A by rows, or B by columns.
#[derive(Clone, Copy)]
pub(super) struct Operand<'a> {
    pub slice: HostSlice<'a>,
    /// Strides along M or N, and along K.
    pub strides: (usize, usize),
    /// Least magnitude that a nonzero factor counts with.
    pub least: f64,
    /// The rounding of factors before the multiplication, if any.
    pub multiplied: Option<fn(f32) -> f32>,
    /// The transform of elements to factors, if any.
    pub transform: Option<HostTransform>,
}

impl<'a> Operand<'a> {
    /// Returns A, as rows.
    pub fn by_rows(view: &View<HostSlice<'a>>, op: OpKind, multiplied: Multiplied) -> Self {
        let [rows, columns] = view.strides;
        Self::new(view.memory, (rows, columns), op, multiplied)
    }

    /// Returns B, as columns.
    pub fn by_columns(view: &View<HostSlice<'a>>, op: OpKind, multiplied: Multiplied) -> Self {
        let [rows, columns] = view.strides;
        Self::new(view.memory, (columns, rows), op, multiplied)
    }

    fn new(
        slice: HostSlice<'a>,
        strides: (usize, usize),
        op: OpKind,
        multiplied: Multiplied,
    ) -> Self {
        let transform = multiplied.transform().map(|id| id.on_host());
        let factor = multiplied.transform().map_or(slice.kind(), |id| id.multiplied);
        // Tensor cores align a subnormal factor with the least normal number.
        let least = match op {
            OpKind::TensorOp if !factor.is_integer() => 2f64.powi(least_exponent(factor)),
            _ => 0.0,
        };
        let multiplied: Option<fn(f32) -> f32> = match (factor, multiplied.emulation()) {
            (ElementKind::Tf32, _) => Some(Tf32::as_read),
            (_, EmulationKind::Bf16x1) => Some(|x| EmulationKind::Bf16x1.in_registers_of(x)[0]),
            _ => None,
        };
        Self { slice, strides, least, multiplied, transform }
    }

    /// Gathers elements (mn, k) in ascending k, and pads each k with zeros to `padded` elements.
    /// Updates the properties of each mn.
    fn gather(
        &self,
        mn: &[usize],
        k: Range<usize>,
        padded: usize,
        Gathered { elements: into, magnitudes }: &mut Gathered,
        factors: &mut [Factors],
    ) -> Result<(), Error> {
        into.clear();
        magnitudes.clear();
        for k in k {
            let start = into.len();
            number::read(
                self.slice,
                mn.iter().map(|mn| mn * self.strides.0 + k * self.strides.1),
                into,
            )?;
            if let Some(transform) = self.transform {
                into[start..].iter_mut().for_each(|x| *x = transform.apply(*x as f32).into());
            }
            for (x, factors) in into[start..].iter().zip(factors.iter_mut()) {
                factors.whole &= *x == x.trunc();
                factors.read &=
                    self.multiplied.is_none_or(|multiplied| f64::from(multiplied(*x as f32)) == *x);
                factors.line.total += x.abs();
                factors.line.largest = factors.line.largest.max(x.abs());
            }
            into.resize(start + padded, 0.0);
        }
        magnitudes.extend(into.iter().map(|&x| counted(x, self.least)));
        Ok(())
    }
}

/// Elements of an operand, k by k.
#[derive(Default)]
struct Gathered {
    elements: Vec<f64>,
    /// The [counted] magnitude of each element.
    magnitudes: Vec<f64>,
}

/// The arithmetic of sums.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Arithmetic {
    /// In binary64.
    Plain,
    /// In pairs of binary64.
    Compensated,
    /// In 64-bit integers that wrap.
    Wrapping,
}

impl Arithmetic {
    /// Returns the arithmetic for the products of an element type.
    pub fn for_type(kind: ElementKind) -> Self {
        match kind {
            ElementKind::F64 => Self::Compensated,
            ElementKind::I32 => Self::Wrapping,
            _ => Self::Plain,
        }
    }
}

/// Returns the sums of `rows` x `columns` in row-major order. There are at most [`ROWS`] rows and
/// [`COLUMNS`] columns.
pub(super) fn sums(
    a: Operand<'_>,
    b: Operand<'_>,
    k: usize,
    rows: &[usize],
    columns: &[usize],
) -> Result<Vec<Sum>, Error> {
    let arithmetic = Arithmetic::for_type(a.slice.kind());
    let (height, width) =
        (rows.len().next_multiple_of(TILE.0), columns.len().next_multiple_of(TILE.1));
    let mut planes = [0; 3].map(|_| vec![0.0; height * width]);
    let (mut left, mut right) = (Gathered::default(), Gathered::default());
    let all = Factors { whole: true, read: true, line: Line::default() };
    let (mut by_row, mut by_column) = (vec![all; rows.len()], vec![all; columns.len()]);
    for first in (0..k).step_by(DEPTH) {
        let steps = first..k.min(first.saturating_add(DEPTH));
        a.gather(rows, steps.clone(), height, &mut left, &mut by_row)?;
        b.gather(columns, steps, width, &mut right, &mut by_column)?;
        let (left, right, size) = (&left, &right, (height, width));
        dispatch(Product { arithmetic, left, right, size, planes: &mut planes });
    }
    let [values, magnitudes, remainders] = &planes;
    let mut sums = Vec::with_capacity(rows.len() * columns.len());
    let (mut a_lines, mut b_lines) = (vec![None; rows.len()], vec![None; columns.len()]);
    for (i, row) in by_row.iter().enumerate() {
        for (j, column) in by_column.iter().enumerate() {
            let at = i * width + j;
            let value = match arithmetic {
                Arithmetic::Plain => values[at],
                // The remainder of an infinity would be NaN.
                Arithmetic::Compensated if !values[at].is_finite() => values[at],
                Arithmetic::Compensated => values[at] + remainders[at],
                Arithmetic::Wrapping => f64::from(values[at].to_bits() as i64 as i32),
            };
            let lines = [row.line, column.line];
            let (whole, read) = (row.whole && column.whole, row.read && column.read);
            let sum = Sum { value, magnitude: magnitudes[at], scale: 1.0, whole, read, lines };
            sums.push(if value.is_finite() && sum.magnitude.is_finite() {
                sum
            } else {
                scaled(
                    sum,
                    [line(&mut a_lines, &a, rows, i, k)?, line(&mut b_lines, &b, columns, j, k)?],
                    [a.least, b.least],
                )
            });
        }
    }
    Ok(sums)
}

/// Returns the magnitude of a factor, which is at least `least` if the factor is not 0.
pub(super) fn counted(x: f64, least: f64) -> f64 {
    if x == 0.0 {
        0.0
    } else if x.abs() < least {
        least
    } else {
        x.abs()
    }
}

/// Computes `planes += leftᵀ·right` for values, magnitudes, and the rounding errors of the values.
struct Product<'p> {
    arithmetic: Arithmetic,
    left: &'p Gathered,
    right: &'p Gathered,
    size: (usize, usize),
    planes: &'p mut [Vec<f64>; 3],
}

impl Vectorized for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        for row in (0..self.size.0).step_by(TILE.0) {
            for column in (0..self.size.1).step_by(TILE.1) {
                match self.arithmetic {
                    Arithmetic::Plain => self.tile(row, column, plain),
                    Arithmetic::Compensated => self.tile(row, column, compensated),
                    Arithmetic::Wrapping => self.tile(row, column, wrapping),
                }
            }
        }
    }
}

impl<'p> Product<'p> {
    #[inline(always)]
    fn tile(&mut self, row: usize, column: usize, step: impl Fn(&mut f64, &mut f64, f64, f64)) {
        let (height, width) = self.size;
        let [mut values, mut magnitudes, mut remainders] = [[[0.0; TILE.1]; TILE.0]; 3];
        for i in 0..TILE.0 {
            let at = (row + i) * width + column;
            values[i].copy_from_slice(&self.planes[0][at..at + TILE.1]);
            magnitudes[i].copy_from_slice(&self.planes[1][at..at + TILE.1]);
            remainders[i].copy_from_slice(&self.planes[2][at..at + TILE.1]);
        }
        let by_k = |gathered: &'p Gathered, padded: usize| {
            gathered.elements.chunks_exact(padded).zip(gathered.magnitudes.chunks_exact(padded))
        };
        for ((left, heights), (right, widths)) in
            by_k(self.left, height).zip(by_k(self.right, width))
        {
            let (Some(left), Some(heights), Some(right), Some(widths)) = (
                left[row..].first_chunk::<{ TILE.0 }>(),
                heights[row..].first_chunk::<{ TILE.0 }>(),
                right[column..].first_chunk::<{ TILE.1 }>(),
                widths[column..].first_chunk::<{ TILE.1 }>(),
            ) else {
                continue;
            };
            for i in 0..TILE.0 {
                for j in 0..TILE.1 {
                    step(&mut values[i][j], &mut remainders[i][j], left[i], right[j]);
                    magnitudes[i][j] = heights[i].mul_add(widths[j], magnitudes[i][j]);
                }
            }
        }
        for i in 0..TILE.0 {
            let at = (row + i) * width + column;
            self.planes[0][at..at + TILE.1].copy_from_slice(&values[i]);
            self.planes[1][at..at + TILE.1].copy_from_slice(&magnitudes[i]);
            self.planes[2][at..at + TILE.1].copy_from_slice(&remainders[i]);
        }
    }
}

#[inline(always)]
fn plain(sum: &mut f64, _: &mut f64, a: f64, b: f64) {
    *sum = a.mul_add(b, *sum);
}

/// Adds `a b` to the sum, and the rounding errors of both operations to the remainder (Dekker's
/// product by fma, Knuth's sum).
#[inline(always)]
pub(super) fn compensated(sum: &mut f64, remainder: &mut f64, a: f64, b: f64) {
    let product = a * b;
    let product_error = a.mul_add(b, -product);
    let new = *sum + product;
    let part = new - *sum;
    let sum_error = (*sum - (new - part)) + (product - part);
    *remainder += product_error + sum_error;
    *sum = new;
}

/// Adds `a b` to a wrapping 64-bit integer, which is stored in the bits of `sum`.
#[inline(always)]
fn wrapping(sum: &mut f64, _: &mut f64, a: f64, b: f64) {
    let new = (sum.to_bits() as i64).wrapping_add((a as i64).wrapping_mul(b as i64));
    *sum = f64::from_bits(new as u64);
}

#[cfg(test)]
mod tests {
    use super::*;
    use falchion::numeric::MathType;

    fn one<E: MathType>(a: &[E::Storage], b: &[E::Storage]) -> Sum {
        let slice = HostSlice::new::<E>;
        let operand = |x| Operand::new(slice(x), (0, 1), OpKind::Simt, Multiplied::Stored);
        sums(operand(a), operand(b), a.len(), &[0], &[0]).expect("both have one type")[0]
    }

    #[test]
    fn pairs_keep_the_bits_that_binary64_drops() {
        let (big, a) = (1e17, [1e17, 1.0, -1e17, 0.5]);
        assert_eq!(one::<f64>(&a, &[1.0; 4]).value, 1.5);
        assert_eq!(one::<f64>(&a, &[1.0; 4]).magnitude, 2.0 * big);
        let tiny = 1.0 + f64::EPSILON;
        assert_eq!(
            one::<f64>(&[tiny, -1.0], &[tiny, 1.0]).value,
            2.0 * f64::EPSILON + f64::EPSILON * f64::EPSILON
        );
    }

    #[test]
    fn integers_wrap_and_are_marked_exact() {
        let sum = one::<i32>(&[i32::MAX, i32::MIN, 7], &[i32::MAX, i32::MIN, -3]);
        let want = i32::MAX
            .wrapping_mul(i32::MAX)
            .wrapping_add(i32::MIN.wrapping_mul(i32::MIN))
            .wrapping_add(-21);
        assert_eq!((sum.value, sum.whole), (f64::from(want), true));
        assert!(!one::<f32>(&[1.5, 2.0], &[2.0, 1.0]).whole);
        let lines = [Line { total: 3.5, largest: 2.0 }, Line { total: 3.0, largest: 2.0 }];
        assert_eq!(
            one::<f32>(&[1.5, 2.0], &[2.0, -1.0]),
            Sum { value: 1.0, magnitude: 5.0, scale: 1.0, whole: false, read: true, lines }
        );
    }

    #[test]
    fn infinity_and_nan_propagate() {
        assert_eq!(one::<f64>(&[f64::INFINITY, 1.0], &[1.0, 1.0]).value, f64::INFINITY);
        assert!(one::<f64>(&[f64::INFINITY, 1.0], &[0.0, 1.0]).value.is_nan());
        assert!(one::<f32>(&[f32::NAN, 1.0], &[0.0, 1.0]).value.is_nan());
    }

    #[test]
    fn finite_products_beyond_binary64_are_scaled() {
        let sum = one::<f64>(&[1.7e308, -1.7e308, 1e300], &[2.0, 2.0, 1e10]);
        assert!((sum.value * 2f64.powi(590) / (1e300 * 2f64.powi(-10) * 1e10) - 1.0).abs() < 1e-15);
        assert!(sum.magnitude * sum.scale == f64::INFINITY && sum.magnitude.is_finite());
        let mixed = one::<f32>(&[1e38, f32::INFINITY], &[10.0, -1.0]);
        assert_eq!(mixed.value, f64::NEG_INFINITY);
        assert!((mixed.magnitude * mixed.scale / 1e39 - 1.0).abs() < 1e-6);
    }
}
