//! What counts say about speed, before anything runs.
//!
//! Four things take time on a multiprocessor side by side: products, instructions of all kinds, wavefronts of its load-store
//! unit, bytes from the L2 cache. The longest is a bound. What does not run side by side is added: a main loop with one stage waits
//! for each tile, and only the other blocks of the multiprocessor have something to do meanwhile.
//!
//! ```text
//! cycles = max(multiply-adds / 128, instructions / 4, wavefronts, bytes / 64) + tiles * latency / (blocks side by side)
//! ```
//!
//! It is a prediction of the order of rungs. Nothing in it is fitted to what was measured.

use super::{Program, Textbook};
use crate::{
    device::host::Counters,
    threadblock::{MainloopKind, thread_map::WARP},
    warp::UnrollKind,
};

/// What a prediction needs to know of a machine.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Machine {
    /// Multiprocessors.
    pub multiprocessors: f64,
    /// Cycles a second.
    pub hertz: f64,
    /// Multiply-adds of `f32` a cycle and multiprocessor.
    pub multiply_adds: f64,
    /// Instructions of a warp a cycle and multiprocessor.
    pub instructions: f64,
    /// Bytes from the L2 cache a cycle and multiprocessor.
    pub l2_bytes: f64,
    /// Cycles until something from the L2 cache is there.
    pub latency: f64,
    /// Threads, registers and bytes of shared memory of a multiprocessor.
    pub holds: [u32; 3],
}

impl Machine {
    /// An H200. Source: NVIDIA H100 architecture white paper (132 multiprocessors, 128 lanes, 256 KB of registers, 228 KB of shared
    /// memory; four schedulers), and its clock under load, 1.7 GHz. The latency is that of an L2 hit, rounded.
    pub const H200: Self = Self {
        multiprocessors: 132.0,
        hertz: 1.7e9,
        multiply_adds: 128.0,
        instructions: 4.0,
        l2_bytes: 64.0,
        latency: 300.0,
        holds: [2048, 65_536, 233_472],
    };

    /// The rate that counts predict, in TFLOP/s.
    pub fn tflops(&self, program: &Program, counters: &Counters) -> f64 {
        let warp = f64::from(WARP);
        let products = counters.multiply_adds as f64;
        let global = [counters.a, counters.b];
        let requests: f64 = global.iter().map(|reads| reads.requests as f64).sum();
        let sectors: f64 = global.iter().map(|reads| reads.sectors as f64).sum();
        let accesses = (counters.loads.accesses + counters.stores.accesses) as f64;
        let wavefronts = (counters.loads.wavefronts + counters.stores.wavefronts) as f64;
        let instructions = products / warp + requests + accesses + overhead(program, products / warp);
        let bound = [
            products / self.multiply_adds,
            instructions / self.instructions,
            wavefronts + requests.max(sectors / SECTORS_A_WAVEFRONT),
            sectors * SECTOR_BYTES / self.l2_bytes,
        ];
        let cycles = bound.into_iter().fold(0.0, f64::max) + self.waiting(program, products);
        2.0 * products / (cycles / self.multiprocessors / self.hertz) / 1e12
    }

    /// Cycles of a multiprocessor, times multiprocessors, in which all of its blocks wait for a tile.
    fn waiting(&self, program: &Program, products: f64) -> f64 {
        let (tile, threads, registers, shared, waits) = match program {
            Program::Textbook(Textbook::Naive) => return 0.0,
            Program::Textbook(Textbook::SharedMemory) => (Textbook::TILE, Textbook::THREADS, 32, 2048, true),
            Program::Gemm(d) => {
                (d.threadblock, d.threads(), d.registers(), d.smem_bytes(), d.mainloop == MainloopKind::SingleStage)
            }
        };
        if !waits {
            return 0.0;
        }
        let [all_threads, all_registers, all_shared] = self.holds;
        let blocks = (all_threads / threads.max(1)).min(all_registers / (registers * threads).max(1)).min(all_shared / shared.max(1));
        let tiles = products / f64::from(tile.m) / f64::from(tile.n) / f64::from(tile.k);
        tiles * self.latency / f64::from(blocks.max(1))
    }
}

/// Sectors that the load-store unit takes in one pass.
const SECTORS_A_WAVEFRONT: f64 = 4.0;

/// Bytes of a sector.
const SECTOR_BYTES: f64 = crate::banks::SECTOR_BYTES as f64;

/// Instructions of a loop that is not unrolled: the counter, the comparison, the branch, and an address of each operand.
const LOOP: f64 = 5.0;

/// Instructions besides products and accesses; `products` are instructions of a warp.
fn overhead(program: &Program, products: f64) -> f64 {
    match program {
        Program::Textbook(Textbook::Naive) => products * LOOP / 4.0,
        Program::Gemm(d) if matches!(d.unroll, UnrollKind::By(_)) => {
            products / f64::from(d.accumulators()) * LOOP / f64::from(d.groups_a_turn())
        }
        Program::Gemm(d) => {
            // What does not fit in registers is stored and loaded once for each tile.
            let lacking = d.registers().saturating_sub(d.registers_available(Machine::H200.holds[1]));
            products / f64::from(d.accumulators() * d.warp.k) * 2.0 * f64::from(lacking)
        }
        Program::Textbook(_) => 0.0,
    }
}
