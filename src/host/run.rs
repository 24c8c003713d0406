//! Runs a GEMM on the host. The two modes differ only in how they compute a tile.

use super::{
    array::{Array, factors_of, product_of},
    machine::{Started, run_block},
    operands::{Operands, Product, Tiling, unknown},
    progress::BLOCKS,
    store::Blocks,
};
use crate::{
    call::HostCall,
    error::Error,
    host::{
        threadblock::{
            mma::{
                composition::{Composition, stored_once},
                fast_program::FastProgram,
                vectors::whole,
            },
            tma_ring,
            units::{TileSlices, units_once},
        },
        warp::{accumulated::Accumulated, accumulators::Accumulators},
    },
    layout::index_map::at,
    nest::GemmDesc,
    numeric::{EmulationKind, emulation::EmulationBlocks},
    operand::OperandKind,
    refusal::Refusal,
    schedule::Fault,
    shape::{Mn, Mnk},
    sys::float_mode::DefaultFloatMode,
    threadblock::{
        Unit, Work,
        mma::program::{HostProgram, Program},
        tma_ring::program::WarpSpecializedProgram,
    },
};
use core::slice;
use std::{
    collections::HashMap,
    sync::{Arc, LazyLock, Mutex, PoisonError},
};

/// The mode in which the host runs a program.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Mode {
    /// Composed, vectorized, and parallel over CTAs.
    Fast,
    /// Warp by warp, with race detection, in a pseudorandom order.
    Checked {
        /// Seed of the order.
        seed: u64,
    },
}

/// Something that the host can run: a description, or its program. Tests change programs to see
/// whether the checked mode finds the fault.
pub trait HostKernel {
    /// The arguments: matrices and scalars.
    type Call<'a>;

    /// Computes a call.
    ///
    /// # Errors
    /// The errors of [`run_on_host`].
    fn run(&self, mode: Mode, call: Self::Call<'_>) -> Result<(), Error>;
}

/// Runs a description or a program on operands in host memory. All host calls pass through this
/// function.
///
/// # Errors
/// [`Error::Refused`] if the description or the call is invalid, or if a warp-specialized program
/// is run in the fast mode, which supports only their descriptions. [`Error::Fault`] if the checked
/// mode finds a fault.
pub fn run_on_host<K: HostKernel>(kernel: &K, mode: Mode, call: K::Call<'_>) -> Result<(), Error> {
    let _mode = DefaultFloatMode::enter();
    kernel.run(mode, call)
}

impl HostKernel for GemmDesc {
    type Call<'a> = HostCall<'a>;

    fn run(&self, mode: Mode, call: HostCall<'_>) -> Result<(), Error> {
        let desc = self.for_scalars(&call.scalars);
        // The host supports the instructions and the memory sizes of every architecture.
        desc.check()?;
        if let Mode::Checked { .. } = mode {
            return desc.plan()?.program()?.run(mode, call);
        }
        // The fast mode does not model subtiles of D. Swapped operands do not change the
        // accumulators.
        let (kernel, desc) = (desc, desc.with_row_major_d());
        in_frame_of(&desc, call, |mut call| match desc.has_producer() {
            true => tma_ring::execute_fast([&kernel, &desc], call),
            false => {
                let known = composed(&desc)?;
                execute(&known.program, Some(&known.composition), mode, slice::from_mut(&mut call))
            }
        })
    }
}

impl HostKernel for HostProgram {
    type Call<'a> = HostCall<'a>;

    fn run(&self, mode: Mode, call: HostCall<'_>) -> Result<(), Error> {
        match self {
            Self::OneSchedule(program) => program.run(mode, call),
            Self::Roles(program) => program.run(mode, call),
        }
    }
}

impl HostKernel for Program {
    type Call<'a> = HostCall<'a>;

    fn run(&self, mode: Mode, call: HostCall<'_>) -> Result<(), Error> {
        self.desc.check()?;
        in_frame_of(&self.desc, call, |mut call| {
            execute(self, None, mode, slice::from_mut(&mut call))
        })
    }
}

impl HostKernel for Array<'_, Program> {
    type Call<'a> = Vec<HostCall<'a>>;

    fn run(&self, mode: Mode, calls: Vec<HostCall<'_>>) -> Result<(), Error> {
        let Program { desc, .. } = self.0;
        desc.check()?;
        let mut calls =
            calls.into_iter().map(|call| call.enter(desc)).collect::<Result<Vec<_>, _>>()?;
        HostCall::check_array(&calls)?;
        let Some(first) = calls.first().filter(|first| !first.is_empty()) else { return Ok(()) };
        let at_once = desc.products_at_once((first.m, first.n));
        let mut launches = calls.chunks_mut(at_once);
        launches
            .try_for_each(|calls| execute(self.0, None, mode, calls))
            .map_err(|error| error.leave(desc.frame))
    }
}

impl HostKernel for WarpSpecializedProgram {
    type Call<'a> = HostCall<'a>;

    fn run(&self, mode: Mode, call: HostCall<'_>) -> Result<(), Error> {
        let desc = self.desc;
        desc.check()?;
        let Mode::Checked { seed } = mode else { return Err(has_roles(&desc).into()) };
        in_frame_of(&desc, call, |call| tma_ring::execute_program(self, seed, call))
    }
}

/// Runs `run` with the call in the kernel's frame, and leaves the frame again if it fails. Does
/// nothing if D has no elements. Each group of a grouped GEMM is a GEMM of its own.
fn in_frame_of(
    desc: &GemmDesc,
    call: HostCall<'_>,
    mut run: impl FnMut(HostCall<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut call = call.enter(desc)?;
    // Group offsets are checked even if D is empty.
    let groups = call.groups()?;
    if call.is_empty() {
        return Ok(());
    }
    let ran = match groups {
        None => run(call),
        Some(groups) => groups.into_iter().try_for_each(|group| run(call.group(group))),
    };
    ran.map_err(|error| error.leave(desc.frame))
}

pub(super) fn has_roles(desc: &GemmDesc) -> Refusal {
    Refusal::warp_specialized(desc.mainloop.kind().name())
}

/// A program whose threads all follow one schedule, and its work.
struct OneSchedule<'p> {
    program: &'p Program,
    work: Work,
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
    mode: Mode,
    calls: &mut [HostCall<'_>],
) -> Result<(), Error> {
    let Some(call) = calls.first() else { return Ok(()) };
    let products = if calls.len() > 1 { calls.len() } else { call.batch };
    let (desc, tiles) = (&program.desc, &program.base.tiles);
    let block = tiles.block;
    let blocks = EmulationBlocks::new((EmulationKind::None, desc.frame), call.k, block.k);
    let split_k = desc.split_k();
    let tiling = Tiling { block, warp_slices: tiles.warps().k, blocks, split_k };
    let (m, n) = (call.m, call.n);
    let extents = |batch| ((m, n), batch, blocks.tiles());
    let kinds = (desc.geometry().work, desc.swizzle(), split_k);
    let work = |batch| Work::new(kinds, (block, Mn::ONE), extents(batch), program.clusters);
    if let Mode::Checked { seed } = mode {
        return OneSchedule { program, work: work(products)? }.checked(seed, tiling, calls);
    }
    let streams = if desc.streams_k() {
        Some(TileSlices::for_gemms(&work(products)?, &program.units)?)
    } else {
        None
    };
    FastProgram { program, work: work(1)?, tiling, streams }.run(composition, calls)
}

impl OneSchedule<'_> {
    /// Runs CTA by CTA on the checked machine.
    fn checked(&self, seed: u64, tiling: Tiling, calls: &mut [HostCall<'_>]) -> Result<(), Error> {
        let (program, work) = (self.program, self.work);
        let stored = stored_once(program).and_then(|()| whole(program));
        BLOCKS.expect(work.clusters.into());
        let mut slices = HashMap::<_, Vec<_>>::new();
        for taken in units_once(&work, &program.units) {
            BLOCKS.advance();
            let (block, units) = taken?;
            let order = seed ^ u64::from(block).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let mut read = Vec::with_capacity(units.len());
            for unit in units {
                let number = unit.product as usize;
                let factors = factors_of(calls, &*program.records, number)?;
                // Types are checked before any element is read.
                let problem = Product::new(
                    &program.desc,
                    tiling,
                    product_of(calls, &*program.records, number)?,
                )?
                .operands
                .problem;
                let bytes = factors.map(|factor| factor.bytes());
                let operands = Operands {
                    desc: &program.desc,
                    tiling,
                    problem,
                    bytes,
                    epilogue: Default::default(),
                };
                read.push((unit, operands));
            }
            let tiles = checked_block(program, &read, order, stored)?;
            for ((unit, _), mut accumulators) in read.iter().zip(tiles) {
                let Unit { product, row, column, slice, .. } = *unit;
                if unit.slices > 1 {
                    // The last slice to arrive adds all slices.
                    let arrived = slices.entry((product, row, column)).or_default();
                    arrived.push((slice, accumulators));
                    if arrived.len() < unit.slices as usize {
                        continue;
                    }
                    arrived.sort_by_key(|(slice, _)| *slice);
                    accumulators = Accumulators::sum_slices(
                        &arrived.iter().map(|(_, partial)| partial).collect::<Vec<_>>(),
                    );
                    arrived.clear();
                }
                let call = product_of(calls, &*program.records, product as usize)?;
                let mut product = Product::new(&program.desc, tiling, call)?;
                let extents =
                    (program.base.tiles.block.m as usize, program.base.tiles.block.n as usize);
                let (piece, kind) = (accumulators.len(), accumulators.kind());
                let blocks = Blocks {
                    tiles: &[(row, column)],
                    extents,
                    accumulators: accumulators.bytes(),
                    piece,
                    kind,
                };
                blocks.store(&mut product)?;
            }
        }
        Ok(())
    }
}

/// Runs the units of work of one CTA in the checked mode, each with A and B of its GEMM. `stored`
/// is the result of [`stored_once`]; a fault of the run takes precedence over it.
fn checked_block(
    program: &Program,
    units: &[(Unit, Operands<'_>)],
    seed: u64,
    stored: Result<(), Fault>,
) -> Result<Vec<Accumulators>, Error> {
    let (desc, base) = (&program.desc, &program.base);
    let Mnk { m, n, .. } = base.tiles.block;
    let [Some(of_a), Some(of_b)] = OperandKind::BOTH.map(|operand| {
        Accumulators::words_of(desc.output.accumulator, desc.operand(operand).stored)
    }) else {
        return Err(unknown(desc));
    };
    let words = [of_a, of_b];
    let walks = |(unit, operands): &(Unit, Operands<'_>)| {
        [
            operands.iterator(OperandKind::A, u64::from(unit.row) * u64::from(m)),
            operands.iterator(OperandKind::B, u64::from(unit.column) * u64::from(n)),
        ]
    };
    // For each k-tile of all units: its unit and its number along K.
    let of_unit = |(i, (unit, _)): (usize, &(Unit, _))| {
        (unit.k_begin..unit.k_begin + unit.k_count).map(move |k| (i, k))
    };
    let k_tiles: Vec<_> = units.iter().enumerate().flat_map(of_unit).collect();
    let read: Vec<_> = units
        .iter()
        .map(|of| (walks(of), OperandKind::BOTH.map(|operand| of.1.matrix(operand))))
        .collect();
    let source = |operand: OperandKind, tile: u32, mn: u32, k: u32| {
        let ((unit, k_tile), side) = (k_tiles[tile as usize], operand.index());
        let (walks, matrices) = &read[unit];
        let element = walks[side].element(k_tile, mn, k);
        element.map_or(0, |(mn, k)| words[side](matrices[side].from(mn as usize, k as usize)))
    };
    let accumulators =
        Accumulated::Numbers(Accumulators::for_block(base, base.tiles.accumulators() as usize));
    let tiles: Vec<_> = units.iter().map(|(unit, _)| unit.k_count).collect();
    let threads =
        run_block(program, &Started { source: &source, accumulators, tiles: &tiles, seed }, None)?;
    stored?;
    let tile_of = |unit: usize| {
        let mut tile = Accumulators::for_block(base, (m * n) as usize);
        for (thread, index) in (0..base.tiles.threads_per_warp_slice())
            .flat_map(|t| (0..base.tiles.accumulators()).map(move |i| (t, i)))
        {
            if let Some(place) = program.maps.accumulator.at(at(thread, index)) {
                tile.set(place as usize, threads[thread as usize][unit].word(index));
            }
        }
        tile
    };
    Ok((0..units.len()).map(tile_of).collect())
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
    let HostProgram::OneSchedule(program) = desc.plan()?.program()? else {
        return Err(has_roles(desc).into());
    };
    let composition = Composition::compose(&program)?;
    let composed = Arc::new(Composed { program: *program, composition });
    let mut known = known();
    if known.len() >= KEPT {
        known.clear();
    }
    known.insert(*desc, composed.clone());
    Ok(composed)
}
