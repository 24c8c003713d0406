//! One kernel on one device: a description, compiled and loaded.

use super::{
    context::machine_of,
    loaded::{Loaded, Registry, packed},
    operands::{CudaCall, DeviceMatrix},
    pass::{CudaPass, check_capture, check_window},
    report::Report,
    workspace,
};
use crate::{
    call::{Elements, OperandNeed, Problem, Routes, Source, View},
    codegen::TranslationUnit,
    desc::GemmDesc,
    epilogue::Reads,
    error::Error,
    operand::OperandKind,
    pass::{Pass, PassDesc},
    plan::{Geometry, Plan},
    refusal::{Operand, Refusal},
    sys::driver::{Grid, VouchedUnit, max_active_clusters},
    thread::access::dividing,
};
use core::ops::Range;
use cudarc::driver::{CudaContext, CudaStream};
use std::sync::Arc;

/// A kernel, ready to be launched. Clones share it; it may be used from any thread.
#[derive(Clone)]
pub struct CudaKernel(Arc<Prepared>);

struct Prepared {
    desc: GemmDesc,
    plan: Arc<dyn Plan>,
    geometry: Geometry,
    loaded: Loaded,
    /// Clusters that the device holds at once, of a persistent kernel.
    resident: u32,
}

/// The text that is compiled for a description: with the maps' fingerprints where debug assertions are on.
///
/// # Errors
///
/// Those of [`GemmDesc::plan`].
pub fn kernel_unit(desc: &GemmDesc) -> Result<TranslationUnit, Refusal> {
    Ok(desc.plan()?.unit(cfg!(debug_assertions)))
}

static KNOWN: Registry<GemmDesc, CudaKernel> = Registry::new();

impl CudaKernel {
    /// Compiles and loads a description's kernel, unless this process has it already.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] when the description is no kernel for this device; those of [`compile`](super::compile); [`Error::Driver`].
    pub fn prepare(context: &Arc<CudaContext>, desc: &GemmDesc) -> Result<Self, Error> {
        if let Some(kernel) = KNOWN.get(context, desc) {
            return Ok(kernel);
        }
        let machine = machine_of(context)?;
        desc.check_on(&machine)?;
        desc.class.output.epilogue.check_functions()?;
        PassDesc::before(desc).iter().try_for_each(|pass| CudaPass::prepare(context, pass).map(drop))?;
        let plan = desc.plan()?;
        let kernel = Self::load(context, (desc, &plan), plan.unit(cfg!(debug_assertions)), desc.geometry(), machine.sm)?;
        Ok(KNOWN.keep(context, desc, kernel))
    }

    /// Compiles and loads a unit of the caller's, which computes what `desc` describes in blocks of `geometry`. It is not kept for
    /// the process: two calls load two kernels.
    ///
    /// # Errors
    ///
    /// Those of [`prepare`](Self::prepare), less the description's.
    #[doc(hidden)]
    pub fn of_unit(context: &Arc<CudaContext>, desc: &GemmDesc, unit: VouchedUnit, geometry: Geometry) -> Result<Self, Error> {
        Self::load(context, (desc, &desc.plan()?), unit.into_unit(), geometry, machine_of(context)?.sm)
    }

    fn load(
        context: &Arc<CudaContext>,
        (desc, plan): (&GemmDesc, &Arc<dyn Plan>),
        unit: TranslationUnit,
        geometry: Geometry,
        sm: u32,
    ) -> Result<Self, Error> {
        let loaded = Loaded::new(context, unit, sm, geometry.shared_bytes)?;
        let Geometry { cluster, threads, shared_bytes, .. } = geometry;
        let resident = if geometry.persistent {
            let grid = Grid { clusters: 1, cluster, threads, shared_bytes };
            max_active_clusters(&loaded.function, &context.default_stream(), &grid)?.max(1)
        } else {
            1
        };
        Ok(Self(Arc::new(Prepared { desc: *desc, plan: plan.clone(), geometry, resident, loaded })))
    }

    /// The description.
    pub fn desc(&self) -> &GemmDesc {
        &self.0.desc
    }

    /// What the assembler said: registers, shared memory, spills.
    pub fn report(&self) -> &Report {
        &self.0.loaded.report
    }

    /// The text that was compiled.
    pub fn source(&self) -> &TranslationUnit {
        &self.0.loaded.unit
    }

    /// How the operands of a problem, the user's, reach the kernel. Where addresses are not known, they are multiples of 16 bytes, as
    /// allocations begin.
    pub fn routes(&self, problem: &Problem) -> Routes {
        let desc = &self.0.desc;
        Routes::of(desc, self.0.plan.needs(), &problem.framed(desc.frame)).framed(desc.frame)
    }

    /// Enqueues a product on `stream`: nothing is allocated, and nothing waits.
    ///
    /// Where operands are scaled ([`SplitKind::F16x3`](crate::numeric::SplitKind)) the call waits for the stream once, to hear whether
    /// they could be; such a call cannot be captured.
    ///
    /// Operands that the kernel cannot read where they lie are laid out again in the workspace first, on the same stream; without
    /// one that is large enough the product is refused.
    ///
    /// Where an address, a leading dimension or an extent does not allow the kernel's accesses, a kernel with narrower ones
    /// takes its place, compiled when it is first needed.
    ///
    /// # Errors
    ///
    /// [`Error::Refused`] when the product does not fit; [`Error::Driver`] when the launch is refused.
    pub fn run(&self, stream: &Arc<CudaStream>, call: CudaCall<'_>) -> Result<(), Error> {
        let desc = self.0.desc.for_scalars(&call.scalars);
        let call = call.seen_by(&desc)?;
        self.enqueue(stream, &desc, &call).map_err(|error| error.framed(desc.frame))
    }

    /// The same of a call that fits, in the kernel's frame.
    fn enqueue(&self, stream: &Arc<CudaStream>, desc: &GemmDesc, call: &CudaCall<'_>) -> Result<(), Error> {
        let problem = call.problem();
        call.check_types(&desc.class)?;
        let extents = check_memory(stream, call, desc.class.output.epilogue.reads(&problem.scalars))?;
        if problem.m == 0 || problem.n == 0 {
            return Ok(());
        }
        let routes = Routes::of(desc, self.0.plan.needs(), &problem);
        let first = workspace::begin(&routes, call, &extents)?;
        let pass = |operand| Pass::of(desc, operand, (&routes, &problem), first);
        let passes = [pass(OperandKind::A)?, pass(OperandKind::B)?];
        check_capture(stream, &passes)?;
        let problem = routes.problem(desc, &problem, first);
        let fitting = fitting((desc, self.0.plan.needs()), &problem);
        let kernel = if fitting == self.0.desc { self.clone() } else { Self::for_run(stream, &fitting)? };
        let Prepared { plan, geometry, resident, loaded, .. } = &*kernel.0;
        let launch = packed(plan.launch(&problem, geometry, *resident)?)?;
        let prepared = |pass: &Pass| CudaPass::for_run(stream, &pass.desc());
        let kernels = [passes[0].as_ref().map(prepared).transpose()?, passes[1].as_ref().map(prepared).transpose()?];
        // Whatever can be refused has been by now.
        let ready = kernels.iter().zip(&passes).filter_map(|(kernel, pass)| kernel.as_ref().zip(pass.as_ref()));
        ready.into_iter().try_for_each(|(kernel, pass)| kernel.enqueue(stream, pass))?;
        // But rows that cannot be scaled: whether there are any, the device finds out.
        check_window(stream, &passes)?;
        loaded.launch(stream, &launch)
    }

    /// The kernel of a description for a run on `stream`; compiled now if need be, unless the stream is being captured.
    pub(crate) fn for_run(stream: &CudaStream, desc: &GemmDesc) -> Result<Self, Error> {
        KNOWN.for_run(stream, desc, || Self::prepare(stream.context(), desc))
    }
}

/// The description with accesses as wide as addresses, leading dimensions and extents of a problem allow, whose operands are where the kernel
/// reads them.
pub fn fitting((desc, needs): (&GemmDesc, [OperandNeed; 2]), problem: &Problem) -> GemmDesc {
    let access = |operand: OperandKind| {
        let (view, class) = (problem.operand(operand), desc.class.operand(operand));
        // TMA reads whole vectors or nothing.
        let OperandNeed::Accesses(access) = needs[operand.index()] else { return u32::MAX };
        // An address of an odd byte is no element's: cudarc's slices have none.
        let first = class.element.matrix_elements(view.memory.address);
        let (contiguous, _) = problem.lines(operand, class.layout);
        let fits = dividing(access, &[first, view.leading(class.layout) as u64, contiguous as u64]);
        if fits < access { fits } else { u32::MAX }
    };
    let output = desc.class.output;
    let [_, _, align_c] = desc.alignments();
    let limits = |view: View<Elements>| [output.element.matrix_elements(view.memory.address), view.leading(output.layout) as u64];
    let ([d, ldd], [c, ldc]) = (limits(problem.d), problem.read_source(&desc.class).map_or([0; 2], limits));
    let align_c = dividing(align_c, &[d, ldd, c, ldc, output.layout.packed(problem.m, problem.n) as u64]);
    desc.narrowed([access(OperandKind::A), access(OperandKind::B), align_c])
}

/// Whether the operands are on the stream's device, and D lies apart from what is read. Returns the addresses of what is written and read;
/// those of what is not are none.
fn check_memory(stream: &CudaStream, call: &CudaCall<'_>, reads: Reads) -> Result<[(Operand, Range<u64>); 4], Refusal> {
    let CudaCall { m, n, k, a, b, c, d, .. } = call;
    let (m, n, k) = (*m, *n, *k);
    let context = stream.context().cu_ctx() as usize;
    let check = |matrix: &View<DeviceMatrix<'_>>, operand| {
        if matrix.memory.context != context { Err(Refusal::OtherDevice { operand }) } else { Ok(()) }
    };
    check(a, Operand::A)?;
    check(b, Operand::B)?;
    check(d, Operand::D)?;
    let nothing = || 0..0;
    if m == 0 || n == 0 {
        return Ok([Operand::D, Operand::A, Operand::B, Operand::C].map(|operand| (operand, nothing())));
    }
    // The call has been checked: its matrices have fewer than 2^64 elements.
    let range = |view: &View<DeviceMatrix<'_>>, rows, columns| view.memory.range(view.elements(rows, columns) as u64);
    let written = range(d, m, n);
    let meets = |other: &Range<u64>| other.start < written.end && written.start < other.end;
    let read = |range: Range<u64>, reads: bool| if reads { range } else { nothing() };
    let (read_a, read_b) = (read(range(a, m, k), reads.accumulator), read(range(b, k, n), reads.accumulator));
    if meets(&read_a) {
        return Err(Refusal::Overlap { operand: Operand::A });
    }
    if meets(&read_b) {
        return Err(Refusal::Overlap { operand: Operand::B });
    }
    let mut read_c = nothing();
    if let Source::Matrix(c) = c {
        check(c, Operand::C)?;
        let same = c.memory.address == d.memory.address && c.strides == d.strides;
        read_c = read(range(c, m, n), reads.source);
        if !same && meets(&read_c) {
            return Err(Refusal::PartlyShared { operand: Operand::C });
        }
    }
    Ok([(Operand::D, written), (Operand::A, read_a), (Operand::B, read_b), (Operand::C, read_c)])
}
