//! What follows from a description of this family: the components of its block, and the registers
//! that its threads have.

use crate::{
    desc::{MmaSyncDesc, Pins, SaturateKind},
    family::{default_gemm_configuration::rows, one_schedule},
    numeric::EmulationKind,
    operand::OperandKind,
    refusal::{Refusal, Word, hold},
    shape::at_least_one,
    smem::{Along, SmemTile},
    threadblock::{MainloopKind, MmaBase, OperandDesc},
    warp::{
        InterleaveKind,
        mma_simt::ThreadTiles,
        mma_tensor_op::{INTERLEAVE, LANES, MathOperator, WarpInstruction, WordLoad},
    },
};

impl MmaSyncDesc {
    /// The components of a block.
    pub const fn base(&self) -> MmaBase {
        let (class, knobs) = (&self.class, &self.knobs);
        let tiles = ThreadTiles {
            block: knobs.threadblock,
            warp: knobs.warp,
            lanes: LANES,
            interleave: INTERLEAVE,
        };
        MmaBase {
            tiles,
            operands: [self.operand(&tiles, OperandKind::A), self.operand(&tiles, OperandKind::B)],
            accumulator: class.accumulator,
            mainloop: knobs.mainloop,
            stages: knobs.stages,
            work: one_schedule::work_of(knobs.decomposition),
            store_access: if knobs.align_c < INTERLEAVE[1] { knobs.align_c } else { INTERLEAVE[1] },
            instruction: WarpInstruction::of(
                self.math(),
                [class.a.element, class.b.element],
                class.accumulator,
                knobs.instruction,
            ),
        }
    }

    /// One operand: along K in shared memory where it is so in global memory.
    const fn operand(&self, tiles: &ThreadTiles, operand: OperandKind) -> OperandDesc {
        let (access, mn, warp_mn, lanes) = match operand {
            OperandKind::A => (self.knobs.align_a, tiles.block.m, tiles.warp.m, LANES.m),
            OperandKind::B => (self.knobs.align_b, tiles.block.n, tiles.warp.n, LANES.n),
        };
        let (element, k_contiguous) =
            (self.class.operand(operand).element, self.class.k_contiguous(operand));
        let (along, row) = if k_contiguous { (Along::K, tiles.block.k) } else { (Along::Mn, mn) };
        let layout = WordLoad::of(element, along).layout(element, along, row);
        let smem = SmemTile::of(layout, mn, tiles.block.k, element, None);
        let interleave = InterleaveKind::Elements(INTERLEAVE[operand.index()]);
        OperandDesc {
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

    /// What an instruction makes of products.
    const fn math(&self) -> MathOperator {
        match (self.knobs.emulation, self.knobs.saturate) {
            (EmulationKind::None, SaturateKind::On) => MathOperator::MultiplyAddSaturate,
            (emulation, _) => MathOperator::of(emulation, self.frame),
        }
    }

    /// What a warp multiplies by.
    ///
    /// # Errors
    /// [`Refusal::NotOneOf`] of a shape that the architecture does not have, with those that it
    /// has; [`Refusal::OtherMainloop`] of types for which it has none.
    pub(super) const fn instruction(&self) -> Result<WarpInstruction, Refusal> {
        let (class, knobs) = (&self.class, &self.knobs);
        let inputs = [class.a.element, class.b.element];
        match hold!(WarpInstruction::of_machine(
            self.math(),
            inputs,
            class.accumulator,
            knobs.instruction,
            class.arch.sm()
        )) {
            // Hopper has no instruction of its own for them: the numbers of Ada's are not those of
            // its arithmetic.
            Some(instruction) if !(class.a.element.is_fp8() && class.arch.sm() >= 90) => {
                Ok(instruction)
            }
            // What the architecture has no kernel of is told so.
            _ => match rows(class.op, class.arch, class.combined(), &Pins::NONE, 0) {
                Err(refusal) => Err(refusal),
                Ok(_) => Err(Refusal::OtherMainloop {
                    mainloop: Word(knobs.mainloop.name()),
                    op: class.op,
                    arch: class.arch,
                    nearest: Word(MainloopKind::WarpSpecialized.name()),
                }),
            },
        }
    }

    /// Registers for addresses, counters, limits and what a copy takes, and beside for the
    /// addresses of each operand along MN, whose rows are those of many k's: those of the kernels
    /// of `tests/nvrtc/kernels/mma_sync.rs`.
    const OVERHEAD: u32 = 28;
    const ALONG_MN: u32 = 10;
    /// The same of bytes, which are loaded one by one, for each k-block; and for the addresses of
    /// copies through registers beside.
    const BYTES_ALONG_MN: u32 = 20;
    const BYTES_THROUGH_REGISTERS: u32 = 40;
    /// Where slices of K are added. Parts of it have as many as there are: a problem chooses them
    /// after the rest.
    const SLICES: u32 = 18;

    /// Words of B's next fragment that come while those of its last columns wait, as the assembler
    /// orders them.
    const AHEAD: u32 = 12;

    /// The registers a thread needs, so that none is spilled: accumulators, two fragments of A, one
    /// of B and what comes ahead of it, or two, what waits on its way to shared memory, and
    /// [`OVERHEAD`](Self::OVERHEAD).
    pub(super) const fn registers(&self, base: &MmaBase) -> u32 {
        let [a, b] = &base.operands;
        let accumulators = base.accumulator.bytes_of(base.tiles.accumulators()).div_ceil(4);
        let words = [Self::words(base, OperandKind::A), Self::words(base, OperandKind::B)];
        let (two, promotes) =
            (base.fragments_of_b() > 1, self.knobs.emulation.promotes_in_registers());
        // Nothing comes ahead while the sums of a tile have registers of their own.
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
            .saturating_add(self.parts(base, words[0]));
        let through = !base.mainloop.copies_asynchronously();
        let staged = if through { a.staged_words().saturating_add(b.staged_words()) } else { 0 };
        // Addresses of copies are gone when a second fragment comes, and have room where sums of a
        // tile are counted beside.
        let accesses = if two || promotes {
            0
        } else {
            a.thread_map().accesses().saturating_add(b.thread_map().accesses())
        };
        let loads = Self::loads(a, words[0], base.k_blocks()).saturating_add(Self::loads(
            b,
            words[1],
            base.k_blocks(),
        ));
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

    /// Registers beside for the parts of A's fragment, which a k-block has to its end, and of one
    /// column of B's.
    const fn parts(&self, base: &MmaBase, words: u32) -> u32 {
        match base.instruction {
            Some(instruction) if self.knobs.emulation.in_registers() => {
                let taken = self.knobs.emulation.parts() * instruction.taken_words(OperandKind::A);
                let fragments = words / at_least_one(instruction.words(OperandKind::A));
                fragments
                    .saturating_mul(taken)
                    .saturating_add(2 * instruction.words(OperandKind::B))
            }
            _ => 0,
        }
    }

    /// Registers of an operand's fragment.
    const fn words(base: &MmaBase, operand: OperandKind) -> u32 {
        base.operand(operand).element.bytes_of(base.fragment_elements(operand)).div_ceil(4)
    }

    /// Registers beside that its loads take: bytes that are not words yet, and addresses.
    const fn loads(operand: &OperandDesc, words: u32, k_blocks: u32) -> u32 {
        match (operand.k_contiguous, operand.element.bits()) {
            (true, _) => 0,
            (false, 8) => words
                .saturating_mul(4)
                .saturating_add(k_blocks.saturating_mul(Self::BYTES_ALONG_MN)),
            // Those of f64 are made again for each tile.
            (false, 64) => 0,
            (false, _) => Self::ALONG_MN,
        }
    }

    /// The registers that a thread can have.
    pub(super) const fn registers_available(&self, base: &MmaBase, per_sm: u32) -> u32 {
        one_schedule::registers_available(base.tiles.threads(), self.knobs.blocks_per_sm, per_sm)
    }
}
