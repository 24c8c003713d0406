//! Refusals: the reason that a request is not a kernel, or that a call does not fit.
//!
//! A [`Refusal`] is data: a rule, the field that breaks the rule, its value, the limit, the reason
//! for the limit, and advice. [`Refusal::sentence`] writes the sentence with the names of knobs,
//! for the output of the compiler and for [`Error::Refused`](crate::Error::Refused).
//! [`Refusal::sentence_with_flags`] writes the sentence with the flags of the command line.

mod call;
mod combined;
pub(crate) mod const_sentence;
mod emulation;
mod field;
mod gates;
mod knobs;
mod machine;
mod memory;
mod operand;
mod rule;
pub(crate) mod rules;
mod sentence;
mod swizzle;
mod transform;
mod unresolved;
mod value;

pub use emulation::OperandLine;
pub use field::{Field, IndexEntry, Legal, Malformed, Part, Scalar, Ungathered};
pub use operand::{Operand, Route};
pub use rule::Rule;
pub use unresolved::Unresolved;
pub use value::{Advice, Because, Value};

use crate::shape::framed;
use core::fmt;

/// Returns the refusal of a rule from a `const fn`, in which `?` is not available. Returns the
/// value of a rule that holds.
macro_rules! hold {
    ($rule:expr) => {
        match $rule {
            Ok(value) => value,
            Err(refusal) => return Err(refusal),
        }
    };
}
pub(crate) use hold;

/// The reason that a request is refused, as data.
///
/// ```
/// use falchion::{prelude::*, refusal::{Field, Rule, Value}};
///
/// let (a, b, mut d) = ([1.0f32; 6], [1.0f32; 5], [0.0f32; 4]);
/// let error = Gemm::<f32>::new().run(Arguments::new((2, 2, 3), &a, &b, &mut d)).unwrap_err();
/// let falchion::Error::Refused(refusal) = error else { panic!("{error}") };
/// assert_eq!((refusal.rule, refusal.limit), (Rule::AtLeast, Value::Elements(6)));
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub struct Refusal {
    /// The rule that does not hold.
    pub rule: Rule,
    /// The subject of the rule.
    pub field: Field,
    /// The value of the field.
    pub value: Value,
    /// The limit of the rule.
    pub limit: Value,
    /// The reason for the limit.
    pub because: Because,
    /// A change after which the rule holds.
    pub advice: Advice,
}

impl Refusal {
    pub(crate) const fn new(rule: Rule, field: Field, value: Value, limit: Value) -> Self {
        Self { rule, field, value, limit, because: Because::None, advice: Advice::None }
    }

    /// A refusal of a number, with the nearest number that the rule accepts.
    pub(crate) const fn number(
        rule: Rule,
        field: Field,
        value: u64,
        limit: Value,
        nearest: u64,
    ) -> Self {
        Self::new(rule, field, Value::Number(value), limit)
            .advise(Advice::Value(Value::Number(nearest)))
    }

    /// A refusal of a field that has no value of its own.
    const fn without_value(rule: Rule, field: Field, limit: Value) -> Self {
        Self::new(rule, field, Value::None, limit)
    }

    pub(crate) const fn because(self, because: Because) -> Self {
        Self { because, ..self }
    }

    pub(crate) const fn advise(self, advice: Advice) -> Self {
        Self { advice, ..self }
    }

    /// The nearest number that the rule accepts.
    pub(crate) const fn nearest(&self) -> Option<u64> {
        match self.advice {
            Advice::Value(Value::Number(nearest)) | Advice::ValueOr(nearest, _) => Some(nearest),
            _ => None,
        }
    }

    /// Returns the refusal in the other frame.
    const fn swapped(self) -> Self {
        Self {
            field: self.field.swapped(),
            value: self.value.swapped(),
            limit: self.limit.swapped(),
            because: self.because.swapped(),
            advice: self.advice.swapped(),
            ..self
        }
    }
}

framed!(Refusal, Operand, Field);

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.sentence().as_str())
    }
}

impl std::error::Error for Refusal {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{layout::Order, shape::Frame};

    /// In the other frame, the field, the limit, the reason, and the advice of a refusal refer to
    /// the other operand and the other order.
    #[test]
    fn a_refusal_of_one_frame_is_that_of_the_other_operand() {
        let (a, b, d) = (Operand::A, Operand::B, Operand::D);
        let (row, col) = (Order::Row, Order::Col);
        for (of_kernel, of_user) in [
            (Refusal::copy_width(a, 2, 2, None), Refusal::copy_width(b, 2, 2, None)),
            (Refusal::copy_not_whole(b, 8, 4, 4, None), Refusal::copy_not_whole(a, 8, 4, 4, None)),
            (Refusal::leading_dimension(a, 5, 6, row), Refusal::leading_dimension(b, 5, 6, col)),
            (Refusal::strides(d, [1, 4], Some(row)), Refusal::strides(d, [4, 1], Some(col))),
            (Refusal::array_length(b, 2, 3), Refusal::array_length(a, 2, 3)),
            (Refusal::missing_operand(a), Refusal::missing_operand(b)),
        ] {
            assert_eq!(of_kernel.leave(Frame::SWAPPED), of_user, "{of_kernel}");
        }
    }
}
