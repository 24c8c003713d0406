//! Why nothing completes what is pinned.

use super::{Refusal, Word};
use crate::sentence::Sentence;

/// Flags that are named.
const FLAGS: usize = 3;

/// No kernel was found that has what is pinned: why, of the first that was tried, and pins none of
/// which can be left out of that.
#[derive(Clone, Copy, PartialEq, Debug, thiserror::Error)]
#[error("{}", self.sentence())]
pub struct Unresolved {
    pub(crate) because: Refusal,
    /// None of what is refused without a pin, too.
    pub(crate) flags: [Option<Word>; FLAGS],
}

impl Unresolved {
    /// The refusal in words, and the flags of the pins.
    pub const fn sentence(&self) -> Sentence {
        let s = self.because.sentence();
        let [Some(first), second, third] = self.flags else { return s };
        // That sentence names its flag.
        if matches!(
            self.because,
            Refusal::OtherFamilysKnob { .. }
                | Refusal::KnobOfOtherUnits { .. }
                | Refusal::OtherMainloop { .. }
        ) {
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
