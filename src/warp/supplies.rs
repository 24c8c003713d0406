//! The parts that an MMA supplies to the main loops: components, registers, and C++.

use crate::{
    arch::WARP,
    layout::index_map::Map,
    nest::{GemmDesc, OperandDesc},
    shape::OperandKind,
    threadblock::{StagedOperand, smem::SmemTile},
    warp::{InterleaveKind, LaneArrangement, ThreadTiles, TiledMma},
};

/// The components of a CTA without a producer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MmaComponents {
    /// Tiles of the block, of its warps, and of their threads.
    pub tiles: ThreadTiles,
    /// A and B in shared memory.
    pub operands: [StagedOperand; 2],
    /// The MMA.
    pub mma: TiledMma,
}

impl MmaComponents {
    /// Returns the components of a description that `check` refuses. They are arbitrary.
    pub const fn unsupported(desc: &GemmDesc) -> Self {
        let tiles = ThreadTiles {
            block: desc.threadblock(),
            warp: desc.warp(),
            lanes: LaneArrangement { m: 1, n: WARP, quads: false },
            interleave: [1, 1],
        };
        Self {
            tiles,
            operands: [
                Self::operand(desc, &tiles, OperandKind::A),
                Self::operand(desc, &tiles, OperandKind::B),
            ],
            mma: TiledMma::Unsupported,
        }
    }

    /// Returns the facts of one operand, in the order of global memory.
    const fn operand(desc: &GemmDesc, tiles: &ThreadTiles, operand: OperandKind) -> StagedOperand {
        let (OperandDesc { stored, access, smem, .. }, extents) =
            (desc.operand(operand), tiles.extents(operand));
        StagedOperand {
            element: stored,
            k_contiguous: desc.k_contiguous(operand),
            access,
            smem: SmemTile::new(smem, extents.block, tiles.block.k, stored, None),
            threads: tiles.threads(),
            warp_mn: extents.warp,
            lanes: extents.lanes,
            interleave: InterleaveKind::Elements(1),
            indexed: desc.operand(operand).indexed,
            gated: desc.gates(operand),
        }
    }
}

/// A map with its name and the name of its C++ twin.
pub(crate) type MirroredMap = (&'static str, &'static str, Map);

/// The C++ that an MMA supplies to a main loop.
#[derive(Default)]
pub(crate) struct MmaText {
    /// Header of the MMA, or of the consumer that multiplies with it.
    pub header: &'static str,
    /// C++ type with which a warp multiplies, or the template of the consumer.
    pub name: &'static str,
    /// Headers that the generated header includes.
    pub includes: &'static [&'static str],
    /// Declarations that precede `Config`.
    pub declarations: String,
    /// Members of the structs of A and of B.
    pub operands: [String; 2],
    /// Members of `Config`.
    pub members: String,
}
