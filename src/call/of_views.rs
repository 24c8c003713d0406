//! Arguments whose operands are views.

use super::{Arguments, MatMut, MatRef, MatrixElements, Space, ViewGeometry};
use crate::{
    numeric::{Element, MathType},
    refusal::{Operand, Refusal},
};

impl<'a, S: Space, A, B, C> Arguments<'a, S, A, B, C>
where
    A: MathType<Storage: Element>,
    B: MathType<Storage: Element>,
    C: MathType<Storage: Element>,
{
    /// Creates the arguments of `D = A * B` from views, whose shapes determine m, n, and k.
    ///
    /// ```
    /// use falchion::prelude::*;
    ///
    /// // D = Aᵀ * B.
    /// let (a, b, mut d) = ([[1.0f32, 2.0], [3.0, 4.0]], [[1.0f32], [1.0]], [[0.0f32]; 2]);
    /// let (a, b) = (MatRef::from(&a), MatRef::from(&b));
    /// Gemm::<f32, ColMajor>::new().run(Arguments::from_views(a.t(), b, &mut d)?)?;
    /// assert_eq!(d, [[4.0], [6.0]]);
    /// # Ok::<(), falchion::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Refusal::InnerExtents`] if the number of columns of A is not the number of rows of B.
    pub fn from_views<'b: 'a, 'c: 'a, 'd: 'a>(
        a: impl Into<MatRef<'b, A::Storage, S>>,
        b: impl Into<MatRef<'c, B::Storage, S>>,
        d: impl Into<MatMut<'d, C::Storage, S>>,
    ) -> Result<Self, Refusal> {
        let (a, b, d) = (a.into(), b.into(), d.into());
        let ((m, columns_of_a), (rows_of_b, n)) = (a.shape(), b.shape());
        if columns_of_a != rows_of_b {
            return Err(Refusal::InnerExtents { columns_of_a, rows_of_b });
        }
        Ok(Self::new((m, n, columns_of_a), a, b, d))
    }
}

impl<S: Space, A: MatrixElements, B: MatrixElements, C: MatrixElements> Arguments<'_, S, A, B, C> {
    /// Checks that views have the shapes of the call, and no strides beside their own.
    ///
    /// # Errors
    /// The errors of [`ViewGeometry::check`].
    pub(crate) fn check_views(&self) -> Result<(), Refusal> {
        let (m, n, k) = self.extents;
        let operands = [Operand::A, Operand::B, Operand::C, Operand::D];
        let shapes = [(m, k), (k, n), (m, n), (m, n)];
        for (which, view) in self.views.iter().enumerate() {
            let set_by_call = self.leading[which].is_some() || self.strides[which].is_some();
            if let Some(view) = view {
                view.check(operands[which], shapes[which], set_by_call)?;
            }
        }
        Ok(())
    }

    /// The strides of A, B, C, or D, if the operand is a view or the call sets strides.
    pub(crate) fn strides_of(&self, which: usize) -> Option<[usize; 2]> {
        self.views[which].as_ref().map(ViewGeometry::unsigned_strides).or(self.strides[which])
    }

    /// Index of the first element of A, B, C, or D in its memory.
    pub(crate) fn first(&self, which: usize) -> usize {
        self.views[which].map_or(0, |view| view.first)
    }
}
