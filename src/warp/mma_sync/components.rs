//! The components of an `mma.sync` kernel without a producer: its tiles, its operands in shared
//! memory, and its instruction.

use crate::{
    nest::{GemmDesc, Pins, defaults::rows},
    refusal::{Refusal, hold},
    shape::OperandKind,
    threadblock::{
        StagedOperand,
        smem::{Along, SmemTile},
    },
    warp::{
        InterleaveKind, MmaComponents, MmaSyncKnobs, SaturateKind, ThreadTiles, TiledMma,
        mma_sync::{INTERLEAVE, LANES, MathOperator, WarpInstruction, WordLoad},
    },
};

impl MmaSyncKnobs {
    /// Returns the tiles, the operands, and the MMA of a CTA.
    pub(crate) const fn components(&self, desc: &GemmDesc) -> MmaComponents {
        let (block, warp) = (desc.threadblock(), self.warp);
        let tiles = ThreadTiles { block, warp, lanes: LANES, interleave: INTERLEAVE };
        let instruction = WarpInstruction::new(
            self.math(desc),
            [desc.operands[0].stored, desc.operands[1].stored],
            desc.output.accumulator,
            self.instruction,
        );
        MmaComponents {
            tiles,
            operands: [
                Self::operand(desc, &tiles, OperandKind::A),
                Self::operand(desc, &tiles, OperandKind::B),
            ],
            mma: match instruction {
                Some(instruction) => TiledMma::MmaSync(tiles, instruction),
                // `check` refuses the instruction.
                None => TiledMma::Unsupported,
            },
        }
    }

    /// Returns the facts of one operand. It has the same order in shared memory as in global
    /// memory.
    const fn operand(desc: &GemmDesc, tiles: &ThreadTiles, operand: OperandKind) -> StagedOperand {
        let extents = tiles.extents(operand);
        let access = desc.operand(operand).access;
        let (element, k_contiguous) = (desc.operand(operand).stored, desc.k_contiguous(operand));
        let (along, row) =
            if k_contiguous { (Along::K, tiles.block.k) } else { (Along::Mn, extents.block) };
        let layout = WordLoad::for_element(element, along).layout(element, along, row);
        let smem = SmemTile::new(layout, extents.block, tiles.block.k, element, None);
        let interleave = InterleaveKind::Elements(INTERLEAVE[operand.index()]);
        StagedOperand {
            element,
            k_contiguous,
            access,
            smem,
            threads: tiles.threads(),
            warp_mn: extents.warp,
            lanes: extents.lanes,
            interleave,
            indexed: desc.operand(operand).indexed,
            gated: desc.gates(operand),
        }
    }

    /// Returns the math operator of the instruction.
    const fn math(&self, desc: &GemmDesc) -> MathOperator {
        let [a, b] = desc.operands;
        match MathOperator::for_operands([a.multiplied, b.multiplied], desc.frame) {
            MathOperator::MultiplyAdd if matches!(self.saturate, SaturateKind::On) => {
                MathOperator::MultiplyAddSaturate
            }
            math => math,
        }
    }

    /// Returns the instruction of a warp.
    ///
    /// # Errors
    /// [`Refusal`] for a shape that the architecture does not have, with the shapes that it has.
    /// [`Refusal`] for types for which the architecture has no `mma.sync` kernel.
    pub(crate) const fn checked_instruction(
        &self,
        desc: &GemmDesc,
    ) -> Result<WarpInstruction, Refusal> {
        let inputs = [desc.operands[0].stored, desc.operands[1].stored];
        match hold!(WarpInstruction::for_machine(
            self.math(desc),
            inputs,
            desc.output.accumulator,
            self.instruction,
            desc.arch.sm()
        )) {
            // Hopper has no own instruction for fp8 in `mma.sync`, and its arithmetic differs from
            // Ada's.
            Some(instruction) if !(desc.operands[0].stored.is_fp8() && desc.arch.sm() >= 90) => {
                Ok(instruction)
            }
            // If the architecture has no kernel for the types, the refusal says so.
            _ => match rows(desc.op(), desc.arch, desc.types(), &Pins::NONE, 0) {
                Err(refusal) => Err(refusal),
                Ok(row) => Err(Refusal::other_mainloop(
                    desc.mainloop.kind().name(),
                    desc.op(),
                    desc.arch,
                    row.knobs[0].mainloop.kind().name(),
                )),
            },
        }
    }
}
