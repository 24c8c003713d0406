//! The outer product of two fragments in registers.
//!
//! Rows run to and fro, so that two products in a row share an operand, which the register file then reads once:
//!
//! ```text
//!        j ->
//!   i   > > > >
//!   |   < < < <
//!   v   > > > >
//! ```
//!
//! Every product belongs to another accumulator: the order changes no bit.
//!
//! Twin: `kernels/thread/mma.cuh`. Source: the operand reuse cache, maxas wiki, "SGEMM".

/// Calls `multiply_add(i, j)` once for each i below `tm` and j below `tn`.
pub fn outer_product(tm: u32, tn: u32, mut multiply_add: impl FnMut(u32, u32)) {
    for i in 0..tm {
        for step in 0..tn {
            multiply_add(i, if i % 2 == 0 { step } else { tn - 1 - step });
        }
    }
}
