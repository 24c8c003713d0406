//! What the 32 threads of a warp do together: an outer product per k, each lane holding its share.

mod choices;
#[doc(hidden)]
pub mod exchange;
#[doc(hidden)]
pub mod mma_simt;
#[doc(hidden)]
pub mod mma_tensor_op;
#[doc(hidden)]
pub mod mma_warpgroup;

pub use choices::{InterleaveKind, UnrollKind};
#[doc(hidden)]
pub use mma_simt::LaneArrangement;
#[doc(hidden)]
pub use mma_warpgroup::MmaWarpgroup;

use crate::{shape::Shape, thread};
use core::marker::PhantomData;

/// What a warp, or on Hopper's tensor cores a warpgroup, computes of a tile, as a type that carries
/// its facts.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say what a warp computes",
    note = "write MmaSimt<GemmShape<M, N, K>> or MmaTensorOp<GemmShape<M, N, K>, GemmShape<64, N, K>>"
)]
pub trait Mma: 'static {
    /// Its tile of C, and its share of the depth.
    type Shape: Shape;
    /// What one instruction computes.
    type Instruction: Shape;
}

/// The CUDA cores: each lane its share of the warp's tile, by `Thread`'s instruction.
pub struct MmaSimt<S, Thread = thread::MmaFma>(PhantomData<(S, Thread)>);

impl<S: Shape, Thread: thread::Mma> Mma for MmaSimt<S, Thread> {
    type Shape = S;
    type Instruction = Thread::Shape;
}

/// The tensor cores: a tile of `S` by instructions of `I`.
pub struct MmaTensorOp<S, I>(PhantomData<(S, I)>);

impl<S: Shape, I: Shape> Mma for MmaTensorOp<S, I> {
    type Shape = S;
    type Instruction = I;
}
