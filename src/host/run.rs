//! Runs a GEMM on the host.

use super::{
    array::Array, groups::PaddedDepth, indexed::with_plain_matrices, operands::Tiling,
    sums::with_sums,
};
use crate::{
    Error,
    host::threadblock::{
        mma::{composition::Composition, fast_program::FastProgram},
        tma_ring,
        units::TileSlices,
    },
    nest::GemmDesc,
    numeric::{EmulationKind, emulation::EmulationBlocks},
    operand::HostCall,
    refusal::{Operand, Refusal},
    shape::Mn,
    sys::float_mode::DefaultFloatMode,
    threadblock::{Mainloop, Work, mma::program::Program},
};
use core::slice;
use std::{
    collections::HashMap,
    sync::{Arc, LazyLock, Mutex, PoisonError},
};

/// Something that the host can run: a description, or the program of one. Tests change programs.
pub trait HostKernel {
    /// The arguments: matrices and scalars.
    type Call<'a>;

    /// Computes a call.
    ///
    /// # Errors
    /// The errors of [`run_on_host`].
    fn run(&self, call: Self::Call<'_>) -> Result<(), Error>;
}

/// Runs a description or a program on operands in host memory: composed, vectorized, and parallel
/// over CTAs. All host calls pass through this function.
///
/// # Errors
/// [`Error::Refused`] if the description or the call is invalid. [`Error::Fault`] if the maps of a
/// changed program have a fault.
pub fn run_on_host<K: HostKernel>(kernel: &K, call: K::Call<'_>) -> Result<(), Error> {
    let _mode = DefaultFloatMode::enter();
    kernel.run(call)
}

impl HostKernel for GemmDesc {
    type Call<'a> = HostCall<'a>;

    fn run(&self, call: HostCall<'_>) -> Result<(), Error> {
        let desc = self.for_scalars(&call.scalars);
        // The host supports the instructions and the memory sizes of every architecture.
        desc.check()?;
        // The host does not model subtiles of D. Swapped operands do not change the accumulators.
        let (kernel, desc) = (desc, desc.with_row_major_d());
        in_frames_of([&kernel, &desc], call, |mut call| match desc.mainloop {
            Mainloop::TmaRing(_) => tma_ring::execute_fast([&kernel, &desc], call),
            _ => {
                let known = composed(&desc)?;
                execute(&known.program, Some(&known.composition), slice::from_mut(&mut call))
            }
        })
    }
}

impl HostKernel for Program {
    type Call<'a> = HostCall<'a>;

    fn run(&self, call: HostCall<'_>) -> Result<(), Error> {
        self.desc.check()?;
        in_frame_of(&self.desc, call, |mut call| execute(self, None, slice::from_mut(&mut call)))
    }
}

impl HostKernel for Array<'_, Program> {
    type Call<'a> = Vec<HostCall<'a>>;

    fn run(&self, calls: Vec<HostCall<'_>>) -> Result<(), Error> {
        each_launch(&self.0.desc, calls, |calls| execute(self.0, None, calls))
    }
}

/// Checks the calls of a pointer array in the frame of a kernel, and runs `run` on the calls of
/// each launch. Does nothing if D has no elements.
///
/// # Errors
/// The errors of the description, of the calls, and of `run`.
pub fn each_launch<'a>(
    desc: &GemmDesc,
    calls: Vec<HostCall<'a>>,
    run: impl FnMut(&mut [HostCall<'a>]) -> Result<(), Error>,
) -> Result<(), Error> {
    desc.check()?;
    let mut calls =
        calls.into_iter().map(|call| call.enter(desc)).collect::<Result<Vec<_>, _>>()?;
    HostCall::check_array(&calls)?;
    let Some(first) = calls.first().filter(|first| !first.is_empty()) else { return Ok(()) };
    let order = desc.frame.d_order();
    if first.addressing(order).strided {
        return Err(Refusal::strides(Operand::D, first.d.strides, Some(order))
            .leave(desc.frame)
            .into());
    }
    let at_once = desc.products_at_once((first.m, first.n));
    calls.chunks_mut(at_once).try_for_each(run).map_err(|error| error.leave(desc.frame))
}

/// Runs `run` with the call in the kernel's frame, and leaves the frame again if it fails. Does
/// nothing if D has no elements. Each group of a grouped GEMM is a GEMM of its own, and matrices
/// with index lists are copied.
///
/// # Errors
/// The errors of the call and of `run`.
pub fn in_frame_of(
    desc: &GemmDesc,
    call: HostCall<'_>,
    run: impl FnMut(HostCall<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    in_frames_of([desc; 2], call, run)
}

/// Runs `run` as [`in_frame_of`] does, in the frame of `desc`. `kernel` determines the k at which
/// the k-tiles of a group begin.
fn in_frames_of(
    [kernel, desc]: [&GemmDesc; 2],
    call: HostCall<'_>,
    mut run: impl FnMut(HostCall<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    let call = call.enter(desc)?;
    // Group offsets and indices are checked even if D is empty.
    let groups = call.groups()?;
    let lists = call.host_indices().map_err(|refusal| refusal.leave(desc.frame))?;
    if call.is_empty() {
        return Ok(());
    }
    call.clear_maxima();
    let ran = with_sums([kernel, desc], call, |call| {
        with_plain_matrices(desc, call, &lists, |mut call| match groups {
            None => run(call),
            Some(groups) => {
                let step = kernel.in_mode(call.mode()).group_step();
                groups.into_iter().try_for_each(|group| {
                    match PaddedDepth::new(desc, &call, &group, step) {
                        Some(padded) => run(padded.call(call.group(group))),
                        None => run(call.group(group)),
                    }
                })
            }
        })
    });
    ran.map_err(|error| error.leave(desc.frame))
}

/// Returns the refusal of a warp-specialized kernel.
pub fn has_roles(desc: &GemmDesc) -> Refusal {
    desc.mainloop.kind().needs_roles()
}

/// Returns the tiling of a program for a K of `k`.
pub fn tiling(program: &Program, k: usize) -> Tiling {
    let (desc, tiles) = (&program.desc, &program.base.tiles);
    let block = tiles.block;
    let blocks = EmulationBlocks::new((EmulationKind::None, desc.frame), k, block.k);
    Tiling { block, warp_slices: tiles.warps().k, blocks, split_k: desc.split_k() }
}

/// Returns the work of a program for `products` GEMMs.
///
/// # Errors
/// The errors of [`Work::new`].
pub fn work(
    program: &Program,
    tiling: Tiling,
    (m, n): (usize, usize),
    products: usize,
) -> Result<Work, Refusal> {
    let (desc, tiles_k) = (&program.desc, tiling.blocks.tiles());
    let kinds = (desc.geometry().work, desc.swizzle(), tiling.split_k);
    Work::new(kinds, (tiling.block, Mn::ONE), ((m, n), products, tiles_k), program.clusters)
}

/// Runs a program on operands in host memory: on one call, or on the calls of a pointer array.
/// `calls` may be empty.
///
/// # Errors
/// [`Error::Refused`] if the class does not support the element types. [`Error::Fault`] if the
/// program has a fault.
fn execute(
    program: &Program,
    composition: Option<&Composition>,
    calls: &mut [HostCall<'_>],
) -> Result<(), Error> {
    let Some(call) = calls.first() else { return Ok(()) };
    let products = if calls.len() > 1 { calls.len() } else { call.batch };
    let tiling = tiling(program, call.k);
    let work = |batch| work(program, tiling, (call.m, call.n), batch);
    let streams = if program.desc.streams_k() {
        Some(TileSlices::for_gemms(&work(products)?, &program.units)?)
    } else {
        None
    };
    FastProgram { program, work: work(1)?, tiling, streams }.run(composition, calls)
}

/// A program and its composition, cached per description.
pub(crate) struct Composed {
    pub program: Program,
    pub composition: Composition,
}

/// Capacity of the cache of composed programs; a full cache is cleared.
const KEPT: usize = 1024;

/// Returns the composed program of a description, which the caller has checked.
fn composed(desc: &GemmDesc) -> Result<Arc<Composed>, Error> {
    static KNOWN: LazyLock<Mutex<HashMap<GemmDesc, Arc<Composed>>>> = LazyLock::new(Mutex::default);
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(composed) = known().get(desc) {
        return Ok(composed.clone());
    }
    let program = desc.one_schedule()?;
    let composition = Composition::compose(&program)?;
    let composed = Arc::new(Composed { program, composition });
    let mut known = known();
    if known.len() >= KEPT {
        known.clear();
    }
    known.insert(*desc, composed.clone());
    Ok(composed)
}
