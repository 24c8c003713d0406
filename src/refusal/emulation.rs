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
    OfOthers { emulation: EmulationKind },
    NothingToEmulate { emulation: EmulationKind, a: ElementKind, b: ElementKind },
    NotFinite { line: OperandLine },
    Window { line: OperandLine, outside: u32, nonzero: u32 },
    Captured,
    TooDeep { k: usize, emulation: EmulationKind, most: u64 },
}

/// A row of A, or a column of B.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct OperandLine {
    /// Of which operand.
    pub operand: OperandKind,
    /// Which product's, where each has its own.
    pub product: Option<u32>,
    /// Its number.
    pub number: u32,
}

impl OperandLine {
    const fn said_by(self, s: Sentence) -> Sentence {
        let line = match self.operand {
            OperandKind::A => "row ",
            OperandKind::B => "column ",
        };
        let s = say!(s, word line, number self.number, " of ", word self.operand.name());
        if let Some(product) = self.product { say!(s, " of product ", number product) } else { s }
    }

    const fn swapped(self) -> Self {
        Self { operand: self.operand.other(), ..self }
    }
}

impl EmulationRefusal {
    /// Why a line cannot be scaled, of which these are the facts.
    pub const fn of(line: OperandLine, facts: &LineFacts) -> Self {
        if facts.is_finite() {
            Self::Window { line, outside: facts.outside, nonzero: facts.nonzero }
        } else {
            Self::NotFinite { line }
        }
    }

    /// The refusal in words.
    pub const fn sentence(&self) -> Sentence {
        let s = Sentence::new();
        match *self {
            Self::NotEmulated => s.say(
                "tensor cores multiply no f32, and emulation = none; emulation = bf16x6 keeps all of it, bf16x3 16 of its 24 bits, f16x3 nearly all within a window of exponents, tf32x3 by mma.sync 22 bits, and elements of tf32 keep 10 bits of fraction",
            ),
            Self::OfOthers { emulation } if emulation.in_registers() => {
                say!(s, "emulation = ", word emulation.name(), " is made in registers, by mma.sync, and the main loop is warpspecialized; take --mainloop multistage, or emulation = bf16x6")
            }
            Self::OfOthers { emulation } => {
                say!(s, "emulation = ", word emulation.name(), " decomposes operands in memory, for the warpspecialized main loop of sm90, and this is mma.sync; take emulation = tf32x3")
            }
            Self::NothingToEmulate { emulation, a, b } => {
                say!(s, "emulation = ", word emulation.name(), " makes parts of f32, and the elements are ", word a.name(), " and ", word b.name(), "; take elements of f32, or emulation = none")
            }
            Self::NotFinite { line } => {
                say!(s, of line, " has a number that is not finite, which emulation = f16x3 cannot scale; take emulation = bf16x6")
            }
            Self::Window { line, outside, nonzero } => {
                say!(s, of line, " has ", number outside, " of ", number nonzero, " numbers more than ", number EmulationKind::WINDOW, " binades below its largest, and emulation = f16x3 takes one in ", number EmulationKind::FEW, "; take emulation = bf16x6")
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
    pub(super) const fn swapped(self) -> Self {
        match self {
            Self::NothingToEmulate { emulation, a, b } => {
                Self::NothingToEmulate { emulation, a: b, b: a }
            }
            Self::NotFinite { line } => Self::NotFinite { line: line.swapped() },
            Self::Window { line, outside, nonzero } => {
                Self::Window { line: line.swapped(), outside, nonzero }
            }
            same => same,
        }
    }
}
