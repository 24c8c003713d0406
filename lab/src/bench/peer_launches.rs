//! The launches of cuBLASLt beside Falchion: each algorithm for the problem or, for ragged groups,
//! one call per group.

use super::{
    Outcome, SuiteProblem,
    epilogue_buffers::EpilogueBuffers,
    ours::Launched,
    peer::{NAME, OF_BATCH, OF_GROUPS, REQUESTED, WORKSPACE_BYTES, bias_operand, lt_problem},
    protocol::Session,
    timer::Launch,
};
use crate::{
    Error,
    sys::cublaslt::{ALIGNMENT_BYTES, Lt, LtAlgorithm, LtLaunch, LtPlan, LtProblem, LtSet, Region},
    verify::HostBuffer,
};
use core::ops::Range;
use cudarc::driver::{CudaSlice, CudaStream};
use falchion::{
    epilogue::Op,
    internals::{shape::EpilogueOperands, sys::driver::driver},
    nest::GemmDesc,
    numeric::ComputeKind,
};
use std::sync::Arc;

/// The measurement of one problem: the form of the peer's calls, the times, and the number of the
/// peer's algorithms with a wrong result.
pub(super) struct Comparison {
    /// The peer's name; `None` if there is no peer, or if it does not support the problem.
    pub peer: Option<&'static str>,
    /// The times of ours and of the peer.
    pub outcome: Outcome,
    /// Whether the peer's timed algorithms are verified; `None` without a peer.
    pub peer_verified: Option<bool>,
    /// Algorithms of the peer whose result is wrong.
    pub peer_wrong: usize,
}

/// Measures Falchion and the peer on the same buffers. Algorithms with a wrong result are timed
/// only if no algorithm is right.
pub(super) fn against_peer(
    session: &mut Session<'_>,
    ours: &mut dyn Launch,
    (lt, stream): (Option<&Lt>, &Arc<CudaStream>),
    problem: &SuiteProblem,
    regions: &[LtSet<'_>],
    integers: &mut IntegerCase<'_>,
) -> Result<Comparison, Error> {
    let count = regions.len();
    let workspace = stream.alloc_zeros::<u8>(WORKSPACE_BYTES).map_err(driver("cuMemAllocAsync"))?;
    let bound = Bound { stream, workspace: Region::from_slice(&workspace) };
    let (lt, asked) = match (lt, lt_groups(problem), lt_problem(problem)) {
        (Some(lt), Some(groups), _) if !groups.is_empty() => {
            let groups = (&groups[..], problem.products());
            return bound.against_groups(session, ours, lt, groups, regions, integers);
        }
        (Some(lt), _, Some(asked)) => (lt, asked),
        _ => {
            let outcome = session.against(ours, &mut [], count)?;
            return Ok(Comparison { peer: None, outcome, peer_verified: None, peer_wrong: 0 });
        }
    };
    let bias = integers.beside.memory(bias_operand(problem)).map(Region::from_slice);
    let plan = lt.plan_with_bias(&asked, bias)?;
    let (mut right, mut wrong) = (Vec::new(), Vec::new());
    for algorithm in lt.algorithms(&plan, WORKSPACE_BYTES, REQUESTED)? {
        let is_right = integers
            .is_right(|sets| bound.launch(lt, &plan, algorithm.clone(), sets)?.enqueue(0))?;
        if is_right { &mut right } else { &mut wrong }.push(algorithm);
    }
    let (peer_wrong, peer_verified) = (wrong.len(), !right.is_empty() || wrong.is_empty());
    let first_is_wrong = wrong.iter().any(|algorithm| algorithm.rank == 0);
    let mut peers = Vec::new();
    for algorithm in if peer_verified { right } else { wrong } {
        peers.push(bound.launch(lt, &plan, algorithm, regions)?);
    }
    let mut contenders: Vec<&mut dyn Launch> =
        peers.iter_mut().map(|peer| peer as &mut dyn Launch).collect();
    let name = if problem.pointers { OF_BATCH } else { NAME };
    let mut outcome = session.against(ours, &mut contenders, count)?;
    if first_is_wrong {
        outcome.peer_first_us = None;
    }
    let peer_verified = outcome.peer.is_some().then_some(peer_verified);
    Ok(Comparison { peer: Some(name), outcome, peer_verified, peer_wrong })
}

/// A problem with whole numbers, whose exact result is known. The peer's algorithms run it before
/// they are timed.
pub(super) struct IntegerCase<'c> {
    /// The form of Falchion's launch: extents and group offsets.
    pub launched: &'c Launched,
    /// The description whose element types and accumulator the reference uses.
    pub desc: &'c GemmDesc,
    /// The stream of all copies and launches.
    pub stream: &'c Arc<CudaStream>,
    /// A, B, and C on the host.
    pub host: [&'c HostBuffer; 3],
    /// Falchion's result, whose rows are verified.
    pub verified: &'c HostBuffer,
    /// A and B on the device.
    pub operands: &'c [CudaSlice<u8>; 2],
    /// Operands of the epilogue.
    pub beside: &'c EpilogueBuffers,
    /// D on the device.
    pub d: CudaSlice<u8>,
}

impl IntegerCase<'_> {
    /// Runs a launch on a D that holds C, or poison if C is not read. The result is right if it
    /// equals Falchion's result bit for bit, or if its rows agree with the reference. A launch that
    /// fails counts as right, because it is not timed.
    fn is_right(
        &mut self,
        run: impl FnOnce(&[LtSet<'_>]) -> Result<(), Error>,
    ) -> Result<bool, Error> {
        let Self { launched, desc, stream, host, verified, operands, beside, d } = self;
        let [_, _, c] = *host;
        let mut computed = HostBuffer::poisoned(c.kind(), c.length())?;
        let before = if launched.reads_c() { c } else { &computed };
        stream.memcpy_htod(before.bytes(), d).map_err(driver("cuMemcpyHtoDAsync"))?;
        let on_device = Region::from_slice(&*d);
        let [a_region, b_region] = [0, 1].map(|at: usize| Region::from_slice(&operands[at]));
        let set = LtSet { a: a_region, b: b_region, c: on_device, d: on_device };
        if run(&[set]).is_err() {
            return Ok(true);
        }
        stream
            .memcpy_dtoh(d, computed.whole_mut()?.into_bytes())
            .map_err(driver("cuMemcpyDtoHAsync"))?;
        stream.synchronize().map_err(driver("cuStreamSynchronize"))?;
        let is_ours = computed.bytes() == verified.bytes()
            || approximates(desc) && agrees(&computed, verified);
        // An epilogue with results beside D has no peer.
        let operands = beside.host(&EpilogueOperands::NONE)?;
        Ok(is_ours || launched.verdict(desc, *host, operands, &computed)?.is_right())
    }
}

/// Returns whether the epilogue has a function that the peer may approximate otherwise.
fn approximates(desc: &GemmDesc) -> bool {
    desc.epilogue
        .ops()
        .iter()
        .any(|op| matches!(op, Op::Math(function) if !function.computes_in(ComputeKind::F64)))
}

/// Returns whether two results agree to 6 bits, or to 2^-8 near 0: the precision of an
/// approximation of tanh by the hardware, in bf16.
fn agrees(computed: &HostBuffer, wanted: &HostBuffer) -> bool {
    (0..wanted.length()).all(|at| match (computed.get(at), wanted.get(at)) {
        (Ok(got), Ok(want)) => (got - want).abs() <= want.abs() / 64.0 + 1.0 / 256.0,
        _ => false,
    })
}

/// A group with rows, as a problem for the peer.
#[derive(Debug)]
struct LtGroup {
    problem: LtProblem,
    /// Bytes from the first A, B, and D to those of the group, and from one B to the next.
    first: [usize; 3],
    apart: usize,
}

impl LtGroup {
    /// Returns the group's buffers, with the B at offset `b`.
    fn set<'r>(&self, all: &LtSet<'r>, b: usize) -> LtSet<'r> {
        let [a, _, d] = self.first;
        LtSet { a: all.a.from(a), b: all.b.from(b), c: all.c.from(d), d: all.d.from(d) }
    }
}

/// Returns the groups with rows; `None` if groups are equal, if they have an epilogue, or if the
/// peer does not support them.
fn lt_groups(problem: &SuiteProblem) -> Option<Vec<LtGroup>> {
    let rows = problem.group_rows.as_ref().filter(|_| problem.epilogue.is_none())?;
    let call = problem.problem();
    let one = |(number, lines): (usize, Range<usize>)| {
        let first = [
            (problem.a, call.a.offset(lines.start, 0)),
            (problem.b, number * call.b.batch_stride),
            (problem.c, call.d.offset(lines.start, 0)),
        ];
        let [a, b, d] =
            first.map(|(operand, elements)| operand.element.matrix_bytes(elements as u64) as usize);
        let apart = problem.b.element.matrix_bytes(call.b.batch_stride as u64) as usize;
        let alignment =
            [a, b, d, d].map(|first| 1 << (first | ALIGNMENT_BYTES as usize).trailing_zeros());
        let alone = SuiteProblem { m: lines.len(), group_rows: None, ..problem.clone() };
        Some(LtGroup {
            problem: LtProblem { alignment, ..lt_problem(&alone)? },
            first: [a, b, d],
            apart,
        })
    };
    let lines = rows.iter().scan(0, |end, rows| {
        let first = *end;
        *end += rows;
        Some(first..*end)
    });
    lines.enumerate().filter(|(_, lines)| !lines.is_empty()).map(one).collect()
}

/// Returns the buffers of each group in each set.
fn sets_of<'r>(groups: &[LtGroup], all: &[LtSet<'r>]) -> Vec<Vec<LtSet<'r>>> {
    let of_group =
        |group: &LtGroup| all.iter().map(|set| group.set(set, group.first[1])).collect::<Vec<_>>();
    groups.iter().map(of_group).collect()
}

/// The stream and the workspace that all launches of the peer share.
struct Bound<'b> {
    stream: &'b Arc<CudaStream>,
    workspace: Region<'b>,
}

impl<'b> Bound<'b> {
    fn launch<'l>(
        &self,
        lt: &'l Lt,
        plan: &'l LtPlan,
        algorithm: LtAlgorithm,
        sets: &'l [LtSet<'l>],
    ) -> Result<LtLaunch<'l>, Error>
    where
        'b: 'l,
    {
        LtLaunch::new(lt, plan, algorithm, sets, Some(self.workspace), self.stream)
    }

    /// Measures Falchion beside one call per group in sequence. One contender calls the peer's
    /// first choice for each group, and the other calls the algorithm that a brief timing finds the
    /// fastest for that number of rows. Groups with equal problems share an algorithm.
    fn against_groups(
        &self,
        session: &mut Session<'_>,
        ours: &mut dyn Launch,
        lt: &Lt,
        (groups, products): (&[LtGroup], usize),
        regions: &[LtSet<'_>],
        integers: &mut IntegerCase<'_>,
    ) -> Result<Comparison, Error> {
        let mut plans: Vec<(&LtGroup, LtPlan)> = Vec::new();
        for group in groups {
            if !plans.iter().any(|(_, plan)| *plan.problem() == group.problem) {
                plans.push((group, lt.plan(&group.problem)?));
            }
        }
        session.warm(ours, regions.len())?;
        let mut chosen = Vec::with_capacity(plans.len());
        for (group, plan) in &plans {
            match self.fastest(session, lt, plan, (group, products), regions)? {
                Some(both) => chosen.push(both),
                // If the peer refuses one group, it cannot compute the problem.
                None => {
                    let outcome = session.against(ours, &mut [], regions.len())?;
                    let peer = Some(OF_GROUPS);
                    return Ok(Comparison { peer, outcome, peer_verified: None, peer_wrong: 0 });
                }
            }
        }
        let algorithm = |group: &LtGroup, which: usize| {
            let found =
                plans.iter().zip(&chosen).find(|((_, plan), _)| *plan.problem() == group.problem);
            found.map(|((_, plan), both)| (plan, both[which].clone()))
        };
        let mut peer_wrong = 0;
        for which in [0, 1] {
            let is_right = integers.is_right(|all| {
                for (group, sets) in groups.iter().zip(&sets_of(groups, all)) {
                    let Some((plan, algorithm)) = algorithm(group, which) else { continue };
                    self.launch(lt, plan, algorithm, sets)?.enqueue(0)?;
                }
                Ok(())
            })?;
            peer_wrong += usize::from(!is_right);
        }
        let sets = sets_of(groups, regions);
        let each = |which: usize, name| {
            let mut calls = Vec::with_capacity(groups.len());
            for (group, sets) in groups.iter().zip(&sets) {
                let Some((plan, algorithm)) = algorithm(group, which) else { continue };
                calls.push(self.launch(lt, plan, algorithm, sets)?);
            }
            Ok::<_, Error>(LtCalls { calls, name })
        };
        let mut first = each(0, "cublaslt's first choice for each group")?;
        let mut fastest = each(1, "cublaslt's fastest for each group")?;
        let outcome = session.against(ours, &mut [&mut first, &mut fastest], regions.len())?;
        let peer_verified = Some(peer_wrong == 0);
        Ok(Comparison { peer: Some(OF_GROUPS), outcome, peer_verified, peer_wrong })
    }

    /// Returns the peer's first choice for a group, and its fastest algorithm. The timing rotates
    /// over every B with the group's alignment, so that no B stays in the cache.
    fn fastest(
        &self,
        session: &mut Session<'_>,
        lt: &Lt,
        plan: &LtPlan,
        (group, products): (&LtGroup, usize),
        regions: &[LtSet<'_>],
    ) -> Result<Option<[LtAlgorithm; 2]>, Error> {
        let aligned = |b: &usize| b.is_multiple_of(group.problem.alignment[1] as usize);
        let bs: Vec<_> = (0..products).map(|number| number * group.apart).filter(aligned).collect();
        let sets: Vec<_> =
            regions.iter().flat_map(|all| bs.iter().map(|&b| group.set(all, b))).collect();
        let algorithms = lt.algorithms(plan, WORKSPACE_BYTES, REQUESTED)?;
        let mut launches = Vec::with_capacity(algorithms.len());
        for algorithm in &algorithms {
            launches.push(self.launch(lt, plan, algorithm.clone(), &sets)?);
        }
        let mut contenders: Vec<&mut dyn Launch> =
            launches.iter_mut().map(|launch| launch as &mut dyn Launch).collect();
        let times = session.screen(&mut contenders, sets.len())?;
        let ran = || {
            algorithms
                .iter()
                .zip(&times)
                .filter_map(|(algorithm, time)| Some((algorithm, (*time)?)))
        };
        let fastest = ran().min_by(|left, right| left.1.total_cmp(&right.1));
        Ok(ran()
            .next()
            .zip(fastest)
            .map(|((first, _), (fastest, _))| [first.clone(), fastest.clone()]))
    }
}

/// One call of the peer for each group with rows.
struct LtCalls<'a> {
    calls: Vec<LtLaunch<'a>>,
    name: &'static str,
}

impl Launch for LtCalls<'_> {
    fn launch(&mut self, set: usize) -> Result<(), Error> {
        self.calls.iter().try_for_each(|call| call.enqueue(set))
    }

    fn name(&self) -> &str {
        self.name
    }

    fn calls(&self) -> usize {
        self.calls.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::suite::parse;

    fn groups(line: &str) -> Option<Vec<LtGroup>> {
        lt_groups(&parse("test", line).expect("a problem")[0])
    }

    /// Checks that each group with rows has a call with its addresses and its alignment.
    #[test]
    fn the_peer_is_called_for_each_nonempty_group() {
        let line = r#"{"m":10,"n":24,"k":16,"a":"bf16:row","b":"bf16:col","c":"f32:row","group_rows":[3,0,7],"alpha":2.0}"#;
        let all = groups(line).expect("the peer has words for them");
        let told: Vec<_> = all
            .iter()
            .map(|group| (group.problem.m, group.first, group.problem.alignment))
            .collect();
        let b = 24 * 16 * 2;
        assert_eq!(told, [(3, [0; 3], [256; 4]), (7, [3 * 32, 2 * b, 3 * 96], [32, 256, 32, 32])]);
        for LtGroup { problem, apart, .. } in &all {
            assert_eq!(
                (problem.n, problem.k, problem.batch, problem.alpha, *apart),
                (24, 16, 1, 2.0, b)
            );
            assert_eq!((problem.a.ld, problem.b.ld, problem.d.ld), (16, 16, 24));
        }
        let odd =
            groups(&line.replace(r#""k":16"#, r#""k":15"#)).expect("the peer has words for them");
        assert_eq!(odd[1].problem.alignment, [2, 32, 32, 32]);
        assert!(groups(&line.replace(r#","alpha":2.0"#, r#","epilogue":"relu(acc)""#)).is_none());
        assert!(groups(&line.replace("[3,0,7]", "null")).is_none());
    }
}
