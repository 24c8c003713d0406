//! The matrices of B for an epilogue with a gate.

use super::{Arguments, MatrixElements, OperandB, OperandView, Placement, Space};
use crate::{
    nest::GemmDesc,
    operand::{GateColumns, Problem},
    refusal::{Field, Operand, Refusal},
};

impl<'a, S: Space, A: MatrixElements, B: MatrixElements, C: MatrixElements>
    Arguments<'a, S, A, B, C>
{
    /// Passes the second matrix of B for an epilogue with a [gate](crate::epilogue::Gate), k x n. B
    /// is then the k x n matrix of the gate. Both have the strides of B, in any memory of one
    /// device.
    ///
    /// Without this call, B is one k x 2n matrix. Its first n columns are the gate's, or its
    /// columns are [interleaved](Self::interleaved_gates).
    ///
    /// ```
    /// use falchion::prelude::*;
    ///
    /// falchion::epilogue! { struct Glu = relu(gate) * up }
    /// let gemm = Gemm::<f32>::new().epilogue::<Glu>();
    /// let a = [1.0f32, 2.0];
    /// let (gate, up, mut d) = ([1.0f32, 1.0, 2.0, -2.0], [1.0f32; 4], [0.0f32; 2]);
    /// gemm.run(Arguments::new((1, 2, 2), &a, &gate, &mut d).up(&up))?;
    /// assert_eq!(d, [15.0, 0.0]);
    /// // Rows of B with the columns of both.
    /// let both = [1.0f32, 1.0, 1.0, 1.0, 2.0, -2.0, 1.0, 1.0];
    /// gemm.run(Arguments::new((1, 2, 2), &a, &both, &mut d))?;
    /// assert_eq!(d, [15.0, 0.0]);
    /// # Ok::<(), falchion::Error>(())
    /// ```
    pub fn up(mut self, up: impl OperandB<'a, B, S>) -> Self {
        self.up = Some(up.placed());
        self
    }

    /// Interleaves the columns of a k x 2n B for an epilogue with a gate: column 2j is the gate of
    /// column j of D, and column 2j + 1 the value that it multiplies. Such a B is column-major.
    pub fn interleaved_gates(mut self) -> Self {
        self.gate_columns = GateColumns::Interleaved;
        self
    }

    /// Returns whether B holds the columns of both matrices of a gate.
    pub(super) fn holds_gates(&self, desc: &GemmDesc) -> bool {
        desc.epilogue.is_gated() && self.up.is_none()
    }

    /// Checks that B has an even number of columns if it holds both matrices of a gate, and that a
    /// separate matrix is read and has the shape of B.
    pub(super) fn check_up(&self, desc: &GemmDesc) -> Result<(), Refusal> {
        let (_, n, k) = self.extents;
        if let Some(up) = &self.up {
            if !desc.epilogue.is_gated() {
                return Err(Refusal::unread_operand(Operand::Up));
            }
            return up.placement.check(Operand::Up, (k, n));
        }
        let columns = self.b.placement.geometry.map(|view| view.shape.1);
        match columns.filter(|columns| desc.epilogue.is_gated() && columns % 2 == 1) {
            Some(columns) => {
                let (value, nearest) = (columns as u64, columns as u64 + 1);
                Err(Refusal::not_multiple(Field::ColumnsOf(Operand::B), value, 2, nearest))
            }
            None => Ok(()),
        }
    }

    /// Returns the placement of a separate second matrix. The call sets the strides of both.
    pub(super) fn placement_of_up(&self, b: Placement) -> Option<Placement> {
        let up: &OperandView<_> = self.up.as_ref()?;
        Some(Placement { geometry: up.placement.geometry, ..b })
    }

    /// Returns the index of the first element of the second matrix, in its memory or in that of B.
    pub(super) fn first_of_up(&self, problem: &Problem) -> usize {
        match &self.up {
            Some(up) => up.placement.first(),
            None => {
                let (_, n, _) = self.extents;
                let distance = self.gate_columns.distance(&problem.b, n);
                self.b.placement.first().saturating_add(distance)
            }
        }
    }
}
