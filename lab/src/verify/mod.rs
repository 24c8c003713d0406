//! Verification of results, element by element.
//!
//! [`check`] computes the GEMM again in higher precision ([`reference`](self#reference)) and
//! derives the largest error of a right kernel for each element ([`bound`]). An element with
//! `!(error <= bound)` is wrong, so NaN is wrong. No tolerance is chosen anywhere. [`sampled`]
//! checks some rows of a large GEMM. [`Fill`] creates operands from a seed: whole numbers, whose
//! results are compared with `==`, or random numbers.
//!
//! ```
//! use falchion::{internals::operand::{HostSlice, Problem}, prelude::*};
//! use falchion_lab::verify::{self, Claim};
//!
//! let (a, b, mut d) = (vec![0.1f32; 6], vec![0.7f32; 12], vec![f32::NAN; 8]);
//! let gemm = Gemm::<f32>::new();
//! gemm.run(Arguments::new((2, 4, 3), &a, &b, &mut d))?;
//!
//! let desc = gemm.desc();
//! let problem = Problem::new(&desc, (2, 4, 3), [None; 3], [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
//! let (a, b) = (HostSlice::new::<f32>(&a), HostSlice::new::<f32>(&b));
//! let claim = |d| Claim { desc: &desc, problem: &problem, a, b, c: None, d, operands: Default::default() };
//! assert!(verify::check(&claim(HostSlice::new::<f32>(&d)))?.is_right());
//!
//! let mut wrong = d.clone();
//! wrong[5] *= 1.000_001;
//! assert!(!verify::check(&claim(HostSlice::new::<f32>(&wrong)))?.is_right());
//! # Ok::<(), falchion::Error>(())
//! ```
//!
//! # Reference
//!
//! Sums of f32, tf32, f16, bf16, and fp8 are computed in binary64, in which their products are
//! exact. Sums of f64 are computed in pairs of binary64, and sums of integers modulo 2^32. The
//! epilogue is evaluated in binary64 with an error estimate, or, if its operands are exact, in its
//! own arithmetic. Scalars have the type of the epilogue's arithmetic: in a binary32 epilogue, 0.1
//! is the nearest binary32 number.

pub mod bound;
mod buffer;
mod epilogue;
mod estimate;
mod fill;
mod functions;
pub(crate) mod number;
mod reference;
mod results;
mod scaled;
mod transpose;
mod verdict;

pub use buffer::HostBuffer;
pub use epilogue::USER_ULPS;
pub(crate) use fill::batch_extents;
#[cfg(feature = "cuda")]
pub(crate) use fill::order_of;
pub use fill::{Distribution, Fill, draw};
pub use number::poison;
pub use transpose::transpose;
pub use verdict::{Element, Verdict};

use bound::{Accumulation, Estimate};
use core::ops::Range;
use falchion::{
    Error,
    arch::OpKind,
    internals::{
        host::progress::Gauge,
        operand::{Call, HostSlice, Matrices, Problem, Source, View},
        shape::{Axis, EpilogueOperand, EpilogueOperands},
    },
    nest::GemmDesc,
    numeric::{ElementKind, Multiplied},
};
use rayon::prelude::*;
use reference::{Arithmetic, Operand};
use results::Reductions;

/// The claim that D is the result of a GEMM. Operands and D are in the user's frame.
#[derive(Clone, Copy, Debug)]
pub struct Claim<'a> {
    /// The kernel's description, which determines the accumulator, the order of additions, and the
    /// epilogue.
    pub desc: &'a GemmDesc,
    /// The extents, views, batch size, and scalars. The lengths are the lengths of the slices.
    pub problem: &'a Problem,
    /// A.
    pub a: HostSlice<'a>,
    /// B.
    pub b: HostSlice<'a>,
    /// C, or the previous content of D if C is D.
    pub c: Option<HostSlice<'a>>,
    /// The result.
    pub d: HostSlice<'a>,
    /// The vector operands of the epilogue.
    pub operands: EpilogueOperands<HostSlice<'a>>,
}

/// Progress of comparisons: pieces of D.
pub static COMPARED: Gauge = Gauge::new();

/// Checks every element of D, for each GEMM of a batch.
///
/// # Errors
/// [`Error::Refused`] if the slices are shorter than the shapes.
pub fn check(claim: &Claim<'_>) -> Result<Verdict, Error> {
    claim.rows(&(0..claim.problem.m).collect::<Vec<_>>())
}

/// Checks about `rows` whole rows of D for each GEMM of a batch. D is divided into `rows` equal
/// parts, and one random row of each part is checked, including the first and the last row of D.
/// Every tile with at least `m / rows` rows is therefore checked in each of its columns.
///
/// # Errors
/// The errors of [`check`].
pub fn sampled(claim: &Claim<'_>, rows: usize, seed: u64) -> Result<Verdict, Error> {
    claim.rows(&drawn(claim.problem.m, rows, seed))
}

/// Checks a grouped GEMM, whose groups of rows are consecutive in A, C, and D, or whose groups
/// along K are consecutive in A and B. `offsets` holds the first line of each group, and the end of
/// the last group. Checks all rows, or about `rows` random rows per group as [`sampled`] does.
///
/// # Errors
/// The errors of [`check`].
pub fn grouped(claim: &Claim<'_>, offsets: &[u32], rows: Option<usize>) -> Result<Verdict, Error> {
    let all = claim.problem;
    let mut verdict = Verdict::default();
    let along_k = all.groups.is_some_and(|groups| groups.axis == Axis::K);
    for (number, ends) in offsets.windows(2).enumerate() {
        let (row, end) = (ends[0] as usize, ends[1] as usize);
        if along_k {
            verdict = verdict.and(group_along_k(claim, number, row..end, rows)?);
            continue;
        }
        let problem = &Problem {
            m: end.saturating_sub(row),
            batch: 1,
            groups: None,
            b: all.b.batched(0),
            ..*all
        };
        let first = |operand: EpilogueOperand| {
            all.operands.get(operand).map_or(0, |view| view.offset(row, 0))
        };
        let group = Claim {
            desc: claim.desc,
            problem,
            a: from(claim.a, all.a.offset(row, 0)),
            b: from(claim.b, number.saturating_mul(all.b.batch_stride)),
            c: claim.c.map(|c| from(c, all.source().offset(row, 0))),
            d: from(claim.d, all.d.offset(row, 0)),
            operands: claim.operands.map(|operand, memory| from(memory, first(operand))),
        };
        let found = rows.map_or_else(|| check(&group), |rows| sampled(&group, rows, 0))?;
        verdict = verdict.and(found.below(row));
    }
    Ok(verdict)
}

/// Checks one group along K, which has its own C and D.
fn group_along_k(
    claim: &Claim<'_>,
    number: usize,
    depth: Range<usize>,
    rows: Option<usize>,
) -> Result<Verdict, Error> {
    let all = claim.problem;
    let of_group = |stride: usize| number.saturating_mul(stride);
    let of_operand = |operand: EpilogueOperand| {
        all.operands.get(operand).map_or(0, |view| of_group(view.batch_stride))
    };
    let group = Claim {
        desc: claim.desc,
        problem: &Problem { k: depth.len(), batch: 1, groups: None, ..*all },
        a: from(claim.a, all.a.offset(0, depth.start)),
        b: from(claim.b, all.b.offset(depth.start, 0)),
        c: claim.c.map(|c| from(c, of_group(all.source().batch_stride))),
        d: from(claim.d, of_group(all.d.batch_stride)),
        operands: claim.operands.map(|operand, memory| from(memory, of_operand(operand))),
    };
    rows.map_or_else(|| check(&group), |rows| sampled(&group, rows, 0))
}

/// Returns the memory from an element on.
pub(crate) fn from(all: HostSlice<'_>, first: usize) -> HostSlice<'_> {
    all.get(first.min(all.length())..all.length()).unwrap_or(all)
}

/// Returns about `wanted` of `count` rows, in order.
fn drawn(count: usize, wanted: usize, seed: u64) -> Vec<usize> {
    if wanted >= count {
        return (0..count).collect();
    }
    let edge = |part: usize| (part as u128 * count as u128 / wanted as u128) as usize;
    let mut rows: Vec<usize> = (0..wanted)
        .map(|part| {
            let (first, beyond) = (edge(part), edge(part + 1));
            first + (draw(seed, part as u64) % (beyond - first) as u64) as usize
        })
        .collect();
    rows.extend([0, count - 1]);
    rows.sort_unstable();
    rows.dedup();
    rows
}

impl<'a> Claim<'a> {
    /// Checks some rows, in order, of each GEMM.
    fn rows(&self, rows: &[usize]) -> Result<Verdict, Error> {
        let Problem { m, n, batch, .. } = *self.problem;
        // A batch of empty matrices may have any size.
        let products = if m == 0 || n == 0 { batch.min(1) } else { batch };
        let verdict = |number| self.rows_of(number, rows);
        (0..products).into_par_iter().map(verdict).try_reduce(Verdict::default, |x, y| Ok(x.and(y)))
    }

    /// Checks some rows of one GEMM.
    fn rows_of(&self, number: usize, rows: &[usize]) -> Result<Verdict, Error> {
        let desc = self.desc.for_scalars(&self.problem.scalars);
        let call = self.call(number).enter(&desc)?.leave(desc.frame);
        let epilogue = desc.epilogue.leave(desc.frame);
        let k = if epilogue.reads(&call.scalars).accumulator { call.k } else { 0 };
        let job = Job {
            op: desc.op(),
            multiplied: desc.user_knobs().multiplied,
            call,
            k,
            kind: desc.output.element,
            accumulation: Accumulation::for_description(&desc, k),
            evaluation: epilogue::Evaluation::new(&epilogue, call.scalars, desc.output.compute),
            elements: epilogue.operands((desc.output.compute, desc.output.element)),
        };
        let columns: Vec<usize> = (0..call.n).collect();
        let tasks: Vec<_> = rows
            .chunks(reference::ROWS)
            .flat_map(|rows| columns.chunks(reference::COLUMNS).map(move |c| (rows, c)))
            .collect();
        COMPARED.expect(tasks.len() as u64);
        let compare = |(rows, columns): (&[usize], &[usize])| {
            COMPARED.advance();
            job.compare(rows, columns)
        };
        let none = || (Verdict::default(), Reductions::default());
        let (verdict, reductions) = tasks
            .into_par_iter()
            .map(compare)
            .try_reduce(none, |x, y| Ok((x.0.and(y.0), x.1.and(y.1))))?;
        let (all_rows, kind) = (rows.len() == job.call.m, desc.output.compute.element());
        Ok(verdict.and(reductions.compare(kind, |operand, line| {
            let mut result = Vec::with_capacity(1);
            let view = job.call.operands.get(operand)?;
            number::read(view.memory, core::iter::once(line), &mut result).ok()?;
            // Groups of rows share results.
            Some((result.pop()?, all_rows && view.batch_stride > 0))
        })))
    }

    /// Returns the call of one GEMM with the claimed D. The previous content of D is a separate
    /// matrix.
    fn call(&self, number: usize) -> Call<HostSlice<'_>> {
        let Self { a, b, c, d, problem, operands, .. } = *self;
        let of_product =
            |all: HostSlice<'a>, stride: usize| from(all, number.saturating_mul(stride));
        let (source, [of_a, of_b, of_d]) =
            (problem.source(), [problem.a, problem.b, problem.d].map(|view| view.batch_stride));
        let c = match (problem.c, c) {
            (Source::None, _) | (_, None) => Source::None,
            (_, Some(c)) => Source::Matrix(source.with(of_product(c, source.batch_stride))),
        };
        let up = problem.up.map(|up| {
            up.with(from(b, number.saturating_mul(of_b).saturating_add(problem.up_offset())))
        });
        let matrices = Matrices {
            a: of_product(a, of_a),
            b: of_product(b, of_b),
            c: Source::None,
            d: of_product(d, of_d),
            operands: operands.map(|operand, memory| {
                let stride = problem.operands.get(operand).map_or(0, |view| view.batch_stride);
                of_product(memory, stride)
            }),
        };
        Call { c, up, batch: 1, ..problem.with(matrices) }
    }
}

/// A check in progress.
struct Job<'j> {
    op: OpKind,
    /// The elements of A and of B that the MMA multiplies.
    multiplied: [Multiplied; 2],
    call: Call<HostSlice<'j>>,
    /// Number of products per sum; 0 if the epilogue does not read the accumulator.
    k: usize,
    kind: ElementKind,
    accumulation: Accumulation,
    evaluation: epilogue::Evaluation<'j>,
    /// Element types of the epilogue's operands.
    elements: EpilogueOperands<ElementKind>,
}

impl Job<'_> {
    /// Compares some rows in some columns.
    fn compare(&self, rows: &[usize], columns: &[usize]) -> Result<(Verdict, Reductions), Error> {
        let Self { call, .. } = self;
        let (a, b) = (
            Operand::by_rows(&call.a, self.op, self.multiplied[0]),
            Operand::by_columns(&call.b, self.op, self.multiplied[1]),
        );
        let mut sums = reference::sums(a, b, self.k, rows, columns)?;
        if let Some(up) = call.up.matrix() {
            let up = Operand::by_columns(up, self.op, self.multiplied[1]);
            let others = reference::sums(a, up, self.k, rows, columns)?;
            sums = sums.into_iter().zip(others).flat_map(|(gate, up)| [gate, up]).collect();
        }
        let places = |[down, across]: [usize; 2]| {
            rows.iter().flat_map(move |&row| {
                columns.iter().map(move |&column| row * down + column * across)
            })
        };
        let mut got = Vec::with_capacity(rows.len() * columns.len());
        number::read(call.d.memory, places(call.d.strides), &mut got)?;
        let source = call.c.matrix().copied().filter(|_| self.evaluation.reads_source());
        let numbers = |view: View<HostSlice<'_>>| {
            let mut numbers: Vec<f64> = Vec::with_capacity(rows.len() * columns.len());
            number::read(view.memory, places(view.strides), &mut numbers).map(|()| numbers)
        };
        let mut operands = call.operands;
        *operands.slot(EpilogueOperand::Source) = source;
        let read = operands.try_map(|_, view| numbers(view))?;
        let arithmetic = Arithmetic::for_type(call.a.memory.kind());
        let accumulators: Vec<Estimate> =
            sums.into_iter().map(|sum| self.accumulation.estimate(sum, arithmetic)).collect();
        let (wanted, written) = self.evaluation.evaluate(&accumulators, &read);
        let mut reductions = Reductions::default();
        let compare = |got: &[f64], wanted: &[Estimate], kind| {
            let mut verdict = Verdict::default();
            for (at, (got, wanted)) in got.iter().zip(wanted).enumerate() {
                let place = (rows[at / columns.len()], columns[at % columns.len()]);
                verdict.compare(place, *got, *wanted, kind);
            }
            verdict
        };
        let mut verdict = compare(&got, &wanted, self.kind);
        for (operand, wanted) in written.iter().filter(|(operand, _)| operand.is_matrix()) {
            if let Some(got) = read.get(operand) {
                let kind = self.elements.get(operand).copied().unwrap_or(self.kind);
                verdict = verdict.and(compare(got, wanted, kind).of_results());
            }
        }
        reductions.add(&written, (rows, columns));
        Ok((verdict, reductions))
    }
}

#[cfg(test)]
mod tests {
    use super::drawn;

    #[test]
    fn random_rows_are_in_every_part() {
        for (count, wanted) in [(0, 0), (1, 5), (10, 3), (4096, 64), (4097, 100), (1_000_003, 17)] {
            for seed in 0..20 {
                let rows = drawn(count, wanted, seed);
                assert!(
                    rows.windows(2).all(|w| w[0] < w[1]) && rows.iter().all(|&row| row < count)
                );
                assert!(count <= wanted || (rows[0] == 0 && rows[rows.len() - 1] == count - 1));
                let parts: std::collections::BTreeSet<_> =
                    rows.iter().map(|row| ((row + 1) * wanted.max(1) - 1) / count.max(1)).collect();
                assert!(count <= wanted || parts.len() == wanted, "{count} {wanted}");
            }
        }
    }
}
