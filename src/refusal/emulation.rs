//! Refusals of emulations of f32, and the row or column of an operand that an emulation cannot
//! scale.

use crate::{
    numeric::{ElementKind, EmulationKind},
    refusal::{
        Advice, Field, Refusal, Rule, Value,
        const_sentence::{Sentence, append},
        knobs::word,
    },
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

#[doc(hidden)]
impl Refusal {
    /// Tensor cores multiply f32 only by emulation.
    pub const NOT_EMULATED: Self =
        Self::new(Rule::Supported, Field::Emulation, word("none"), word("f32 on tensor cores"))
            .advise(Advice::Words(
                "try bf16x6 (all 24 bits), bf16x3 (16 bits), f16x3 (limited exponents), or tf32x3 (22 bits, mma.sync)",
            ));

    /// Another tensor-core kernel supports the emulation. `other` advises its main loop.
    pub const fn emulation_of_others(
        emulation: EmulationKind,
        other: Option<&'static str>,
    ) -> Self {
        let (limit, nearest) = if emulation.in_registers() {
            ("the warpspecialized main loop", "bf16x6")
        } else {
            ("mma.sync kernels", "tf32x3")
        };
        Self::new(Rule::Supported, Field::Emulation, word(emulation.name()), word(limit)).advise(
            match other {
                Some(words) => Advice::Words(words),
                None => Advice::Value(word(nearest)),
            },
        )
    }

    /// A pass that decomposes operands does not know the groups along K.
    pub const fn groups_of_terms(emulation: EmulationKind) -> Self {
        Self::new(
            Rule::Supported,
            Field::Emulation,
            word(emulation.name()),
            word("groups along K, because the k-tiles of a term cover all groups"),
        )
        .advise(Advice::Words("use exact f32 (op simt), or tf32"))
    }

    /// Only f32 is emulated.
    pub const fn nothing_to_emulate(
        emulation: EmulationKind,
        a: ElementKind,
        b: ElementKind,
    ) -> Self {
        let other = if a.is(ElementKind::F32) { b } else { a };
        Self::new(Rule::Supported, Field::Emulation, word(emulation.name()), Value::Element(other))
            .advise(Advice::Value(word("none")))
    }
}
