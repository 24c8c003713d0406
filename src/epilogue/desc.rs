//! Epilogue as a value: its expression tree in postfix order.

use super::{constant::Real, function::NodeId, math::MathFunction};
use crate::{
    numeric::{ComputeKind, ElementKind},
    refusal::{Malformed, Refusal, Scalar},
    shape::{EpilogueOperand, EpilogueOperands, framed},
};

/// Maximum number of nodes per tree.
pub const CAPACITY: usize = 32;

/// Maximum number of scalars that a tree can read: alpha, beta, and six user scalars.
pub const SCALARS: usize = 8;

/// Maximum number of operands that a tree can read, including C.
pub const MOST_OPERANDS: usize = 6;

/// Maximum number of named values per tree.
pub const LOCALS: usize = 8;

/// Node of an epilogue tree.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    /// Padding beyond the end of the tree.
    Nop,
    /// Accumulator.
    Accumulator,
    /// Accumulator of the gate's column, in an epilogue of pairs of columns.
    Gate,
    /// Accumulator of the column that the gate multiplies.
    Up,
    /// Element of an operand with the given element type, or with D's type if `None`.
    Operand(EpilogueOperand, Option<ElementKind>),
    /// Scalar argument: 0 is alpha, 1 is beta.
    Scalar(u8),
    /// Constant.
    Constant(Real),
    /// Value that a previous [`Let`](Self::Let) named.
    Local(u8),
    /// The previous node, which gets the name of a slot.
    Let(u8),
    /// The last of the two previous nodes. The first one defines values.
    Then,
    /// Product of the two previous nodes; 0 if the first, a scalar, is 0.
    Scale,
    /// Mathematical function of the previous node, or of the two previous nodes.
    Math(MathFunction),
    /// User function of the previous node.
    User(NodeId),
    /// User function of the two previous nodes.
    UserBinary(NodeId),
}

impl Op {
    /// Element of C.
    pub const SOURCE: Self = Self::Operand(EpilogueOperand::Source, None);
    /// Sum of the two previous nodes.
    pub const ADD: Self = Self::Math(MathFunction::Add);
    /// Product of the two previous nodes.
    pub const MULTIPLY: Self = Self::Math(MathFunction::Multiply);

    /// Returns a constant that is a whole number.
    pub const fn integer(x: i32) -> Self {
        Self::Constant(Real::from_integer(x))
    }

    /// Returns the user function of the node, if it is one.
    pub const fn user(self) -> Option<NodeId> {
        match self {
            Self::User(id) | Self::UserBinary(id) => Some(id),
            _ => None,
        }
    }

    /// Returns the number of operands.
    pub const fn arity(self) -> usize {
        match self {
            Self::Nop
            | Self::Accumulator
            | Self::Gate
            | Self::Up
            | Self::Operand(..)
            | Self::Scalar(_)
            | Self::Constant(_)
            | Self::Local(_) => 0,
            Self::Math(function) => function.arity(),
            Self::User(_) | Self::Let(_) => 1,
            Self::UserBinary(_) | Self::Scale | Self::Then => 2,
        }
    }
}

/// Epilogue tree in postfix order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct EpilogueDesc {
    ops: [Op; CAPACITY],
    length: u8,
    overflowed: bool,
}

impl EpilogueDesc {
    /// Returns a tree with a single node.
    pub const fn leaf(op: Op) -> Self {
        let mut ops = [Op::Nop; CAPACITY];
        ops[0] = op;
        Self { ops, length: 1, overflowed: false }
    }

    /// Returns the tree with a node on top.
    pub const fn then(mut self, op: Op) -> Self {
        if (self.length as usize) < CAPACITY {
            self.ops[self.length as usize] = op;
            self.length += 1;
        } else {
            self.overflowed = true;
        }
        self
    }

    /// Returns the tree that joins two trees under one node.
    pub const fn join(mut self, right: Self, op: Op) -> Self {
        let mut i = 0;
        while i < right.length as usize {
            self = self.then(right.ops[i]);
            i += 1;
        }
        self.overflowed |= right.overflowed;
        self.then(op)
    }

    /// Returns the nodes in postfix order.
    pub const fn ops(&self) -> &[Op] {
        self.ops.split_at(self.length as usize).0
    }

    /// Returns whether the tree contains an operand.
    pub const fn has(&self, operand: EpilogueOperand) -> bool {
        let mut i = 0;
        while i < self.length as usize {
            if let Op::Operand(other, _) = self.ops[i]
                && other.is(operand)
            {
                return true;
            }
            i += 1;
        }
        false
    }

    /// Returns whether the tree contains the accumulator.
    #[doc(hidden)]
    pub const fn has_accumulator(&self) -> bool {
        let mut i = 0;
        while i < self.length as usize {
            if matches!(self.ops[i], Op::Accumulator | Op::Gate | Op::Up) {
                return true;
            }
            i += 1;
        }
        false
    }

    /// Returns whether the tree contains C.
    pub const fn has_source(&self) -> bool {
        self.has(EpilogueOperand::Source)
    }

    /// Returns whether the tree contains alpha, beta, or C. Otherwise a kernel needs no code of its
    /// own for an alpha of 1 and a beta of 0.
    pub(crate) fn reads_alpha_beta_or_c(&self) -> bool {
        self.has_source() || self.ops().iter().any(|op| matches!(op, Op::Scalar(0 | 1)))
    }

    /// Returns the operands of the tree, with the element type of each in a GEMM whose D has
    /// elements of type `d`.
    pub fn operands(&self, d: ElementKind) -> EpilogueOperands<ElementKind> {
        let mut operands = EpilogueOperands::NONE;
        for op in self.ops() {
            if let Op::Operand(operand, element) = *op {
                *operands.slot(operand) = Some(element.unwrap_or(d));
            }
        }
        operands
    }

    /// Returns the position of an operand among the operands of the tree. C has position 0, and the
    /// others follow in the order of [`EpilogueOperand::ALL`]. A kernel's parameters have this
    /// order.
    pub fn position(&self, operand: EpilogueOperand) -> usize {
        let before = EpilogueOperand::ALL[..operand.index()].iter();
        before.filter(|other| other.is(EpilogueOperand::Source) || self.has(**other)).count()
    }

    /// Returns the epilogue of the transposed GEMM, in which vectors along M become vectors along
    /// N.
    pub(crate) const fn swapped(mut self) -> Self {
        let mut i = 0;
        while i < self.length as usize {
            if let Op::Operand(operand, element) = self.ops[i] {
                self.ops[i] = Op::Operand(operand.swapped(), element);
            }
            i += 1;
        }
        self
    }

    /// Checks that the nodes form one expression.
    ///
    /// # Errors
    /// [`Refusal`] in each of these cases:
    ///
    /// - The tree has too many nodes or operands, an empty node, or an unknown scalar.
    /// - A node has no operands, or a scale factor is not a scalar.
    /// - The tree has no result, or several.
    /// - An operand has two element types, or C has a type of its own.
    /// - A value has no definition before it, or slots are not in the order of definitions.
    /// - The tree contains only one accumulator of a gate, or other accumulators too.
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
                Op::Operand(operand, element) => {
                    let is_source = operand.is(EpilogueOperand::Source);
                    if is_source && element.is_some() {
                        return Err(Refusal::epilogue(Malformed::TypeOfSource));
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
            if matches!(ops[i], Op::Scale) && self.scale_of(i).is_none() {
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
        while i < self.length as usize {
            if let Op::Operand(operand, Some(element)) = self.ops[i]
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
        while i < self.length as usize {
            if let Op::Operand(operand, Some(element)) = self.ops[i]
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
        while i < self.length as usize {
            if let Op::Math(function) = self.ops[i]
                && !function.computes_in(compute)
            {
                return Some(function);
            }
            i += 1;
        }
        None
    }

    /// Returns whether an epilogue of integers can compute the tree: every constant is a whole
    /// number, integers have every function, and every operand is an integer.
    pub(crate) const fn computes_in_integers(&self) -> bool {
        let mut i = 0;
        while i < self.length as usize {
            if let Op::Constant(x) = self.ops[i]
                && !x.is_integer()
            {
                return false;
            }
            i += 1;
        }
        self.not_computed_in(ComputeKind::I32).is_none()
            && self.unreadable(ComputeKind::I32).is_none()
    }

    /// Returns the index of the root of the first operand of the binary node at index `at`.
    const fn root_before(&self, at: usize) -> usize {
        let (mut missing, mut i) = (1, at);
        while missing > 0 && i > 0 {
            i -= 1;
            missing = missing - 1 + self.ops[i].arity();
        }
        i.saturating_sub(1)
    }

    /// Returns the scalar slot of the `Scale` node at index `at`, or `None` if its first operand is
    /// not a scalar.
    pub(super) const fn scale_of(&self, at: usize) -> Option<usize> {
        match self.ops[self.root_before(at)] {
            Op::Scalar(slot) => Some(slot as usize % SCALARS),
            _ => None,
        }
    }
}

framed!(EpilogueDesc);

/// Returns the name of a scalar in arguments and expressions.
pub(crate) const fn scalar_name(slot: u8) -> &'static str {
    Scalar(slot).name()
}

/// Returns the slot of a scalar name.
pub(crate) fn scalar_slot(name: &str) -> Option<u8> {
    (0..SCALARS as u8).find(|&slot| scalar_name(slot) == name)
}
