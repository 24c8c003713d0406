//! The sentence of a refusal: field, value, rule, limit, reason, and advice.

use super::{Advice, Field, Refusal, Rule, Value};
use crate::refusal::const_sentence::{Sentence, append};

/// The names of knobs in a sentence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Names {
    /// `stages`, as in Rust and in JSON.
    Knobs,
    /// `--stages`, as on the command line.
    Flags,
}

impl Names {
    /// The sign between a knob and its value.
    const fn equals(self) -> &'static str {
        match self {
            Self::Knobs => " = ",
            Self::Flags => " ",
        }
    }
}

impl Refusal {
    /// The refusal in words, with the names of knobs.
    pub const fn sentence(&self) -> Sentence {
        self.written(Names::Knobs)
    }

    /// The refusal in words, with the flags of the command line.
    pub const fn sentence_with_flags(&self) -> Sentence {
        self.written(Names::Flags)
    }

    /// Writes the sentence.
    pub(super) const fn written(&self, names: Names) -> Sentence {
        // A range of one number is that number.
        let (rule, limit) = match (self.rule, self.limit) {
            (Rule::Within, Value::Range(least, most)) if least == most => {
                (Rule::Equal, Value::Number(most))
            }
            other => other,
        };
        let s = Sentence::new();
        let s = match (rule, self.field, self.value) {
            // Element types are the object of this sentence.
            (Rule::Multiplied, _, types) => append!(s, word rule.name(), " ", of types),
            (_, field, Value::None) => append!(named(s, field, names), " ", word rule.name()),
            (_, field, value) => {
                let equals = if field.knob().is_some() { names.equals() } else { " = " };
                append!(named(s, field, names), word equals, of value, " ", word rule.name())
            }
        };
        let s = match limit {
            Value::None => s,
            limit => append!(s, " ", of limit),
        };
        self.advised(self.because.append_to(s), names)
    }

    /// Appends the advice.
    const fn advised(&self, s: Sentence, names: Names) -> Sentence {
        match self.advice {
            Advice::None => s,
            Advice::Value(value) => append!(s, "; try ", of value),
            Advice::Other(field, value) => {
                append!(named(s.push("; try "), field, names), word names.equals(), of value)
            }
            Advice::Words(words) => append!(s, "; ", word words),
            Advice::OtherOr(field, value, words) => {
                let s = named(s.push("; try "), field, names);
                append!(s, word names.equals(), number value, ", or ", word words)
            }
            Advice::ValueOr(nearest, words) => {
                append!(s, "; try ", number nearest, ", or ", word words)
            }
        }
    }
}

/// Appends the name of a field: the name or the flag of a knob, or words.
pub(super) const fn named(s: Sentence, field: Field, names: Names) -> Sentence {
    match (field.knob(), names) {
        (Some(knob), Names::Knobs) => s.push(knob),
        (Some(knob), Names::Flags) => s.flag(knob),
        (None, _) => field.append_to(s),
    }
}
