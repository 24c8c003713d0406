//! Verification of transposes: every element of D, and every byte around the elements.
//!
//! Without arithmetic, elements are compared bit by bit. With `d = alpha a + beta b`, there are
//! three roundings, and `|d - exact| <= 2u (1 + 2u) (|alpha a| + |beta b|) + 4h`. Here, `u` is the
//! unit roundoff: each product and the sum are rounded once. `h` is half the least positive number,
//! which a product may lose if it underflows. Source: Higham, "Accuracy and Stability of Numerical
//! Algorithms", section 3.1.

use super::{HostBuffer, bound::Rounding, draw};
use core::fmt;
use falchion::{
    Error,
    internals::{
        call::{HostSlice, Source},
        pass::transpose::{Combine, TransposeCall, TransposeProblem},
    },
    layout::Order,
    numeric::ElementKind,
    refusal::{Because, Operand, Refusal},
};
use rayon::prelude::*;

/// The result of the verification of a transpose.
#[derive(Clone, Debug, PartialEq)]
pub struct TransposeVerdict {
    /// Number of compared elements of D, which is all of them.
    pub elements: u64,
    /// Largest ratio of an error to its bound; `None` without arithmetic.
    pub error_over_bound: Option<f64>,
    /// Description of the first wrong element or byte.
    pub first_wrong: Option<String>,
}

impl fmt::Display for TransposeVerdict {
    /// Writes the first wrong place, or the number of right elements and their accuracy.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.first_wrong, self.error_over_bound) {
            (Some(wrong), _) => f.write_str(wrong),
            (None, None) => write!(f, "{} elements, every bit", self.elements),
            (None, Some(error)) => write!(
                f,
                "{} elements, and the largest error is {error:.3} of its bound",
                self.elements
            ),
        }
    }
}

impl TransposeVerdict {
    /// Returns whether everything is right.
    pub fn is_right(&self) -> bool {
        self.first_wrong.is_none()
    }
}

/// Fills a buffer, including its gaps, with random bits. With arithmetic, they are numbers between
/// -2 and 2.
///
/// # Errors
/// The errors of [`HostBuffer::slice_mut`].
pub fn fill(combine: Combine, buffer: &mut HostBuffer, seed: u64) -> Result<(), Error> {
    buffer.whole_mut()?.bytes_mut().par_chunks_mut(8).enumerate().for_each(|(index, bytes)| {
        let mut drawn = draw(seed, index as u64);
        match combine {
            Combine::Move => {}
            // The sign, the exponents of [0.5, 1) and [1, 2), any fraction.
            Combine::F32 => drawn = drawn & 0x80ff_ffff_80ff_ffff | 0x3f00_0000_3f00_0000,
            Combine::F64 => drawn = drawn & 0x801f_ffff_ffff_ffff | 0x3fe0_0000_0000_0000,
        }
        let drawn = drawn.to_ne_bytes();
        bytes.copy_from_slice(&drawn[..bytes.len()]);
    });
    Ok(())
}

/// Compares D of a call with the definition. `before` is the previous content of D's memory.
///
/// # Errors
/// [`Refusal`] if D had another length before.
pub fn verdict(
    combine: Combine,
    call: &TransposeCall<HostSlice<'_>>,
    before: HostSlice<'_>,
) -> Result<TransposeVerdict, Error> {
    let (problem, d) = (call.problem(), call.d.memory);
    let (length, needed) = (d.length(), before.length() as u64);
    if needed != length as u64 {
        let (rows, columns, leading) =
            (problem.columns, problem.rows, problem.d.leading(Order::Row));
        let batch = [problem.batch, problem.d.batch_stride];
        let because = Because::Matrices { extents: [rows, columns], leading, batch };
        return Err(Refusal::too_short(Operand::D, length, needed, because).into());
    }
    let judge = Judge { combine, problem, call, before, width: d.kind().bytes_of(1) as usize };
    let parts: Vec<(f64, Option<usize>)> = (0..length.div_ceil(STRIP))
        .into_par_iter()
        .map(|strip| judge.strip(strip * STRIP))
        .collect();
    let first_wrong = parts.iter().find_map(|part| part.1).map(|element| judge.say(element));
    let error = parts.iter().map(|part| part.0).fold(0.0, f64::max);
    let elements = problem.batch as u64 * problem.rows as u64 * problem.columns as u64;
    Ok(TransposeVerdict { elements, error_over_bound: combine.kind().map(|_| error), first_wrong })
}

/// Elements of D's memory per task.
const STRIP: usize = 1 << 16;

struct Judge<'a> {
    combine: Combine,
    problem: TransposeProblem,
    call: &'a TransposeCall<HostSlice<'a>>,
    before: HostSlice<'a>,
    /// Bytes per element.
    width: usize,
}

impl Judge<'_> {
    fn element<'b>(&self, matrix: HostSlice<'b>, element: usize) -> &'b [u8] {
        &matrix.bytes()[element * self.width..][..self.width]
    }

    /// Returns the (matrix, row, column) of an element of D's memory; `None` in a gap.
    fn place(&self, element: usize) -> Option<(usize, usize, usize)> {
        let TransposeProblem { rows, columns, batch, d, .. } = self.problem;
        if rows == 0 || columns == 0 {
            return None;
        }
        // Rows of interleaved matrices contain pieces of all matrices.
        let interleaved = batch > 1 && (d.batch_stride as u128) < d.elements((columns, rows), 1);
        let (leading, stride) = (d.leading(Order::Row).max(1), d.batch_stride.max(1));
        let (matrix, rest) = if interleaved || batch < 2 {
            (0, element)
        } else {
            (element / stride, element % stride)
        };
        let (row, column) = (rest / leading, rest % leading);
        let (matrix, column) =
            if interleaved { (column / stride, column % stride) } else { (matrix, column) };
        (matrix < batch && row < columns && column < rows).then_some((matrix, row, column))
    }

    /// Returns the largest ratio of an error to its bound, and the first wrong element.
    fn strip(&self, first: usize) -> (f64, Option<usize>) {
        let mut worst = 0.0;
        let (problem, d) = (&self.problem, self.call.d.memory);
        for element in first..d.length().min(first + STRIP) {
            let got = self.element(d, element);
            let Some((matrix, row, column)) = self.place(element) else {
                if got != self.element(self.before, element) {
                    return (worst, Some(element));
                }
                continue;
            };
            let from_a = matrix * problem.a.batch_stride + problem.a.offset(column, row);
            let right = match self.combine {
                Combine::Move => got == self.element(self.call.a.memory, from_a),
                Combine::F32 | Combine::F64 => {
                    let y = problem.source().map(|at| match &self.call.b {
                        Source::Matrix(b) => self
                            .element(b.memory, matrix * at.batch_stride + at.offset(row, column)),
                        _ => self.element(self.before, element),
                    });
                    let x = problem.reads_a().then(|| self.element(self.call.a.memory, from_a));
                    let ratio = self.ratio(got, x, y);
                    worst = f64::max(worst, ratio);
                    ratio <= 1.0
                }
            };
            if !right {
                return (worst, Some(element));
            }
        }
        (worst, None)
    }

    /// Returns the ratio of an element's error to its bound. It is infinite if the element is NaN
    /// and the exact value is a number.
    fn ratio(&self, got: &[u8], x: Option<&[u8]>, y: Option<&[u8]>) -> f64 {
        let read: fn(&[u8]) -> f64 = match self.combine {
            Combine::F32 => |x| f64::from(f32::from_ne_bytes(x.try_into().unwrap_or_default())),
            _ => |x| f64::from_ne_bytes(x.try_into().unwrap_or_default()),
        };
        let Rounding { unit, half_least, .. } =
            Rounding::of(self.combine.kind().unwrap_or(ElementKind::F64));
        let term = |scalar: f64, x: Option<&[u8]>| x.map_or(0.0, |x| scalar * read(x));
        let [alpha, beta] = match self.combine {
            Combine::F32 => self.problem.scalars.map(|x| f64::from(x as f32)),
            _ => self.problem.scalars,
        };
        let (x, y) = (term(alpha, x), term(beta, y));
        let (exact, got) = (x + y, read(got));
        // For f64, the reference itself has three roundings.
        let roundings = if matches!(self.combine, Combine::F32) { 2.0 } else { 4.0 };
        let bound = roundings * unit * (x.abs() + y.abs()) * (1.0 + 2.0 * unit) + 4.0 * half_least;
        if exact.is_nan() || exact.is_infinite() {
            return if got.is_nan() == exact.is_nan() && (exact.is_nan() || got == exact) {
                0.0
            } else {
                f64::INFINITY
            };
        }
        let ratio = (got - exact).abs() / bound;
        if ratio.is_nan() { f64::INFINITY } else { ratio }
    }

    fn say(&self, element: usize) -> String {
        let got = self.element(self.call.d.memory, element);
        match self.place(element) {
            Some((matrix, row, column)) => {
                format!("element ({row}, {column}) of D {matrix} is {got:02x?}")
            }
            None => format!(
                "element {element} of D's memory lies between the matrices, and was written: {got:02x?}"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use falchion::{
        internals::call::{Elements, Source, View},
        layout::Order,
        numeric::ElementKind,
    };

    /// Checks that each changed element is found, in the matrix and in the gaps, and that the right
    /// result is accepted.
    #[test]
    fn a_wrong_bit_anywhere_is_found() {
        let matrix =
            |leading, stride| View::new(Elements::of(40), Order::Row, leading).batched(stride);
        let a = matrix(5, 20);
        for d in [matrix(4, 19), matrix(7, 3)] {
            let problem = TransposeProblem { a, d, batch: 2, ..TransposeProblem::packed(3, 5) };
            let [mut from, mut before, mut right] =
                [40, 40, 40].map(|n| HostBuffer::poisoned(ElementKind::F32, n).unwrap());
            fill(Combine::Move, &mut from, 1).unwrap();
            fill(Combine::Move, &mut before, 2).unwrap();
            let bytes = before.bytes().to_vec();
            right.whole_mut().unwrap().bytes_mut().copy_from_slice(&bytes);
            for matrix in 0..2 {
                for (i, j) in (0..5).flat_map(|i| (0..3).map(move |j| (i, j))) {
                    let x = from.bytes()[(matrix * 20 + j * 5 + i) * 4..][..4].to_vec();
                    right.whole_mut().unwrap().bytes_mut()
                        [(matrix * d.batch_stride + d.offset(i, j)) * 4..][..4]
                        .copy_from_slice(&x);
                }
            }
            let judged = |d: &HostBuffer| {
                verdict(
                    Combine::Move,
                    &problem.with(from.whole().unwrap(), Source::None, d.whole().unwrap()),
                    before.whole().unwrap(),
                )
                .unwrap()
            };
            assert!(judged(&right).is_right(), "{:?}", judged(&right));
            assert_eq!(judged(&right).elements, 30);
            for element in 0..40 {
                let mut wrong = right.clone();
                wrong.whole_mut().unwrap().bytes_mut()[element * 4 + 1] ^= 4;
                assert!(!judged(&wrong).is_right(), "element {element} of {d:?}");
            }
        }
    }

    /// Checks that sums within the bound are right, and that NaN and sums two units in the last
    /// place beyond the bound are wrong.
    #[test]
    fn sums_are_held_to_their_bound() {
        let packed = TransposeProblem::packed(4, 4);
        let problem =
            TransposeProblem { scalars: [3.0, -0.3], b: Source::Matrix(packed.d), ..packed };
        let [mut a, mut b, mut d] =
            [16; 3].map(|n| HostBuffer::poisoned(ElementKind::F32, n).unwrap());
        fill(Combine::F32, &mut a, 1).unwrap();
        fill(Combine::F32, &mut b, 2).unwrap();
        let at = |buffer: &HostBuffer, i: usize| buffer.get(i).unwrap() as f32;
        for i in 0..16 {
            d.set(i, f64::from(3.0 * at(&a, i % 4 * 4 + i / 4) + -0.3f32 * at(&b, i))).unwrap();
        }
        let judged = |d: &HostBuffer| {
            let call = problem.with(
                a.whole().unwrap(),
                Source::Matrix(b.whole().unwrap()),
                d.whole().unwrap(),
            );
            verdict(Combine::F32, &call, d.whole().unwrap()).unwrap()
        };
        let right = judged(&d);
        assert!(
            right.is_right()
                && right.error_over_bound.is_some_and(|error| error > 0.0 && error <= 1.0),
            "{right:?}"
        );
        for wrong in [d.get(7).unwrap() * (1.0 + 2f64.powi(-18)), f64::NAN, f64::INFINITY] {
            let mut changed = d.clone();
            changed.set(7, wrong).unwrap();
            assert!(!judged(&changed).is_right(), "{wrong}");
        }
    }
}
