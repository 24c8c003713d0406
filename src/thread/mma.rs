//! Thread-level MMA: the outer product of two fragments in registers.
//!
//! The row direction alternates, so consecutive products share an operand, which the register file
//! then reads once:
//!
//! ```text
//!        j ->
//!   i   > > > >
//!   |   < < < <
//!   v   > > > >
//! ```
//!
//! Each product has its own accumulator, so the order changes no bit. For `f16`, a register holds
//! two accumulators, and one instruction computes two products, each rounded separately
//! ([`packed`]). One instruction multiplies two neighbors of A by two neighbors of B element by
//! element, which yields the diagonal. A second one, with A's neighbors swapped, yields the other
//! two products.
//!
//! Twin: `kernels/thread/mma.cuh`. Source: the operand reuse cache, maxas wiki, "SGEMM".

use crate::{
    numeric::ElementKind,
    shape::{GemmShape, Shape},
};
use core::marker::PhantomData;

/// Thread-level MMA, as a type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a thread-level MMA",
    note = "write thread::MmaFma"
)]
pub trait Mma: 'static {
    /// Shape of one instruction of a thread.
    type Shape: Shape;
}

/// Multiply-add: `fma`, or for 8-bit integers a lane of `dp4a`.
pub struct MmaFma;

impl Mma for MmaFma {
    type Shape = GemmShape<1, 1, 1>;
}

/// Outer products in a thread tile of `S`, for TMA-fed SIMT kernels:
/// [`MmaWarpSpecialized`](crate::threadblock::MmaWarpSpecialized) on CUDA cores.
pub struct MmaOuterProduct<S>(PhantomData<S>);

impl<S: Shape> Mma for MmaOuterProduct<S> {
    type Shape = S;
}

/// Returns the fragment elements per register, which is also the number of accumulators per
/// instruction. It is 2 for `f16` if both extents of the thread tile are even, otherwise 1.
pub const fn packed(accumulator: ElementKind, [m, n]: [u32; 2]) -> u32 {
    if matches!(accumulator, ElementKind::F16) && m.is_multiple_of(2) && n.is_multiple_of(2) {
        2
    } else {
        1
    }
}

/// Calls `multiply_add(i, j)` once for each `i < tm` and `j < tn`. It is inlined, so a caller's
/// loop is compiled for the caller's instruction set.
#[inline(always)]
pub fn outer_product(tm: u32, tn: u32, mut multiply_add: impl FnMut(u32, u32)) {
    for i in 0..tm {
        for step in 0..tn {
            multiply_add(i, if i % 2 == 0 { step } else { tn - 1 - step });
        }
    }
}
