//! Checks of epilogue trees.

use super::{
    desc::{EpilogueDesc, LOCALS, MOST_OPERANDS, Op, SCALARS},
    math::MathFunction,
};
use crate::{
    numeric::{ComputeKind, ElementKind},
    refusal::{Malformed, Refusal},
    shape::EpilogueOperand,
};

impl EpilogueDesc {
    /// Checks that the nodes form one expression.
    ///
    /// # Errors
    /// [`Refusal`] in each of these cases:
    ///
    /// - The tree has too many nodes or operands, an empty node, or an unknown scalar.
    /// - A node has no operands, or a scale factor is not a scalar.
    /// - The tree has no result, or several.
    /// - An operand has two element types, or C or a reduction has a type of its own.
    /// - An operand is read and written, or written twice. C or a vector is written, or a reduction
    ///   is read.
    /// - The tree contains only one accumulator of a gate, or other accumulators too.
    /// - A value has no definition before it, or slots are not in the order of definitions.
    pub const fn check(&self) -> Result<(), Refusal> {
        if self.overflowed {
            return Err(Refusal::epilogue(Malformed::TooLong));
        }
        let ops = self.ops();
        let (mut i, mut depth, mut count) = (0, 0, 1);
        let mut elements = [None; EpilogueOperand::COUNT];
        let mut named = 0;
        while i < ops.len() {
            match ops[i] {
                Op::Operand(operand, element) | Op::Write(operand, element) => {
                    let is_source = operand.is(EpilogueOperand::Source);
                    if is_source && element.is_some() {
                        return Err(Refusal::epilogue(Malformed::TypeOfSource));
                    }
                    if operand.is_reduction() && element.is_some() {
                        return Err(Refusal::epilogue(Malformed::TypeOfReduction));
                    }
                    let possible = match ops[i] {
                        Op::Write(..) => operand.is_result(),
                        _ => !operand.is_reduction(),
                    };
                    if !possible {
                        return Err(Refusal::epilogue(Malformed::NotAResult));
                    }
                    if elements[operand.index()].is_some() && self.writes(operand) {
                        return Err(Refusal::epilogue(Malformed::WrittenTwice));
                    }
                    let code = Some(match element {
                        Some(kind) => kind as u8 + 1,
                        None => 0,
                    });
                    match (elements[operand.index()], code) {
                        (None, _) if is_source => {}
                        (None, _) => count += 1,
                        (Some(one), Some(other)) if one != other => {
                            return Err(Refusal::epilogue(Malformed::TwoTypes));
                        }
                        _ => {}
                    }
                    elements[operand.index()] = code;
                }
                Op::Nop => return Err(Refusal::epilogue(Malformed::Hole)),
                Op::Scalar(slot) if slot as usize >= SCALARS => {
                    return Err(Refusal::epilogue(Malformed::ScalarBeyond));
                }
                Op::Let(slot) if slot as usize >= LOCALS => {
                    return Err(Refusal::epilogue(Malformed::TooManyValues));
                }
                Op::Let(slot) if slot != named => {
                    return Err(Refusal::epilogue(Malformed::NotInOrder));
                }
                Op::Let(_) => named += 1,
                Op::Local(slot) if slot >= named => {
                    return Err(Refusal::epilogue(Malformed::NoDefinition));
                }
                _ => {}
            }
            if depth < ops[i].arity() {
                return Err(Refusal::epilogue(Malformed::NoOperand));
            }
            let scaled = matches!(ops[i], Op::Scale);
            if scaled && self.scale_of(i).is_none() && !self.scales_by_memory(i) {
                return Err(Refusal::epilogue(Malformed::ScaledByNoScalar));
            }
            if matches!(ops[i], Op::Then) && !matches!(ops[self.root_before(i)], Op::Let(_)) {
                return Err(Refusal::epilogue(Malformed::NotNamed));
            }
            depth = depth + 1 - ops[i].arity();
            i += 1;
        }
        if count > MOST_OPERANDS {
            return Err(Refusal::epilogue(Malformed::TooManyOperands));
        }
        if depth != 1 {
            return Err(Refusal::epilogue(Malformed::NotOneResult));
        }
        self.check_gates()
    }

    /// Returns the first operand with 8-bit floating-point elements, which need instructions of
    /// sm_89.
    pub(crate) const fn fp8_operand(&self) -> Option<(EpilogueOperand, ElementKind)> {
        let mut i = 0;
        while i < self.ops().len() {
            if let Op::Operand(operand, Some(element)) | Op::Write(operand, Some(element)) =
                self.ops()[i]
                && element.is_fp8()
            {
                return Some((operand, element));
            }
            i += 1;
        }
        None
    }

    /// Returns the first operand with an element type of its own that an epilogue of a compute type
    /// cannot read.
    pub(crate) const fn unreadable(
        &self,
        compute: ComputeKind,
    ) -> Option<(EpilogueOperand, ElementKind)> {
        let mut i = 0;
        while i < self.ops().len() {
            if let Op::Operand(operand, Some(element)) | Op::Write(operand, Some(element)) =
                self.ops()[i]
                && !compute.reads(element)
            {
                return Some((operand, element));
            }
            i += 1;
        }
        None
    }

    /// Returns the first mathematical function that a compute type does not have.
    #[doc(hidden)]
    pub const fn not_computed_in(&self, compute: ComputeKind) -> Option<MathFunction> {
        let mut i = 0;
        while i < self.ops().len() {
            if let Op::Math(function) = self.ops()[i]
                && !function.computes_in(compute)
            {
                return Some(function);
            }
            i += 1;
        }
        None
    }

    /// Returns whether an epilogue of integers can compute the tree: every constant is a whole
    /// number, integers have every function, every operand is an integer, and there is no
    /// reduction. The type of a reduction must not depend on the scalars of a call.
    pub(crate) const fn computes_in_integers(&self) -> bool {
        let mut i = 0;
        while i < self.ops().len() {
            if let Op::Write(operand, _) = self.ops()[i]
                && operand.is_reduction()
            {
                return false;
            }
            if let Op::Constant(x) = self.ops()[i]
                && !x.is_integer()
            {
                return false;
            }
            i += 1;
        }
        self.not_computed_in(ComputeKind::I32).is_none()
            && self.unreadable(ComputeKind::I32).is_none()
    }
}
