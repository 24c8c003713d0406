//! Verification of transposes. Without arithmetic, elements are compared bit by bit. Otherwise,
//! each element of D must equal `alpha * Aᵀ + beta * C` in the arithmetic of the kernel, which
//! rounds both products and their sum.

use super::{Verdict, bound::Estimate, epilogue::Evaluation, number};
use falchion::{
    Error,
    epilogue::{LinearCombination, Node},
    internals::{
        operand::{
            Call, HostSlice, Problem, Source, View,
            transpose::{Choice, Combine},
        },
        shape::{EpilogueOperand, EpilogueOperands},
    },
    numeric::ComputeKind,
};
use rayon::prelude::*;

/// Checks every element of D of a transpose, for each matrix of a batch. `c` is C, or the previous
/// content of D if C is D.
///
/// # Errors
/// [`Error::Refused`] if the slices are shorter than the shapes.
pub fn transpose(
    problem: &Problem,
    [a, d]: [HostSlice<'_>; 2],
    c: Option<HostSlice<'_>>,
) -> Result<Verdict, Error> {
    let layout = problem.source();
    let c = c.map_or(Source::None, |c| Source::Matrix(layout.with(c)));
    let call = Call { c, ..problem.with_transposed(a, Source::None, d) };
    let desc = Choice::Auto.desc(d.kind(), problem);
    let call = desc.enter(call)?;
    let epilogue = <LinearCombination as Node>::DESC;
    let compute = match desc.combine {
        Combine::Move => None,
        Combine::F32 => Some(ComputeKind::F32),
        Combine::F64 => Some(ComputeKind::F64),
    };
    let evaluation = compute.map(|compute| Evaluation::new(&epilogue, call.scalars, compute));
    let job = Job { call: &call, evaluation };
    let rows = (0..call.batch).into_par_iter();
    rows.flat_map(|number| (0..call.m).into_par_iter().map(move |row| (number, row)))
        .map(|(number, row)| job.compare(number, row))
        .try_reduce(Verdict::default, |x, y| Ok(x.and(y)))
}

struct Job<'j> {
    call: &'j Call<HostSlice<'j>>,
    /// The arithmetic; `None` if elements are moved.
    evaluation: Option<Evaluation<'j>>,
}

impl Job<'_> {
    /// Compares one row of one D.
    fn compare(&self, number: usize, row: usize) -> Result<Verdict, Error> {
        let Call { n, a, c, d, .. } = self.call;
        let places = |view: View<()>| {
            let first = number * view.batch_stride;
            (0..*n).map(move |column| first + view.offset(row, column))
        };
        let read = |view: &View<HostSlice<'_>>| {
            let mut numbers = Vec::with_capacity(*n);
            number::read(view.memory, places(view.with(())), &mut numbers).map(|()| numbers)
        };
        let (got, moved) = (read(d)?, if self.call.k > 0 { read(a)? } else { vec![0.0; *n] });
        let added = c.matrix().map(read).transpose()?;
        let (kind, mut verdict) = (d.memory.kind(), Verdict::default());
        let Some(evaluation) = &self.evaluation else {
            let bytes = kind.bytes_of(1) as usize;
            let of_a = places(a.with(())).zip(&moved);
            for (column, (place, (from, &want))) in places(d.with(())).zip(of_a).enumerate() {
                let range = |place: usize| place * bytes..(place + 1) * bytes;
                let of_d = d.memory.bytes().get(range(place));
                let equal = of_d == a.memory.bytes().get(range(from));
                verdict.compare_bits((row, column), [got[column], want], equal);
            }
            return Ok(verdict);
        };
        let moved: Vec<_> = moved.into_iter().map(Estimate::exactly).collect();
        let mut inputs = EpilogueOperands::NONE;
        *inputs.slot(EpilogueOperand::Source) = added;
        let (wanted, _) = evaluation.evaluate(&moved, &inputs);
        for (column, (got, wanted)) in got.into_iter().zip(wanted).enumerate() {
            verdict.compare((row, column), got, wanted, kind);
        }
        Ok(verdict)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::{HostBuffer, draw};
    use falchion::{internals::operand::Elements, layout::Order, numeric::ElementKind};

    fn random(length: usize, seed: u64) -> HostBuffer {
        let mut buffer = HostBuffer::poisoned(ElementKind::F32, length).unwrap();
        for place in 0..length {
            let x = draw(seed, place as u64) as u32 as f64 / 2f64.powi(31) - 1.0;
            buffer.set(place, x).unwrap();
        }
        buffer
    }

    /// The right result is accepted. Each changed element of D is found, also the sign of a zero.
    #[test]
    fn each_wrong_bit_of_a_moved_element_is_found() {
        let matrix =
            |leading, stride| View::new(Elements::new(40), Order::Row, leading).batched(stride);
        for d in [matrix(4, 19), matrix(7, 3)] {
            let a = matrix(5, 20).transposed();
            let problem = Problem { a, d, batch: 2, ..Problem::packed_transpose(3, 5) };
            let (mut from, mut right) = (random(40, 1), random(40, 2));
            from.set(a.offset(1, 2), -0.0).unwrap();
            let places: Vec<(usize, usize)> = (0..2 * 5 * 3)
                .map(|i| (i / 15, i / 3 % 5, i % 3))
                .map(|(number, i, j)| {
                    let place =
                        |view: View<Elements>| number * view.batch_stride + view.offset(i, j);
                    (place(a), place(d))
                })
                .collect();
            for &(from_a, to_d) in &places {
                right.set(to_d, from.get(from_a).unwrap()).unwrap();
            }
            let judged = |d: &HostBuffer| {
                transpose(&problem, [from.whole().unwrap(), d.whole().unwrap()], None).unwrap()
            };
            assert!(judged(&right).is_right() && judged(&right).is_exact(), "{}", judged(&right));
            assert_eq!(judged(&right).elements_checked, 30);
            for &(from_a, to_d) in &places {
                let mut wrong = right.clone();
                wrong.set(to_d, -from.get(from_a).unwrap()).unwrap();
                assert_eq!(judged(&wrong).elements_wrong, 1, "element {to_d} of {d:?}");
            }
        }
    }

    /// Sums in the order of the kernel are right. NaN and neighbors of a sum are wrong.
    #[test]
    fn each_wrong_sum_is_found() {
        let problem = Problem::transpose((4, 4), 1, [None; 3], [3.0, -0.3]);
        let (a, c, mut d) = (random(16, 1), random(16, 2), random(16, 3));
        let at = |buffer: &HostBuffer, i: usize| buffer.get(i).unwrap() as f32;
        for i in 0..16 {
            d.set(i, f64::from(3.0 * at(&a, i % 4 * 4 + i / 4) + -0.3f32 * at(&c, i))).unwrap();
        }
        let exact = |buffer: &HostBuffer| {
            // Lengths of the problem are those of the buffers.
            let matrices = [a.whole().unwrap(), buffer.whole().unwrap()];
            transpose(&problem, matrices, Some(c.whole().unwrap())).unwrap()
        };
        assert!(exact(&d).is_right() && exact(&d).is_exact(), "{}", exact(&d));
        let right = d.get(7).unwrap() as f32;
        for wrong in [right.next_up(), right.next_down(), f32::NAN, f32::INFINITY] {
            let mut changed = d.clone();
            changed.set(7, wrong.into()).unwrap();
            assert_eq!(exact(&changed).elements_wrong, 1, "{wrong}");
        }
    }
}
