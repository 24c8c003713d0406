//! The MMA of a CTA, in values of its components.

use crate::{
    nest::GemmDesc,
    shape::Mn,
    threadblock::{RoleOptions, WarpSpecialized},
    warp::{
        ConsumerRegisters, MirroredMap, MmaSyncKnobs, MmaText, SimtKnobs, ThreadTiles, WgmmaKnobs,
        mma_sync::WarpInstruction,
        wgmma::{FragmentLoad, MmaWarpgroup},
    },
};

/// The MMA of a CTA, in values of its components.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TiledMma {
    /// CUDA cores: the tiles of the block, its warps, and its threads.
    Simt(ThreadTiles),
    /// `mma.sync`: the tiles, and the instruction of a warp.
    MmaSync(ThreadTiles, WarpInstruction),
    /// `wgmma`: the MMA of a stage, and the loads that move A to registers, if it comes from there.
    Wgmma(MmaWarpgroup, Option<FragmentLoad>),
}

impl TiledMma {
    /// Returns the tiles of threads, or `None` for `wgmma`.
    pub const fn thread_tiles(&self) -> Option<&ThreadTiles> {
        match self {
            Self::Simt(tiles) | Self::MmaSync(tiles, _) => Some(tiles),
            Self::Wgmma(..) => None,
        }
    }

    /// Returns the instruction of a warp, or `None` for another MMA than `mma.sync`.
    pub const fn warp_instruction(&self) -> Option<WarpInstruction> {
        match self {
            Self::MmaSync(_, instruction) => Some(*instruction),
            Self::Simt(_) | Self::Wgmma(..) => None,
        }
    }

    /// Returns the MMA of a warpgroup, or `None` for another MMA than `wgmma`.
    pub const fn warpgroup(&self) -> Option<&MmaWarpgroup> {
        match self {
            Self::Wgmma(mma, _) => Some(mma),
            Self::Simt(_) | Self::MmaSync(..) => None,
        }
    }

    /// Returns the loads that move A to registers, or `None` if A stays in shared memory.
    pub const fn fragment_load(&self) -> Option<&FragmentLoad> {
        match self {
            Self::Wgmma(_, Some(load)) => Some(load),
            _ => None,
        }
    }

    /// Returns the accumulators per thread of a consumer whose tile has `repeats` instruction
    /// tiles.
    pub(crate) const fn consumer_accumulators(&self, repeats: Mn) -> u32 {
        match self {
            Self::Simt(tiles) | Self::MmaSync(tiles, _) => tiles.accumulators(),
            Self::Wgmma(mma, _) => WgmmaKnobs::accumulators(mma, repeats),
        }
    }

    /// Returns the registers of a consumer thread.
    pub(crate) const fn consumer_registers(
        &self,
        repeats: Mn,
        options: &RoleOptions,
    ) -> ConsumerRegisters {
        match self {
            Self::Simt(tiles) => SimtKnobs::consumer_registers(tiles),
            Self::MmaSync(tiles, instruction) => {
                MmaSyncKnobs::consumer_registers(tiles, instruction)
            }
            Self::Wgmma(mma, load) => {
                WgmmaKnobs::consumer_registers((mma, *load), repeats, options)
            }
        }
    }

    /// Returns the parts of a consumer's translation unit that depend on the MMA.
    pub(crate) fn consumer_cuda(&self, desc: &GemmDesc, components: &WarpSpecialized) -> MmaText {
        match self {
            Self::Simt(tiles) => SimtKnobs::consumer_cuda(desc, components, tiles),
            Self::MmaSync(tiles, instruction) => {
                MmaSyncKnobs::consumer_cuda(desc, components, (tiles, instruction))
            }
            Self::Wgmma(mma, _) => WgmmaKnobs::consumer_cuda(desc, components, mma),
        }
    }

    /// Returns the maps of a consumer that have a C++ twin.
    pub(crate) fn consumer_maps(&self, components: &WarpSpecialized) -> Vec<MirroredMap> {
        match self {
            Self::Simt(tiles) => SimtKnobs::consumer_maps(components, tiles),
            Self::MmaSync(tiles, instruction) => {
                MmaSyncKnobs::consumer_maps(components, (tiles, instruction))
            }
            Self::Wgmma(mma, _) => WgmmaKnobs::consumer_maps(components, mma),
        }
    }
}
