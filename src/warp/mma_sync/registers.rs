//! An estimate of the registers per thread of an `mma.sync` kernel, before compilation.

use crate::{
    arch::WARP,
    numeric::{ElementKind, EmulationKind},
    shape::{Mnk, OperandKind, at_least_one},
    threadblock::{MmaBase, StagedOperand, mma::operand::CopyCost},
    warp::MmaSyncKnobs,
};

impl MmaSyncKnobs {
    /// Returns the emulation of f32 that the instruction performs.
    pub(crate) const fn emulation(base: &MmaBase) -> EmulationKind {
        match base.instruction() {
            Some(instruction) => instruction.math().emulation(),
            None => EmulationKind::None,
        }
    }

    /// Registers for addresses, counters, limits, and copies. `ALONG_MN` is the number of
    /// additional registers for the addresses of each MN-major operand, whose rows have different
    /// k. The constants fit the kernels of `tests/nvrtc/kernels/mma_sync.rs`.
    const OVERHEAD: u32 = 28;
    const ALONG_MN: u32 = 10;
    /// Additional registers per k-block for MN-major bytes, which are loaded one by one, and for
    /// the addresses of their copies through registers.
    const BYTES_ALONG_MN: u32 = 20;
    const BYTES_THROUGH_REGISTERS: u32 = 40;
    /// Additional registers if warps that share K add their sums. The reduction of split-K partials
    /// uses the registers that remain, because a problem selects the number of slices last.
    const SLICES: u32 = 18;
    /// Additional registers if the last copy of an operand of f64 is idle for some threads: its
    /// condition and its address.
    const IDLE: u32 = 10;

    /// Words of B's next fragment that load while the words of its last columns wait, in the order
    /// of the assembler.
    const AHEAD: u32 = 12;

    /// Returns the registers that a thread needs without spills: accumulators, fragments, and the
    /// copies on their way to shared memory.
    pub(crate) const fn registers(base: &MmaBase) -> u32 {
        let [a, b] = &base.operands;
        let (cost, per_register) = Self::copy_cost(base);
        let copies = a.copy_shares(&cost).saturating_add(b.copy_shares(&cost));
        let wide = a.element.bits() == 64;
        let idle = wide && (a.thread_map().idles() || b.thread_map().idles());
        Self::registers_beside_copies(base)
            .saturating_add(copies.div_ceil(per_register))
            .saturating_add(if idle { Self::IDLE } else { 0 })
            .saturating_add(if base.tiles.warps().k > 1 { Self::SLICES } else { 0 })
            .saturating_add(base.index_registers())
    }

    /// Returns the registers for accumulators, two fragments of A, and one or two of B. It adds the
    /// words that load ahead, and [`OVERHEAD`](Self::OVERHEAD). The number does not depend on the
    /// threadblock tile.
    pub(super) const fn registers_beside_copies(base: &MmaBase) -> u32 {
        let [a, b] = &base.operands;
        let accumulators = base.accumulator.bytes_of(base.tiles.accumulators()).div_ceil(4);
        let words = [Self::words(base, OperandKind::A), Self::words(base, OperandKind::B)];
        let (two, promotes) = (base.mma.fragments_of_b(base) > 1, Self::promotes(base));
        // Nothing loads ahead while the sums of a tile have their own registers.
        let ahead = if two {
            words[1]
        } else if promotes {
            0
        } else if words[1] < Self::AHEAD {
            words[1]
        } else {
            Self::AHEAD
        };
        let sums = if promotes { accumulators } else { 0 };
        let fragments = words[0]
            .saturating_mul(2)
            .saturating_add(words[1])
            .saturating_add(ahead)
            .saturating_add(Self::term_registers(base, words[0]));
        let loads = Self::loads(a, words[0], base.k_blocks()).saturating_add(Self::loads(
            b,
            words[1],
            base.k_blocks(),
        ));
        let through = !base.mainloop.copies_asynchronously();
        let bytes = a.element.bits() == 8 && (!a.k_contiguous || !b.k_contiguous);
        accumulators
            .saturating_add(sums)
            .saturating_add(fragments)
            .saturating_add(loads)
            .saturating_add(if bytes && through { Self::BYTES_THROUGH_REGISTERS } else { 0 })
            .saturating_add(base.registers_of_units())
            .saturating_add(Self::OVERHEAD)
    }

    /// Returns whether the sums of a tile have their own registers.
    const fn promotes(base: &MmaBase) -> bool {
        Self::emulation(base).promotes_in_registers()
    }

    /// Returns the registers for an operand's copies, in shares of a register, and the shares per
    /// register. Addresses of copies are dead when a second fragment loads, except for copies of
    /// f64. If the sums of a tile are counted, the addresses fit in their registers. The caller
    /// adds [`IDLE`](Self::IDLE) once for both operands.
    const fn copy_cost(base: &MmaBase) -> (CopyCost, u32) {
        let (through, wide) =
            (!base.mainloop.copies_asynchronously(), base.operands[0].element.bits() == 64);
        let per_register = match (through, wide) {
            (true, _) => 2,
            (false, false) => 4,
            (false, true) => 8,
        };
        let dead = (base.mma.fragments_of_b(base) > 1 && !wide) || Self::promotes(base);
        let cost = CopyCost {
            word: if through { per_register } else { 0 },
            row: 0,
            access: if dead { 0 } else { 1 },
            idle: 0,
        };
        (cost, per_register)
    }

    /// Returns the access of an operand whose copies need the fewest registers.
    pub(super) const fn leanest_access(base: &MmaBase, operand: OperandKind) -> u32 {
        let staged = base.operand(operand);
        let (cost, per_register) = Self::copy_cost(base);
        let idle = if staged.element.bits() == 64 { per_register * Self::IDLE } else { 0 };
        staged.leanest_access(&base.mainloop, &CopyCost { idle, ..cost })
    }

    /// Returns the registers that accumulators and addresses need in any kernel with a warp tile.
    pub(crate) const fn least_registers(accumulator: ElementKind, warp: Mnk) -> u32 {
        let sums = accumulator.bytes_of(warp.m.saturating_mul(warp.n)) / (4 * WARP);
        sums.saturating_add(Self::OVERHEAD)
    }

    /// Returns the additional registers for what transforms compute: of A's fragment, which is live
    /// for a k-block, and of one column of B's.
    const fn term_registers(base: &MmaBase, words: u32) -> u32 {
        match base.instruction() {
            Some(instruction) if instruction.math().transforms() => {
                let taken = Self::emulation(base).terms() * instruction.taken_words(OperandKind::A);
                let fragments = words / at_least_one(instruction.words(OperandKind::A));
                fragments
                    .saturating_mul(taken)
                    .saturating_add(2 * instruction.words(OperandKind::B))
            }
            _ => 0,
        }
    }

    /// Returns the registers of an operand's fragment.
    const fn words(base: &MmaBase, operand: OperandKind) -> u32 {
        base.operand(operand).element.bytes_of(base.fragment_elements(operand)).div_ceil(4)
    }

    /// Returns the additional registers for an operand's loads: bytes that are not yet packed into
    /// words, and addresses.
    const fn loads(operand: &StagedOperand, words: u32, k_blocks: u32) -> u32 {
        match (operand.k_contiguous, operand.element.bits()) {
            (true, _) => 0,
            (false, 8) => words
                .saturating_mul(4)
                .saturating_add(k_blocks.saturating_mul(Self::BYTES_ALONG_MN)),
            // Addresses of f64 are recomputed for each tile.
            (false, 64) => 0,
            (false, _) => Self::ALONG_MN,
        }
    }
}
