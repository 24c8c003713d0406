//! Epilogue as a value: its expression tree in postfix order.

use super::{constant::Real, function::NodeId, math::MathFunction};
use crate::{
    numeric::{ComputeKind, ElementKind},
    refusal::Scalar,
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
    /// The previous node, whose value the epilogue also writes to an operand: to a matrix with the
    /// given element type, or with D's type if `None`, or to a reduction.
    Write(EpilogueOperand, Option<ElementKind>),
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
            Self::User(_) | Self::Let(_) | Self::Write(..) => 1,
            Self::UserBinary(_) | Self::Scale | Self::Then => 2,
        }
    }
}

/// Epilogue tree in postfix order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct EpilogueDesc {
    ops: [Op; CAPACITY],
    length: u8,
    pub(super) overflowed: bool,
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

    /// Returns whether the tree reads or writes an operand.
    pub const fn has(&self, operand: EpilogueOperand) -> bool {
        let mut i = 0;
        while i < self.length as usize {
            if let Op::Operand(other, _) | Op::Write(other, _) = self.ops[i]
                && other.is(operand)
            {
                return true;
            }
            i += 1;
        }
        false
    }

    /// Returns whether the tree writes an operand.
    pub const fn writes(&self, operand: EpilogueOperand) -> bool {
        let mut i = 0;
        while i < self.length as usize {
            if let Op::Write(other, _) = self.ops[i]
                && other.is(operand)
            {
                return true;
            }
            i += 1;
        }
        false
    }

    /// Returns the operands that the tree writes, in the order of
    /// [`EpilogueOperand::ALL`].
    pub fn written(&self) -> impl Iterator<Item = EpilogueOperand> {
        EpilogueOperand::ALL.into_iter().filter(|operand| self.writes(*operand))
    }

    /// Returns the element types of the matrices that the tree writes beside D, in a GEMM with
    /// the types of [`operands`](Self::operands).
    pub(crate) fn matrices_written(
        &self,
        types: (ComputeKind, ElementKind),
    ) -> impl Iterator<Item = ElementKind> {
        let elements = self.operands(types);
        let matrices = self.written().filter(|operand| !operand.is_reduction());
        matrices.filter_map(move |operand| elements.get(operand).copied())
    }

    /// Returns whether the tree writes a sum.
    pub(crate) const fn has_sums(&self) -> bool {
        let mut i = 0;
        while i < EpilogueOperand::SUMS.len() {
            if self.writes(EpilogueOperand::SUMS[i]) {
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

    /// Returns whether the tree reads alpha.
    pub(crate) fn reads_alpha(&self) -> bool {
        self.ops().contains(&Op::Scalar(0))
    }

    /// Returns the operands of the tree, with the element type of each in a GEMM with a compute
    /// type, whose D has elements of type `d`.
    pub fn operands(
        &self,
        (compute, d): (ComputeKind, ElementKind),
    ) -> EpilogueOperands<ElementKind> {
        let mut operands = EpilogueOperands::NONE;
        for op in self.ops() {
            if let Op::Operand(operand, element) | Op::Write(operand, element) = *op {
                let default = if operand.is_reduction() { compute.element() } else { d };
                *operands.slot(operand) = Some(element.unwrap_or(default));
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
            match self.ops[i] {
                Op::Operand(operand, element) => {
                    self.ops[i] = Op::Operand(operand.swapped(), element);
                }
                Op::Write(operand, element) => {
                    self.ops[i] = Op::Write(operand.swapped(), element);
                }
                _ => {}
            }
            i += 1;
        }
        self
    }

    /// Returns the index of the root of the first operand of the binary node at index `at`.
    pub(super) const fn root_before(&self, at: usize) -> usize {
        let (mut missing, mut i) = (1, at);
        while missing > 0 && i > 0 {
            i -= 1;
            missing = missing - 1 + self.ops[i].arity();
        }
        i.saturating_sub(1)
    }

    /// Returns the matrices whose names are the names of values: `aux1 = x; ..`, by slot.
    pub(super) fn matrices_by_slot(&self) -> [Option<EpilogueOperand>; LOCALS] {
        let mut matrices = [None; LOCALS];
        for (at, _) in self.ops().iter().enumerate().filter(|(_, op)| matches!(op, Op::Then)) {
            let definition = self.root_before(at);
            if let (Op::Let(slot), Some(Op::Write(operand, _))) =
                (self.ops[definition], definition.checked_sub(1).map(|value| self.ops[value]))
                && operand.is_matrix()
            {
                matrices[slot as usize % LOCALS] = Some(operand);
            }
        }
        matrices
    }

    /// Returns whether the first operand of the `Scale` node at index `at` is a scalar in memory.
    pub(super) const fn scales_by_memory(&self, at: usize) -> bool {
        matches!(self.ops[self.root_before(at)], Op::Operand(operand, _) if operand.is_scalar())
    }

    /// Returns whether the `Scale` node at index `at` scales an operand that is not read if the
    /// scalar is 0: the same scalar scales the operand wherever the tree reads it.
    pub(super) fn scales_unread_by_zero(&self, at: usize) -> bool {
        let scaled = |i: usize| match self.ops.get(i.wrapping_sub(1)..i.saturating_add(2)) {
            Some(&[Op::Scalar(slot), Op::Operand(operand, _), Op::Scale]) => Some((slot, operand)),
            _ => None,
        };
        let Some(one) = at.checked_sub(1).and_then(scaled) else { return false };
        let reads = |op: &Op| matches!(op, Op::Operand(operand, _) if *operand == one.1);
        (0..self.ops().len()).filter(|i| reads(&self.ops[*i])).all(|i| scaled(i) == Some(one))
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
