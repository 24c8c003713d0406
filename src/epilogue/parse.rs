//! Parser of epilogue expressions: `relu(alpha * acc + beta * c)`.
//!
//! The parser is a `const fn`, so the macro [`epilogue!`](crate::epilogue!) reads a formula while
//! the user's crate compiles, with the grammar of the command line and of JSON.

mod reader;

use super::{desc::EpilogueDesc, math::MathFunction};
use crate::{
    layout::algebra::parse::pointed,
    numeric::ElementKind,
    refusal::{Refusal, const_sentence::Sentence},
    shape::EpilogueOperand,
};
use core::{fmt, str::FromStr};

/// Error of parsing an epilogue: position and reason.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseEpilogueError {
    /// Text that was parsed.
    pub text: String,
    /// Byte offset of the error in the text.
    pub at: usize,
    /// Reason.
    pub why: String,
}

impl fmt::Display for ParseEpilogueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the epilogue is not an expression: {}\n{}",
            self.why,
            pointed(&self.text, self.at)
        )
    }
}

impl std::error::Error for ParseEpilogueError {}

/// Grammar of epilogue expressions such as `relu(alpha * acc + beta * c)`:
///
/// ```text
/// block   = { name "=" sum ";" } [ name "=" ] sum      names a value for the text behind it; aux1 "=" sum also writes the matrix
/// sum     = product { ("+" | "-") product }
/// product = factor { ("*" | "/") factor }    alpha * x is Scaled: 0 where alpha is 0; any other product is plain
/// factor  = number | "-" factor | name | operand [ ":" type ] | name "(" block { "," block } ")" | "(" block ")"
/// ```
///
/// Numbers have at most 19 digits and a magnitude from 1e-20 to 1e20. Names are `acc`, `alpha`,
/// `beta`, and `s2` to `s7`. With a gate, `gate` and `up` replace `acc`: `silu(gate) * up`.
/// Operands are `c` (also `source`), the vectors `bias_m`, `bias_n`, `scale_m`, and `scale_n`, and
/// the matrices `aux1` to `aux4`. An operand has D's element type, or the type after its name:
/// `bias_n:f32`. `amax(x)`, `row_amax(x)`, and `col_amax(x)` return `x`, and write the maximum
/// absolute value of `x`. `alpha_ptr` and `beta_ptr` are scalars in memory. The functions are
/// `clamp(x, low, high)`, and each [`MathFunction`] by its name, such as `min(x, y)`.
/// `leaky_relu(x)` has a slope of 0.01. A [registered](super::register) user function is `user_`
/// followed by its [`NodeId`](super::NodeId): 16 hexadecimal digits, as the identifier prints.
impl FromStr for EpilogueDesc {
    type Err = ParseEpilogueError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::parsed(text, &[]).map_err(|fault| ParseEpilogueError {
            text: text.to_owned(),
            at: fault.at,
            why: match fault.why {
                Why::Words(words) => words.to_owned(),
                Why::Refused(refusal) => refusal.to_string(),
                Why::Name(length) => unknown(&text[fault.at..fault.at + length]),
                Why::ElementType => {
                    let names = ElementKind::ALL.map(ElementKind::name).join(", ");
                    format!("an element type was expected here: {names}")
                }
            },
        })
    }
}

/// Returns the sentence about an unknown name.
fn unknown(name: &str) -> String {
    format!(
        "`{name}` is not known; names are acc, {}, gate, up, alpha, beta, s2 .. s7, {}, clamp, user_ with the id of a function of yours, and names that `name = ..;` defines before",
        EpilogueOperand::ALL.map(EpilogueOperand::name).join(", "),
        MathFunction::ALL.iter().map(|one| one.name()).collect::<Vec<_>>().join(", ")
    )
}

/// Position of an error, and its reason.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fault {
    at: usize,
    why: Why,
}

/// Reason of an error.
#[derive(Clone, Copy, Debug)]
enum Why {
    Words(&'static str),
    Refused(Refusal),
    /// The name of this length is unknown.
    Name(usize),
    ElementType,
}

impl Fault {
    /// Returns the reason and the position as a sentence, for messages of the compiler.
    pub(crate) const fn sentence(&self) -> Sentence {
        let s = Sentence::new().push("the epilogue is not an expression: ");
        let s = match self.why {
            Why::Words(words) => s.push(words),
            Why::Refused(refusal) => s.push(refusal.sentence().as_str()),
            Why::Name(_) => s.push("the name is not known"),
            Why::ElementType => s.push("an element type was expected here"),
        };
        s.push(", at byte ").number(self.at as u64)
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for EpilogueDesc {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for EpilogueDesc {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}
