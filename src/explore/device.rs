//! Candidates on a GPU: one problem's buffers, guard zones around D, and cuBLASLt beside them.

use super::{
    record::{Circumstances, Outcome},
    trials::{Book, Compiler, Contestant, Device, Plan, Stage, compile_all, lost},
};
use crate::{
    arch::Machine,
    bench::{
        Launch, Session, SuiteProblem,
        measure::{VERIFIED_ROWS, enqueue, operands, shapes},
        peer::{self, REQUESTED, WORKSPACE_BYTES, lt_problem},
        protocol,
    },
    desc::GemmDesc,
    device::{
        Shapes, Source,
        cuda::{CudaKernel, CudaMatrices, DeviceMatrix, cache::Cache, compile, fitting, kernel_unit, machine_of, report::Report},
    },
    epilogue::{LinearCombination, Node},
    error::Error,
    layout::MatrixType,
    refusal::Refusal,
    shape::Mnk,
    sys::{
        cublaslt::{Lt, LtLaunch, LtSet, Region},
        driver::{self, driver},
    },
    verify::{Claim, Fill, HostBuffer, bound::Accumulation, sampled},
};
use cudarc::driver::{CudaSlice, CudaStream};
use std::{cell::RefCell, sync::Arc};

/// Elements of poison before and behind a D that is verified.
const GUARD: usize = 1024;
/// Products that a verification computes again, about: rows of D are drawn accordingly.
const PRODUCTS: usize = 1 << 30;

/// NVRTC for devices of one compute capability, and the process's cache.
#[derive(Clone, Copy, Debug)]
pub struct Nvrtc {
    /// The compute capability, major times 10 plus minor.
    pub sm: u32,
}

impl Compiler for Nvrtc {
    fn compile(&self, desc: &GemmDesc) -> Result<Report, Error> {
        desc.epilogue.check_functions()?;
        let entry = compile(Cache::global(), &kernel_unit(desc), self.sm)?;
        Ok(Report::read(&entry.log).unwrap_or_default())
    }
}

/// What came of compiling many.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Compiled {
    /// Kernels in the cache that can be run.
    pub kernels: usize,
    /// Kernels that spill although they must not.
    pub spilled: usize,
    /// Descriptions that NVRTC refused.
    pub compile_failed: usize,
}

/// Compiles descriptions into the process's cache; `done` hears how many are. No device is needed.
///
/// # Errors
///
/// Those of [`compile`] but for kernels that NVRTC refuses.
pub fn compile_only(
    descs: &[GemmDesc],
    compiler: &dyn Compiler,
    jobs: usize,
    done: &mut dyn FnMut(usize),
) -> Result<Compiled, Error> {
    let mut compiled = Compiled::default();
    for (batch, begun) in descs.chunks(super::trials::BATCH).zip((0..).step_by(super::trials::BATCH)) {
        for (desc, built) in batch.iter().zip(compile_all(compiler, batch, jobs)) {
            *match lost(desc, built)? {
                Some(Outcome::Spilled { .. }) => &mut compiled.spilled,
                Some(_) => &mut compiled.compile_failed,
                None => &mut compiled.kernels,
            } += 1;
        }
        done(begun + batch.len());
    }
    Ok(compiled)
}

/// D = A·B of a size, packed, with the types and layouts of a description.
fn problem(base: &GemmDesc, size: Mnk) -> SuiteProblem {
    let (types, orders) = (base.user_types(), base.orders());
    let matrix = |element, order| MatrixType { element, order };
    let extents = (size.m as usize, size.n as usize, size.k as usize);
    let plain = base.epilogue == <LinearCombination as Node>::DESC;
    SuiteProblem {
        op: Some(base.op.to_string()),
        acc: Some(types.accumulator.to_string()),
        epilogue: (!plain).then(|| base.epilogue.to_string()),
        ..SuiteProblem::new(extents, [matrix(types.a, orders.a), matrix(types.b, orders.b), matrix(types.c, orders.c)])
    }
}

/// Whether a problem of a size, packed, runs with the kernel of a description and not with one of narrower accesses.
///
/// # Errors
///
/// [`Error::Refused`] when the problem is none; [`Error::Measurement`] when another kernel would run in its place.
pub fn fits(desc: &GemmDesc, size: Mnk) -> Result<(), Error> {
    let shapes = shapes(&problem(desc, size));
    if size.m == 0 || size.n == 0 || size.k == 0 {
        return Err(stopped(format!("a problem of {size} has nothing to time")));
    }
    shapes.check(desc)?;
    let canonical = shapes.canonical_for(desc)?;
    if fitting(desc, &canonical, canonical.k, [0; 4], 0) == *desc {
        return Ok(());
    }
    Err(stopped(format!("rows of a problem of {size} are no whole accesses, and a kernel with narrower ones would run instead")))
}

/// A device, and the peer beside it.
pub struct Gpu {
    stream: Arc<CudaStream>,
    lt: Option<Lt>,
    machine: Machine,
}

impl Gpu {
    /// Opens the device of `stream`; without `with_peer`, cuBLASLt is not looked for.
    ///
    /// # Errors
    ///
    /// [`Error::Library`] when cuBLASLt is asked for and not there; [`Error::Driver`].
    pub fn new(stream: &Arc<CudaStream>, with_peer: bool) -> Result<Self, Error> {
        let lt = if with_peer { Some(Lt::open(stream.context())?) } else { None };
        Ok(Self { stream: stream.clone(), lt, machine: machine_of(stream.context())? })
    }

    /// The device's limits.
    #[must_use]
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Who runs here.
    ///
    /// # Errors
    ///
    /// [`Error::Driver`] when the device does not say.
    pub fn circumstances(&self, base: &GemmDesc, commit: String) -> Result<Circumstances, Error> {
        let (major, minor) = driver::version()?;
        let asked = self.lt.is_some() && lt_problem(&problem(base, Mnk::new(1, 1, 1))).is_some();
        Ok(Circumstances {
            reference: if asked { peer::NAME } else { DEFAULT }.to_owned(),
            device: self.stream.context().name().map_err(driver("cuDeviceGetName"))?,
            driver: format!("{major}.{minor}"),
            commit,
        })
    }

    /// Does what is left of `plan` on a problem. Without a peer, candidates are measured beside `base`.
    ///
    /// # Errors
    ///
    /// Those of [`Stage::explore`]; [`Error::Refused`] when there is no room for the operands.
    pub fn explore(
        &self,
        (base, size): (&GemmDesc, Mnk),
        plan: &Plan,
        session: &mut Session<'_>,
        book: &mut Book<'_>,
    ) -> Result<(), Error> {
        if plan.is_done(book.entries(), size) {
            return Ok(());
        }
        let problem = problem(base, size);
        let on = OnDevice::new(&self.stream, base, &problem)?;
        let compiler = Nvrtc { sm: self.machine.sm };
        let stage = Stage { size, compiler: &compiler, device: &on, sets: on.sets.len() };
        let Some((lt, wanted)) = self.lt.as_ref().zip(lt_problem(&problem)) else {
            let mut own = Contestant::new(&on, base, DEFAULT);
            return stage.explore(plan, &mut [&mut own], session, book);
        };
        let planned = lt.plan(&wanted)?;
        let peer_d = on.room()?;
        let regions: Vec<LtSet<'_>> = on
            .sets
            .iter()
            .zip(&peer_d)
            .map(|([a, b], d)| LtSet { a: Region::of(a), b: Region::of(b), c: Region::of(d), d: Region::of(d) })
            .collect();
        let workspace = self.stream.alloc_zeros::<u8>(WORKSPACE_BYTES).map_err(driver("cuMemAllocAsync"))?;
        let mut peers = Vec::new();
        for algorithm in lt.algorithms(&planned, WORKSPACE_BYTES, REQUESTED)? {
            peers.push(LtLaunch::new(lt, &planned, algorithm, &regions, Some(Region::of(&workspace)), &self.stream)?);
        }
        let mut references: Vec<&mut dyn Launch> = peers.iter_mut().map(|peer| peer as &mut dyn Launch).collect();
        stage.explore(plan, &mut references, session, book)
    }
}

/// What candidates are measured beside where no peer is asked.
const DEFAULT: &str = "the default kernel";

/// Operands that a result is verified with.
struct Known {
    fill: Fill,
    a: HostBuffer,
    b: HostBuffer,
}

/// One problem's operands on a device.
struct OnDevice<'s> {
    stream: &'s Arc<CudaStream>,
    shapes: Shapes,
    base: GemmDesc,
    /// What a D is before it is verified, guard zones included.
    poison: HostBuffer,
    /// Whole numbers, which are on the device apart from the sets, and random ones, which are those of the sets.
    known: [Known; 2],
    whole: [CudaSlice<u8>; 2],
    sets: Vec<[CudaSlice<u8>; 2]>,
    results: RefCell<Vec<CudaSlice<u8>>>,
    guarded: RefCell<CudaSlice<u8>>,
}

impl<'s> OnDevice<'s> {
    fn new(stream: &'s Arc<CudaStream>, base: &GemmDesc, problem: &SuiteProblem) -> Result<Self, Error> {
        let (shapes, types) = (shapes(problem), base.user_types());
        let upload = |buffer: &HostBuffer| stream.clone_htod(buffer.bytes()).map_err(driver("cuMemcpyHtoDAsync"));
        let of = |fill: Fill| operands(&shapes, types, fill, problem.seed.unwrap_or(1)).map(|[a, b, _]| Known { fill, a, b });
        let known = [of(Fill::Integers)?, of(Fill::Random)?];
        let poison = HostBuffer::poisoned(types.c, shapes.d.length.saturating_add(2 * GUARD))?;
        let bytes = known[1].a.bytes().len() + known[1].b.bytes().len() + poison.bytes().len();
        let count = protocol::sets(bytes);
        let pair = |known: &Known| Ok::<_, Error>([upload(&known.a)?, upload(&known.b)?]);
        let guarded = RefCell::new(upload(&poison)?);
        let (whole, sets) = (pair(&known[0])?, (0..count).map(|_| pair(&known[1])).collect::<Result<Vec<_>, _>>()?);
        let on = Self { stream, shapes, base: *base, poison, known, whole, sets, results: RefCell::default(), guarded };
        let results = on.room()?;
        on.results.replace(results);
        Ok(on)
    }

    /// A D for every set.
    fn room(&self) -> Result<Vec<CudaSlice<u8>>, Error> {
        let bytes = self.shapes.d.length * self.base.c.bytes() as usize;
        self.sets.iter().map(|_| self.stream.alloc_zeros::<u8>(bytes).map_err(driver("cuMemAllocAsync"))).collect()
    }

    /// Computes into poison with guard zones, and brings everything back.
    fn computed(&self, kernel: &CudaKernel, [a, b]: &[CudaSlice<u8>; 2]) -> Result<HostBuffer, Error> {
        let (types, stream, mut d) = (self.base.user_types(), self.stream, self.guarded.borrow_mut());
        stream.memcpy_htod(self.poison.bytes(), &mut *d).map_err(driver("cuMemcpyHtoDAsync"))?;
        let matrices = CudaMatrices {
            a: DeviceMatrix::read_bytes(types.a, a, stream),
            b: DeviceMatrix::read_bytes(types.b, b, stream),
            c: Source::None,
            d: DeviceMatrix::write_bytes(types.c, &mut *d, stream).from(GUARD),
        };
        kernel.run(stream, &self.shapes, matrices)?;
        let mut computed = HostBuffer::poisoned(types.c, self.poison.length())?;
        let all = computed.length();
        stream.memcpy_dtoh(&*d, computed.slice_mut(0..all)?.bytes_mut()).map_err(driver("cuMemcpyDtoHAsync"))?;
        stream.synchronize().map_err(driver("cuStreamSynchronize"))?;
        Ok(computed)
    }

    /// What is wrong with a result, if anything is.
    fn judged(&self, desc: &GemmDesc, known: &Known, computed: &HostBuffer) -> Result<Option<String>, Error> {
        let (shapes, d) = (&self.shapes, GUARD..GUARD + self.shapes.d.length);
        if let Some(place) = computed.stray(&self.poison, GUARD, &shapes.d, (shapes.m, shapes.n)) {
            return Ok(Some(format!("it writes where D is not: {} elements from D's first", place as i128 - GUARD as i128)));
        }
        let width = self.base.c.bytes() as usize;
        let within = d.start * width..d.end * width;
        let mut pairs = computed.bytes()[within.clone()].chunks_exact(width).zip(self.poison.bytes()[within].chunks_exact(width));
        // Whole numbers may be what poison is: rows that are computed again decide there.
        if !self.base.c.is_integer()
            && let Some(place) = pairs.position(|(is, was)| is == was)
        {
            return Ok(Some(format!("it does not write all of D: not the element {place} from D's first")));
        }
        let claim = Claim {
            desc,
            shapes,
            a: known.a.slice(0..known.a.length())?,
            b: known.b.slice(0..known.b.length())?,
            c: None,
            d: computed.slice(d)?,
        };
        let rows = (PRODUCTS / shapes.n.saturating_mul(shapes.k).max(1)).max(VERIFIED_ROWS);
        let verdict = sampled(&claim, rows, 1)?;
        Ok((!verdict.is_right()).then(|| format!("{verdict}, of {:?} operands", known.fill).to_lowercase()))
    }
}

impl Device for OnDevice<'_> {
    /// Whole numbers first, compared with `==`; then random ones, within their bound, where there is one.
    fn verify(&self, desc: &GemmDesc) -> Result<Option<String>, Error> {
        let kernel = CudaKernel::prepare(self.stream.context(), desc)?;
        for (known, operands) in self.known.iter().zip([&self.whole, &self.sets[0]]) {
            let bounded = Accumulation::of(desc, self.shapes.k).relative.is_finite();
            if known.fill == Fill::Random && !bounded {
                continue;
            }
            let computed = self.computed(&kernel, operands)?;
            if let Some(why) = self.judged(desc, known, &computed)? {
                return Ok(Some(why));
            }
        }
        Ok(None)
    }

    fn launch(&self, desc: &GemmDesc, set: usize) -> Result<(), Error> {
        let kernel = CudaKernel::prepare(self.stream.context(), desc)?;
        let mut results = self.results.borrow_mut();
        let (Some(operands), Some(d)) = (self.sets.get(set), results.get_mut(set)) else {
            return Err(Refusal::MissingOperand { name: "the buffers of a set" }.into());
        };
        enqueue(&kernel, self.stream, &self.shapes, self.base.user_types(), operands, d)
    }
}

fn stopped(because: String) -> Error {
    Error::Measurement { because }
}
