//! The launches of cuBLASLt beside Falchion: each algorithm for the problem or, for ragged groups,
//! one call per group.

use super::{
    Outcome, SuiteProblem,
    epilogue_buffers::EpilogueBuffers,
    ours::Launched,
    peer::{NAME, OF_BATCH, OF_GROUPS, REQUESTED, WORKSPACE_BYTES, bias_operand, lt_problem},
    peer_groups::{LtGroup, lt_groups, sets_of},
    protocol::Session,
    timer::Launch,
};
use crate::{
    Error,
    sys::cublaslt::{Lt, LtAlgorithm, LtLaunch, LtPlan, LtSet, Region},
    verify::HostBuffer,
};
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
            return bound.against_groups(session, ours, lt, &groups, regions, integers);
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
        groups: &[LtGroup],
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
            match self.fastest(session, lt, plan, group, regions)? {
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
    /// over operands of the same size and alignment, so that none stays in the cache.
    fn fastest(
        &self,
        session: &mut Session<'_>,
        lt: &Lt,
        plan: &LtPlan,
        group: &LtGroup,
        regions: &[LtSet<'_>],
    ) -> Result<Option<[LtAlgorithm; 2]>, Error> {
        let alike = |all| group.alike.iter().map(move |&offsets| group.set(all, offsets));
        let sets: Vec<_> = regions.iter().flat_map(alike).collect();
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

/// One call of the peer for each nonempty group.
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
