//! Why f32 is not emulated, or cannot be.

use crate::{
    numeric::{ElementKind, EmulationKind, emulation::LineFacts},
    operand::OperandKind,
    sentence::{Sentence, say},
};

/// Why `f32` is not emulated on tensor cores, or why those of a call cannot be.
#[derive(Clone, Copy, PartialEq, Debug)]
#[allow(missing_docs, reason = "each variant's sentence says what its fields are")]
pub enum EmulationRefusal {
    NotEmulated,
    NothingToEmulate { emulation: EmulationKind, a: ElementKind, b: ElementKind },
    NotFinite { operand: OperandKind, line: u64 },
    Window { operand: OperandKind, line: u64, outside: u32, nonzero: u32 },
    Captured,
    TooDeep { k: usize, emulation: EmulationKind, most: u64 },
}

/// What a line of an operand is called.
const fn line_name(operand: OperandKind) -> &'static str {
    match operand {
        OperandKind::A => "row ",
        OperandKind::B => "column ",
    }
}

impl EmulationRefusal {
    /// Why a row of A, or a column of B, cannot be scaled, of which these are the facts.
    pub const fn of(operand: OperandKind, line: u32, facts: &LineFacts) -> Self {
        let line = line as u64;
        if facts.is_finite() {
            Self::Window { operand, line, outside: facts.outside, nonzero: facts.nonzero }
        } else {
            Self::NotFinite { operand, line }
        }
    }

    /// The refusal in words.
    pub const fn sentence(&self) -> Sentence {
        let s = Sentence::new();
        match *self {
            Self::NotEmulated => s.say(
                "tensor cores multiply no f32, and emulation = none; emulation = bf16x6 keeps all of it, bf16x3 16 of its 24 bits, f16x3 nearly all within a window of exponents, and elements of tf32 keep 10 bits of fraction",
            ),
            Self::NothingToEmulate { emulation, a, b } => {
                say!(s, "emulation = ", word emulation.name(), " makes parts of f32, and the elements are ", word a.name(), " and ", word b.name(), "; try none")
            }
            Self::NotFinite { operand, line } => {
                say!(s, word line_name(operand), number line, " of ", word operand.name(), " has a number that is not finite, which emulation = f16x3 cannot scale; take emulation = bf16x6")
            }
            Self::Window { operand, line, outside, nonzero } => {
                say!(s, word line_name(operand), number line, " of ", word operand.name(), " has ", number outside, " of ", number nonzero, " numbers more than ", number EmulationKind::WINDOW, " binades below its largest, and emulation = f16x3 takes one in ", number EmulationKind::FEW, "; take emulation = bf16x6")
            }
            Self::Captured => s.say(
                "emulation = f16x3 waits to hear whether the operands fit its window, and a stream that is being captured cannot wait; take emulation = bf16x6",
            ),
            Self::TooDeep { k, emulation, most } => {
                say!(s, "K = ", number k, " with emulation = ", word emulation.name(), " is beyond the largest extent, ", number most)
            }
        }
    }

    /// The same refusal of the problem with A and B in each other's place, and each transposed.
    pub(super) const fn exchange(self) -> Self {
        match self {
            Self::NothingToEmulate { emulation, a, b } => Self::NothingToEmulate { emulation, a: b, b: a },
            Self::NotFinite { operand, line } => Self::NotFinite { operand: operand.other(), line },
            Self::Window { operand, line, outside, nonzero } => Self::Window { operand: operand.other(), line, outside, nonzero },
            same => same,
        }
    }
}
