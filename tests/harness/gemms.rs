//! Types of GEMMs whose operands have one element type.

use super::prelude::*;
use falchion::nest::Instruction;

/// GEMM whose A and B are contiguous along K.
pub type KMajor<A, C, LC, Accumulator, Op, Arch, Config = Auto> =
    Gemm<A, RowMajor, A, ColMajor, C, LC, Accumulator, Op, Arch, Config>;

/// GEMM whose A is contiguous along M, and B along N.
pub type MnMajor<A, C, LC, Accumulator, Op, Arch, Config = Auto> =
    Gemm<A, ColMajor, A, RowMajor, C, LC, Accumulator, Op, Arch, Config>;

/// GEMM on Hopper's tensor cores, accumulating in f32, whose A and B are contiguous along K.
pub type HopperK<A, C, LC = RowMajor, Config = Auto> =
    KMajor<A, C, LC, f32, TensorOp, Sm90, Config>;

/// GEMM on Hopper's tensor cores, accumulating in f32, whose A and B are row-major. With `Bf16`, it
/// has a kernel in a tree without any one main loop or MMA.
pub type HopperRows<A, C, LC = RowMajor, Config = Auto> =
    Gemm<A, RowMajor, A, RowMajor, C, LC, f32, TensorOp, Sm90, Config>;

/// [`HopperRows`] with column-major matrices.
pub type HopperColumns<A, C, Config = Auto> =
    Gemm<A, ColMajor, A, ColMajor, C, ColMajor, f32, TensorOp, Sm90, Config>;

/// GEMM on Hopper's tensor cores, accumulating in f32, whose A is contiguous along M, and B along
/// N.
pub type HopperMn<A, C, LC = RowMajor, Config = Auto> =
    MnMajor<A, C, LC, f32, TensorOp, Sm90, Config>;

/// Tiles of one consumer warpgroup: 64 x 64 x 64, by instructions of 64 x 64 x 16.
pub type SmallTile = With<
    With<With<Auto, Threadblock<GemmShape<64, 64, 64>>>, Warp<GemmShape<64, 64, 64>>>,
    Instruction<GemmShape<64, 64, 16>>,
>;
