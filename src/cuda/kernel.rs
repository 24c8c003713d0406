//! Kernel of a description, compiled and loaded on one device.

use super::{
    array::supports_arrays,
    call_launches::CallLaunches,
    context::{known_machine, machine_of},
    launch_cache::LaunchCache,
    lists::check_lists,
    loaded::{Loaded, Registry, packed},
    memory::ProductMemory,
    operands::CudaCall,
    pass::{CudaPass, check_capture},
    report::Report,
    target::CodeTarget,
    workspace,
};
use crate::{
    Error,
    arch::ArchKind,
    codegen::TranslationUnit,
    nest::{
        Addressing, GemmDesc, GemmMode,
        plan::{Geometry, Plan},
    },
    operand::{OperandNeed, Pass, PassDesc, Problem, Routes, accesses, records::Records},
    refusal::Refusal,
    sys::driver::{Grid, VouchedUnit, driver, max_active_clusters},
    threadblock::WorkKind,
};
use cudarc::driver::{CudaContext, CudaStream};
use std::sync::Arc;

/// A compiled and loaded kernel. Clones share the kernel, and any thread may use a clone.
#[derive(Clone)]
pub struct CudaKernel(pub(super) Arc<Prepared>);

pub(super) struct Prepared {
    pub desc: GemmDesc,
    /// The architecture of the PTX that the driver compiled, or `None` for machine code.
    ptx: Option<ArchKind>,
    pub plan: Arc<dyn Plan>,
    /// Requirements on A and B, which do not depend on the scalars or on the number of slices.
    pub needs: [OperandNeed; 2],
    pub geometry: Geometry,
    /// The loaded module, which kernels with other numbers of split-K slices share.
    pub loaded: Arc<Loaded>,
    /// Clusters of a persistent kernel that the device holds at once.
    pub resident: u32,
    /// Launches of calls without passes and without groups.
    launches: LaunchCache,
}

/// Returns the CUDA source of a description. With debug assertions, the source asserts the
/// fingerprints of the index maps.
///
/// # Errors
/// The errors of [`GemmDesc::plan`].
pub fn kernel_unit(desc: &GemmDesc) -> Result<TranslationUnit, Refusal> {
    Ok(desc.plan()?.unit(cfg!(debug_assertions)))
}

static KNOWN: Registry<(GemmDesc, Option<ArchKind>), CudaKernel> = Registry::new();

impl CudaKernel {
    /// Compiles and loads the kernel of a description, unless the process has already loaded the
    /// kernel.
    ///
    /// # Errors
    /// [`Error::Refused`] if the device does not support the description, the errors of
    /// [`compile`](super::compile), and [`Error::Driver`].
    pub fn prepare(context: &Arc<CudaContext>, desc: &GemmDesc) -> Result<Self, Error> {
        Self::prepared(context, &(*desc, None))
    }

    /// Prepares the kernel through PTX of an architecture, which the driver compiles for the
    /// device. A newer device can therefore run the kernel of an older target. The PTX target
    /// supports the instructions of the description, and is not newer than the device. Passes use
    /// machine code.
    ///
    /// # Errors
    /// The errors of [`prepare`](Self::prepare), and [`Error::Refused`] if the PTX is too old or
    /// too new.
    pub fn prepare_ptx(
        context: &Arc<CudaContext>,
        desc: &GemmDesc,
        ptx: ArchKind,
    ) -> Result<Self, Error> {
        Self::prepared(context, &(*desc, Some(ptx)))
    }

    fn prepared(
        context: &Arc<CudaContext>,
        known: &(GemmDesc, Option<ArchKind>),
    ) -> Result<Self, Error> {
        if let Some(kernel) = KNOWN.get(context, known) {
            return Ok(kernel);
        }
        let (desc, ptx) = known;
        if desc.work.mode.is_array() && !supports_arrays() {
            return Self::prepared(context, &(desc.in_mode(GemmMode::Gemm), *ptx));
        }
        let machine = machine_of(context)?;
        desc.check_on(&machine)?;
        let target = CodeTarget::new(desc, &machine, *ptx)?;
        if desc.compiled() != *desc {
            return Self::prepared(context, &(desc.compiled(), *ptx))?
                .with_description(context, desc);
        }
        desc.epilogue.check_functions(desc.output.compute)?;
        PassDesc::before(desc)
            .iter()
            .try_for_each(|pass| CudaPass::prepare(context, pass).map(drop))?;
        let plan = desc.plan()?;
        let loaded = Loaded::new(
            context,
            plan.unit(cfg!(debug_assertions)),
            target,
            desc.geometry().shared_bytes,
        )?;
        Ok(KNOWN.keep(
            context,
            known,
            Self::from_loaded(context, (desc, &plan, *ptx), loaded, desc.geometry())?,
        ))
    }

    /// Compiles and loads a translation unit of the caller, which computes `desc` in blocks of
    /// `geometry`. Each call loads a new kernel.
    ///
    /// # Errors
    /// The errors of [`prepare`](Self::prepare), without the errors of the description.
    #[doc(hidden)]
    pub fn from_unit(
        context: &Arc<CudaContext>,
        desc: &GemmDesc,
        unit: VouchedUnit,
        geometry: Geometry,
    ) -> Result<Self, Error> {
        let loaded =
            Loaded::new(context, unit.into_unit(), machine_of(context)?.sm, geometry.shared_bytes)?;
        Self::from_loaded(context, (desc, &desc.plan()?, None), loaded, geometry)
    }

    fn from_loaded(
        context: &Arc<CudaContext>,
        (desc, plan, ptx): (&GemmDesc, &Arc<dyn Plan>, Option<ArchKind>),
        loaded: Loaded,
        geometry: Geometry,
    ) -> Result<Self, Error> {
        let Geometry { cluster, threads, shared_bytes, .. } = geometry;
        let known = || known_machine(context);
        let resident = match geometry.work {
            WorkKind::DataParallel => 1,
            // Devices before Hopper do not support the cluster query.
            _ if known()?.sm < 90 => {
                let blocks = loaded.function.occupancy_max_active_blocks_per_multiprocessor(
                    threads,
                    shared_bytes as usize,
                    None,
                );
                known()?.multiprocessors
                    * blocks
                        .map_err(driver("cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags"))?
                        .max(1)
            }
            _ => {
                let grid = Grid { clusters: 1, cluster, threads, shared_bytes };
                max_active_clusters(&loaded.function, &context.default_stream(), &grid)?.max(1)
            }
        };
        Ok(Self(Arc::new(Prepared {
            desc: *desc,
            ptx,
            plan: plan.clone(),
            needs: desc.needs(),
            geometry,
            resident,
            loaded: Arc::new(loaded),
            launches: LaunchCache::new(),
        })))
    }

    /// Returns the kernel with another description that compiles to the same code.
    fn with_description(&self, context: &CudaContext, desc: &GemmDesc) -> Result<Self, Error> {
        let Prepared { geometry, ref loaded, resident, ptx, .. } = *self.0;
        let prepared = Prepared {
            desc: *desc,
            ptx,
            plan: desc.plan()?,
            needs: desc.needs(),
            geometry,
            loaded: loaded.clone(),
            resident,
            launches: LaunchCache::new(),
        };
        Ok(KNOWN.keep(context, &(*desc, ptx), Self(Arc::new(prepared))))
    }

    /// Returns the number of clusters that the device holds at once, if the launch depends on it.
    #[doc(hidden)]
    pub fn resident(&self) -> u32 {
        self.0.resident
    }

    /// Returns the description.
    pub fn desc(&self) -> &GemmDesc {
        &self.0.desc
    }

    /// Returns the registers, shared memory, and spills of the kernel.
    pub fn report(&self) -> &Report {
        &self.0.loaded.report
    }

    /// Returns the CUDA source of the kernel.
    pub fn source(&self) -> &TranslationUnit {
        &self.0.loaded.unit
    }

    /// Enqueues a GEMM or a batch on `stream`, without an allocation. A call waits for the stream
    /// in two cases: with [`EmulationKind::F16x3`](crate::numeric::EmulationKind), and with
    /// `Arguments::groups_checked`. Stream capture refuses both cases.
    ///
    /// If the kernel cannot read an operand in place, a pass repacks the operand to the workspace
    /// on the same stream. The call refuses a workspace that is too small.
    ///
    /// If an address, a leading dimension, or an extent does not allow the kernel's accesses, a
    /// kernel with narrower accesses runs instead. The narrower kernel compiles at its first use.
    ///
    /// # Errors
    /// [`Error::Refused`] if the call does not fit. [`Error::Driver`] if the driver refuses the
    /// launch.
    pub fn run(&self, stream: &Arc<CudaStream>, call: CudaCall<'_>) -> Result<(), Error> {
        let problem = call.problem();
        // A call that equals a checked call passes the same checks. The cache has no calls with
        // groups or index lists, because their numbers may differ.
        if let Some(launch) = self.0.launches.get(&problem)
            && call.lies_in(stream.context())
        {
            return self.0.loaded.launch(stream, &launch);
        }
        let other = (!self.0.desc.computes_with(&call.scalars))
            .then(|| self.0.desc.for_scalars(&call.scalars));
        let desc = other.as_ref().unwrap_or(&self.0.desc);
        let call = call.enter(desc)?;
        let enqueued = self.entered_launches(stream, desc, &call).and_then(|ready| {
            let Some(ready) = ready else { return Ok(()) };
            if call.groups.is_none()
                && call.indices.is_none()
                && let Some(launch) = ready.only_launch_of(self)
            {
                self.0.launches.keep(&problem, launch);
            }
            ready.enqueue(stream)
        });
        enqueued.map_err(|error| error.leave(desc.frame))
    }

    /// Enqueues a call that has [entered](crate::operand::Call::enter) the frame of `desc`.
    ///
    /// # Errors
    /// The errors of [`run`](Self::run), with operands in the user's frame.
    pub(crate) fn run_entered(
        &self,
        stream: &Arc<CudaStream>,
        desc: &GemmDesc,
        call: &CudaCall<'_>,
    ) -> Result<(), Error> {
        let ready = self.entered_launches(stream, desc, call);
        let enqueued = ready.and_then(|ready| ready.map_or(Ok(()), |ready| ready.enqueue(stream)));
        enqueued.map_err(|error| error.leave(desc.frame))
    }

    /// Prepares the launches of a call that has entered the frame of `desc`; `None` if D is empty.
    pub(super) fn entered_launches(
        &self,
        stream: &Arc<CudaStream>,
        desc: &GemmDesc,
        call: &CudaCall<'_>,
    ) -> Result<Option<CallLaunches>, Error> {
        let problem = call.problem();
        let memory = ProductMemory::new(&desc.epilogue, call);
        memory.check(stream.context().cu_ctx() as usize)?;
        check_lists(stream, call)?;
        if problem.is_empty() {
            return Ok(None);
        }
        let routes = Routes::with_needs((desc, self.0.needs), &problem);
        let first = workspace::begin(&routes, call, memory.extents())?;
        let ready = self.gemm_launches(stream, desc, (&problem, &routes, first))?;
        let carried = call.carried_words();
        if carried.is_empty() {
            return Ok(Some(ready));
        }
        let records = Records::for_lists(&carried);
        ready.with_records(stream, &records, routes.records(first)).map(Some)
    }

    /// Prepares the launches of a GEMM and of the passes for its operands. `first` is the address
    /// of the workspace.
    pub(super) fn gemm_launches(
        &self,
        stream: &Arc<CudaStream>,
        desc: &GemmDesc,
        (problem, routes, first): (&Problem, &Routes, u64),
    ) -> Result<CallLaunches, Error> {
        let routed = routes.problem(desc, problem, first);
        let accesses = accesses((desc, self.0.needs), &routed);
        let addressing = routed.addressing(desc.frame.d_order());
        let kernel = self.narrowed(stream, desc, (problem.mode(), addressing, accesses))?;
        let Prepared { plan, geometry, resident, .. } = &*kernel.0;
        let launch = packed(plan.launch(&routed, geometry, *resident)?)?;
        let passes = Pass::before(desc, (routes, problem), first)?;
        check_capture(stream, &passes)?;
        let ready = |(pass, launches)| Ok((CudaPass::for_run(stream, &pass)?, launches));
        let copies = Pass::launches_of(&passes)?
            .into_iter()
            .map(ready)
            .collect::<Result<Vec<_>, Error>>()?;
        Ok(CallLaunches::new(kernel, launch).with_passes(passes, copies))
    }

    /// Returns this kernel if it is in `mode`, has the addressing of the call, and has accesses
    /// that are narrow enough. Otherwise returns the kernel that replaces it.
    pub(super) fn narrowed(
        &self,
        stream: &CudaStream,
        desc: &GemmDesc,
        (mode, addressing, accesses): (GemmMode, Addressing, [u32; 3]),
    ) -> Result<Self, Error> {
        let own = core::ptr::eq(desc, &self.0.desc) || *desc == self.0.desc;
        match own && desc.is_of(mode, accesses) && desc.addressing() == addressing {
            true => Ok(self.clone()),
            false => {
                let desc = desc.for_addressing(addressing).narrowed(accesses).in_mode(mode);
                Self::known_for_run(stream, &(desc, self.0.ptx))
            }
        }
    }

    /// Returns the kernel of a description if the context of `stream` has it.
    pub(crate) fn loaded(stream: &CudaStream, desc: &GemmDesc) -> Option<Self> {
        KNOWN.get(stream.context(), &(*desc, None))
    }

    /// Returns the kernel of a description for a run on `stream`. If the kernel is not loaded,
    /// compiles it, except during stream capture.
    pub(crate) fn for_run(stream: &CudaStream, desc: &GemmDesc) -> Result<Self, Error> {
        Self::known_for_run(stream, &(*desc, None))
    }

    fn known_for_run(
        stream: &CudaStream,
        known: &(GemmDesc, Option<ArchKind>),
    ) -> Result<Self, Error> {
        let (desc, ptx) = known;
        match KNOWN.get(stream.context(), known) {
            Some(kernel) => Ok(kernel),
            None if desc.compiled() != *desc => {
                Self::known_for_run(stream, &(desc.compiled(), *ptx))?
                    .with_description(stream.context(), desc)
            }
            None => KNOWN.for_run(stream, known, || Self::prepared(stream.context(), known)),
        }
    }
}
