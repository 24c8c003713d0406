//! The registers of a thread, estimated before anything is compiled.

use crate::{
    smem::Along,
    thread::mma::packed,
    threadblock::{MainloopKind, MmaBase, OperandDesc},
};

impl MmaBase {
    /// The registers a thread needs, so that none is spilled: accumulators, the fragments of both
    /// operands, what an operand's copies take, and [`OVERHEAD`](Self::OVERHEAD).
    pub const fn registers(&self) -> u32 {
        let [a, b] = &self.operands;
        let words = self.accumulator.bits().div_ceil(32);
        let accesses = a.thread_map().accesses().saturating_add(b.thread_map().accesses());
        let packed = packed(self.accumulator, self.tiles.thread());
        let fragments =
            (a.thread_mn().saturating_add(b.thread_mn()) / packed).saturating_mul(self.fragments());
        (self.tiles.accumulators() / packed)
            .saturating_add(fragments)
            .saturating_mul(words)
            .saturating_add(self.copy_registers(a))
            .saturating_add(self.copy_registers(b))
            .saturating_add(Self::swizzle_registers(a) + Self::swizzle_registers(b))
            .saturating_add(accesses.div_ceil(Self::ACCESSES_A_REGISTER))
            .saturating_add(self.registers_of_units())
            .saturating_add(Self::OVERHEAD)
    }

    /// Fragments of an operand at once: two; of bytes, the four whose products make one `dp4a`,
    /// while two more load; where both tiles are K-major, the four that one access loads.
    const fn fragments(&self) -> u32 {
        let [a, b] = &self.operands;
        if matches!(self.mainloop, MainloopKind::SingleStage) {
            2
        } else if a.element.bits() == 8 {
            6
        } else if a.smem.along.is(Along::K) && b.smem.along.is(Along::K) {
            4
        } else {
            2
        }
    }

    /// Registers in which an operand's part of the next tile waits, one for the address of each row
    /// it comes from, and two that say whether the thread has a share of the last row.
    const fn copy_registers(&self, operand: &OperandDesc) -> u32 {
        let map = operand.thread_map();
        let staged = operand.staged_words().saturating_add(map.steps_strided());
        (if self.mainloop.copies_asynchronously() { 0 } else { staged })
            .saturating_add(if map.idles() { 2 } else { 0 })
    }

    /// Registers for the addresses of a swizzled tile: they do not fold into the accesses, as those
    /// of a linear one do.
    pub const SWIZZLE_REGISTERS: u32 = 24;

    /// Where a swizzle takes a fragment apart, each of its elements has an address of its own: as
    /// many registers again.
    const fn swizzle_registers(operand: &OperandDesc) -> u32 {
        match (operand.smem.bits, operand.fragment_access()) {
            (0, _) => 0,
            (_, 1) => 2 * Self::SWIZZLE_REGISTERS,
            _ => Self::SWIZZLE_REGISTERS,
        }
    }

    /// Registers for addresses, counters and limits. Measured, with
    /// [`ACCESSES_A_REGISTER`](Self::ACCESSES_A_REGISTER) and
    /// [`SWIZZLE_REGISTERS`](Self::SWIZZLE_REGISTERS), on random descriptions that just fit: the
    /// test `descriptions_that_just_fit_compile_clean` finds spills where they are less, and
    /// 128x128x16 of `f32`, twice on a multiprocessor, leaves no room for more.
    pub const OVERHEAD: u32 = 28;

    /// Accesses to global memory for each register that their addresses and predicates take.
    pub const ACCESSES_A_REGISTER: u32 = 4;
}
