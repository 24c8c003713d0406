//! The components of a SIMT kernel without a producer: its tiles, and its operands in shared
//! memory.

use crate::{
    nest::GemmDesc,
    numeric::ElementKind,
    shape::{OperandKind, at_least_one},
    threadblock::{
        StagedOperand, ThreadMap,
        smem::{Along, SmemTile, WIDEST_ACCESS},
    },
    warp::{LaneArrangement, MmaComponents, SimtKnobs, ThreadTiles, TiledMma},
};

impl SimtKnobs {
    /// Returns the tiles, the operands, and the MMA of a CTA.
    pub(crate) const fn components(desc: &GemmDesc) -> MmaComponents {
        let (block, warp) = (desc.threadblock(), desc.warp());
        let lanes = LaneArrangement::best(warp.m, warp.n, desc.output.accumulator);
        let bare = ThreadTiles { block, warp, lanes, interleave: [1, 1] };
        let operands = [
            Self::operand(desc, &bare, OperandKind::A),
            Self::operand(desc, &bare, OperandKind::B),
        ];
        let tiles = ThreadTiles {
            interleave: [operands[0].interleave(), operands[1].interleave()],
            ..bare
        };
        MmaComponents { tiles, operands, mma: TiledMma::Simt(tiles) }
    }

    /// Returns the facts of one operand.
    const fn operand(desc: &GemmDesc, tiles: &ThreadTiles, operand: OperandKind) -> StagedOperand {
        let extents = tiles.extents(operand);
        let align = desc.operand(operand).access;
        let choice = desc.operand(operand).smem;
        let (element, k_contiguous) = (desc.operand(operand).stored, desc.k_contiguous(operand));
        let transposes = k_contiguous != choice.along().is(Along::K);
        // An asynchronous copy cannot split a vector, so a transposing copy moves one element at a
        // time.
        let access = if transposes && desc.mainloop.copies_asynchronously() { 1 } else { align };
        let k = tiles.block.k;
        // A store of a warp contains one element of each lane's vector.
        let together = ThreadMap::lanes(k / at_least_one(access), element.bytes_of(access), true)
            .saturating_mul(access);
        let halves = matches!(desc.output.accumulator, ElementKind::F16) && together > 8;
        let least = if halves { WIDEST_ACCESS / 2 } else { WIDEST_ACCESS };
        let smem = SmemTile::new(
            choice,
            extents.block,
            k,
            element,
            if transposes { Some((together, least)) } else { None },
        );
        let interleave = desc.mma.interleave();
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
}
