//! Warp level: the MMA of 32 threads (CUDA cores, `mma.sync`) or of a warpgroup (`wgmma`), and its
//! fragments.

mod a_operand;
mod asm;
mod choices;
#[doc(hidden)]
pub mod exchange;
#[doc(hidden)]
pub mod mma_sync;
mod multiplied;
#[doc(hidden)]
pub mod quad_transpose;
#[doc(hidden)]
pub mod simt;
mod supplies;
#[doc(hidden)]
pub mod thread_maps;
mod thread_tiles;
pub(crate) mod tiled_mma;
mod warp_mma;
#[doc(hidden)]
pub mod warpgroup;
#[doc(hidden)]
pub mod wgmma;

pub use choices::{AOperandKind, InterleaveKind, PromotionKind, SaturateKind, UnrollKind};
pub use mma_sync::MmaSyncKnobs;
pub use simt::SimtKnobs;
pub(crate) use supplies::{MirroredMap, MmaComponents, MmaText};
pub(crate) use thread_tiles::OperandExtents;
#[doc(hidden)]
pub use thread_tiles::{LaneArrangement, ThreadTiles};
#[doc(hidden)]
pub use tiled_mma::TiledMma;
pub(crate) use warp_mma::DEFAULT_TABLES;
pub use warp_mma::WarpMma;
#[doc(hidden)]
pub use warp_mma::WarpMmaKind;
#[doc(hidden)]
pub use wgmma::MmaWarpgroup;
pub use wgmma::WgmmaKnobs;

use crate::{shape::Shape, thread};
use core::marker::PhantomData;

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
