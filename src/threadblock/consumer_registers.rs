//! The registers of a consumer: what it needs, and what it has.

use super::{WarpSpecialized, mma_warp_specialized::ConsumerMma};
use crate::{
    threadblock::{PARTS_AT_ONCE, RoleOptions},
    warp::mma_warpgroup::{FRAGMENT_REGISTERS, ROWS, STEPS, THREADS},
};

/// Registers of a consumer beside its accumulators: addresses, the ring's position, what the
/// epilogue has in hand. With so many, `tests/nvrtc/kernels/` finds no spills.
const OVERHEAD: u32 = 40;

/// Registers in which a consumer keeps where it is among groups: how many it has entered, the units
/// behind them, and their lines. Beside two sets of fragments NVRTC 13 spilled one.
const OF_GROUPS: u32 = 8;

/// Accumulators of a thread that move to a slot, and from there, in one access.
pub(crate) const TOGETHER: u32 = 4;

/// Registers that one instruction takes beside its accumulators, of those with which the kernel is
/// launched: what a consumer takes later does not count. Measured: of 3 consumers, which are
/// launched with 128, NVRTC 13 wants 130 for an instruction of 104 accumulators, 138 for 112 and
/// 146 for 120 (C7602).
const BESIDE_ACCUMULATORS: u32 = 26;

/// Registers for loads of so many vectors of each of [`PARTS_AT_ONCE`] parts, their sums, and the
/// addresses. With fewer, adding one part after the other, NVRTC 13 spilled.
const fn registers_of_parts(vectors: u32) -> u32 {
    TOGETHER * vectors * (PARTS_AT_ONCE + 1) + 2 * PARTS_AT_ONCE
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

    /// With two sets of fragments where a consumer has the registers for them, else with one: then
    /// it loads while nothing is multiplied.
    pub(crate) const fn with_fitting_sets(self) -> Self {
        if !self.options.fragments || self.registers_needed() <= self.registers_available() {
            return self;
        }
        Self { options: RoleOptions { pending: 0, ..self.options }, ..self }
    }

    /// Registers that a thread of a consumer needs: for its main loop and its epilogue, and to add
    /// parts of K.
    pub const fn registers_needed(&self) -> u32 {
        // Parts of a cluster are near: a few are added at a time, and what is left of the main
        // loop's registers is enough.
        let added = self.options.split_k && self.ring.parts.is_none();
        self.registers_of_tiles() + if added { registers_of_parts(1) } else { 0 }
    }

    /// Those of whole tiles.
    const fn registers_of_tiles(&self) -> u32 {
        let of_groups = if self.grouped { OF_GROUPS + self.options.fragments as u32 } else { 0 };
        self.accumulators() + self.partial_accumulators() + self.fragments() + OVERHEAD + of_groups
    }

    /// Vectors of each of [`PARTS_AT_ONCE`] parts of K that a thread loads at a time: as many as
    /// there are registers for beside those, up to four; none where K cannot be cut.
    pub(crate) const fn vectors_ahead(&self) -> u32 {
        let spare = self.registers_available().saturating_sub(self.registers_of_tiles());
        let mut vectors = 4;
        while vectors > 0 && registers_of_parts(vectors) > spare {
            vectors /= 2;
        }
        vectors
    }

    /// Registers of a thread that hold partial accumulators, where stages are promoted: one
    /// instruction's.
    pub const fn partial_accumulators(&self) -> u32 {
        match (&self.mma, self.options.promoted_parts) {
            (ConsumerMma::Warpgroup(mma), Some(_)) => mma.instruction().registers(),
            _ => 0,
        }
    }

    /// Registers of a thread that hold fragments: where A comes from registers, those of a stage in
    /// each set; where threads multiply, those of one k and of the next.
    const fn fragments(&self) -> u32 {
        match &self.mma {
            ConsumerMma::Warpgroup(_) => 0,
            ConsumerMma::Registers(..) => {
                self.options.fragment_sets() * self.repeats.m * STEPS * FRAGMENT_REGISTERS
            }
            ConsumerMma::Threads(tiles) => {
                let [m, n] = tiles.thread();
                2 * (m + n)
            }
        }
    }

    /// Registers of the launch that one instruction needs: without them a configuration is invalid,
    /// with spills or without. Threads need none.
    pub const fn instruction_registers(&self) -> u32 {
        match &self.mma {
            ConsumerMma::Warpgroup(mma) => mma.instruction().registers() + BESIDE_ACCUMULATORS,
            ConsumerMma::Registers(mma, _) => {
                mma.instruction().registers() + FRAGMENT_REGISTERS + BESIDE_ACCUMULATORS
            }
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
