//! Warp level: the MMA of 32 threads (CUDA cores, `mma.sync`) or of a warpgroup (`wgmma`), and its
//! fragments.

mod asm;
mod choices;
#[doc(hidden)]
pub mod exchange;
#[doc(hidden)]
pub mod mma_sync;
#[doc(hidden)]
pub mod simt;
mod thread_tiles;
#[doc(hidden)]
pub mod wgmma;

pub use choices::{AOperandKind, InterleaveKind, PromotionKind, SaturateKind, UnrollKind};
pub use mma_sync::MmaSyncKnobs;
pub use simt::SimtKnobs;
#[doc(hidden)]
pub use thread_tiles::{LaneArrangement, ThreadTiles};
#[doc(hidden)]
pub use wgmma::MmaWarpgroup;
pub use wgmma::WgmmaKnobs;

use self::{mma_sync::WarpInstruction, wgmma::FragmentLoad};
use crate::{
    arch::OpKind,
    index::Map,
    nest::{GemmDesc, Pins, features::Features, or},
    operand::OperandKind,
    refusal::Refusal,
    shape::{Mn, Mnk, Shape},
    smem::Along,
    thread,
    threadblock::{
        MmaBase, RoleOptions, StagedOperand, WarpSpecialized, tma_ring::pipeline::WARPS,
    },
    words::words,
};
use core::marker::PhantomData;

words! {
    /// A warp-level MMA, as a value.
    pub enum WarpMmaKind {
        /// CUDA cores.
        Simt = "simt",
        /// Tensor cores with `mma.sync`.
        MmaSync = "mmasync",
        /// Hopper's tensor cores with `wgmma`.
        Wgmma = "wgmma",
    }
}

/// Warp-level MMA, as a type that carries its facts. On Hopper's tensor cores, a warpgroup performs
/// it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a warp-level MMA",
    note = "write MmaSimt<GemmShape<M, N, K>> or MmaTensorOp<GemmShape<M, N, K>, GemmShape<64, N, K>>"
)]
pub trait Mma: 'static {
    /// Tile of C, and its share of K.
    type Shape: Shape;
    /// Shape of one instruction.
    type Instruction: Shape;
}

/// MMA on CUDA cores: each lane computes its share of the warp tile with the instruction of
/// `Thread`.
pub struct MmaSimt<S, Thread = thread::MmaFma>(PhantomData<(S, Thread)>);

impl<S: Shape, Thread: thread::Mma> Mma for MmaSimt<S, Thread> {
    type Shape = S;
    type Instruction = Thread::Shape;
}

/// MMA on tensor cores: a tile of `S` by instructions of `I`.
pub struct MmaTensorOp<S, I>(PhantomData<(S, I)>);

impl<S: Shape, I: Shape> Mma for MmaTensorOp<S, I> {
    type Shape = S;
    type Instruction = I;
}

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
            Self::Simt(tiles) | Self::MmaSync(tiles, _) => SimtKnobs::consumer_registers(tiles),
            Self::Wgmma(mma, load) => {
                WgmmaKnobs::consumer_registers((mma, *load), repeats, options)
            }
        }
    }

    /// Returns the parts of a consumer's translation unit that depend on the MMA.
    pub(crate) fn consumer_cuda(
        &self,
        desc: &GemmDesc,
        components: &WarpSpecialized,
    ) -> ConsumerText {
        match self {
            Self::Simt(tiles) | Self::MmaSync(tiles, _) => {
                SimtKnobs::consumer_cuda(desc, components, tiles)
            }
            Self::Wgmma(mma, _) => WgmmaKnobs::consumer_cuda(desc, components, mma),
        }
    }
}

/// What an MMA supplies for a CTA without a producer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MmaComponents {
    /// Tiles of the block, of its warps, and of their threads.
    pub tiles: ThreadTiles,
    /// A and B in shared memory.
    pub operands: [StagedOperand; 2],
    /// The MMA.
    pub mma: TiledMma,
}

/// A consumer of a TMA ring.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Consumer {
    /// The MMA.
    pub mma: TiledMma,
    /// Consumers along M and N of the threadblock tile.
    pub consumers: Mn,
    /// Instruction tiles along M and N of a consumer's tile.
    pub repeats: Mn,
    /// Whether threads store D from registers, without staging buffers.
    pub by_threads: bool,
}

/// Registers of a consumer's MMA, per thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConsumerRegisters {
    /// Registers of the accumulators.
    pub accumulators: u32,
    /// Registers of the accumulators of one stage, which are promoted.
    pub partial_accumulators: u32,
    /// Registers of operand fragments.
    pub fragments: u32,
    /// Launch registers that one instruction needs.
    pub instruction: u32,
}

/// A map with its name and the name of its C++ twin.
pub(crate) type MirroredMap = (&'static str, &'static str, Map);

/// The parts of the C++ of a kernel with a TMA ring that depend on the MMA of its consumers.
pub(crate) struct ConsumerText {
    /// C++ template of the consumer, in the namespace `threadblock`.
    pub name: &'static str,
    /// Header of the consumer, if it is not that of the ring.
    pub header: Option<&'static str>,
    /// Header that the generated header includes.
    pub include: &'static str,
    /// C++ structs.
    pub structs: String,
    /// Lines of the structs of A and of B.
    pub operands: [String; 2],
    /// Type aliases in `Config`.
    pub aliases: String,
    /// Facts of `Config`.
    pub facts: Vec<(&'static str, u32)>,
    /// Maps that have a C++ twin.
    pub maps: Vec<MirroredMap>,
}

/// The parts of the C++ of a kernel without a producer that depend on its MMA.
#[derive(Default)]
pub(crate) struct MmaText {
    /// Headers: (include name, text). The first contains the kernel's maps.
    pub headers: &'static [(&'static str, &'static str)],
    /// C++ type with which a warp multiplies.
    pub name: &'static str,
    /// Headers that the generated header includes.
    pub includes: &'static [&'static str],
    /// C++ declarations that precede `Config`.
    pub declarations: String,
    /// Fingerprint assertions in addition to those of the maps.
    pub fingerprints: String,
    /// Facts of each operand: (type and name, value).
    pub of_operands: [Vec<(&'static str, String)>; 2],
    /// Members of `Config`: (type and name, value).
    pub facts: Vec<(&'static str, String)>,
}

/// The MMA of a warp, or of a warpgroup, inside the main loop.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum WarpMma {
    /// CUDA cores: each thread multiplies its own tile.
    Simt(SimtKnobs),
    /// Tensor cores with `mma.sync`: a warp multiplies fragments in registers.
    MmaSync(MmaSyncKnobs),
    /// Hopper's tensor cores with `wgmma`: a warpgroup multiplies tiles in shared memory.
    Wgmma(WgmmaKnobs),
}

impl WarpMma {
    /// Returns the kind.
    pub const fn kind(&self) -> WarpMmaKind {
        match self {
            Self::Simt(_) => WarpMmaKind::Simt,
            Self::MmaSync(_) => WarpMmaKind::MmaSync,
            Self::Wgmma(_) => WarpMmaKind::Wgmma,
        }
    }

    /// Returns the units that multiply.
    pub const fn op(&self) -> OpKind {
        match self {
            Self::Simt(_) => OpKind::Simt,
            Self::MmaSync(_) | Self::Wgmma(_) => OpKind::TensorOp,
        }
    }

    /// Returns the warp tile in elements: the tile of D that one warp computes, and its share of
    /// the depth. With `wgmma`, it is the tile of a warpgroup.
    pub const fn warp(&self) -> Mnk {
        match self {
            Self::Simt(knobs) => knobs.warp,
            Self::MmaSync(knobs) => knobs.warp,
            Self::Wgmma(knobs) => knobs.warp,
        }
    }

    /// Returns the shape of the instruction, or the tile of a thread on CUDA cores. `None` if the
    /// resolver selects the tile of a thread.
    pub const fn instruction(&self) -> Option<Mnk> {
        match self {
            Self::Simt(knobs) => knobs.thread,
            Self::MmaSync(knobs) => Some(knobs.instruction),
            Self::Wgmma(knobs) => Some(knobs.instruction),
        }
    }

    /// Returns the knobs of `wgmma`, or `None` for another MMA.
    pub const fn wgmma(&self) -> Option<&WgmmaKnobs> {
        match self {
            Self::Wgmma(knobs) => Some(knobs),
            _ => None,
        }
    }

    /// Returns the memory from which the instruction reads A.
    pub const fn a_operand(&self) -> AOperandKind {
        match self.wgmma() {
            Some(knobs) => knobs.a_operand,
            None => AOperandKind::Shared,
        }
    }

    /// Returns how often accumulators are promoted.
    pub const fn promotion(&self) -> PromotionKind {
        match self.wgmma() {
            Some(knobs) => knobs.promotion,
            None => PromotionKind::Never,
        }
    }

    /// Returns the maximum number of groups in flight when a consumer moves to the next stage.
    pub const fn pending(&self) -> u32 {
        match self.wgmma() {
            Some(knobs) => knobs.pending,
            None => 0,
        }
    }

    /// Returns whether integer sums saturate.
    pub const fn saturate(&self) -> SaturateKind {
        match self {
            Self::MmaSync(knobs) => knobs.saturate,
            _ => SaturateKind::Off,
        }
    }

    /// Returns the number of neighboring elements that a lane holds.
    pub const fn interleave(&self) -> InterleaveKind {
        match self {
            Self::Simt(knobs) => knobs.interleave,
            _ => InterleaveKind::Vector,
        }
    }

    /// Returns the knobs as pins.
    pub(crate) const fn pins(&self, pins: Pins) -> Pins {
        let pins = Pins { warp: Some(self.warp()), instruction: self.instruction(), ..pins };
        match self {
            Self::Simt(_) => pins,
            Self::MmaSync(knobs) => Pins { saturate: Some(knobs.saturate), ..pins },
            Self::Wgmma(knobs) => Pins {
                a_operand: Some(knobs.a_operand),
                pending: Some(knobs.pending),
                promotion: Some(knobs.promotion),
                ..pins
            },
        }
    }

    /// Returns the MMA with the pinned knobs replaced.
    pub(crate) const fn pinned(self, pins: &Pins) -> Self {
        let warp = or!(pins.warp, self.warp());
        match self {
            Self::Simt(knobs) => Self::Simt(SimtKnobs {
                warp,
                thread: if pins.instruction.is_some() && knobs.thread.is_some() {
                    pins.instruction
                } else {
                    knobs.thread
                },
                interleave: or!(pins.interleave, knobs.interleave),
            }),
            Self::MmaSync(knobs) => Self::MmaSync(MmaSyncKnobs {
                warp,
                instruction: or!(pins.instruction, knobs.instruction),
                saturate: or!(pins.saturate, knobs.saturate),
            }),
            Self::Wgmma(knobs) => Self::Wgmma(WgmmaKnobs {
                warp,
                instruction: or!(pins.instruction, knobs.instruction),
                a_operand: or!(pins.a_operand, knobs.a_operand),
                pending: or!(pins.pending, knobs.pending),
                promotion: or!(pins.promotion, knobs.promotion),
            }),
        }
    }
}

/// Components, rules, C++, and cost in a CTA without a producer, which cannot feed `wgmma`.
impl WarpMma {
    /// Returns the components of a CTA.
    pub(crate) const fn components(&self, desc: &GemmDesc) -> MmaComponents {
        match self {
            Self::MmaSync(knobs) => knobs.components(desc),
            Self::Simt(_) | Self::Wgmma(_) => SimtKnobs::components(desc),
        }
    }

    /// Checks the knobs.
    pub(crate) const fn check(&self, desc: &GemmDesc) -> Result<(), Refusal> {
        match self {
            Self::Simt(knobs) => knobs.check(),
            Self::MmaSync(knobs) => knobs.check(desc),
            Self::Wgmma(_) => Ok(()),
        }
    }

    /// Checks an operand in shared memory.
    pub(crate) const fn check_operand(
        &self,
        desc: &GemmDesc,
        operand: OperandKind,
        staged: &StagedOperand,
    ) -> Result<(), Refusal> {
        match self {
            Self::Simt(_) => SimtKnobs::check_operand(desc, operand, staged),
            Self::MmaSync(_) | Self::Wgmma(_) => Ok(()),
        }
    }

    /// Returns the parts of the translation unit that depend on the MMA.
    pub(crate) fn cuda(&self, desc: &GemmDesc, base: &MmaBase) -> MmaText {
        match self {
            Self::Simt(_) => SimtKnobs::cuda(desc, base),
            Self::MmaSync(_) => MmaSyncKnobs::cuda(desc, base),
            Self::Wgmma(_) => MmaText::default(),
        }
    }

    /// Returns the facts for the cost model.
    pub(crate) const fn features(&self, desc: &GemmDesc, base: &MmaBase) -> Features {
        match self {
            Self::MmaSync(_) => MmaSyncKnobs::features(desc, base),
            Self::Simt(_) | Self::Wgmma(_) => SimtKnobs::features(base),
        }
    }
}

/// Consumers of a TMA ring.
impl WarpMma {
    /// Returns the consumer of a description, whose multiplied operands `desc` has.
    ///
    /// # Errors
    /// The refusal of types and of tiles.
    pub(crate) const fn consumer(
        &self,
        user: &GemmDesc,
        desc: &GemmDesc,
    ) -> Result<Consumer, Refusal> {
        match self {
            Self::Wgmma(_) => WgmmaKnobs::consumer(user, desc),
            Self::Simt(_) | Self::MmaSync(_) => SimtKnobs::consumer(desc),
        }
    }

    /// Returns the index along which a consumer reads an operand.
    pub(crate) const fn along(&self, desc: &GemmDesc, operand: OperandKind) -> Along {
        match self {
            Self::Wgmma(_) => WgmmaKnobs::along(desc, operand),
            Self::Simt(_) | Self::MmaSync(_) => Along::Mn,
        }
    }

    /// Returns the facts of a kernel with a TMA ring for the cost model.
    pub(crate) const fn consumer_features(&self, desc: &GemmDesc) -> Features {
        match self {
            Self::Wgmma(_) => WgmmaKnobs::consumer_features(desc, desc.slice_exchange()),
            Self::Simt(_) | Self::MmaSync(_) => {
                SimtKnobs::consumer_features(desc, desc.slice_exchange())
            }
        }
    }

    /// Returns the number of warp tiles that one consumer computes.
    pub(crate) const fn tiles_of_a_consumer(&self) -> u32 {
        match self {
            Self::Wgmma(_) => 1,
            Self::Simt(_) | Self::MmaSync(_) => WARPS,
        }
    }

    /// Returns whether a kernel can reduce the split-K partials of consumers.
    pub(crate) const fn reduces_after_ring(&self) -> bool {
        matches!(self, Self::Wgmma(_))
    }
}
