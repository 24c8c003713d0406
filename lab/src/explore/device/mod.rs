//! Candidates on a GPU: the buffers of one problem, guard zones around D, and cuBLASLt as the
//! reference.

mod judge;
mod operands;

use super::{
    record::Circumstances,
    trials::{Book, Compiler, Contestant, Plan, Stage},
};
use crate::{
    Error,
    bench::{
        Launch, Session, SuiteProblem,
        peer::{self, REQUESTED, WORKSPACE_BYTES, lt_problem},
    },
    sys::{
        cublaslt::{Lt, LtLaunch, LtSet, Region},
        timing::Untracked,
    },
};
use cudarc::driver::CudaStream;
use falchion::{
    arch::Machine,
    cuda::{cache::Cache, compile, compile_to_disk, kernel_unit, machine_of, report::Report},
    epilogue::{LinearCombination, Node},
    internals::{
        operand::fitting,
        shape::{Axis, OperandKind},
        sys::driver::{self, driver},
        within,
    },
    layout::MatrixType,
    nest::GemmDesc,
    refusal::{Field, Operand, Refusal},
    shape::Mnk,
};
use operands::OnDevice;
use std::sync::Arc;

/// NVRTC with the process's cache, for devices of one compute capability.
#[derive(Clone, Copy, Debug)]
pub struct Nvrtc {
    /// The compute capability, major times 10 plus minor.
    pub sm: u32,
}

impl Compiler for Nvrtc {
    fn compile(&self, desc: &GemmDesc) -> Result<Report, falchion::Error> {
        desc.epilogue.check_functions(desc.output.compute)?;
        let entry = compile(Cache::global(), &kernel_unit(desc)?, self.sm)?;
        Ok(Report::read(&entry.log).unwrap_or_default())
    }
}

/// The compiler of [`Nvrtc`]. It returns [`falchion::Error::Io`] if a kernel cannot be written to
/// the cache folder.
#[derive(Clone, Copy, Debug)]
pub struct NvrtcToDisk {
    /// The compute capability, major times 10 plus minor.
    pub sm: u32,
}

impl Compiler for NvrtcToDisk {
    fn compile(&self, desc: &GemmDesc) -> Result<Report, falchion::Error> {
        desc.epilogue.check_functions(desc.output.compute)?;
        let entry = compile_to_disk(Cache::global(), &kernel_unit(desc)?, self.sm)?;
        Ok(Report::read(&entry.log).unwrap_or_default())
    }
}

/// Returns `D = A·B` of a size, with packed matrices and the types and layouts of a description.
fn problem(base: &GemmDesc, size: Mnk) -> SuiteProblem {
    let (types, orders) = (base.user_types(), base.orders());
    let matrix = |element, order| MatrixType { element, order };
    let extents = (size.m as usize, size.n as usize, size.k as usize);
    let plain = base.epilogue == <LinearCombination as Node>::DESC;
    SuiteProblem {
        op: Some(base.op().to_string()),
        acc: Some(types.accumulator.to_string()),
        epilogue: (!plain).then(|| base.epilogue.leave(base.frame).to_string()),
        ..SuiteProblem::new(
            extents,
            [matrix(types.a, orders.a), matrix(types.b, orders.b), matrix(types.c, orders.c)],
        )
    }
}

/// Checks that a packed problem of a size runs with the kernel of a description, without narrower
/// accesses.
///
/// # Errors
/// [`falchion::Error::Refused`] if the problem is empty or too large, or if an extent of an operand
/// needs another kernel or narrower accesses.
pub fn fits(desc: &GemmDesc, size: Mnk) -> Result<(), Error> {
    for (axis, extent) in [(Axis::M, size.m), (Axis::N, size.n), (Axis::K, size.k)] {
        within(Field::Extent(axis), u64::from(extent), 1, i32::MAX as u64)?;
    }
    let problem = problem(desc, size).problem().enter(desc)?;
    let fitting = fitting(desc, &problem);
    let names = OperandKind::BOTH.map(|operand| Operand::from_kind(operand.leave(desc.frame)));
    let [a, b] = OperandKind::BOTH.map(|operand| {
        let mn = if operand == OperandKind::A { problem.m } else { problem.n };
        if desc.k_contiguous(operand) { problem.k } else { mn }
    });
    let extents = [a, b, desc.frame.d_order().packed(problem.m, problem.n)];
    let rows = fitting.alignments().into_iter().zip(desc.alignments()).zip(extents);
    for (operand, ((fits, wanted), extent)) in names.into_iter().chain([Operand::C]).zip(rows) {
        // TMA reads only whole vectors. Other operands need a pass, whose time does not belong to a
        // candidate.
        let refused = desc.has_producer() && !(extent as u64).is_multiple_of(u64::from(wanted));
        if fits != wanted || refused {
            let (value, of) = (extent as u64, u64::from(wanted));
            return Err(Refusal::not_multiple(
                Field::Run(operand),
                value,
                of,
                value.next_multiple_of(of),
            )
            .into());
        }
    }
    Ok(())
}

/// A device, and its peer.
pub struct Gpu {
    stream: Arc<CudaStream>,
    lt: Option<Lt>,
    machine: Machine,
}

impl Gpu {
    /// Opens the device of `stream`. Without `with_peer`, cuBLASLt is not loaded.
    ///
    /// # Errors
    /// - [`falchion::Error::Library`] if cuBLASLt is requested and cannot be loaded.
    /// - [`falchion::Error::Driver`] if the driver fails.
    pub fn new(stream: &Arc<CudaStream>, with_peer: bool) -> Result<Self, Error> {
        let lt = if with_peer { Some(Lt::open(stream.context(), None)?) } else { None };
        Ok(Self { stream: stream.clone(), lt, machine: machine_of(stream.context())? })
    }

    /// Returns the limits of the device.
    #[must_use]
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Returns the machine and the versions for the header of a log.
    ///
    /// # Errors
    /// [`falchion::Error::Driver`] if a query of the driver fails.
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

    /// Runs the remaining trials of `plan` on a problem. Without a peer, the reference is `base`.
    ///
    /// # Errors
    /// The errors of [`Stage::explore`]; [`falchion::Error::Refused`] if the operands do not fit in
    /// memory.
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
        // Event tracking is off, as in measurements of GEMMs.
        let _untracked = Untracked::new(&self.stream);
        let on = OnDevice::new(&self.stream, base, &problem, &plan.candidates)?;
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
            .map(|([a, b], d)| LtSet {
                a: Region::from_slice(a),
                b: Region::from_slice(b),
                c: Region::from_slice(d),
                d: Region::from_slice(d),
            })
            .collect();
        let workspace =
            self.stream.alloc_zeros::<u8>(WORKSPACE_BYTES).map_err(driver("cuMemAllocAsync"))?;
        let mut peers = Vec::new();
        for algorithm in lt.algorithms(&planned, WORKSPACE_BYTES, REQUESTED)? {
            peers.push(LtLaunch::new(
                lt,
                &planned,
                algorithm,
                &regions,
                Some(Region::from_slice(&workspace)),
                &self.stream,
            )?);
        }
        let mut references: Vec<&mut dyn Launch> =
            peers.iter_mut().map(|peer| peer as &mut dyn Launch).collect();
        stage.explore(plan, &mut references, session, book)
    }
}

/// Name of the reference without a peer.
const DEFAULT: &str = "the default kernel";
