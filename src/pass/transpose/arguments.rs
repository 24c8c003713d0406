//! The arguments of [`Transpose::run`](crate::device::Transpose::run).

use super::desc::Combine;
use crate::{
    call::{OperandA, OperandB, OperandD, OperandView, Source, Space, setters},
    numeric::MathType,
};

/// An element type that transposes can scale and add.
pub trait Scalable: MathType {
    /// The arithmetic of the type.
    const COMBINE: Combine;
}

impl Scalable for f32 {
    const COMBINE: Combine = Combine::F32;
}

impl Scalable for f64 {
    const COMBINE: Combine = Combine::F64;
}

/// The arguments of a transpose: `D = Aᵀ`, and for f32 and f64 `D = alpha Aᵀ + beta B`.
///
/// A is `rows` x `columns`, and D and B are `columns` x `rows`. Matrices are row-major: element
/// (i, j) of A is at `i * lda + j`, and element (i, j) of D is at `i * ldd + j`. `new((n, m), ..)`
/// transposes a column-major `m` x `n` matrix, because its bytes are a row-major `n` x `m` matrix.
/// Matrices are packed unless leading dimensions or batch strides are set.
///
/// ```
/// use falchion::prelude::*;
///
/// let (a, mut d) = ([1, 2, 3, 4, 5, 6], [0; 6]);
/// Transpose::<i32>::new().run(TransposeArguments::new((2, 3), &a, &mut d))?;
/// assert_eq!(d, [1, 4, 2, 5, 3, 6]);
///
/// let (x, b, mut d) = ([1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], [10.0f32; 6], [f32::NAN; 6]);
/// Transpose::<f32>::new().run(TransposeArguments::new((2, 3), &x, &mut d).alpha(2.0).source(-1.0, &b))?;
/// assert_eq!(d, [-8.0, -2.0, -6.0, 0.0, -4.0, 2.0]);
/// # Ok::<(), falchion::Error>(())
/// ```
pub struct TransposeArguments<'a, S: Space, T: MathType> {
    pub(crate) extents: (usize, usize),
    pub(crate) a: OperandView<S::Ref<'a, T::Storage>>,
    pub(crate) b: OperandView<Source<S::Ref<'a, T::Storage>>>,
    pub(crate) d: OperandView<S::Mut<'a, T::Storage>>,
    pub(crate) batch: usize,
    pub(crate) scalars: [f64; 2],
    pub(crate) combine: Combine,
}

impl<'a, S: Space, T: MathType> TransposeArguments<'a, S, T> {
    /// Creates the arguments of `D = Aᵀ`. A is `rows` x `columns`.
    pub fn new(
        (rows, columns): (usize, usize),
        a: impl OperandA<'a, T, S>,
        d: impl OperandD<'a, T, S>,
    ) -> Self {
        Self {
            extents: (rows, columns),
            a: a.placed(),
            b: OperandView::new(Source::None, None),
            d: d.placed(),
            batch: 1,
            scalars: [1.0, 0.0],
            combine: Combine::Move,
        }
    }

    /// Sets the number of transposes in a batch. The matrices of a batch are consecutive by
    /// default.
    pub fn batch(mut self, count: usize) -> Self {
        self.batch = count;
        self
    }

    setters! {
        /// Sets the leading dimension of A in elements.
        lda(a.leading: leading);
        /// Sets the leading dimension of D in elements. In place, B has the leading dimension of D.
        ldd(d.leading: leading);
        /// Sets the batch stride of A, in elements. With 0, all transposes share one A.
        batch_stride_a(a.batch_stride: elements);
        /// Sets the batch stride of D, in elements. The Ds of a batch may interleave row by row,
        /// and must not overlap.
        batch_stride_d(d.batch_stride: elements);
    }
}

impl<'a, S: Space, T: Scalable> TransposeArguments<'a, S, T> {
    /// Sets the factor of Aᵀ. If alpha is 0, the kernel does not read A.
    pub fn alpha(mut self, alpha: f64) -> Self {
        (self.scalars[0], self.combine) = (alpha, T::COMBINE);
        self
    }

    /// Passes B, a `columns` x `rows` matrix, and its factor beta. If beta is 0, the kernel does
    /// not read B, so a NaN in B cannot reach D.
    pub fn source(mut self, beta: f64, b: impl OperandB<'a, T, S>) -> Self {
        self.b.replace(b.placed(), Source::Matrix);
        (self.scalars[1], self.combine) = (beta, T::COMBINE);
        self
    }

    /// Uses D as B: `D = alpha * Aᵀ + beta * D`.
    pub fn in_place(mut self, beta: f64) -> Self {
        self.b.replace(OperandView::new((), None), |()| Source::InPlace);
        (self.scalars[1], self.combine) = (beta, T::COMBINE);
        self
    }

    setters! {
        /// Sets the leading dimension of B in elements.
        ldb(b.leading: leading);
        /// Sets the batch stride of B, in elements.
        batch_stride_b(b.batch_stride: elements);
    }
}
