//! Register budget of a consumer thread: registers needed and registers available.

use crate::{
    epilogue::partials::{SlotMap, TOGETHER},
    threadblock::{RoleOptions, SLICES_AT_ONCE, WarpSpecialized, tma_ring::ConsumerRegisters},
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

/// Returns the registers needed to load `vectors` vectors of each of [`SLICES_AT_ONCE`] split-K
/// slices, including their sums of `words` registers and their addresses. NVRTC 13 spilled with
/// fewer registers, even if it added one slice after another.
const fn registers_of_slices(vectors: u32, words: u32) -> u32 {
    TOGETHER * vectors * words * (SLICES_AT_ONCE + 1) + 2 * SLICES_AT_ONCE
}

impl WarpSpecialized {
    /// Returns the registers that the MMA needs.
    pub(crate) const fn consumer_registers(&self) -> ConsumerRegisters {
        self.mma.consumer_registers(self.repeats, &self.options)
    }

    /// Returns the number of registers per thread that hold accumulators.
    pub const fn accumulators(&self) -> u32 {
        self.consumer_registers().accumulators
    }

    /// Returns the registers of a sum of split-K slices.
    const fn words_of_sum(&self) -> u32 {
        self.consumer_registers().sum
    }

    /// Returns the number of accumulators per thread. Two `f16` accumulators share a register.
    pub(crate) const fn numbers(&self) -> u32 {
        self.mma.consumer_accumulators(self.repeats)
    }

    /// Returns the map of a consumer's partial accumulators to its part of a slot.
    pub const fn slot_map(&self) -> SlotMap {
        SlotMap::new(self.numbers())
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
        let of_slices = if added { registers_of_slices(1, self.words_of_sum()) } else { 0 };
        self.registers_of_tiles() + of_slices + self.widened_halves()
    }

    /// Returns the further registers of f16 accumulators that are widened to f32 before a split-K
    /// slice is stored. NVRTC 13 widens all of them before the first store. Two widened numbers
    /// take two registers, and the packed pair had one.
    const fn widened_halves(&self) -> u32 {
        let packed = self.numbers() > self.accumulators();
        if packed && self.options.split_k { self.numbers() / 2 } else { 0 }
    }

    /// Returns the registers needed without split-K reduction.
    const fn registers_of_tiles(&self) -> u32 {
        let of_groups = if self.grouped { OF_GROUPS + self.options.fragments as u32 } else { 0 };
        let of_arrays = if self.array { OF_ARRAYS } else { 0 };
        let ConsumerRegisters { accumulators, partial_accumulators, fragments, .. } =
            self.consumer_registers();
        accumulators + partial_accumulators + fragments + OVERHEAD + of_groups + of_arrays
    }

    /// Returns the number of vectors of each of [`SLICES_AT_ONCE`] split-K slices that a thread
    /// loads at a time. The remaining registers bound the number; the maximum is four. Returns 0 if
    /// no registers remain.
    pub(crate) const fn vectors_ahead(&self) -> u32 {
        let spare = self.registers_available().saturating_sub(self.registers_of_tiles());
        let mut vectors = 4;
        while vectors > 0 && registers_of_slices(vectors, self.words_of_sum()) > spare {
            vectors /= 2;
        }
        vectors
    }

    /// Returns the number of registers per thread that hold partial accumulators: one instruction's
    /// if stages are promoted, otherwise 0.
    pub const fn partial_accumulators(&self) -> u32 {
        self.consumer_registers().partial_accumulators
    }

    /// Returns the number of launch registers that one instruction needs. A configuration with
    /// fewer is invalid even if spills are allowed. Only `wgmma` needs any.
    pub const fn instruction_registers(&self) -> u32 {
        self.consumer_registers().instruction
    }

    /// Returns the number of registers available to a consumer thread.
    pub const fn registers_available(&self) -> u32 {
        match self.options.registers {
            Some([_, consumer]) => consumer as u32,
            None => self.ring.launch_registers(),
        }
    }
}
