//! Gated GEMMs: B has two columns per column of D, the gate and the column that it multiplies.
//!
//! The two columns of a pair come from two k x n matrices with the same strides, `b` and `up` of a
//! [`Call`]. Both may be parts of one matrix with 2n columns ([`GateColumns`]).

use super::{Call, Elements, Memory, Problem, View};
use crate::{
    nest::GemmDesc,
    numeric::ElementKind,
    refusal::{Operand, Refusal},
    shape::{Axis, OperandKind, words::words},
};

words! {
    /// Order of the 2n columns of B in a gated GEMM.
    pub enum GateColumns {
        /// n columns of the gate, and then the n columns that it multiplies.
        Halves = "halves",
        /// Pairs of columns: the gate, and the column that it multiplies.
        Interleaved = "interleaved",
    }
}

impl GateColumns {
    /// Returns the gate's matrix of a B with 2n columns.
    pub(crate) fn gate<M>(self, b: View<M>) -> View<M> {
        let [down, across] = b.strides;
        let across = match self {
            Self::Halves => across,
            Self::Interleaved => across.saturating_mul(2),
        };
        View { strides: [down, across], ..b }
    }

    /// Returns the elements from a gate's column to its partner, given the gate's matrix.
    pub(crate) fn distance<M>(self, gate: &View<M>, n: usize) -> usize {
        match self {
            Self::Halves => gate.strides[1].saturating_mul(n),
            Self::Interleaved => gate.strides[1] / 2,
        }
    }
}

impl GateColumns {
    /// Returns the two matrices of a B with 2n columns.
    pub fn matrices<M: Memory + Copy>(self, b: View<M>, n: usize) -> (View<M>, UpMatrix<View<M>>) {
        let gate = self.gate(b);
        let memory = gate.memory.skip(self.distance(&gate, n));
        (gate, UpMatrix::Matrix(gate.with(memory)))
    }

    /// Returns the two matrices of a B with 2n columns, or B and no other matrix if the epilogue of
    /// `desc` has no gate.
    pub(crate) fn matrices_of_b<M: Memory + Copy>(
        self,
        desc: &GemmDesc,
        b: View<M>,
        n: usize,
    ) -> (View<M>, UpMatrix<View<M>>) {
        if !desc.epilogue.is_gated() {
            return (b, UpMatrix::None);
        }
        self.matrices(b, n)
    }
}

/// The second matrix of a gated GEMM.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum UpMatrix<V> {
    /// The epilogue has no gate.
    None,
    /// A k x n matrix with the strides of B.
    Matrix(V),
    /// B has 2n columns in pairs. The host executor makes such copies.
    Paired,
}

impl<V> UpMatrix<V> {
    /// Returns the matrix.
    pub const fn matrix(&self) -> Option<&V> {
        match self {
            Self::Matrix(view) => Some(view),
            Self::None | Self::Paired => None,
        }
    }

    /// Applies `f` to the matrix.
    pub fn map<U>(self, f: impl FnOnce(V) -> U) -> UpMatrix<U> {
        match self {
            Self::None => UpMatrix::None,
            Self::Matrix(view) => UpMatrix::Matrix(f(view)),
            Self::Paired => UpMatrix::Paired,
        }
    }

    /// Returns the matrix by reference.
    pub const fn as_ref(&self) -> UpMatrix<&V> {
        match self {
            Self::None => UpMatrix::None,
            Self::Matrix(view) => UpMatrix::Matrix(view),
            Self::Paired => UpMatrix::Paired,
        }
    }
}

impl<R, W> Call<R, W> {
    /// Returns the columns of D of a call whose B has the columns in pairs, or else n.
    pub(crate) const fn columns_of_d(&self) -> usize {
        match &self.up {
            UpMatrix::Paired => self.n / 2,
            UpMatrix::None | UpMatrix::Matrix(_) => self.n,
        }
    }
}

impl<R: Memory, W: Memory> Call<R, W> {
    /// Checks the matrices of a gated GEMM: both exist, with equal strides, and neither has splits
    /// or an index list.
    pub(super) fn check_gates(&self, desc: &GemmDesc) -> Result<(), Refusal> {
        let up = match (&self.up, desc.epilogue.is_gated()) {
            (UpMatrix::None, false) => return Ok(()),
            (UpMatrix::None, true) => return Err(Refusal::missing_operand(Operand::Up)),
            (UpMatrix::Paired, _) => return Ok(()),
            (UpMatrix::Matrix(_), false) => return Err(Refusal::unread_operand(Operand::Up)),
            (UpMatrix::Matrix(up), true) => up,
        };
        if self.indices.operands[1].is_some() {
            return Err(Refusal::GATES_OF_INDEX);
        }
        if self.b.is_split() || up.is_split() {
            return Err(Refusal::split_of_others(Operand::B, "an epilogue with a gate"));
        }
        if self.groups.as_ref().is_some_and(|groups| groups.axis == Axis::N) {
            return Err(Refusal::GATES_OF_GROUPS);
        }
        if self.b.strides[0] != 1 && self.b.strides[1] != 1 && self.k > 0 && self.n > 0 {
            return Err(Refusal::gates_apart(self.b.strides));
        }
        if self.b.strides != up.strides || self.batch > 1 && self.b.batch_stride != up.batch_stride
        {
            return Err(Refusal::strides_of_up(up.strides, self.b.strides));
        }
        Ok(())
    }
}

impl Problem {
    /// Returns the second matrix of an operand: that of B, if the epilogue has a gate.
    pub(crate) const fn up_of(&self, operand: OperandKind) -> Option<&View<Elements>> {
        match operand {
            OperandKind::A => None,
            OperandKind::B => self.up.matrix(),
        }
    }

    /// Returns the problem whose B has its columns in this order. In `self`, they are halves of a
    /// packed B.
    #[must_use]
    pub fn with_gate_columns(self, columns: GateColumns) -> Self {
        let UpMatrix::Matrix(_) = self.up else { return self };
        let b = columns.gate(self.b);
        let memory = b.memory.skip(columns.distance(&b, self.n));
        Self { b, up: UpMatrix::Matrix(b.with(memory)), ..self }
    }

    /// Returns the elements from the gate's matrix to the other one, if both are in the memory of
    /// B: the memory of the second is shorter by them.
    pub fn up_offset(&self) -> usize {
        let up = self.up.matrix().map_or(self.b.memory.length, |up| up.memory.length);
        self.b.memory.length.saturating_sub(up)
    }

    /// Returns the order of the columns of a B that holds both matrices. `None` without a gate.
    pub fn gate_columns(&self) -> Option<GateColumns> {
        self.up.matrix()?;
        let halves = self.up_offset() == GateColumns::Halves.distance(&self.b, self.n);
        Some(if halves { GateColumns::Halves } else { GateColumns::Interleaved })
    }

    /// Returns the matrix that holds the columns of both matrices of a gate, or B without a gate.
    pub fn whole_b(&self) -> View<Elements> {
        match self.gate_columns() {
            Some(GateColumns::Interleaved) => {
                let [down, across] = self.b.strides;
                View { strides: [down, across / 2], ..self.b }
            }
            _ => self.b,
        }
    }

    /// Returns m, and the columns of B that a kernel multiplies: two per column of D with a gate.
    pub(crate) const fn multiplied_extents(&self, desc: &GemmDesc) -> (usize, usize) {
        (self.m, self.n.saturating_mul(desc.epilogue.columns_per_output()))
    }

    /// Returns the elements from the gate's matrix to the other one, as kernels read them; 0
    /// without a gate.
    pub(crate) fn gate_stride(&self, stored: ElementKind) -> i64 {
        let Some(up) = self.up.matrix() else { return 0 };
        let bytes = up.memory.address.wrapping_sub(self.b.memory.address) as i64;
        bytes / i64::from(stored.bytes_of(1))
    }
}
