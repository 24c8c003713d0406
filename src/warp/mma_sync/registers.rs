//! An estimate of the registers per thread of an `mma.sync` kernel, before compilation.

use crate::{
    numeric::EmulationKind,
    shape::{OperandKind, at_least_one},
    threadblock::{MmaBase, StagedOperand},
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

    /// Returns the registers that a thread needs without spills: accumulators, two fragments of A,
    /// and one or two of B. It adds the words that load ahead, the copies on their way to shared
    /// memory, and [`OVERHEAD`](Self::OVERHEAD).
    pub(crate) const fn registers(base: &MmaBase) -> u32 {
        let [a, b] = &base.operands;
        let accumulators = base.accumulator.bytes_of(base.tiles.accumulators()).div_ceil(4);
        let words = [Self::words(base, OperandKind::A), Self::words(base, OperandKind::B)];
        let (two, promotes) =
            (base.fragments_of_b() > 1, Self::emulation(base).promotes_in_registers());
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
        let through = !base.mainloop.copies_asynchronously();
        let staged = if through { a.staged_words().saturating_add(b.staged_words()) } else { 0 };
        // Addresses of copies are dead when a second fragment loads, except for copies of f64. If
        // the sums of a tile are counted, the addresses fit in their registers.
        let wide = a.element.bits() == 64;
        let accesses = if (two && !wide) || promotes {
            0
        } else {
            a.thread_map().accesses().saturating_add(b.thread_map().accesses())
        };
        let accesses_per_register = match (through, wide) {
            (true, _) => 2,
            (false, false) => 4,
            (false, true) => 8,
        };
        let loads = Self::loads(a, words[0], base.k_blocks()).saturating_add(Self::loads(
            b,
            words[1],
            base.k_blocks(),
        ));
        let idle = wide && (a.thread_map().idles() || b.thread_map().idles());
        let bytes = a.element.bits() == 8 && (!a.k_contiguous || !b.k_contiguous);
        accumulators
            .saturating_add(sums)
            .saturating_add(fragments)
            .saturating_add(staged)
            .saturating_add(accesses.div_ceil(accesses_per_register))
            .saturating_add(if idle { Self::IDLE } else { 0 })
            .saturating_add(loads)
            .saturating_add(if bytes && through { Self::BYTES_THROUGH_REGISTERS } else { 0 })
            .saturating_add(if base.tiles.warps().k > 1 { Self::SLICES } else { 0 })
            .saturating_add(base.registers_of_units())
            .saturating_add(Self::OVERHEAD)
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
