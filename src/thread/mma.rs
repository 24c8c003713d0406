//! The outer product of two fragments in registers.
//!
//! Rows run to and fro, so that two products in a row share an operand, which the register file
//! then reads once:
//!
//! ```text
//!        j ->
//!   i   > > > >
//!   |   < < < <
//!   v   > > > >
//! ```
//!
//! Every product belongs to another accumulator: the order changes no bit. Accumulators of `f16`
//! lie two in one register, and one instruction makes two products, each rounded as it is alone
//! ([`packed`]): of neighbours of A and neighbours of B those on the diagonal, and, after A's have
//! changed places, the other two.
//!
//! Twin: `kernels/thread/mma.cuh`. Source: the operand reuse cache, maxas wiki, "SGEMM".

use crate::numeric::ElementKind;
use crate::shape::{GemmShape, Shape};
use core::marker::PhantomData;

/// What a thread multiplies with, as a type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say what a thread multiplies with",
    note = "write thread::MmaFma"
)]
pub trait Mma: 'static {
    /// What one instruction of a thread computes.
    type Shape: Shape;
}

/// A multiplication and addition: `fma`, or for bytes a part of `dp4a`.
pub struct MmaFma;

impl Mma for MmaFma {
    type Shape = GemmShape<1, 1, 1>;
}

/// A thread's tile `S` of outer products, where threads multiply what TMA brings:
/// [`MmaWarpSpecialized`](crate::threadblock::MmaWarpSpecialized) on the CUDA cores.
pub struct MmaOuterProduct<S>(PhantomData<S>);

impl<S: Shape> Mma for MmaOuterProduct<S> {
    type Shape = S;
}

/// Neighbours that a register holds of a fragment, and accumulators of a diagonal: of `f16` two,
/// where a thread's tile has even extents.
pub const fn packed(accumulator: ElementKind, [m, n]: [u32; 2]) -> u32 {
    if matches!(accumulator, ElementKind::F16) && m.is_multiple_of(2) && n.is_multiple_of(2) {
        2
    } else {
        1
    }
}

/// Calls `multiply_add(i, j)` once for each i below `tm` and j below `tn`.
pub fn outer_product(tm: u32, tn: u32, mut multiply_add: impl FnMut(u32, u32)) {
    for i in 0..tm {
        for step in 0..tn {
            multiply_add(i, if i % 2 == 0 { step } else { tn - 1 - step });
        }
    }
}
