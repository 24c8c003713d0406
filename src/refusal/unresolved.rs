//! The reason that no kernel has the pinned knobs.

use super::{
    Field, Refusal, Rule,
    sentence::{Names, named},
};
use crate::refusal::const_sentence::Sentence;

/// Number of knobs that a sentence names.
const NAMED: usize = 3;

/// No kernel has the pinned knobs: the refusal of the first kernel that was tried, and the pins
/// that this kernel needs for its refusal.
#[derive(Clone, Copy, PartialEq, Debug, thiserror::Error)]
#[error("{}", self.sentence())]
pub struct Unresolved {
    /// The refusal of the first kernel.
    pub because: Refusal,
    /// JSON names of the pins. None if the kernel is also refused without pins.
    pub knobs: [Option<&'static str>; NAMED],
}

impl Unresolved {
    /// The refusal in words, with the names of knobs.
    pub const fn sentence(&self) -> Sentence {
        self.written(Names::Knobs)
    }

    /// The refusal in words, with the flags of the command line.
    pub const fn sentence_with_flags(&self) -> Sentence {
        self.written(Names::Flags)
    }

    const fn written(&self, names: Names) -> Sentence {
        let s = self.because.written(names);
        let [Some(first), second, third] = self.knobs else { return s };
        // This sentence names the knob.
        if matches!(
            (self.because.rule, self.because.field),
            (Rule::Knob, _) | (Rule::Supported, Field::Mainloop)
        ) {
            return s;
        }
        let s = named(s.push("; no kernel was found with this "), Field::Knob(first), names);
        match (second, third) {
            (None, _) => s,
            (Some(second), None) => named(s.push(" and this "), Field::Knob(second), names),
            (Some(second), Some(third)) => {
                let s = named(s.push(", "), Field::Knob(second), names);
                named(s.push(", and "), Field::Knob(third), names)
            }
        }
    }
}
