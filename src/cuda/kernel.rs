//! One kernel on one device: a description, compiled and loaded.

use super::{
    context::machine_of,
    detour::{self, Detour},
    loaded::{Loaded, Registry},
    operands::{CudaMatrices, DeviceMatrix},
    report::Report,
    split::{Lies, Splitting, check_capture, check_window},
    warp_specialized::{Call, Persistent, Placed},
};
use crate::{
    call::{MatrixShape, OperandNeed, Routes, Shapes, Source, SplitLayout},
    codegen::{GemmParams, TranslationUnit},
    desc::GemmDesc,
    epilogue::Reads,
    error::Error,
    operand::OperandKind,
    plan::{Geometry, Plan},
    refusal::{Operand, Refusal},
    sys::driver::{Grid, VouchedUnit, launch},
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
    /// Of a kernel whose blocks stay and take tile after tile.
    persistent: Option<Persistent>,
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
        detour::prepare(context, desc)?;
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
        let components = desc.components();
        let persistent = components.map(|components| Persistent::of(components, &loaded, &context.default_stream()));
        Ok(Self(Arc::new(Prepared { desc: *desc, plan: plan.clone(), geometry, persistent: persistent.transpose()?, loaded })))
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

    /// How a product's operands reach the kernel.
    ///
    /// # Errors
    ///
    /// Those of [`Routes::of`].
    pub fn routes(&self, shapes: &Shapes, matrices: &CudaMatrices<'_>) -> Result<Routes, Refusal> {
        Routes::of(&self.0.desc, self.0.plan.needs(), shapes, [matrices.a.address, matrices.b.address])
    }

    /// Bytes of the workspace that a product of operands at multiples of 16 bytes takes, as allocations begin; of others,
    /// [`routes`](Self::routes) knows. 0 where every operand is read where it lies.
    ///
    /// # Errors
    ///
    /// Those of [`Routes::of`].
    pub fn workspace_size(&self, shapes: &Shapes) -> Result<u64, Refusal> {
        Ok(Routes::of(&self.0.desc, self.0.plan.needs(), shapes, [0, 0])?.workspace_bytes())
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
    pub fn run(&self, stream: &Arc<CudaStream>, shapes: &Shapes, matrices: CudaMatrices<'_>) -> Result<(), Error> {
        let desc = self.0.desc.for_scalars(&shapes.scalars);
        shapes.check(&desc)?;
        let problem = shapes.canonical_for(&desc)?;
        let reads = desc.class.output.epilogue.reads(&shapes.scalars);
        let extents = check_memory(&desc, stream, shapes, &matrices, reads)?;
        if problem.m == 0 || problem.n == 0 {
            return Ok(());
        }
        let routes = self.routes(shapes, &matrices)?;
        let warp_specialized = desc.warp_specialized();
        if routes.workspace_bytes() > 0 {
            warp_specialized.as_ref().map_or(Ok(()), |desc| check_capture(stream, desc))?;
        }
        let workspace = detour::workspace(&routes, &matrices, &extents)?;
        let CudaMatrices { a, b, c, d, .. } = &matrices;
        let (a, b) = if desc.frame.is_exchanged() { (b, a) } else { (a, b) };
        let (c_address, ldc) = match (&problem.c, c) {
            (Source::Matrix(shape), Source::Matrix(c)) if reads.source => (c.address, shape.leading),
            (Source::InPlace, _) if reads.source => (d.address, problem.d.leading),
            _ => (0, 0),
        };
        let depth = if reads.accumulator { problem.k } else { 0 };
        let fitting = fitting((&desc, self.0.plan.needs()), &problem, depth, [a.address, b.address, c_address, d.address], ldc);
        let kernel = if fitting == self.0.desc { self.clone() } else { Self::for_run(stream, &fitting)? };
        if let (Some(persistent), Some(desc)) = (&kernel.0.persistent, &warp_specialized) {
            let [way_a, way_b] = if desc.frame.is_exchanged() { [routes.b, routes.a] } else { [routes.a, routes.b] };
            let (row_a, column_b) = (problem.a.order.is_row(), !problem.b.order.is_row());
            let lies = |shape, k_contiguous: bool, mn, k| if k_contiguous { (shape, k, mn) } else { (shape, mn, k) };
            let parts = |shape: MatrixShape, along_k, mn| {
                let layout = SplitLayout { split: desc.knobs.emulation, mn, k: problem.k };
                desc.knobs.emulation.splits().then_some((layout, Lies { leading: shape.leading, along_k }))
            };
            let (parts_a, parts_b) = (parts(problem.a, row_a, problem.m), parts(problem.b, column_b, problem.n));
            let detours = [
                Detour::of(stream, a, lies(problem.a, row_a, problem.m, problem.k), &way_a, workspace, parts_a)?,
                Detour::of(stream, b, lies(problem.b, column_b, problem.n, problem.k), &way_b, workspace, parts_b)?,
            ];
            let splittings = detours.each_ref().map(Detour::splitting);
            let placed = |address, leading| Placed { address, leading };
            let call = Call {
                m: problem.m,
                n: problem.n,
                depth: if desc.knobs.emulation.splits() && depth > 0 { way_a.leading } else { depth },
                a: detours[0].placed,
                b: detours[1].placed,
                c: (c_address != 0).then(|| placed(c_address, ldc)),
                d: placed(d.address, problem.d.leading),
                scalars: shapes.scalars,
                lines: splittings.map(|splitting| splitting.map_or(0, Splitting::lines)),
            };
            // Whatever can be refused has been by now.
            let Some(fitting) = fitting.warp_specialized() else { return Err(Refusal::NotPrepared.into()) };
            let (grid, params) = persistent.ready(&fitting.multiplied(), &call)?;
            detours.iter().try_for_each(|detour| detour.enqueue(stream))?;
            // But rows that cannot be scaled: whether there are any, the device finds out.
            check_window(stream, desc, splittings)?;
            return launch(&kernel.0.loaded.function, stream, &grid, &params);
        }
        let Geometry { tile, threads, shared_bytes } = kernel.0.geometry;
        let (tiles_m, tiles_n) = (problem.m.div_ceil(tile.m as usize), problem.n.div_ceil(tile.n as usize));
        let params = GemmParams {
            a: a.address,
            b: b.address,
            c: c_address,
            d: d.address,
            lda: problem.a.leading as i64,
            ldb: problem.b.leading as i64,
            ldc: ldc as i64,
            ldd: problem.d.leading as i64,
            scalars: shapes.scalars,
            m: problem.m as i32,
            n: problem.n as i32,
            k: depth as i32,
            tiles_k: depth.div_ceil(tile.k as usize) as u32,
            tiles_m: tiles_m as u32,
            tiles_n: tiles_n as u32,
            reads_source: u32::from(reads.source),
            reserved: 0,
        };
        let blocks = tiles_m as u64 * tiles_n as u64;
        let most = u64::from(fitting.class.arch.machine().grid_x);
        if blocks > most {
            return Err(Refusal::TooManyTiles { tiles: blocks, most }.into());
        }
        launch(&kernel.0.loaded.function, stream, &Grid::of_blocks(blocks as u32, threads, shared_bytes), &params)
    }

    /// The kernel of a description for a run on `stream`; compiled now if need be, unless the stream is being captured.
    pub(crate) fn for_run(stream: &CudaStream, desc: &GemmDesc) -> Result<Self, Error> {
        KNOWN.for_run(stream, desc, || Self::prepare(stream.context(), desc))
    }
}

/// The description with accesses as wide as addresses, leading dimensions and extents allow.
pub fn fitting(
    (desc, needs): (&GemmDesc, [OperandNeed; 2]),
    problem: &Shapes,
    depth: usize,
    [a, b, c, d]: [u64; 4],
    ldc: usize,
) -> GemmDesc {
    let operand = |operand: OperandKind, address: u64, shape: &MatrixShape, mn: usize| {
        // The copy engine reads whole vectors or nothing.
        let OperandNeed::Accesses(access) = needs[operand.index()] else { return u32::MAX };
        let contiguous = if desc.class.k_contiguous(operand) { depth } else { mn };
        // An address of an odd byte is no element's: cudarc's slices have none.
        let elements = desc.class.operand(operand).element.matrix_elements(address);
        let fits = dividing(access, &[elements, shape.leading as u64, contiguous as u64]);
        if fits < access { fits } else { u32::MAX }
    };
    let output = desc.class.output;
    let elements = |address| output.element.matrix_elements(address);
    let [_, _, align_c] = desc.alignments();
    let align_c = dividing(
        align_c,
        &[elements(c), elements(d), ldc as u64, problem.d.leading as u64, output.layout.packed(problem.m, problem.n) as u64],
    );
    desc.narrowed([operand(OperandKind::A, a, &problem.a, problem.m), operand(OperandKind::B, b, &problem.b, problem.n), align_c])
}

/// Whether the operands are of the kernel's types, on the stream's device, and D lies apart from what is read. Returns the addresses
/// of what is written and read; those of what is not are none.
fn check_memory(
    desc: &GemmDesc,
    stream: &CudaStream,
    shapes: &Shapes,
    matrices: &CudaMatrices<'_>,
    reads: Reads,
) -> Result<[(Operand, Range<u64>); 4], Refusal> {
    let CudaMatrices { a, b, c, d, .. } = matrices;
    let (kind_a, kind_b) = if desc.frame.is_exchanged() {
        (desc.class.b.element, desc.class.a.element)
    } else {
        (desc.class.a.element, desc.class.b.element)
    };
    let context = stream.context().cu_ctx() as usize;
    let check = |matrix: &DeviceMatrix<'_>, wanted, operand| {
        if matrix.kind != wanted {
            return Err(Refusal::ElementType { given: matrix.kind, wanted });
        }
        if matrix.context != context { Err(Refusal::OtherDevice { operand }) } else { Ok(()) }
    };
    check(a, kind_a, Operand::A)?;
    check(b, kind_b, Operand::B)?;
    check(d, desc.class.output.element, Operand::D)?;
    let nothing = || 0..0;
    if shapes.m == 0 || shapes.n == 0 {
        return Ok([Operand::D, Operand::A, Operand::B, Operand::C].map(|operand| (operand, nothing())));
    }
    // Shapes have been checked: they have fewer than 2^64 elements.
    let extent = |shape: &MatrixShape, rows: usize, columns: usize| shape.elements(rows, columns) as u64;
    let written = d.range(extent(&shapes.d, shapes.m, shapes.n));
    let meets = |other: &Range<u64>| other.start < written.end && written.start < other.end;
    let read = |range: Range<u64>, reads: bool| if reads { range } else { nothing() };
    let read_a = read(a.range(extent(&shapes.a, shapes.m, shapes.k)), reads.accumulator);
    let read_b = read(b.range(extent(&shapes.b, shapes.k, shapes.n)), reads.accumulator);
    if meets(&read_a) {
        return Err(Refusal::Overlap { operand: Operand::A });
    }
    if meets(&read_b) {
        return Err(Refusal::Overlap { operand: Operand::B });
    }
    let mut read_c = nothing();
    if let (Source::Matrix(c), Source::Matrix(shape)) = (c, &shapes.c) {
        check(c, desc.class.output.element, Operand::C)?;
        let same = c.address == d.address && shape.leading == shapes.d.leading;
        read_c = read(c.range(extent(shape, shapes.m, shapes.n)), reads.source);
        if !same && meets(&read_c) {
            return Err(Refusal::PartlyShared { operand: Operand::C });
        }
    }
    Ok([(Operand::D, written), (Operand::A, read_a), (Operand::B, read_b), (Operand::C, read_c)])
}
