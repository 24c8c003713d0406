//! An estimate of the registers per thread of a SIMT kernel without a producer, before compilation.

use crate::{
    numeric::ElementKind,
    shape::Mnk,
    thread::mma::packed,
    threadblock::{Mainloop, MmaBase, StagedOperand, mma::operand::CopyCost, smem::Along},
    warp::{LaneArrangement, SimtKnobs, ThreadTiles},
};

impl SimtKnobs {
    /// Returns the registers that a thread needs without spills: accumulators, fragments of both
    /// operands, copies, and [`OVERHEAD`](Self::OVERHEAD).
    pub(crate) const fn registers(base: &MmaBase) -> u32 {
        let [a, b] = &base.operands;
        let cost = Self::copy_cost(&base.mainloop);
        let copies = a.copy_shares(&cost).saturating_add(b.copy_shares(&cost));
        Self::registers_beside_copies(base.accumulator, &base.tiles, Self::fragments(base))
            .saturating_add(Self::swizzle_registers(a) + Self::swizzle_registers(b))
            .saturating_add(copies.div_ceil(Self::ACCESSES_A_REGISTER))
            .saturating_add(base.registers_of_units())
            .saturating_add(base.index_registers())
            .saturating_add(a.index_address_registers())
            .saturating_add(b.index_address_registers())
    }

    /// Returns the registers for accumulators, `fragments` fragments of both operands, and
    /// [`OVERHEAD`](Self::OVERHEAD).
    const fn registers_beside_copies(
        accumulator: ElementKind,
        tiles: &ThreadTiles,
        fragments: u32,
    ) -> u32 {
        let ([m, n], words) = (tiles.thread(), accumulator.bits().div_ceil(32));
        let packed = packed(accumulator, [m, n]);
        let fragments = (m.saturating_add(n) / packed).saturating_mul(fragments);
        (tiles.accumulators() / packed)
            .saturating_add(fragments)
            .saturating_mul(words)
            .saturating_add(Self::OVERHEAD)
    }

    /// Returns the registers that accumulators, fragments, and addresses need in any kernel with a
    /// warp tile.
    pub(crate) const fn least_registers(accumulator: ElementKind, warp: Mnk) -> u32 {
        let lanes = LaneArrangement::best(warp.m, warp.n, accumulator);
        let tiles = ThreadTiles { block: warp, warp, lanes, interleave: [1, 1] };
        Self::registers_beside_copies(accumulator, &tiles, Self::LEAST_FRAGMENTS)
    }

    /// Returns the fragments of an operand that are live at once.
    ///
    /// Two in general. For bytes, four feed one `dp4a` while two more load. If both tiles are
    /// K-major, one access loads four.
    const fn fragments(base: &MmaBase) -> u32 {
        let [a, b] = &base.operands;
        if !base.mainloop.loads_ahead() {
            Self::LEAST_FRAGMENTS
        } else if a.element.bits() == 8 {
            6
        } else if a.smem.along.is(Along::K) && b.smem.along.is(Along::K) {
            4
        } else {
            Self::LEAST_FRAGMENTS
        }
    }

    /// Returns the registers for an operand's copies, in shares of a register. They hold the next
    /// tile's share, one address per row, and two predicates if the last row is incomplete.
    pub(super) const fn copy_cost(mainloop: &Mainloop) -> CopyCost {
        let register = Self::ACCESSES_A_REGISTER;
        let through = if mainloop.copies_asynchronously() { 0 } else { register };
        CopyCost { word: through, row: through, access: 1, idle: 2 * register }
    }

    /// Fragments of an operand that are live at once in any kernel.
    const LEAST_FRAGMENTS: u32 = 2;

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
