//! The components of a SIMT description: its CTA, and the registers per thread.

use crate::{
    desc::SimtDesc,
    family::one_schedule,
    numeric::ElementKind,
    operand::OperandKind,
    shape::at_least_one,
    smem::{Along, SmemLayout, SmemTile, WIDEST_ACCESS},
    threadblock::{MmaBase, OperandDesc, ThreadMap},
    warp::{LaneArrangement, UnrollKind, mma_simt::ThreadTiles},
};

impl SimtDesc {
    /// Returns the components of a CTA.
    pub const fn base(&self) -> MmaBase {
        let (bare, class, knobs) = (self.tiles(), &self.class, &self.knobs);
        let operands = [self.operand(&bare, OperandKind::A), self.operand(&bare, OperandKind::B)];
        let interleave = [operands[0].interleave(), operands[1].interleave()];
        MmaBase {
            tiles: ThreadTiles { interleave, ..bare },
            operands,
            accumulator: class.accumulator,
            mainloop: knobs.mainloop,
            stages: knobs.stages,
            work: one_schedule::work_of(knobs.decomposition),
            store_access: if knobs.align_c < interleave[1] { knobs.align_c } else { interleave[1] },
            instruction: None,
        }
    }

    /// Returns the tiles of the threads, before the interleave is known.
    pub(super) const fn tiles(&self) -> ThreadTiles {
        let (block, warp) = (self.knobs.threadblock, self.knobs.warp);
        ThreadTiles {
            block,
            warp,
            lanes: LaneArrangement::best(warp.m, warp.n, self.class.accumulator),
            interleave: [1, 1],
        }
    }

    /// Returns the facts of one operand.
    const fn operand(&self, tiles: &ThreadTiles, operand: OperandKind) -> OperandDesc {
        let (class, knobs) = (&self.class, &self.knobs);
        let (align, mn, warp_mn, lanes) = match operand {
            OperandKind::A => (knobs.align_a, tiles.block.m, tiles.warp.m, tiles.lanes.m),
            OperandKind::B => (knobs.align_b, tiles.block.n, tiles.warp.n, tiles.lanes.n),
        };
        let choice = self.smem_choice(operand);
        let (element, k_contiguous) = (class.operand(operand).element, class.k_contiguous(operand));
        let transposes = k_contiguous != choice.along().is(Along::K);
        // An asynchronous copy cannot split a vector, so a transposing copy moves one element at a
        // time.
        let access = if transposes && knobs.mainloop.copies_asynchronously() { 1 } else { align };
        let k = tiles.block.k;
        // A store of a warp contains one element of each lane's vector.
        let together = ThreadMap::lanes(k / at_least_one(access), element.bytes_of(access), true)
            .saturating_mul(access);
        let halves = matches!(class.accumulator, ElementKind::F16) && together > 8;
        let least = if halves { WIDEST_ACCESS / 2 } else { WIDEST_ACCESS };
        let smem = SmemTile::new(
            choice,
            mn,
            k,
            element,
            if transposes { Some((together, least)) } else { None },
        );
        let interleave = knobs.interleave;
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

    /// Returns the chosen layout of A's or B's tile in shared memory.
    pub const fn smem_choice(&self, operand: OperandKind) -> SmemLayout {
        match operand {
            OperandKind::A => self.knobs.smem_a,
            OperandKind::B => self.knobs.smem_b,
        }
    }

    /// Returns the k-blocks per iteration of the loop over a tile.
    pub const fn groups_a_turn(&self) -> u32 {
        match self.knobs.unroll {
            UnrollKind::Full => self.knobs.warp.k,
            UnrollKind::By(groups) => groups,
        }
    }

    /// Returns the registers available to a thread.
    pub const fn registers_available(&self, per_sm: u32) -> u32 {
        one_schedule::registers_available(self.tiles().threads(), self.knobs.blocks_per_sm, per_sm)
    }
}
