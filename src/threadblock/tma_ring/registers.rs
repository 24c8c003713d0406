//! Register budget of a consumer thread: registers needed and registers available.

use crate::{
    threadblock::{RoleOptions, SLICES_AT_ONCE, WarpSpecialized},
    warp::{
        TiledMma,
        wgmma::{FRAGMENT_REGISTERS, ROWS, STEPS, THREADS},
    },
};

/// Registers of a consumer thread other than accumulators: addresses, the ring position, and
/// temporaries of the epilogue. With this value, `tests/nvrtc/kernels/` finds no spills.
const OVERHEAD: u32 = 40;

/// Registers that hold a consumer's position among the groups: the number of groups entered, the
/// units behind them, and the lines of the current group. NVRTC 13 spilled one of these registers
/// next to two fragment sets.
const OF_GROUPS: u32 = 8;

/// Registers that hold the positions of C and D of a GEMM of an array. NVRTC 13 spilled one of
/// these registers next to two vectors of each split-K slice.
const OF_ARRAYS: u32 = 2;

/// Accumulators per access when a thread moves them to or from a slot of the workspace.
pub(crate) const TOGETHER: u32 = 4;

/// Launch registers that one `wgmma` instruction needs in addition to its accumulators. Registers
/// that a consumer gains later by `setmaxnreg` do not count. Measured with 3 consumers, which
/// launch with 128 registers: NVRTC 13 needs 130 registers for 104 accumulators, 138 for 112, and
/// 146 for 120 (C7602).
const BESIDE_ACCUMULATORS: u32 = 26;

/// Returns the registers needed to load `vectors` vectors of each of [`SLICES_AT_ONCE`] split-K
/// slices, including their sums and addresses. NVRTC 13 spilled with fewer registers, even if it
/// added one slice after another.
const fn registers_of_slices(vectors: u32) -> u32 {
    TOGETHER * vectors * (SLICES_AT_ONCE + 1) + 2 * SLICES_AT_ONCE
}

impl WarpSpecialized {
    /// Returns the number of registers per thread that hold accumulators.
    pub const fn accumulators(&self) -> u32 {
        match &self.mma {
            TiledMma::Wgmma(mma, _) => {
                self.repeats.m * self.repeats.n * mma.instruction().registers()
            }
            TiledMma::Simt(tiles) | TiledMma::MmaSync(tiles, _) => tiles.accumulators(),
        }
    }

    /// Returns the number of accumulators per thread. Two `f16` accumulators share a register.
    pub(crate) const fn numbers(&self) -> u32 {
        match &self.mma {
            TiledMma::Wgmma(mma, _) => {
                self.repeats.m * self.repeats.n * (ROWS * mma.instruction().n() / THREADS)
            }
            TiledMma::Simt(tiles) | TiledMma::MmaSync(tiles, _) => tiles.accumulators(),
        }
    }

    /// Returns the description with as many fragment sets as the registers allow. If two sets do
    /// not fit, the consumer has one set, and loads fragments only while nothing is multiplied.
    pub(crate) const fn with_fitting_sets(self) -> Self {
        if !self.options.fragments || self.registers_needed() <= self.registers_available() {
            return self;
        }
        Self { options: RoleOptions { pending: 0, ..self.options }, ..self }
    }

    /// Returns the number of registers that a consumer thread needs for its main loop, its
    /// epilogue, and the split-K reduction.
    pub const fn registers_needed(&self) -> u32 {
        // Split-K slices within a cluster are exchanged through distributed shared memory, a few
        // accumulators at a time. The registers that the main loop frees suffice.
        let added = self.options.split_k && self.ring.slices.is_none();
        self.registers_of_tiles() + if added { registers_of_slices(1) } else { 0 }
    }

    /// Returns the registers needed without split-K reduction.
    const fn registers_of_tiles(&self) -> u32 {
        let of_groups = if self.grouped { OF_GROUPS + self.options.fragments as u32 } else { 0 };
        let of_arrays = if self.array { OF_ARRAYS } else { 0 };
        self.accumulators()
            + self.partial_accumulators()
            + self.fragments()
            + OVERHEAD
            + of_groups
            + of_arrays
    }

    /// Returns the number of vectors of each of [`SLICES_AT_ONCE`] split-K slices that a thread
    /// loads at a time. The remaining registers bound the number; the maximum is four. Returns 0 if
    /// no registers remain.
    pub(crate) const fn vectors_ahead(&self) -> u32 {
        let spare = self.registers_available().saturating_sub(self.registers_of_tiles());
        let mut vectors = 4;
        while vectors > 0 && registers_of_slices(vectors) > spare {
            vectors /= 2;
        }
        vectors
    }

    /// Returns the number of registers per thread that hold partial accumulators: one instruction's
    /// if stages are promoted, otherwise 0.
    pub const fn partial_accumulators(&self) -> u32 {
        match (&self.mma, self.options.promoted_tiles) {
            (TiledMma::Wgmma(mma, None), Some(_)) => mma.instruction().registers(),
            _ => 0,
        }
    }

    /// Returns the number of registers per thread that hold operand fragments. If A comes from
    /// registers, each set holds the fragments of one stage. On CUDA cores, the registers hold the
    /// fragments of the current and the next k.
    const fn fragments(&self) -> u32 {
        match &self.mma {
            TiledMma::Wgmma(_, None) => 0,
            TiledMma::Wgmma(_, Some(_)) => {
                self.options.fragment_sets() * self.repeats.m * STEPS * FRAGMENT_REGISTERS
            }
            TiledMma::Simt(tiles) | TiledMma::MmaSync(tiles, _) => {
                let [m, n] = tiles.thread();
                2 * (m + n)
            }
        }
    }

    /// Returns the number of launch registers that one instruction needs. A configuration with
    /// fewer is invalid even if spills are allowed. CUDA-core consumers need none.
    pub const fn instruction_registers(&self) -> u32 {
        match &self.mma {
            TiledMma::Wgmma(mma, None) => mma.instruction().registers() + BESIDE_ACCUMULATORS,
            TiledMma::Wgmma(mma, Some(_)) => {
                mma.instruction().registers() + FRAGMENT_REGISTERS + BESIDE_ACCUMULATORS
            }
            TiledMma::Simt(_) | TiledMma::MmaSync(..) => 0,
        }
    }

    /// Returns the number of registers available to a consumer thread.
    pub const fn registers_available(&self) -> u32 {
        match self.options.registers {
            Some([_, consumer]) => consumer as u32,
            None => self.ring.launch_registers(),
        }
    }
}
