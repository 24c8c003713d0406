//! Why nothing completes what is pinned.

use super::{Refusal, Word};
use crate::sentence::Sentence;
use core::fmt;

/// Flags that are named.
const FLAGS: usize = 3;

/// No kernel was found that has what is pinned: why, of the first that was tried, and the fewest pins of which it is true.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Unresolved {
    because: Refusal,
    flags: [Option<Word>; FLAGS],
}

impl Unresolved {
    /// What is refused without a pin, too, has no flag.
    pub(crate) const fn of(because: Refusal, flags: [Option<Word>; FLAGS]) -> Self {
        Self { because, flags }
    }

    /// The refusal in words, and the flags of the pins.
    pub const fn sentence(&self) -> Sentence {
        let s = self.because.sentence();
        let [Some(first), second, third] = self.flags else { return s };
        // That sentence names its flag.
        if matches!(self.because, Refusal::OtherFamilysKnob { .. } | Refusal::OtherMainloop { .. }) {
            return s;
        }
        let s = s.say("; no kernel was found with this ").say(first.0);
        match (second, third) {
            (None, _) => s,
            (Some(second), None) => s.say(" and this ").say(second.0),
            (Some(second), Some(third)) => s.say(", ").say(second.0).say(" and ").say(third.0),
        }
    }
}

impl fmt::Display for Unresolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.sentence().as_str())
    }
}

impl std::error::Error for Unresolved {}
