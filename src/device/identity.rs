//! Transposes as calls. `D = alpha * Aᵀ + beta * C` is a GEMM `D = alpha * (Aᵀ * I) + beta * C`,
//! whose B is the identity and has no memory.

use super::{Arguments, MatrixElements, OperandA, OperandD, OperandView, Space};
use crate::operand::{Elements, Memory};
use core::convert::Infallible;

/// Element type of an operand B that is the identity. The [`Arguments`] of a
/// [`Transpose`](crate::device::Transpose) have this type.
///
/// A GEMM does not accept the arguments of a transpose:
///
/// ```compile_fail,E0308
/// use falchion::prelude::*;
///
/// let (a, mut d) = ([0.0f32; 6], [0.0f32; 6]);
/// let _ = Gemm::<f32>::new().run(Arguments::transpose((2, 3), &a, &mut d));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Identity;

impl MatrixElements for Identity {
    type Ref<'a, S: Space> = ();
    type Mut<'a, S: Space> = Infallible;

    fn elements<S: Space>((): &()) -> Elements {
        Elements::new(0)
    }

    fn elements_mut<S: Space>(matrix: &Infallible) -> Elements {
        match *matrix {}
    }

    fn queue<S: Space>(matrix: &Infallible) -> S::Queue {
        match *matrix {}
    }

    fn read<'a: 'q, 'q, S: Space>((): (), _: &'q S::Queue) -> S::Read<'q> {
        S::Read::empty()
    }

    fn write<'a: 'q, 'q, S: Space>(matrix: Infallible, _: &'q S::Queue) -> S::Write<'q> {
        match matrix {}
    }
}

impl<'a, S: Space, T: MatrixElements> Arguments<'a, S, T, Identity, T> {
    /// Creates the arguments of a [`Transpose`](crate::device::Transpose), `D = alpha * Aᵀ + beta *
    /// C`. A is a `rows` x `columns` matrix; C and D are `columns` x `rows` matrices. All matrices
    /// are row-major. A column-major m x n matrix has the bytes of a row-major n x m matrix, so
    /// `transpose((n, m), ..)` transposes it.
    ///
    /// ```
    /// use falchion::prelude::*;
    ///
    /// let (a, mut d) = ([1, 2, 3, 4, 5, 6], [0; 6]);
    /// Transpose::<i32>::new().run(Arguments::transpose((2, 3), &a, &mut d))?;
    /// assert_eq!(d, [1, 4, 2, 5, 3, 6]);
    ///
    /// let (x, c, mut d) = ([1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], [10.0f32; 6], [f32::NAN; 6]);
    /// Transpose::<f32>::new().run(Arguments::transpose((2, 3), &x, &mut d).alpha(2.0).source(-1.0, &c))?;
    /// assert_eq!(d, [-8.0, -2.0, -6.0, 0.0, -4.0, 2.0]);
    /// # Ok::<(), falchion::Error>(())
    /// ```
    pub fn transpose(
        (rows, columns): (usize, usize),
        a: impl OperandA<'a, T, S>,
        d: impl OperandD<'a, T, S>,
    ) -> Self {
        let identity = OperandView::new((), None);
        Self::from_operands((columns, rows, rows), a.placed(), identity, d.placed())
    }
}
