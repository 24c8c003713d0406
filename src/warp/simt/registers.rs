//! An estimate of the registers per thread of a SIMT kernel without a producer, before compilation.

use crate::{
    thread::mma::packed,
    threadblock::{MmaBase, StagedOperand, ThreadMap, smem::Along},
    warp::SimtKnobs,
};

impl SimtKnobs {
    /// Returns the registers that a thread needs without spills: accumulators, fragments of both
    /// operands, copies, and [`OVERHEAD`](Self::OVERHEAD).
    pub(crate) const fn registers(base: &MmaBase) -> u32 {
        let [a, b] = &base.operands;
        let words = base.accumulator.bits().div_ceil(32);
        let maps = [a.thread_map(), b.thread_map()];
        let accesses = maps[0].accesses().saturating_add(maps[1].accesses());
        let packed = packed(base.accumulator, base.tiles.thread());
        let fragments = (a.thread_mn().saturating_add(b.thread_mn()) / packed)
            .saturating_mul(Self::fragments(base));
        (base.tiles.accumulators() / packed)
            .saturating_add(fragments)
            .saturating_mul(words)
            .saturating_add(Self::copy_registers(base, a, &maps[0]))
            .saturating_add(Self::copy_registers(base, b, &maps[1]))
            .saturating_add(Self::swizzle_registers(a) + Self::swizzle_registers(b))
            .saturating_add(accesses.div_ceil(Self::ACCESSES_A_REGISTER))
            .saturating_add(base.registers_of_units())
            .saturating_add(Self::OVERHEAD)
    }

    /// Returns the fragments of an operand that are live at once.
    ///
    /// Two in general. For bytes, four feed one `dp4a` while two more load. If both tiles are
    /// K-major, one access loads four.
    const fn fragments(base: &MmaBase) -> u32 {
        let [a, b] = &base.operands;
        if !base.mainloop.loads_ahead() {
            2
        } else if a.element.bits() == 8 {
            6
        } else if a.smem.along.is(Along::K) && b.smem.along.is(Along::K) {
            4
        } else {
            2
        }
    }

    /// Returns the registers for an operand's copies. They hold the next tile's share, one address
    /// per row, and two predicates if the last row is incomplete.
    const fn copy_registers(base: &MmaBase, operand: &StagedOperand, map: &ThreadMap) -> u32 {
        let staged = if base.mainloop.copies_asynchronously() {
            0
        } else {
            operand.staged_words().saturating_add(map.steps_strided())
        };
        staged.saturating_add(if map.idles() { 2 } else { 0 })
    }

    /// Registers for the addresses of a swizzled tile. Unlike those of a linear tile, they do not
    /// fold into the accesses.
    const SWIZZLE_REGISTERS: u32 = 24;

    /// Returns the registers for swizzled addresses. If a swizzle separates the elements of a
    /// fragment, each has its own address, which doubles the number.
    const fn swizzle_registers(operand: &StagedOperand) -> u32 {
        match (operand.smem.bits, operand.fragment_access()) {
            (0, _) => 0,
            (_, 1) => 2 * Self::SWIZZLE_REGISTERS,
            _ => Self::SWIZZLE_REGISTERS,
        }
    }

    /// Registers for addresses, counters, and limits.
    ///
    /// This constant, [`ACCESSES_A_REGISTER`](Self::ACCESSES_A_REGISTER), and
    /// [`SWIZZLE_REGISTERS`](Self::SWIZZLE_REGISTERS) were measured on random descriptions that
    /// just fit. With smaller values, the test `descriptions_that_just_fit_compile_clean` finds
    /// spills. Two CTAs of 128x128x16 of `f32` per multiprocessor leave no space for larger ones.
    const OVERHEAD: u32 = 28;

    /// Accesses to global memory per register for their addresses and predicates.
    const ACCESSES_A_REGISTER: u32 = 4;
}
