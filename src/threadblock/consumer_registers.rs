//! The registers of a consumer: what it needs, and what it has.

use super::{WarpSpecialized, mma_warp_specialized::ConsumerMma};
use crate::{
    threadblock::{PARTS_AT_ONCE, RoleOptions},
    warp::mma_warpgroup::{FRAGMENT_REGISTERS, ROWS, STEPS, THREADS},
};

/// Registers of a consumer beside its accumulators: addresses, the ring's position, what the epilogue has in hand.
/// With so many, `tests/nvrtc/kernels/` finds no spills.
const OVERHEAD: u32 = 40;

/// Accumulators of a thread that move to a slot, and from there, in one access.
pub(crate) const TOGETHER: u32 = 4;

/// Registers that one instruction takes beside its accumulators, of those with which the kernel is launched: what a consumer takes
/// later does not count. Measured: of 3 consumers, which are launched with 128, NVRTC 13 wants 130 for an instruction of 104
/// accumulators, 138 for 112 and 146 for 120 (C7602).
const BESIDE_ACCUMULATORS: u32 = 26;

/// Loads of a thread of a consumer that are under way at a time where it adds parts of K.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct PartsUnderWay {
    /// Of so many parts.
    pub parts: u32,
    /// So many vectors of each.
    pub vectors: u32,
}

impl PartsUnderWay {
    /// Registers for them.
    const fn registers(parts: u32, vectors: u32) -> u32 {
        TOGETHER * vectors * (parts + 1) + 2 * parts
    }
}

impl WarpSpecialized {
    /// Accumulators of a thread, in registers.
    pub const fn accumulators(&self) -> u32 {
        match &self.mma {
            ConsumerMma::Warpgroup(mma) | ConsumerMma::Registers(mma, _) => {
                self.repeats.m * self.repeats.n * mma.instruction().registers()
            }
            ConsumerMma::Threads(tiles) => tiles.accumulators(),
        }
    }

    /// Accumulators of a thread, one by one: those of `f16` lie two in a register.
    pub(crate) const fn numbers(&self) -> u32 {
        match &self.mma {
            ConsumerMma::Warpgroup(mma) | ConsumerMma::Registers(mma, _) => {
                self.repeats.m * self.repeats.n * (ROWS * mma.instruction().n() / THREADS)
            }
            ConsumerMma::Threads(tiles) => tiles.accumulators(),
        }
    }

    /// With two sets of fragments where a consumer has the registers for them, else with one: then it loads while nothing is multiplied.
    pub(crate) const fn with_fitting_sets(self) -> Self {
        if !self.options.fragments || self.registers_needed() <= self.registers_available() {
            return self;
        }
        Self { options: RoleOptions { pending: 0, ..self.options }, ..self }
    }

    /// Registers that a thread of a consumer needs.
    pub const fn registers_needed(&self) -> u32 {
        self.accumulators() + self.partial_accumulators() + self.fragments() + OVERHEAD
    }

    /// What a thread loads of the parts of K at a time: as much as there are registers for beside those, for the loads, their sums and the addresses.
    pub(crate) const fn parts_under_way(&self) -> PartsUnderWay {
        let spare = self.registers_available().saturating_sub(self.registers_needed());
        let (mut parts, mut vectors) = (PARTS_AT_ONCE, 4);
        while vectors > 1 && PartsUnderWay::registers(parts, vectors) > spare {
            vectors /= 2;
        }
        while parts > 1 && PartsUnderWay::registers(parts, vectors) > spare {
            parts /= 2;
        }
        PartsUnderWay { parts, vectors }
    }

    /// Registers of a thread that hold partial accumulators, where stages are promoted: one instruction's.
    pub const fn partial_accumulators(&self) -> u32 {
        match (&self.mma, self.options.promoted_parts) {
            (ConsumerMma::Warpgroup(mma), Some(_)) => mma.instruction().registers(),
            _ => 0,
        }
    }

    /// Registers of a thread that hold fragments: where A comes from registers, those of a stage in each set; where threads multiply, those
    /// of one k and of the next.
    const fn fragments(&self) -> u32 {
        match &self.mma {
            ConsumerMma::Warpgroup(_) => 0,
            ConsumerMma::Registers(..) => self.options.fragment_sets() * self.repeats.m * STEPS * FRAGMENT_REGISTERS,
            ConsumerMma::Threads(tiles) => {
                let [m, n] = tiles.thread();
                2 * (m + n)
            }
        }
    }

    /// Registers of the launch that one instruction needs: without them a configuration is invalid, with spills or without. Threads need none.
    pub const fn instruction_registers(&self) -> u32 {
        match &self.mma {
            ConsumerMma::Warpgroup(mma) => mma.instruction().registers() + BESIDE_ACCUMULATORS,
            ConsumerMma::Registers(mma, _) => mma.instruction().registers() + FRAGMENT_REGISTERS + BESIDE_ACCUMULATORS,
            ConsumerMma::Threads(_) => 0,
        }
    }

    /// Registers that it has.
    pub const fn registers_available(&self) -> u32 {
        match self.options.registers {
            Some([_, consumer]) => consumer as u32,
            None => self.ring.launch_registers(),
        }
    }
}
