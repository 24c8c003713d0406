//! Types of GEMMs whose operands have one element type.

use super::prelude::*;

/// GEMM whose A and B are contiguous along K.
pub type KMajor<A, C, LC, Accumulator, Op, Arch, Config = Auto> =
    Gemm<A, RowMajor, A, ColMajor, C, LC, Accumulator, Op, Arch, Config>;

/// GEMM whose A is contiguous along M, and B along N.
pub type MnMajor<A, C, LC, Accumulator, Op, Arch, Config = Auto> =
    Gemm<A, ColMajor, A, RowMajor, C, LC, Accumulator, Op, Arch, Config>;

/// GEMM on Hopper's tensor cores, accumulating in f32, whose A and B are contiguous along K.
pub type HopperK<A, C, LC = RowMajor, Config = Auto> =
    KMajor<A, C, LC, f32, TensorOp, Sm90, Config>;

/// GEMM on Hopper's tensor cores, accumulating in f32, whose A is contiguous along M, and B along
/// N.
pub type HopperMn<A, C, LC = RowMajor, Config = Auto> =
    MnMajor<A, C, LC, f32, TensorOp, Sm90, Config>;
