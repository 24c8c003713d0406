//! One problem of a suite, measured on a device: ours beside every algorithm of the peer, and verified.

use super::{
    Outcome, SuiteProblem,
    accuracy::errors,
    kernels::prepared,
    peer::{self, REQUESTED, WORKSPACE_BYTES, lt_problem},
    protocol::{self, Session},
    record::{Circumstances, Line},
    timer::Launch,
};
use crate::{
    sys::cublaslt::{Lt, LtLaunch, LtSet, Region},
    verify::{Claim, Distribution, Fill, HostBuffer, bound::Accumulation, of_batch, sampled},
};
use cudarc::driver::{CudaSlice, CudaStream};
use falchion::{
    Error,
    arch::ArchKind,
    cuda::{CudaCall, CudaKernel, CudaMatrices, DeviceMatrix, machine_of},
    desc::{AOperandKind, FamilyDesc, GemmDesc, PromotionKind, SaturateKind},
    internals::{
        call::{Elements, Groups, Problem, Routes, Source, View},
        sys::driver::driver,
    },
    numeric::{Combined, ElementKind, EmulationKind},
    refusal::{Operand, Refusal},
};
use std::sync::Arc;

/// Rows of D that are computed again to verify a measured product.
pub(crate) const VERIFIED_ROWS: usize = 24;

/// A device, and what is measured on it.
pub struct Bench {
    stream: Arc<CudaStream>,
    lt: Option<Lt>,
    device: String,
}

/// What is measured of a problem, apart from the clock.
#[derive(Clone, Default)]
pub struct Run {
    /// The suite's name.
    pub suite: String,
    /// Whether the peer is asked.
    pub with_peer: bool,
    /// A kernel instead of the default one.
    pub kernel: Option<CudaKernel>,
    /// The day.
    pub date: String,
    /// The commit.
    pub commit: String,
}

impl Bench {
    /// Opens the device of `stream` for measurements; without `with_peer`, cuBLASLt is not looked for.
    ///
    /// # Errors
    /// [`Error::Library`] when cuBLASLt is asked for and not there; [`Error::Driver`].
    pub fn new(stream: &Arc<CudaStream>, with_peer: bool) -> Result<Self, Error> {
        let device = stream.context().name().map_err(driver("cuDeviceGetName"))?;
        let lt = if with_peer { Some(Lt::open(stream.context())?) } else { None };
        Ok(Self { stream: stream.clone(), lt, device })
    }

    /// Measures a problem. One whose knobs are refused is a line with the refusal's sentence, and so is one whose operands are
    /// refused.
    ///
    /// # Errors
    /// [`Error::Measurement`] when it computed it wrong, [`Error::Driver`].
    pub fn measure(&self, session: &mut Session<'_>, problem: &SuiteProblem, run: &Run) -> Result<Line, Error> {
        let newest = ArchKind::newest_of(machine_of(self.stream.context())?.sm).unwrap_or(ArchKind::Sm70);
        let kernel = match &run.kernel {
            Some(kernel) => kernel.clone(),
            None => match prepared(problem, newest, |desc| CudaKernel::prepare(self.stream.context(), desc))? {
                Ok(kernel) => kernel,
                Err(sentence) => return Ok(Line::refused(problem, sentence, self.circumstances(run))),
            },
        };
        let desc = *kernel.desc();
        let numbers = problem.problem();
        let (types, seed) = (types(problem)?, problem.seed.unwrap_or(1));
        let upload = |buffer: &HostBuffer| self.stream.clone_htod(buffer.bytes()).map_err(driver("cuMemcpyHtoDAsync"));
        // Whole numbers first: their sums are known, whatever the bound on others says.
        let [a, b, c] = operands(&numbers, types, Fill::Integers, seed)?;
        let sets = [[upload(&a)?, upload(&b)?]];
        let results = vec![upload(&c)?];
        let routes = desc.routes(&numbers)?;
        let (kernel, stream, numbers, room) = (&kernel, &self.stream, &numbers, || workspace(&self.stream, &routes));
        let offsets =
            problem.offsets().map(|bytes| stream.clone_htod(&bytes)).transpose().map_err(driver("cuMemcpyHtoDAsync"))?;
        let (launched, offsets) = (&problem.launched(), offsets.as_ref());
        let whole = Ours { kernel, stream, problem: numbers, launched, offsets, types, sets: &sets, results, workspace: room()? };
        whole.verified(&desc, &a, &b, &c)?;
        drop(sets);
        let [a, b, c] = match problem.data {
            Some(data) => data.operands(numbers, seed)?,
            None => operands(numbers, types, Fill::Random, seed)?,
        };
        let bytes = a.bytes().len() + b.bytes().len() + c.bytes().len();
        let count = protocol::sets(bytes);
        let sets = (0..count).map(|_| Ok([upload(&a)?, upload(&b)?])).collect::<Result<Vec<_>, Error>>()?;
        let results = || (0..count).map(|_| upload(&c)).collect::<Result<Vec<_>, Error>>();
        let (ours_d, peer_d) = (results()?, results()?);
        let mut ours =
            Ours { kernel, stream, problem: numbers, launched, offsets, types, sets: &sets, results: ours_d, workspace: room()? };
        let decides = Accumulation::of(&desc, numbers.k).relative.is_finite();
        let circumstances = Circumstances {
            family: desc.family.mainloop().name().to_owned(),
            op: desc.class.op.name().to_owned(),
            config: configuration(&desc),
            route: routes.to_string(),
            ..self.circumstances(run)
        };
        let error_over_bound = match decides.then(|| ours.verify(&desc, &a, &b, &c)).transpose() {
            // The window of f16x3: what is refused is kept, too.
            Err(Error::Refused(refusal @ Refusal::Emulation(_))) if problem.data.is_some() => {
                return Ok(Line::refused(problem, refusal.to_string(), circumstances));
            }
            verified => verified?,
        };
        let measured = match (problem.data, ours.results.first(), sets.first()) {
            (Some(_), Some(d), Some(set)) => Some(errors(stream, problem, [&a, &b], set, d)?),
            _ => None,
        };

        let regions: Vec<LtSet<'_>> = sets
            .iter()
            .zip(&peer_d)
            .map(|([a, b], d)| LtSet { a: Region::of(a), b: Region::of(b), c: Region::of(d), d: Region::of(d) })
            .collect();
        let workspace = self.stream.alloc_zeros::<u8>(WORKSPACE_BYTES).map_err(driver("cuMemAllocAsync"))?;
        let asked = if run.with_peer { self.lt.as_ref().zip(lt_problem(problem)) } else { None };
        let planned = match asked {
            Some((lt, wanted)) => Some((lt, lt.plan(&wanted)?)),
            None => None,
        };
        let mut peers = Vec::new();
        if let Some((lt, plan)) = &planned {
            for algorithm in lt.algorithms(plan, WORKSPACE_BYTES, REQUESTED)? {
                peers.push(LtLaunch::new(lt, plan, algorithm, &regions, Some(Region::of(&workspace)), &self.stream)?);
            }
        }
        let mut contenders: Vec<&mut dyn Launch> = peers.iter_mut().map(|peer| peer as &mut dyn Launch).collect();
        let outcome: Outcome = session.against(&mut ours, &mut contenders, count)?;
        let circumstances = Circumstances {
            peer: planned.as_ref().map(|_| peer::NAME.to_owned()),
            error_over_bound,
            errors: measured.map(|errors| [errors.ours, errors.sgemm]),
            ..circumstances
        };
        Ok(Line::new(problem, &outcome, circumstances))
    }

    fn circumstances(&self, run: &Run) -> Circumstances {
        run.circumstances("gemm", &self.device)
    }
}

impl Run {
    /// What is the same of every line of a run.
    pub(super) fn circumstances(&self, kind: &str, device: &str) -> Circumstances {
        Circumstances {
            suite: self.suite.clone(),
            kind: kind.to_owned(),
            device: device.to_owned(),
            date: self.date.clone(),
            commit: self.commit.clone(),
            ..Circumstances::default()
        }
    }
}

/// The configuration in one word: tile, warp tile, stages, blocks a multiprocessor, order of tiles, and what is under way but for one group, and whether sums are promoted or A comes from registers.
pub fn configuration(d: &GemmDesc) -> String {
    let (tile, stages, order) = (d.threadblock(), d.stages(), d.swizzle());
    match d.family {
        FamilyDesc::Simt(knobs) => format!("{tile}_{}_s{stages}_b{}_{order}", knobs.warp, knobs.blocks_per_sm),
        FamilyDesc::MmaSync(knobs) => {
            let emulation = emulated(knobs.emulation);
            let saturates = if knobs.saturate == SaturateKind::On { "_saturate" } else { "" };
            format!(
                "{tile}_{}_{}_s{stages}_b{}_{order}{emulation}{saturates}",
                knobs.warp, knobs.instruction, knobs.blocks_per_sm
            )
        }
        FamilyDesc::WarpSpecialized(knobs) => {
            let promoted = if knobs.promotion == PromotionKind::Stage { "_promoted" } else { "" };
            let emulation = emulated(knobs.emulation);
            let registers = if knobs.a_operand == AOperandKind::Registers { "_registers" } else { "" };
            let pending = if knobs.pending == 1 { String::new() } else { format!("_p{}", knobs.pending) };
            format!("{tile}_{}_s{stages}_b1_{order}{promoted}{emulation}{registers}{pending}", knobs.warp)
        }
    }
}

fn emulated(emulation: EmulationKind) -> String {
    if emulation == EmulationKind::None { String::new() } else { format!("_{}", emulation.name()) }
}

fn measurement(because: impl ToString) -> Error {
    Error::Measurement { because: because.to_string() }
}

pub(super) fn types(problem: &SuiteProblem) -> Result<Combined, Error> {
    let (a, b, c) = (problem.a.element, problem.b.element, problem.c.element);
    let accumulator = match &problem.acc {
        Some(name) => ElementKind::from_name(name).ok_or_else(|| measurement(format!("`{name}` is not an element type")))?,
        None => a.accumulator(),
    };
    Ok(Combined { a, b, accumulator, c })
}

/// A, B, and what D holds before, of each product.
pub(crate) fn operands(problem: &Problem, types: Combined, fill: Fill, seed: u64) -> Result<[HostBuffer; 3], Error> {
    let filled =
        |kind: ElementKind, view: &View<Elements>, extents, from: Distribution, seed: u64| -> Result<HostBuffer, Error> {
            let mut buffer = HostBuffer::poisoned(kind, view.memory.length)?;
            from.fill(seed, buffer.whole_mut()?, view, of_batch(view, extents, problem.batch))?;
            Ok(buffer)
        };
    let Problem { m, n, k, .. } = *problem;
    let (from, source) = (fill.operands(types, k), fill.source());
    Ok([
        filled(types.a, &problem.a, (m, k), from, seed)?,
        filled(types.b, &problem.b, (k, n), from, seed.wrapping_add(1))?,
        filled(types.c, &problem.d, (m, n), source, seed.wrapping_add(2))?,
    ])
}

/// Our kernel over rotated sets of buffers.
struct Ours<'a> {
    kernel: &'a CudaKernel,
    stream: &'a Arc<CudaStream>,
    problem: &'a Problem,
    /// The same as it is launched.
    launched: &'a Problem,
    /// Of its groups, where it is launched so.
    offsets: Option<&'a CudaSlice<u8>>,
    types: Combined,
    sets: &'a [[CudaSlice<u8>; 2]],
    results: Vec<CudaSlice<u8>>,
    workspace: Option<CudaSlice<u8>>,
}

impl Ours<'_> {
    /// The same of a contender that is not needed any more.
    fn verified(mut self, desc: &GemmDesc, a: &HostBuffer, b: &HostBuffer, c: &HostBuffer) -> Result<f64, Error> {
        self.verify(desc, a, b, c)
    }

    /// Runs once, and computes some rows of each product again: the largest error over its bound.
    fn verify(&mut self, desc: &GemmDesc, a: &HostBuffer, b: &HostBuffer, c: &HostBuffer) -> Result<f64, Error> {
        if self.problem.scalars[1] == 0.0 {
            // What is not written stays what it was: poison.
            let poison = HostBuffer::poisoned(self.types.c, c.length())?;
            self.stream.memcpy_htod(poison.bytes(), &mut self.results[0]).map_err(driver("cuMemcpyHtoDAsync"))?;
        }
        self.launch(0)?;
        let computed = downloaded(self.stream, self.types.c, &self.results[0], c.length())?;
        let (a, b, c, d) = (a.whole()?, b.whole()?, Some(c.whole()?), computed.whole()?);
        let claim = Claim { desc, problem: self.problem, a, b, c, d, vectors: Default::default() };
        let verdict = sampled(&claim, VERIFIED_ROWS, 1)?;
        if !verdict.is_right() {
            return Err(measurement(format!("our result is wrong, and what is wrong is not timed: {:?}", verdict.first_wrong)));
        }
        Ok(verdict.error_over_bound)
    }
}

impl Launch for Ours<'_> {
    fn launch(&mut self, set: usize) -> Result<(), Error> {
        let (Some(operands), Some(d)) = (self.sets.get(set), self.results.get_mut(set)) else {
            return Err(Refusal::MissingOperand { operand: Operand::Buffers }.into());
        };
        enqueue((self.kernel, self.stream), (self.launched, self.offsets), self.types, operands, d, self.workspace.as_mut())
    }

    fn name(&self) -> &str {
        "ours"
    }
}

/// Waits for the device, and copies so many elements back.
pub(super) fn downloaded(
    stream: &Arc<CudaStream>,
    kind: ElementKind,
    bytes: &CudaSlice<u8>,
    length: usize,
) -> Result<HostBuffer, Error> {
    let mut buffer = HostBuffer::poisoned(kind, length)?;
    stream.memcpy_dtoh(bytes, buffer.whole_mut()?.bytes_mut()).map_err(driver("cuMemcpyDtoHAsync"))?;
    stream.synchronize().map_err(driver("cuStreamSynchronize"))?;
    Ok(buffer)
}

/// A workspace for products of operands that begin as allocations do, at multiples of 16 bytes; `None` where they take none.
pub(crate) fn workspace(stream: &Arc<CudaStream>, routes: &Routes) -> Result<Option<CudaSlice<u8>>, Error> {
    let bytes = routes.workspace_bytes() as usize;
    (bytes > 0).then(|| stream.alloc_zeros(bytes)).transpose().map_err(driver("cuMemAllocAsync"))
}

/// Enqueues a product of whole buffers; where beta is not 0, C is D.
pub(crate) fn enqueue(
    (kernel, stream): (&CudaKernel, &Arc<CudaStream>),
    (problem, offsets): (&Problem, Option<&CudaSlice<u8>>),
    types: Combined,
    [a, b]: &[CudaSlice<u8>; 2],
    d: &mut CudaSlice<u8>,
    workspace: Option<&mut CudaSlice<u8>>,
) -> Result<(), Error> {
    let (a, b) = (DeviceMatrix::read_bytes(types.a, a, stream), DeviceMatrix::read_bytes(types.b, b, stream));
    let d = DeviceMatrix::write_bytes(types.c, d, stream);
    let workspace = workspace.map(|bytes| DeviceMatrix::write_bytes(ElementKind::U8, bytes, stream));
    let matrices = CudaMatrices { a, b, c: Source::None, d, vectors: Default::default() };
    let offsets = offsets.map(|bytes| DeviceMatrix::read_bytes(ElementKind::I32, bytes, stream));
    let groups = problem.groups.zip(offsets).map(|(groups, offsets)| Groups::new(groups.axis, offsets));
    kernel.run(stream, CudaCall { workspace, groups, ..problem.with(matrices) })
}
