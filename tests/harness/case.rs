//! One case: buffers, filled and poisoned, run by something, and judged.

use super::{problems::Problem, reproduce};
use falchion::{
    Error,
    desc::GemmDesc,
    internals::call::{HostMatrices, MatrixShape, Shapes, Source},
};
use falchion_lab::verify::{self, Claim, Distribution, Fill, HostBuffer, Verdict};

/// Something that runs a description on matrices in host memory, with whatever copying it takes.
pub trait Runner: Sync {
    /// What it is, for messages.
    fn name(&self) -> &'static str;

    /// Whether addresses and extents have to keep what the description's alignments promise.
    fn needs_alignment(&self) -> bool;

    /// Runs a description. The slices are whole buffers, guard zones included; A, B, C and D begin at their elements `first`.
    /// What it writes to D's buffer, wherever that is, has to be there afterwards.
    fn run(&self, desc: &GemmDesc, shapes: &Shapes, whole: HostMatrices<'_>, first: [usize; 4]) -> Result<(), Error>;
}

/// The memory of one case: A, B, C and D, each with guard zones before and behind it.
#[derive(Clone)]
pub struct Buffers {
    pub a: HostBuffer,
    pub b: HostBuffer,
    pub c: HostBuffer,
    pub d: HostBuffer,
}

impl Buffers {
    /// Buffers for a problem, filled; full of poison everywhere else: between rows, around, all over D, and in whatever the
    /// epilogue does not read.
    pub fn filled(desc: &GemmDesc, problem: &Problem, fill: Fill, seed: u64) -> Result<Self, Error> {
        let Problem { shapes, first, behind, poisoned } = problem;
        let c_shape = if let Source::Matrix(c) = shapes.c { c } else { shapes.d };
        let (kind_a, kind_b) = if desc.frame.is_exchanged() {
            (desc.class.b.element, desc.class.a.element)
        } else {
            (desc.class.a.element, desc.class.b.element)
        };
        let buffer =
            |which: usize, kind, shape: &MatrixShape| HostBuffer::poisoned(kind, first[which] + shape.length + behind[which]);
        let mut buffers = Self {
            a: buffer(0, kind_a, &shapes.a)?,
            b: buffer(1, kind_b, &shapes.b)?,
            c: buffer(2, desc.class.output.element, &c_shape)?,
            d: buffer(3, desc.class.output.element, &shapes.d)?,
        };
        let lay = |buffer: &mut HostBuffer, which: usize, shape: &MatrixShape, extents, from: Distribution| {
            let range = first[which]..first[which] + shape.length;
            from.fill(seed.wrapping_add(which as u64), buffer.slice_mut(range)?, shape, extents)
        };
        let reads = desc.class.output.epilogue.reads(&shapes.scalars);
        if reads.accumulator || !poisoned {
            let operands = fill.operands(desc.class.combined(), shapes.k);
            lay(&mut buffers.a, 0, &shapes.a, (shapes.m, shapes.k), operands)?;
            lay(&mut buffers.b, 1, &shapes.b, (shapes.k, shapes.n), operands)?;
        }
        if reads.source || !poisoned {
            lay(&mut buffers.c, 2, &c_shape, (shapes.m, shapes.n), fill.source())?;
            if shapes.c == Source::InPlace {
                lay(&mut buffers.d, 3, &shapes.d, (shapes.m, shapes.n), fill.source())?;
            }
        }
        Ok(buffers)
    }

    /// Has a runner write D.
    pub fn run(&mut self, runner: &dyn Runner, desc: &GemmDesc, problem: &Problem) -> Result<(), Error> {
        let Self { a, b, c, d } = self;
        let (whole_c, length) = (c.slice(0..c.length())?, d.length());
        let matrices = HostMatrices {
            a: a.slice(0..a.length())?,
            b: b.slice(0..b.length())?,
            c: match problem.shapes.c {
                Source::None => Source::None,
                Source::InPlace => Source::InPlace,
                Source::Matrix(_) => Source::Matrix(whole_c),
            },
            d: d.slice_mut(0..length)?,
        };
        runner.run(desc, &problem.shapes, matrices, problem.first)
    }

    /// Judges D, given the buffers as they were before.
    pub fn judge(&self, before: &Self, desc: &GemmDesc, problem: &Problem) -> Result<Verdict, Error> {
        let Problem { shapes, first, .. } = problem;
        let part =
            |buffer, which: usize, shape: &MatrixShape| HostBuffer::slice(buffer, first[which]..first[which] + shape.length);
        let c = match shapes.c {
            Source::None => None,
            Source::InPlace => Some(part(&before.d, 3, &shapes.d)?),
            Source::Matrix(c) => Some(part(&before.c, 2, &c)?),
        };
        let (a, b, d) = (part(&before.a, 0, &shapes.a)?, part(&before.b, 1, &shapes.b)?, part(&self.d, 3, &shapes.d)?);
        verify::check(&Claim { desc, shapes, a, b, c, d })
    }
}

/// What the cases of a suite came to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    pub cases: usize,
    pub elements: usize,
    pub exact: usize,
    pub undecided: usize,
    /// The largest error as a share of its bound.
    pub largest: f64,
}

impl Tally {
    pub fn and(self, other: Self) -> Self {
        Self {
            cases: self.cases + other.cases,
            elements: self.elements + other.elements,
            exact: self.exact + other.exact,
            undecided: self.undecided + other.undecided,
            largest: self.largest.max(other.largest),
        }
    }
}

/// Runs one case with one fill, and judges it; what is wrong is told with the line that reproduces it.
pub fn judge_one(
    runner: &dyn Runner,
    desc: &GemmDesc,
    problem: &Problem,
    fill: Fill,
    seeds: (u64, u64),
) -> Result<Tally, String> {
    judged(runner, desc, problem, fill, seeds.1).map_err(|what| {
        format!("{} on {fill:?}: {what}\n  {}\n  {desc:?}\n  {problem:?}", runner.name(), reproduce("conformance", seeds))
    })
}

fn judged(runner: &dyn Runner, desc: &GemmDesc, problem: &Problem, fill: Fill, seed: u64) -> Result<Tally, String> {
    let words = |error: Error| error.to_string();
    let before = Buffers::filled(desc, problem, fill, seed).map_err(words)?;
    let mut after = before.clone();
    after.run(runner, desc, problem).map_err(words)?;
    let Shapes { m, n, .. } = problem.shapes;
    if let Some(place) = after.d.stray(&before.d, problem.first[3], &problem.shapes.d, (m, n)) {
        return Err(format!("element {place} of D's buffer lies outside of D and was written"));
    }
    if (&after.a, &after.b, &after.c) != (&before.a, &before.b, &before.c) {
        return Err("an operand that is only read was written".to_owned());
    }
    let verdict = after.judge(&before, desc, problem).map_err(words)?;
    if verdict.elements_wrong > 0 || (fill == Fill::Integers && !verdict.is_exact() && !user_function(desc)) {
        return Err(format!("{verdict}; {} of {} compared with ==", verdict.elements_exact, verdict.elements_checked));
    }
    Ok(Tally {
        cases: 1,
        elements: verdict.elements_checked,
        exact: verdict.elements_exact,
        undecided: verdict.elements_undecided,
        largest: verdict.error_over_bound,
    })
}

fn user_function(desc: &GemmDesc) -> bool {
    desc.class.output.epilogue.ops().iter().any(|op| matches!(op, falchion::epilogue::Op::User(_)))
}
