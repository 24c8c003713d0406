//! Advice that names a main loop. A `const fn` cannot join texts, so each text is in a table with
//! one entry per main loop.

use crate::{
    refusal::{Refusal, const_sentence::Sentence},
    threadblock::MainloopKind,
};

/// Texts by the index of the main loop.
type Texts = [Sentence; MainloopKind::ALL.len()];

/// Returns the texts with the name of each main loop, and with its number of stages if it is fixed.
const fn texts(before: &str, with_stages: bool, after: &str) -> Texts {
    let (mut texts, mut i) = ([Sentence::new(); MainloopKind::ALL.len()], 0);
    while i < texts.len() {
        let text =
            Sentence::new().push(before).push("mainloop = ").push(MainloopKind::ALL[i].name());
        texts[i] = match MainloopKind::ALL[i].fixed_stages() {
            Some(stages) if with_stages => text.push(" with stages = ").number(stages as u64),
            _ => text,
        }
        .push(after);
        i += 1;
    }
    texts
}

impl MainloopKind {
    /// Returns the main loop that replaces one with a producer.
    pub(crate) const fn without_producer() -> Self {
        match Self::with_stages(None) {
            Some(ring) => ring,
            None => Self::THROUGH_REGISTERS[0],
        }
    }

    /// Returns the refusal of a program of one schedule.
    pub(crate) const fn needs_roles(self) -> Refusal {
        Refusal::warp_specialized(self.name(), Self::without_producer().name())
    }

    /// Returns the advice to use a main loop that transforms operands.
    pub(crate) const fn advice_to_transform() -> &'static str {
        static TEXT: Sentence = {
            let (mut text, mut i) = (Sentence::new().push("try mainloop = "), 0);
            while i < MainloopKind::TRANSFORMS.len() {
                text = text.push(if i > 0 { " or " } else { "" });
                text = text.push(MainloopKind::TRANSFORMS[i].name());
                i += 1;
            }
            text
        };
        TEXT.as_str()
    }

    /// Returns the advice to use this main loop.
    pub(crate) const fn advice(self) -> &'static str {
        static TEXTS: Texts = texts("", false, "");
        TEXTS[self as usize].as_str()
    }

    /// Returns the advice to use this main loop, which needs sm80.
    pub(crate) const fn advice_from_sm80(self) -> &'static str {
        static TEXTS: Texts = texts("", false, " on sm80 and newer");
        TEXTS[self as usize].as_str()
    }

    /// Returns the advice to use sm80 or this main loop.
    pub(crate) const fn advice_or_sm80(self) -> &'static str {
        static TEXTS: Texts = texts("try arch = sm80, or ", true, "");
        TEXTS[self as usize].as_str()
    }

    /// Returns the advice to use this main loop or another emulation.
    pub(crate) const fn advice_or_emulation(self, in_registers: bool) -> &'static str {
        static IN_REGISTERS: Texts = texts("try ", false, ", or emulation = bf16x6");
        static BY_A_PASS: Texts = texts("try ", false, " on sm90, or emulation = tf32x3");
        let texts = if in_registers { &IN_REGISTERS } else { &BY_A_PASS };
        texts[self as usize].as_str()
    }

    /// Returns the advice to change the layout or to use this main loop.
    pub(crate) const fn advice_or_layout(self) -> &'static str {
        static TEXTS: Texts = texts("use another layout of shared memory, or ", false, "");
        TEXTS[self as usize].as_str()
    }
}
