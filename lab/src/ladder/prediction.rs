//! The prediction of speed from counted accesses.
//!
//! On an SM, four kinds of work overlap: multiply-adds, instructions of all kinds, wavefronts of
//! the load-store unit, and bytes from the L2 cache. The longest of them is a lower bound. Work
//! that does not overlap is added. A main loop with one stage waits for each tile, and only the
//! other resident CTAs hide this wait.
//!
//! ```text
//! cycles = max(multiply-adds / 128, instructions / 4, wavefronts + lines, bytes / 64) + tiles * latency / (blocks side by side)
//! ```
//!
//! A grid is as slow as the SM with the most tiles. With few tiles, some SMs have none.
//!
//! Loads are counted as a compiler makes them. If K is contiguous in shared memory and the loop
//! over k is unrolled, the compiler merges loads of 16 bytes along k.
//!
//! The prediction gives the order of rungs. Its constants are properties of the machine, except the
//! cost of spills, which was added after a measurement.

use super::{Program, Textbook};
use crate::{
    Error,
    banks::{Direction, NotAnAccess, WarpAccess, wavefronts},
    counters::{Counters, SharedAccesses},
};
use falchion::{
    arch::WARP,
    internals::shape::OperandKind,
    nest::GemmDesc,
    threadblock::Along,
    warp::{UnrollKind, thread_maps::FragmentMap},
};

/// The machine constants of a prediction.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Machine {
    /// Number of SMs.
    pub multiprocessors: f64,
    /// Clock frequency in Hz.
    pub hertz: f64,
    /// `f32` multiply-adds per cycle and SM.
    pub multiply_adds: f64,
    /// Warp-level instructions per cycle and SM.
    pub instructions: f64,
    /// Bytes from the L2 cache per cycle and SM.
    pub l2_bytes: f64,
    /// Latency of the L2 cache in cycles.
    pub latency: f64,
    /// Threads, registers, and bytes of shared memory per SM.
    pub holds: [u32; 3],
}

impl Machine {
    /// An H200. Source: NVIDIA H100 architecture white paper (132 SMs, 128 lanes, 256 KB of
    /// registers, 228 KB of shared memory; four schedulers), and its clock under load, 1.7 GHz. The
    /// latency is the rounded latency of an L2 hit.
    pub const H200: Self = Self {
        multiprocessors: 132.0,
        hertz: 1.7e9,
        multiply_adds: 128.0,
        instructions: 4.0,
        l2_bytes: 64.0,
        latency: 300.0,
        holds: [2048, 65_536, 233_472],
    };

    /// Returns the predicted rate in TFLOP/s.
    ///
    /// # Errors
    /// [`Error::Measurement`] if an address is not a multiple of the access size. Valid
    /// descriptions have no such address.
    pub fn tflops(&self, program: &Program, counters: &Counters) -> Result<f64, Error> {
        let warp = f64::from(WARP);
        let products = counters.multiply_adds as f64;
        let global = [counters.a, counters.b];
        let requests: f64 = global.iter().map(|reads| reads.requests as f64).sum();
        let sectors: f64 = global.iter().map(|reads| reads.sectors as f64).sum();
        let lines: f64 = global.iter().map(|reads| reads.lines as f64).sum();
        let loads = match program {
            Program::Textbook(_) => counters.loads,
            Program::Gemm(d) => {
                let tiles = counters.multiply_adds
                    / (u64::from(d.threadblock().m * d.threadblock().n)
                        * u64::from(d.threadblock().k));
                joined(d, tiles)
                    .map_err(|error| Error::Measurement { because: error.to_string() })?
            }
        };
        let accesses = (loads.accesses + counters.stores.accesses) as f64;
        let wavefronts = (loads.wavefronts + counters.stores.wavefronts) as f64;
        let spills = self.spills(program, products / warp);
        let instructions =
            products / warp + requests + accesses + spills + looping(program, products / warp);
        let bound = [
            products / self.multiply_adds,
            instructions / self.instructions,
            wavefronts + lines + spills,
            sectors * SECTOR_BYTES / self.l2_bytes,
        ];
        let cycles = bound.into_iter().fold(0.0, f64::max) + self.waiting(program, products);
        Ok(2.0 * products / (cycles / self.busy(program, products) / self.hertz) / 1e12)
    }

    /// Returns the average number of busy SMs until the last one has finished: the busiest SM has a
    /// whole number of tiles. The problem is square.
    fn busy(&self, program: &Program, products: f64) -> f64 {
        let tile = match program {
            Program::Textbook(_) => Textbook::TILE,
            Program::Gemm(d) => d.base().tiles.block,
        };
        let size = products.cbrt().round();
        let tiles = (size / f64::from(tile.m)).ceil() * (size / f64::from(tile.n)).ceil();
        if tiles > 0.0 {
            tiles / (tiles / self.multiprocessors).ceil()
        } else {
            self.multiprocessors
        }
    }

    /// Returns the warp-level accesses to local memory. Values that do not fit in registers are
    /// stored and loaded in every k-block.
    fn spills(&self, program: &Program, products: f64) -> f64 {
        match program {
            Program::Textbook(_) => 0.0,
            Program::Gemm(d) => {
                let lacking =
                    d.base().registers().saturating_sub(d.registers_available(self.holds[1]));
                products / f64::from(d.base().tiles.accumulators()) * 2.0 * f64::from(lacking)
            }
        }
    }

    /// Returns the cycles in which all CTAs of an SM wait for a tile, summed over the SMs.
    fn waiting(&self, program: &Program, products: f64) -> f64 {
        let (tile, threads, registers, shared, waits) = match program {
            Program::Textbook(Textbook::Naive) => return 0.0,
            Program::Textbook(Textbook::SharedMemory) => {
                (Textbook::TILE, Textbook::THREADS, 32, 2048, true)
            }
            Program::Gemm(d) => {
                let base = d.base();
                let waits = base.mainloop.kind().fixed_stages() == Some(1);
                (base.tiles.block, base.tiles.threads(), base.registers(), base.smem_bytes(), waits)
            }
        };
        if !waits {
            return 0.0;
        }
        let [all_threads, all_registers, all_shared] = self.holds;
        let blocks = (all_threads / threads.max(1))
            .min(all_registers / (registers * threads).max(1))
            .min(all_shared / shared.max(1));
        let tiles = products / f64::from(tile.m) / f64::from(tile.n) / f64::from(tile.k);
        tiles * self.latency / f64::from(blocks.max(1))
    }
}

/// Returns the loads of fragments from shared memory over `tiles` k-tiles, merged as a compiler
/// merges them.
fn joined(d: &GemmDesc, tiles: u64) -> Result<SharedAccesses, NotAnAccess> {
    let (mut loads, base) = (SharedAccesses::default(), d.base());
    for operand in OperandKind::BOTH {
        let (facts, map) = (base.operand(operand), FragmentMap::new(base.tiles, operand));
        let (tile, bytes) = (facts.smem, facts.element.bytes_of(1));
        let neighbours = tile.along.is(Along::K)
            && tile.bits == 0
            && matches!(d.mainloop.unroll(), UnrollKind::Full);
        // Elements per load, along M or N and along K.
        let (of_mn, of_k) =
            if neighbours { (1, tile.vector(16 / bytes)) } else { (facts.fragment_access(), 1) };
        for warp in 0..base.tiles.threads() / WARP {
            for i in (0..facts.thread_mn()).step_by(of_mn as usize) {
                for k in (0..d.warp().k).step_by(of_k as usize) {
                    let address = |lane| {
                        Some(u64::from(tile.offset(map.mn(warp * WARP + lane, i), k) * bytes))
                    };
                    let access = WarpAccess::new(
                        Direction::Load,
                        of_mn * of_k * bytes,
                        (0..WARP).map(address),
                    )?;
                    let counted = wavefronts(&access);
                    loads.accesses += tiles;
                    loads.wavefronts += tiles * u64::from(counted.wavefronts);
                    loads.ideal += tiles * u64::from(counted.ideal);
                }
            }
        }
    }
    Ok(loads)
}

/// Bytes per sector.
const SECTOR_BYTES: f64 = crate::banks::SECTOR_BYTES as f64;

/// Instructions per iteration of a loop that is not unrolled: the counter, the comparison, the
/// branch, and one address per operand.
const LOOP: f64 = 5.0;

/// Returns the instructions of loops that are not unrolled. `products` counts warp-level
/// instructions.
fn looping(program: &Program, products: f64) -> f64 {
    match program {
        // The compiler unrolls a plain loop by four.
        Program::Textbook(Textbook::Naive) => products * LOOP / 4.0,
        Program::Gemm(d) if matches!(d.mainloop.unroll(), UnrollKind::By(_)) => {
            products / f64::from(d.base().tiles.accumulators()) * LOOP
                / f64::from(d.groups_a_turn())
        }
        Program::Gemm(_) | Program::Textbook(Textbook::SharedMemory) => 0.0,
    }
}
