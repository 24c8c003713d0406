//! The components of an `mma.sync` description: its CTA, and the registers per thread.

use crate::{
    nest::{GemmDesc, Pins, SaturateKind, defaults::rows},
    numeric::EmulationKind,
    operand::OperandKind,
    refusal::{Refusal, hold},
    shape::at_least_one,
    smem::{Along, SmemTile},
    threadblock::{MainloopKind, MmaBase, StagedOperand, mma::kernel},
    warp::{
        InterleaveKind, ThreadTiles, TiledMma,
        mma_sync::{INTERLEAVE, LANES, MathOperator, WarpInstruction, WordLoad},
    },
};

impl GemmDesc {
    /// Returns the components of a CTA.
    pub(crate) const fn base_mma_sync(&self) -> MmaBase {
        let tiles = ThreadTiles {
            block: self.threadblock(),
            warp: self.warp(),
            lanes: LANES,
            interleave: INTERLEAVE,
        };
        MmaBase {
            tiles,
            operands: [
                self.operand_mma_sync(&tiles, OperandKind::A),
                self.operand_mma_sync(&tiles, OperandKind::B),
            ],
            accumulator: self.output.accumulator,
            mainloop: self.mainloop,
            stages: self.stages(),
            work: kernel::work_of(self.work.decomposition),
            store_access: if self.output.access < INTERLEAVE[1] {
                self.output.access
            } else {
                INTERLEAVE[1]
            },
            mma: match WarpInstruction::new(
                self.math_mma_sync(),
                [self.operands[0].stored, self.operands[1].stored],
                self.output.accumulator,
                self.instruction(),
            ) {
                Some(instruction) => TiledMma::MmaSync(tiles, instruction),
                // `check` refuses the instruction.
                None => TiledMma::Simt(tiles),
            },
        }
    }

    /// Returns the facts of one operand. It has the same order in shared memory as in global
    /// memory.
    const fn operand_mma_sync(&self, tiles: &ThreadTiles, operand: OperandKind) -> StagedOperand {
        let (access, mn, warp_mn, lanes) = match operand {
            OperandKind::A => (self.operands[0].access, tiles.block.m, tiles.warp.m, LANES.m),
            OperandKind::B => (self.operands[1].access, tiles.block.n, tiles.warp.n, LANES.n),
        };
        let (element, k_contiguous) = (self.operand(operand).stored, self.k_contiguous(operand));
        let (along, row) = if k_contiguous { (Along::K, tiles.block.k) } else { (Along::Mn, mn) };
        let layout = WordLoad::for_element(element, along).layout(element, along, row);
        let smem = SmemTile::new(layout, mn, tiles.block.k, element, None);
        let interleave = InterleaveKind::Elements(INTERLEAVE[operand.index()]);
        StagedOperand {
            element,
            k_contiguous,
            access,
            smem,
            threads: tiles.threads(),
            warp_mn,
            lanes,
            interleave,
        }
    }

    /// Returns the math operator of the instruction.
    const fn math_mma_sync(&self) -> MathOperator {
        match (self.emulation(), self.mma.saturate()) {
            (EmulationKind::None, SaturateKind::On) => MathOperator::MultiplyAddSaturate,
            (emulation, _) => MathOperator::for_emulation(emulation, self.frame),
        }
    }

    /// Returns the instruction of a warp.
    ///
    /// # Errors
    /// [`Refusal`] for a shape that the architecture does not have, with the shapes that it has.
    /// [`Refusal`] for types for which the architecture has no `mma.sync` kernel.
    pub(crate) const fn instruction_mma_sync(&self) -> Result<WarpInstruction, Refusal> {
        let inputs = [self.operands[0].stored, self.operands[1].stored];
        match hold!(WarpInstruction::for_machine(
            self.math_mma_sync(),
            inputs,
            self.output.accumulator,
            self.instruction(),
            self.arch.sm()
        )) {
            // Hopper has no own instruction for fp8 in `mma.sync`, and its arithmetic differs from
            // Ada's.
            Some(instruction) if !(self.operands[0].stored.is_fp8() && self.arch.sm() >= 90) => {
                Ok(instruction)
            }
            // If the architecture has no kernel for the types, the refusal says so.
            _ => match rows(self.op(), self.arch, self.types(), &Pins::NONE, 0) {
                Err(refusal) => Err(refusal),
                Ok(_) => Err(Refusal::other_mainloop(
                    self.mainloop.kind().name(),
                    self.op(),
                    self.arch,
                    MainloopKind::TmaRing.name(),
                )),
            },
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

    /// Words of B's next fragment that load while the words of its last columns wait, in the order
    /// of the assembler.
    const AHEAD: u32 = 12;

    /// Returns the registers that a thread needs without spills: accumulators, two fragments of A,
    /// and one or two of B. It adds the words that load ahead, the copies on their way to shared
    /// memory, and [`OVERHEAD`](Self::OVERHEAD).
    pub(crate) const fn registers_mma_sync(&self, base: &MmaBase) -> u32 {
        let [a, b] = &base.operands;
        let accumulators = base.accumulator.bytes_of(base.tiles.accumulators()).div_ceil(4);
        let words = [
            Self::words_mma_sync(base, OperandKind::A),
            Self::words_mma_sync(base, OperandKind::B),
        ];
        let (two, promotes) = (base.fragments_of_b() > 1, self.emulation().promotes_in_registers());
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
            .saturating_add(self.term_registers(base, words[0]));
        let through = !base.mainloop.copies_asynchronously();
        let staged = if through { a.staged_words().saturating_add(b.staged_words()) } else { 0 };
        // Addresses of copies are dead when a second fragment loads. If the sums of a tile are
        // counted, the addresses fit in their registers.
        let accesses = if two || promotes {
            0
        } else {
            a.thread_map().accesses().saturating_add(b.thread_map().accesses())
        };
        let loads = Self::loads_mma_sync(a, words[0], base.k_blocks())
            .saturating_add(Self::loads_mma_sync(b, words[1], base.k_blocks()));
        let bytes = a.element.bits() == 8 && (!a.k_contiguous || !b.k_contiguous);
        accumulators
            .saturating_add(sums)
            .saturating_add(fragments)
            .saturating_add(staged)
            .saturating_add(accesses.div_ceil(if through { 2 } else { 4 }))
            .saturating_add(loads)
            .saturating_add(if bytes && through { Self::BYTES_THROUGH_REGISTERS } else { 0 })
            .saturating_add(if base.tiles.warps().k > 1 { Self::SLICES } else { 0 })
            .saturating_add(base.registers_of_units())
            .saturating_add(Self::OVERHEAD)
    }

    /// Returns the additional registers for the terms of A's fragment, which are live for a
    /// k-block, and of one column of B's.
    const fn term_registers(&self, base: &MmaBase, words: u32) -> u32 {
        match base.instruction() {
            Some(instruction) if self.emulation().in_registers() => {
                let taken = self.emulation().terms() * instruction.taken_words(OperandKind::A);
                let fragments = words / at_least_one(instruction.words(OperandKind::A));
                fragments
                    .saturating_mul(taken)
                    .saturating_add(2 * instruction.words(OperandKind::B))
            }
            _ => 0,
        }
    }

    /// Returns the registers of an operand's fragment.
    const fn words_mma_sync(base: &MmaBase, operand: OperandKind) -> u32 {
        base.operand(operand).element.bytes_of(base.fragment_elements(operand)).div_ceil(4)
    }

    /// Returns the additional registers for an operand's loads: bytes that are not yet packed into
    /// words, and addresses.
    const fn loads_mma_sync(operand: &StagedOperand, words: u32, k_blocks: u32) -> u32 {
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
