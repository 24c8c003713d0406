//! The components of a SIMT description: its CTA, and the registers per thread.

use crate::{
    nest::GemmDesc,
    numeric::ElementKind,
    operand::OperandKind,
    shape::at_least_one,
    smem::{Along, SmemLayout, SmemTile, WIDEST_ACCESS},
    threadblock::{MmaBase, StagedOperand, ThreadMap, mma::kernel},
    warp::{LaneArrangement, ThreadTiles, TiledMma, UnrollKind},
};

impl GemmDesc {
    /// Returns the components of a CTA.
    pub(crate) const fn base_simt(&self) -> MmaBase {
        let bare = self.tiles();
        let operands =
            [self.operand_simt(&bare, OperandKind::A), self.operand_simt(&bare, OperandKind::B)];
        let interleave = [operands[0].interleave(), operands[1].interleave()];
        let tiles = ThreadTiles { interleave, ..bare };
        MmaBase {
            tiles,
            operands,
            accumulator: self.output.accumulator,
            mainloop: self.mainloop,
            stages: self.stages(),
            work: kernel::work_of(self.work.decomposition),
            store_access: if self.output.access < interleave[1] {
                self.output.access
            } else {
                interleave[1]
            },
            mma: TiledMma::Simt(tiles),
        }
    }

    /// Returns the tiles of the threads, before the interleave is known.
    pub(crate) const fn tiles(&self) -> ThreadTiles {
        let (block, warp) = (self.threadblock(), self.warp());
        ThreadTiles {
            block,
            warp,
            lanes: LaneArrangement::best(warp.m, warp.n, self.output.accumulator),
            interleave: [1, 1],
        }
    }

    /// Returns the facts of one operand.
    const fn operand_simt(&self, tiles: &ThreadTiles, operand: OperandKind) -> StagedOperand {
        let (align, mn, warp_mn, lanes) = match operand {
            OperandKind::A => (self.operands[0].access, tiles.block.m, tiles.warp.m, tiles.lanes.m),
            OperandKind::B => (self.operands[1].access, tiles.block.n, tiles.warp.n, tiles.lanes.n),
        };
        let choice = self.smem_choice(operand);
        let (element, k_contiguous) = (self.operand(operand).stored, self.k_contiguous(operand));
        let transposes = k_contiguous != choice.along().is(Along::K);
        // An asynchronous copy cannot split a vector, so a transposing copy moves one element at a
        // time.
        let access = if transposes && self.mainloop.copies_asynchronously() { 1 } else { align };
        let k = tiles.block.k;
        // A store of a warp contains one element of each lane's vector.
        let together = ThreadMap::lanes(k / at_least_one(access), element.bytes_of(access), true)
            .saturating_mul(access);
        let halves = matches!(self.output.accumulator, ElementKind::F16) && together > 8;
        let least = if halves { WIDEST_ACCESS / 2 } else { WIDEST_ACCESS };
        let smem = SmemTile::new(
            choice,
            mn,
            k,
            element,
            if transposes { Some((together, least)) } else { None },
        );
        let interleave = self.mma.interleave();
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

    /// Returns the chosen layout of A's or B's tile in shared memory.
    pub const fn smem_choice(&self, operand: OperandKind) -> SmemLayout {
        match operand {
            OperandKind::A => self.operands[0].smem,
            OperandKind::B => self.operands[1].smem,
        }
    }

    /// Returns the k-blocks per iteration of the loop over a tile.
    pub const fn groups_a_turn(&self) -> u32 {
        match self.mainloop.unroll() {
            UnrollKind::Full => self.warp().k,
            UnrollKind::By(groups) => groups,
        }
    }
}
