//! Arguments from views of matrices.

use crate::{
    device::{Arguments, MatMut, MatRef, MatrixElements, Placement, Space},
    nest::GemmDesc,
    numeric::{Element, MathType},
    operand::Source,
    refusal::{Operand, Refusal},
    shape::{Axis, OperandKind},
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
    /// [`Refusal`] if the number of columns of A is not the number of rows of B.
    pub fn from_views<'b: 'a, 'c: 'a, 'd: 'a>(
        a: impl Into<MatRef<'b, A::Storage, S>>,
        b: impl Into<MatRef<'c, B::Storage, S>>,
        d: impl Into<MatMut<'d, C::Storage, S>>,
    ) -> Result<Self, Refusal> {
        let (a, b, d) = (a.into(), b.into(), d.into());
        let ((m, columns_of_a), (rows_of_b, n)) = (a.shape(), b.shape());
        if columns_of_a != rows_of_b {
            return Err(Refusal::inner_extents(columns_of_a, rows_of_b));
        }
        // With a gate in the epilogue, B may have two columns per column of D.
        let n = if n == 2 * d.shape().1 { d.shape().1 } else { n };
        Ok(Self::new((m, n, columns_of_a), a, b, d))
    }
}

impl<S: Space, A: MatrixElements, B: MatrixElements, C: MatrixElements> Arguments<'_, S, A, B, C> {
    /// Returns the placements of A, B, C, and D. In place, D has the strides of C. Groups of rows
    /// share A, C, and D. Groups along K share A and B.
    pub(crate) fn placements(&self) -> [Placement; 4] {
        let [a, b, c] = [self.a.placement, self.b.placement, self.c.placement];
        let in_place = matches!(self.c.memory, Source::InPlace);
        let d = if in_place { self.d.placement.or(c) } else { self.d.placement };
        match self.groups.as_ref().map(|offsets| offsets.axis) {
            None => [a, b, c, d],
            Some(Axis::K) => [a.shared(), b.shared(), c, d],
            Some(_) => [a.shared(), b, c.shared(), d.shared()],
        }
    }

    /// Checks that views have the shapes of the call, and that the call sets no strides for them.
    ///
    /// # Errors
    /// The errors of [`ViewGeometry::check`](crate::device::ViewGeometry::check).
    pub(crate) fn check_views(&self, desc: &GemmDesc) -> Result<(), Refusal> {
        let (m, n, k) = self.extents;
        let shape = |placement: &Placement| placement.geometry.map(|view| view.shape);
        // A matrix with an index list has its own number of lines.
        let [of_a, of_b] = [&self.a.placement, &self.b.placement].map(shape);
        let rows_of_a = of_a.filter(|_| self.indices[0].is_some()).map_or(m, |(rows, _)| rows);
        let columns_of_b =
            of_b.filter(|_| self.indices[1].is_some()).map_or(n, |(_, columns)| columns);
        let columns_of_b = if self.holds_gates(desc) { 2 * n } else { columns_of_b };
        let output = |placement: &Placement| (self.rows_passed(shape(placement)), n);
        self.a.placement.check(Operand::A, (rows_of_a, k))?;
        self.b.placement.check(Operand::B, (k, columns_of_b))?;
        self.c.placement.check(Operand::C, output(&self.c.placement))?;
        for &(name, ref view) in &self.operands {
            let extents = match name.side() {
                None if !name.is_matrix() => (1, 1),
                None => output(&view.placement),
                Some(OperandKind::A) => (m, 1),
                Some(OperandKind::B) => (1, n),
            };
            let operand = Operand::Epilogue(name);
            view.placement.check(operand, extents)?;
            let strides = view.placement.strides().filter(|_| !name.is_matrix());
            if let Some([down, across]) = strides
                && (down > 1 && extents.0 > 1 || across > 1 && extents.1 > 1)
            {
                return Err(Refusal::strides(operand, [down, across], None));
            }
        }
        self.d.placement.check(Operand::D, output(&self.d.placement))
    }
}
