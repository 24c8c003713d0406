//! The row or column of an operand that an emulation cannot scale.

use crate::{
    refusal::const_sentence::{Sentence, append},
    shape::OperandKind,
};

/// A row of A, or a column of B.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OperandLine {
    /// The operand.
    pub operand: OperandKind,
    /// The GEMM of a batch whose GEMMs have separate operands.
    pub product: Option<u32>,
    /// The number of the row or column.
    pub number: u32,
}

impl OperandLine {
    pub(super) const fn append_to(self, s: Sentence) -> Sentence {
        let line = match self.operand {
            OperandKind::A => "row ",
            OperandKind::B => "column ",
        };
        let s = append!(s, word line, number self.number, " of ", word self.operand.name());
        match self.product {
            Some(product) => append!(s, " of GEMM ", number product),
            None => s,
        }
    }

    pub(super) const fn swapped(self) -> Self {
        Self { operand: self.operand.other(), ..self }
    }
}
