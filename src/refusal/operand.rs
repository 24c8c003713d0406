//! The memory that a refusal is about.

use super::field::named;
use crate::operand::OperandKind;
use crate::words::words;

named! {
    /// A matrix of a call, or other memory of one.
    Operand {
        A "A";
        B "B";
        C "C";
        D "D";
        BiasM "bias_m";
        BiasN "bias_n";
        Workspace "the workspace";
        Source "the source";
        Copy "the copy";
        Tensor "the tensor";
        Tile "the tile";
        Buffers "the buffers of a set";
    }
}

impl Operand {
    /// The operand of a product.
    pub const fn of(kind: OperandKind) -> Self {
        match kind {
            OperandKind::A => Self::A,
            OperandKind::B => Self::B,
        }
    }

    /// The vectors of an epilogue: of a value a row of A, and of one a column of B.
    pub const VECTORS: [Self; 2] = [Self::BiasM, Self::BiasN];

    /// The same memory of the problem with A and B in each other's place.
    pub(super) const fn exchange(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
            Self::BiasM => Self::BiasN,
            Self::BiasN => Self::BiasM,
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
        /// It is transposed to the workspace first, and contiguous there along the index that the kernel reads it along.
        Transposed = "transposed",
        /// Its parts are written to the workspace first, side by side along K.
        Decomposed = "decomposed",
    }
}
