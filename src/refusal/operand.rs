//! The memory that a refusal is about.

use crate::{
    operand::{OperandKind, VectorKind},
    words::words,
};

/// A matrix of a call, or other memory of one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the words beside each name say what it is")]
pub enum Operand {
    A,
    B,
    C,
    D,
    Vector(VectorKind),
    Workspace,
    Offsets,
    Source,
    Copy,
    Tensor,
    Tile,
    Buffers,
}

impl Operand {
    /// What sentences call it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::A => "A",
            Self::B => "B",
            Self::C => "C",
            Self::D => "D",
            Self::Vector(kind) => kind.name(),
            Self::Workspace => "the workspace",
            Self::Offsets => "the offsets of groups",
            Self::Source => "the source",
            Self::Copy => "the copy",
            Self::Tensor => "the tensor",
            Self::Tile => "the tile",
            Self::Buffers => "the buffers of a set",
        }
    }

    /// The operand of a product.
    pub const fn of(kind: OperandKind) -> Self {
        match kind {
            OperandKind::A => Self::A,
            OperandKind::B => Self::B,
        }
    }

    /// The same memory of the problem with A and B in each other's place.
    pub(super) const fn swapped(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
            Self::Vector(kind) => Self::Vector(kind.swapped()),
            other => other,
        }
    }
}

words! {
    /// How an operand reaches a kernel.
    pub enum Route {
        /// The kernel reads it where it lies.
        Direct = "direct",
        /// It is copied to the workspace first, in the same order, with rows that are whole.
        Repacked = "repacked",
        /// It is transposed to the workspace first, and contiguous there along the index that the
        /// kernel reads it along.
        Transposed = "transposed",
        /// Its parts are written to the workspace first, side by side along K.
        Decomposed = "decomposed",
    }
}
