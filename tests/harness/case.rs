//! One test case: filled and poisoned buffers, one run, and a verdict.

use super::reproduce;
use crate::harness::prelude::*;
use falchion_lab::verify;

/// Executor of descriptions on matrices in host memory. It may copy the matrices.
pub trait Runner: Sync {
    /// Returns the name for messages.
    fn name(&self) -> &'static str;

    /// Returns whether addresses and sizes must have the alignments of the description.
    fn needs_alignment(&self) -> bool;

    /// Runs a description. D's buffer afterwards contains all writes, also those outside of D.
    fn run(&self, desc: &GemmDesc, placed: Placed<'_>) -> Result<(), Error>;
}

/// Matrices of a problem in longer buffers.
pub struct Placed<'a> {
    pub problem: Problem,
    /// Whole buffers with guard zones.
    pub whole: HostMatrices<'a>,
    /// First elements of A, B, C, and D in their buffers.
    pub first: [usize; 4],
}

/// Memory of one case: A, B, C, and D, each between two guard zones.
#[derive(Clone)]
pub struct Buffers {
    pub a: HostBuffer,
    pub b: HostBuffer,
    pub c: HostBuffer,
    pub d: HostBuffer,
    /// Operands of the epilogue, with poison after their ends.
    pub operands: EpilogueOperands<HostBuffer>,
}

impl Buffers {
    /// Creates filled buffers for a problem. Everything else is poison: gaps between rows, guard
    /// zones, D, and operands that the epilogue does not read.
    pub fn filled(
        desc: &GemmDesc,
        guarded: &Guarded,
        fill: Fill,
        seed: u64,
    ) -> Result<Self, Error> {
        let Guarded { problem, first, behind, poisoned } = guarded;
        let c = if let Source::Matrix(c) = problem.c { c } else { problem.d };
        let types = desc.user_types();
        let epilogue = desc.epilogue.leave(desc.frame);
        let elements = epilogue.operands((desc.output.compute, types.c));
        let buffer = |which: usize, kind, view: &View<Elements>| {
            HostBuffer::poisoned(kind, first[which] + view.memory.length + behind[which])
        };
        let mut buffers = Self {
            a: buffer(0, types.a, &problem.a)?,
            b: buffer(1, types.b, &problem.b)?,
            c: buffer(2, types.c, &c)?,
            d: buffer(3, types.c, &problem.d)?,
            operands: problem.operands.try_map(|operand, view| {
                let kind = elements.get(operand).copied().unwrap_or(types.c);
                HostBuffer::poisoned(kind, view.memory.length + BEHIND)
            })?,
        };
        let lay = |buffer: &mut HostBuffer,
                   which: usize,
                   view: &View<Elements>,
                   extents,
                   from: Distribution| {
            let range = first[which]..first[which] + view.memory.length;
            from.fill(seed.wrapping_add(which as u64), buffer.slice_mut(range)?, view, extents)
        };
        let reads = desc.epilogue.leave(desc.frame).reads(&problem.scalars);
        if reads.accumulator || !poisoned {
            let operands = fill.operands(desc.types(), problem.k);
            lay(&mut buffers.a, 0, &problem.a, (problem.m, problem.k), operands)?;
            lay(&mut buffers.b, 1, &problem.b, (problem.k, problem.n), operands)?;
        }
        for (kind, buffer) in buffers
            .operands
            .iter_mut()
            .filter(|(kind, _)| reads.operands.get(*kind).is_some() || !poisoned)
            .filter(|(kind, _)| !epilogue.writes(*kind))
        {
            // Vectors have had the numbers 0 to 3.
            let seed = seed.wrapping_add(3 + kind.index() as u64);
            let Some(view) = problem.operands.get(kind) else { continue };
            let (view, extents) = match kind.side() {
                Some(side) => {
                    let length = problem.mn(side);
                    (View::packed(Elements::ALL, Order::Row, (1, length), None), (1, length))
                }
                None => (*view, (problem.m, problem.n)),
            };
            let length = view.elements(extents, 1) as usize;
            fill.source().fill(seed, buffer.slice_mut(0..length)?, &view, extents)?;
        }
        if reads.source() || !poisoned {
            lay(&mut buffers.c, 2, &c, (problem.m, problem.n), fill.source())?;
            if problem.c == Source::InPlace {
                lay(&mut buffers.d, 3, &problem.d, (problem.m, problem.n), fill.source())?;
            }
        }
        Ok(buffers)
    }

    /// Runs the runner on the buffers.
    pub fn run(
        &mut self,
        runner: &dyn Runner,
        desc: &GemmDesc,
        guarded: &Guarded,
    ) -> Result<(), Error> {
        let Self { a, b, c, d, operands } = self;
        let epilogue = desc.epilogue.leave(desc.frame);
        let operands = sliced(operands, &epilogue)?;
        let c = guarded.problem.c.try_map(|_| c.whole())?;
        let whole = HostMatrices { a: a.whole()?, b: b.whole()?, c, d: d.whole_mut()?, operands };
        let Guarded { problem, first, .. } = *guarded;
        runner.run(desc, Placed { problem, whole, first })
    }

    /// Checks D, given the buffers before the run.
    pub fn judge(
        &self,
        before: &Self,
        desc: &GemmDesc,
        guarded: &Guarded,
    ) -> Result<Verdict, Error> {
        let Guarded { problem, first, .. } = guarded;
        let part = |buffer, which: usize, view: &View<Elements>| {
            HostBuffer::slice(buffer, first[which]..first[which] + view.memory.length)
        };
        let c = match problem.c {
            Source::None => None,
            Source::InPlace => Some(part(&before.d, 3, &problem.d)?),
            Source::Matrix(c) => Some(part(&before.c, 2, &c)?),
        };
        let (a, b, d) = (
            part(&before.a, 0, &problem.a)?,
            part(&before.b, 1, &problem.b)?,
            part(&self.d, 3, &problem.d)?,
        );
        let operands = self.operands.as_ref().try_map(|_, buffer| buffer.whole())?;
        verify::check(&Claim { desc, problem, a, b, c, d, operands })
    }
}

/// Number of poison elements after a vector.
const BEHIND: usize = 7;

/// Returns the buffers of the epilogue's operands as slices, with poison.
pub fn sliced<'b>(
    operands: &'b mut EpilogueOperands<HostBuffer>,
    epilogue: &EpilogueDesc,
) -> Result<EpilogueOperands<HostSlice<'b>>, Error> {
    let slices = operands.iter_mut().map(|(operand, buffer)| {
        let written = epilogue.writes(operand);
        Ok((operand, if written { buffer.whole_mut()?.into_shared() } else { buffer.whole()? }))
    });
    slices.collect()
}

/// Returns the buffers of the operands that an epilogue does not write, and those that it does.
pub fn read_and_written<'b>(
    operands: &'b EpilogueOperands<HostBuffer>,
    epilogue: &EpilogueDesc,
) -> [EpilogueOperands<&'b HostBuffer>; 2] {
    [false, true].map(|written| {
        let all = operands.as_ref();
        all.filter_map(|kind, buffer| (epilogue.writes(kind) == written).then_some(buffer))
    })
}

/// Results of a suite.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    pub cases: usize,
    pub elements: usize,
    pub exact: usize,
    pub undecided: usize,
    /// Maximum ratio of an error to its bound.
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

/// Runs and checks one case with one fill. A failure contains the line that reproduces it.
pub fn judge_one(
    runner: &dyn Runner,
    desc: &GemmDesc,
    guarded: &Guarded,
    fill: Fill,
    seeds: (u64, u64),
) -> Result<Tally, String> {
    judged(runner, desc, guarded, fill, seeds.1).map_err(|what| {
        format!(
            "{} on {fill:?}: {what}\n  {}\n  {desc:?}\n  {guarded:?}",
            runner.name(),
            reproduce("conformance", seeds)
        )
    })
}

fn judged(
    runner: &dyn Runner,
    desc: &GemmDesc,
    guarded: &Guarded,
    fill: Fill,
    seed: u64,
) -> Result<Tally, String> {
    let words = |error: Error| error.to_string();
    let before = Buffers::filled(desc, guarded, fill, seed).map_err(words)?;
    let mut after = before.clone();
    after.run(runner, desc, guarded).map_err(words)?;
    let Problem { m, n, .. } = guarded.problem;
    if let Some(place) = after.d.stray(&before.d, guarded.first[3], &guarded.problem.d, (m, n)) {
        return Err(format!("element {place} of D's buffer lies outside of D and was written"));
    }
    let epilogue = desc.epilogue.leave(desc.frame);
    let [read, _] = read_and_written(&after.operands, &epilogue);
    let [read_before, written_before] = read_and_written(&before.operands, &epilogue);
    if (&after.a, &after.b, &after.c, read) != (&before.a, &before.b, &before.c, read_before) {
        return Err("an operand that is only read was written".to_owned());
    }
    for (operand, buffer) in written_before.iter() {
        let Some((result, view)) =
            after.operands.get(operand).zip(guarded.problem.operands.get(operand))
        else {
            continue;
        };
        let inside: HashSet<usize> =
            (0..m).flat_map(|row| (0..n).map(move |column| view.offset(row, column))).collect();
        let width = result.kind().bytes_of(1) as usize;
        let elements = result.bytes().chunks_exact(width).zip(buffer.bytes().chunks_exact(width));
        let mut changed = elements.enumerate().filter(|(_, (after, before))| after != before);
        if let Some((place, _)) = changed.find(|(place, _)| !inside.contains(place)) {
            return Err(format!("element {place} of {operand} is outside of it and was written"));
        }
    }
    let verdict = after.judge(&before, desc, guarded).map_err(words)?;
    if verdict.elements_wrong > 0
        || (fill == Fill::Integers && !verdict.is_exact() && !approximates(desc))
    {
        return Err(format!(
            "{verdict}; {} of {} compared with ==",
            verdict.elements_exact, verdict.elements_checked
        ));
    }
    Ok(Tally {
        cases: 1,
        elements: verdict.elements_checked,
        exact: verdict.elements_exact,
        undecided: verdict.elements_undecided,
        largest: verdict.error_over_bound,
    })
}

/// Returns whether an epilogue has a function whose result is not known exactly, or writes a sum of
/// exact values, which may round.
fn approximates(desc: &GemmDesc) -> bool {
    desc.epilogue.ops().iter().any(|op| match op {
        Op::Write(operand, _) => operand.is_sum(),
        Op::Math(function) => !function.computes_in(ComputeKind::F64),
        _ => op.user().is_some(),
    })
}
