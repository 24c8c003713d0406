//! Refusals of what an MMA multiplies: transforms in registers, and unlike operands.

use super::{Advice, Because, Field, Refusal, Rule, Value};
use crate::{
    numeric::{ElementKind, Multiplied, TransformId},
    shape::OperandKind,
};

/// Transforms.
#[doc(hidden)]
impl Refusal {
    /// The process has no transform with the identifier.
    pub const fn unknown_transform(operand: OperandKind, id: TransformId) -> Self {
        Self::new(Rule::Registered, Field::Transform(operand), Value::Transform(id), Value::None)
            .advise(Advice::Words("call numeric::register_transform first"))
    }

    /// The transform of 0 is another number.
    pub const fn transform_of_zero(operand: OperandKind, name: &'static str, zero: f64) -> Self {
        Self::new(
            Rule::Supported,
            Field::Transform(operand),
            Value::Word(name),
            Value::Word("k-tiles"),
        )
        .because(Because::Zero(zero))
        .advise(Advice::Words("use a transform that maps 0 to 0"))
    }

    /// The transform reads another element type than that of the operand.
    pub const fn transform_of_other_type(
        operand: OperandKind,
        id: TransformId,
        stored: ElementKind,
    ) -> Self {
        let limit = Value::Element(stored);
        Self::new(Rule::Supported, Field::Transform(operand), Value::Transform(id), limit)
            .because(Because::Words("the transform has another stored type"))
            .advise(Advice::Words("use a transform whose Stored is the operand's element type"))
    }

    /// The MMA or the main loop cannot apply or multiply the transform's result.
    pub const fn transform_of_others(
        operand: OperandKind,
        id: TransformId,
        kernel: &'static str,
        why: &'static str,
        advice: &'static str,
    ) -> Self {
        let limit = Value::Word(kernel);
        Self::new(Rule::Supported, Field::Transform(operand), Value::Transform(id), limit)
            .because(Because::Words(why))
            .advise(Advice::Words(advice))
    }

    /// The MMA multiplies A and B as different types, or as different numbers of terms.
    pub const fn unlike_operands(a: Multiplied, b: Multiplied, [x, y]: [ElementKind; 2]) -> Self {
        let what = Self::new(
            Rule::Alike,
            Field::MultipliedType(OperandKind::A),
            Value::Element(x),
            Value::Element(y),
        );
        let what = match x.is(y) {
            true => Self { value: Value::Terms(a.terms()), limit: Value::Terms(b.terms()), ..what },
            false => what,
        };
        what.because(Because::Words("an instruction multiplies one type and one number of terms"))
            .advise(Advice::Words(
                "pin the emulation of both operands, or transform_a and transform_b",
            ))
    }
}
