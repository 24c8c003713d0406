//! Combinations of element types, in the words of a refusal.

use crate::{
    arch::OpKind,
    numeric::{Combined, ElementKind},
    refusal::const_sentence::{Sentence, append},
};

impl Combined {
    /// Whether another combination has the same A, B, and accumulator.
    pub(super) const fn differ_in_output(self, other: Self) -> bool {
        self.a.is(other.a) && self.b.is(other.b) && self.accumulator.is(other.accumulator)
    }

    /// The element types that D may have with this A, B, and accumulator on any units.
    pub(super) const fn outputs_said_by(self, mut s: Sentence) -> Sentence {
        let (mut i, mut said, count) = (0, 0, self.outputs());
        while i < ElementKind::ALL.len() {
            let with = Self { c: ElementKind::ALL[i], ..self };
            if with.is_of_any() {
                let before = match (said, count) {
                    (0, _) => "",
                    (1, 2) => " or ",
                    (said, count) if said + 1 == count => ", or ",
                    _ => ", ",
                };
                (s, said) = (s.push(before).push(with.c.name()), said + 1);
            }
            i += 1;
        }
        s
    }

    /// Number of element types that D may have.
    pub(super) const fn outputs(self) -> usize {
        let (mut i, mut count) = (0, 0);
        while i < ElementKind::ALL.len() {
            count += Self { c: ElementKind::ALL[i], ..self }.is_of_any() as usize;
            i += 1;
        }
        count
    }

    pub(super) const fn is_of_any(self) -> bool {
        self.is_of(OpKind::Simt) || self.is_of(OpKind::TensorOp)
    }

    pub(super) const fn append_to(self, s: Sentence) -> Sentence {
        append!(s, word self.a.name(), " by ", word self.b.name(), " accumulating in ", word self.accumulator.name(), " into ", word self.c.name())
    }
}
