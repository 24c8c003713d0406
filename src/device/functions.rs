//! A GEMM as one function call.

use super::{Executor, Gemm};
use crate::{
    call::{Arguments, Readable, Writable},
    error::Error,
    layout::RowMajor,
    numeric::Element,
};

/// Computes `D = A * B` for packed row-major matrices: A is m x k, B is k x n, and D is m x n.
///
/// ```
/// let (m, n, k) = (300, 200, 100);
/// let (a, b, mut d) = (vec![1.0f32; m * k], vec![2.0f32; k * n], vec![0.0f32; m * n]);
/// falchion::gemm((m, n, k), &a, &b, &mut d)?;
/// assert!(d.iter().all(|&x| x == 200.0));
/// # Ok::<(), falchion::Error>(())
/// ```
///
/// Host slices run on the CPU. Device slices run on their GPU, on the stream of D. The function
/// calls a [`Gemm`], which also accepts layouts, scalars, a C, an epilogue, and a workspace.
///
/// # Errors
/// [`Error::Refused`] if a slice is shorter than its matrix, or if every kernel of the machine for
/// the types needs a workspace. [`Error`] lists the other errors.
#[doc(alias = "matmul")]
#[doc(alias = "sgemm")]
pub fn gemm<'a, A, B, C, S>(
    (m, n, k): (usize, usize, usize),
    a: impl Readable<'a, A, In = S>,
    b: impl Readable<'a, B, In = S>,
    d: impl Writable<'a, C, In = S>,
) -> Result<(), Error>
where
    A: Element,
    B: Element,
    C: Element,
    S: Executor,
{
    Gemm::<A, RowMajor, B, RowMajor, C>::new().run(Arguments::new((m, n, k), a, b, d))
}
