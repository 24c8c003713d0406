//! Operands of refusals, and routes of operands.

use crate::shape::{EpilogueOperand, OperandKind, words::words};

/// A matrix of a call, or other memory of a call.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
#[allow(missing_docs, reason = "`name` defines each operand")]
pub enum Operand {
    A,
    B,
    C,
    D,
    /// The second matrix of B in a gated GEMM.
    Up,
    Epilogue(EpilogueOperand),
    Workspace,
    Offsets,
    IndicesOfA,
    IndicesOfB,
    IndicesOfD,
    Source,
    Copy,
    Tensor,
    Tile,
    Buffers,
}

impl Operand {
    /// Returns the name of the operand in sentences.
    pub const fn name(self) -> &'static str {
        match self {
            Self::A => "A",
            Self::B => "B",
            Self::C => "C",
            Self::D => "D",
            Self::Up => "the up columns of B",
            Self::Epilogue(operand) => operand.name(),
            Self::Workspace => "the workspace",
            Self::Offsets => "the offsets of groups",
            Self::IndicesOfA => "the indices of A",
            Self::IndicesOfB => "the indices of B",
            Self::IndicesOfD => "the indices of D",
            Self::Source => "the source",
            Self::Copy => "the copy",
            Self::Tensor => "the tensor",
            Self::Tile => "the tile",
            Self::Buffers => "the buffers of a set",
        }
    }

    /// Returns the operand of a GEMM.
    pub const fn from_kind(kind: OperandKind) -> Self {
        match kind {
            OperandKind::A => Self::A,
            OperandKind::B => Self::B,
        }
    }

    /// Returns the index list of a matrix.
    pub(crate) const fn indices_of(matrix: Self) -> Self {
        match matrix {
            Self::A => Self::IndicesOfA,
            Self::B => Self::IndicesOfB,
            _ => Self::IndicesOfD,
        }
    }

    /// Returns the operand in the other frame.
    pub(super) const fn swapped(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
            Self::IndicesOfA => Self::IndicesOfB,
            Self::IndicesOfB => Self::IndicesOfA,
            Self::Epilogue(operand) => Self::Epilogue(operand.swapped()),
            other => other,
        }
    }
}

impl Route {
    /// Returns whether the kernel reads the operand in place.
    pub const fn is_direct(self) -> bool {
        matches!(self, Self::Direct)
    }
}

words! {
    /// The way of an operand to a kernel.
    pub enum Route {
        /// The kernel reads the operand in place.
        Direct = "direct",
        /// A pass copies the operand to the workspace in the same order, with aligned rows.
        Repacked = "repacked",
        /// A pass transposes the operand to the workspace.
        Transposed = "transposed",
        /// A pass writes the terms of the operand to the workspace, adjacent along K.
        Decomposed = "decomposed",
        /// A pass copies the rows of A, or the columns of B, that an index list selects.
        Gathered = "gathered",
    }
}
