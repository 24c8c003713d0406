//! A GEMM as one function call.

use super::{Executor, Gemm, GemmOperation};
use crate::{
    Error,
    device::{Arguments, Mat, MatMut, MatRef, ViewGeometry},
    layout::{MatrixType, Order, RowMajor},
    numeric::{Element, ElementKind, MultipliedBy},
};
use std::{
    collections::HashMap,
    sync::{PoisonError, RwLock},
};

/// Computes `D = A * B`. The shapes of the views determine the sizes: A is m x k, B is k x n, and D
/// is m x n.
///
/// ```
/// use falchion::prelude::*;
///
/// let (m, n, k) = (300, 200, 100);
/// let (a, b, mut d) = (vec![1.0f32; m * k], vec![2.0f32; k * n], vec![0.0f32; m * n]);
/// let (a, b) = (MatRef::new(&a, (m, k)), MatRef::new(&b, (k, n)));
/// falchion::gemm(a, b, MatMut::new(&mut d, (m, n)))?;
/// assert!(d.iter().all(|&x| x == 200.0));
/// # Ok::<(), falchion::Error>(())
/// ```
///
/// Matrices in host memory are multiplied on the CPU. Matrices on a device are multiplied on their
/// GPU, on the stream of D. [`Gemm`] and [`GemmOperation`] also accept scalars, a C, an epilogue,
/// and a workspace.
///
/// # Errors
/// [`Error::Refused`] if the shapes disagree, if memory is shorter than its matrix, if neither
/// stride of a view is 1, if a stride is negative, or if every kernel of the machine for the types
/// needs a workspace. [`Error`] lists the other errors.
#[doc(alias = "sgemm")]
pub fn gemm<'a, 'b, 'd, A, B, C, S>(
    a: impl Into<MatRef<'a, A, S>>,
    b: impl Into<MatRef<'b, B, S>>,
    d: impl Into<MatMut<'d, C, S>>,
) -> Result<(), Error>
where
    A: Element + MultipliedBy<B>,
    B: Element,
    C: Element,
    S: Executor,
{
    let (a, b, d) = (a.into(), b.into(), d.into());
    // The compiler checks the types with this operator.
    let row_major = Gemm::<A, RowMajor, B, RowMajor, C>::new();
    let orders = [&a.geometry, &b.geometry, &d.geometry].map(ViewGeometry::contiguous_order);
    let arguments = Arguments::from_views(a, b, d)?;
    if orders == [Order::Row; 3] {
        return row_major.run(arguments);
    }
    operation([A::KIND, B::KIND, C::KIND], orders)?.typed()?.run(arguments)
}

/// Computes `A * B` and returns the row-major product, in the memory space of A and B. A is m x k,
/// and B is k x n.
///
/// ```
/// let product = falchion::matmul(&[[1.0f32, 2.0], [3.0, 4.0]], &[[1.0f32], [10.0]])?;
/// assert_eq!(product.elements(), [21.0, 43.0]);
/// # Ok::<(), falchion::Error>(())
/// ```
///
/// Matrices on a device are multiplied on the stream of A, which also allocates the product.
///
/// # Errors
/// The errors of [`gemm`], and [`Error::Refused`] or [`Error::Driver`] if the product cannot be
/// allocated.
pub fn matmul<'a, 'b, T, S>(
    a: impl Into<MatRef<'a, T, S>>,
    b: impl Into<MatRef<'b, T, S>>,
) -> Result<Mat<T::Output, S>, Error>
where
    T: Element<Output: Element>,
    S: Executor,
{
    let (a, b) = (a.into(), b.into());
    let mut d = Mat::zeros_in(&S::queue_of_input(&a.memory), (a.shape().0, b.shape().1))?;
    gemm(a, b, d.view_mut())?;
    Ok(d)
}

/// The operator of types and orders, which the process resolves once.
///
/// # Errors
/// The errors of [`GemmOperation::new`].
fn operation(kinds: [ElementKind; 3], orders: [Order; 3]) -> Result<GemmOperation, Error> {
    type Key = ([ElementKind; 3], [Order; 3]);
    static KNOWN: RwLock<Option<HashMap<Key, GemmOperation>>> = RwLock::new(None);
    let key = (kinds, orders);
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = known.as_ref().and_then(|known| known.get(&key)) {
        return Ok(known.clone());
    }
    drop(known);
    let matrix = |which: usize| MatrixType { element: kinds[which], order: orders[which] };
    let resolved = GemmOperation::new(matrix(0), matrix(1), matrix(2))?;
    let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
    known.get_or_insert_default().insert(key, resolved.clone());
    Ok(resolved)
}
