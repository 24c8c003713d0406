//! What a user passes to [`Transpose::run`](crate::device::Transpose::run).

use super::desc::Combine;
use crate::{
    call::{OperandA, OperandB, OperandD, Source, Space, setters},
    numeric::MathType,
};

/// An element that transposes can scale and add.
pub trait Scalable: MathType {
    /// How.
    const COMBINE: Combine;
}

impl Scalable for f32 {
    const COMBINE: Combine = Combine::F32;
}

impl Scalable for f64 {
    const COMBINE: Combine = Combine::F64;
}

/// What to transpose: `D = Aᵀ`, and for f32 and f64 `D = alpha Aᵀ + beta B`.
///
/// A is `rows` x `columns`, D and B are `columns` x `rows`. Matrices are row-major: element (i, j)
/// of A lies at `i * lda + j`, of D at `i * ldd + j`. The same bytes read column by column are the
/// transposes, so a column-major `m` x `n` matrix with leading dimension `lda` is transposed by
/// `new((n, m), ..)`. Leading dimensions are those of packed matrices unless given, and so are the
/// strides of a batch.
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
    pub(crate) a: S::Ref<'a, T::Storage>,
    pub(crate) b: Source<S::Ref<'a, T::Storage>>,
    pub(crate) d: S::Mut<'a, T::Storage>,
    pub(crate) leading: [Option<usize>; 3],
    pub(crate) strides: [Option<usize>; 3],
    pub(crate) batch: usize,
    pub(crate) scalars: [f64; 2],
    pub(crate) combine: Combine,
}

impl<'a, S: Space, T: MathType> TransposeArguments<'a, S, T> {
    /// `D = Aᵀ`: A is `rows` x `columns`.
    pub fn new(
        (rows, columns): (usize, usize),
        a: impl OperandA<'a, T, S>,
        d: impl OperandD<'a, T, S>,
    ) -> Self {
        Self {
            extents: (rows, columns),
            a: a.elements(),
            b: Source::None,
            d: d.elements(),
            leading: [None; 3],
            strides: [None; 3],
            batch: 1,
            scalars: [1.0, 0.0],
            combine: Combine::Move,
        }
    }

    /// So many transposes, of matrices one after another.
    pub fn batch(mut self, count: usize) -> Self {
        self.batch = count;
        self
    }

    setters! {
        /// A's leading dimension: elements from one row to the next.
        lda(leading[0]: leading);
        /// D's leading dimension; B's too, when B is D.
        ldd(leading[2]: leading);
        /// Elements from one A of the batch to the next; 0 transposes the same A again.
        batch_stride_a(strides[0]: elements);
        /// Elements from one D of the batch to the next. The D's may be interleaved row by row, and
        /// may not overlap.
        batch_stride_d(strides[2]: elements);
    }
}

impl<'a, S: Space, T: Scalable> TransposeArguments<'a, S, T> {
    /// Scales Aᵀ. At 0, A is not read.
    pub fn alpha(mut self, alpha: f64) -> Self {
        (self.scalars[0], self.combine) = (alpha, T::COMBINE);
        self
    }

    /// B, `columns` x `rows` like D, and its scalar. At 0, B is not read: NaN in it cannot reach D.
    pub fn source(mut self, beta: f64, b: impl OperandB<'a, T, S>) -> Self {
        (self.b, self.scalars[1], self.combine) = (Source::Matrix(b.elements()), beta, T::COMBINE);
        self
    }

    /// B is what D holds: `D <- alpha Aᵀ + beta D`.
    pub fn in_place(mut self, beta: f64) -> Self {
        (self.b, self.scalars[1], self.combine) = (Source::InPlace, beta, T::COMBINE);
        self
    }

    setters! {
        /// B's leading dimension.
        ldb(leading[1]: leading);
        /// Elements from one B of the batch to the next.
        batch_stride_b(strides[1]: elements);
    }
}
