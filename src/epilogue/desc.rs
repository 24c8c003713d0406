//! An epilogue, as a value: its tree in postfix order.

use super::function::NodeId;
use crate::operand::{VectorKind, framed};
use crate::refusal::{Malformed, Refusal, Scalar};

/// Nodes that a tree can have.
pub const CAPACITY: usize = 32;

/// Scalars that a tree can read: alpha, beta, and six of the user's.
pub const SCALARS: usize = 8;

/// One node.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    /// No node: beyond the end.
    Nop,
    /// The accumulator.
    Accumulator,
    /// The element of C.
    Source,
    /// The element of a vector.
    Vector(VectorKind),
    /// A scalar argument: 0 is alpha, 1 is beta.
    Scalar(u8),
    /// A whole number.
    Constant(i32),
    /// The sum of the two nodes before.
    Add,
    /// Their product.
    Multiply,
    /// Their product; 0 where the first, a scalar, is 0.
    Scale,
    /// The lesser of the two nodes before.
    Minimum,
    /// The greater.
    Maximum,
    /// The node before, or 0 where it is negative.
    Relu,
    /// A user's function of the node before.
    User(NodeId),
}

impl Op {
    /// Nodes that this one takes.
    pub const fn arity(self) -> usize {
        match self {
            Self::Nop
            | Self::Accumulator
            | Self::Source
            | Self::Vector(_)
            | Self::Scalar(_)
            | Self::Constant(_) => 0,
            Self::Relu | Self::User(_) => 1,
            Self::Add | Self::Multiply | Self::Scale | Self::Minimum | Self::Maximum => 2,
        }
    }
}

/// The tree in postfix order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct EpilogueDesc {
    ops: [Op; CAPACITY],
    length: u8,
    overflowed: bool,
}

impl EpilogueDesc {
    /// A tree of one node.
    pub const fn leaf(op: Op) -> Self {
        let mut ops = [Op::Nop; CAPACITY];
        ops[0] = op;
        Self { ops, length: 1, overflowed: false }
    }

    /// The tree with a node on top.
    pub const fn then(mut self, op: Op) -> Self {
        if (self.length as usize) < CAPACITY {
            self.ops[self.length as usize] = op;
            self.length += 1;
        } else {
            self.overflowed = true;
        }
        self
    }

    /// Two trees under one node.
    pub const fn join(mut self, right: Self, op: Op) -> Self {
        let mut i = 0;
        while i < right.length as usize {
            self = self.then(right.ops[i]);
            i += 1;
        }
        self.overflowed |= right.overflowed;
        self.then(op)
    }

    /// The nodes, in postfix order.
    pub const fn ops(&self) -> &[Op] {
        self.ops.split_at(self.length as usize).0
    }

    /// Whether C is a node.
    pub const fn has_source(&self) -> bool {
        let mut i = 0;
        while i < self.ops().len() {
            if matches!(self.ops()[i], Op::Source) {
                return true;
            }
            i += 1;
        }
        false
    }

    /// The same epilogue of the transposed product: a value a row is one a column there.
    pub(crate) const fn swapped(mut self) -> Self {
        let mut i = 0;
        while i < self.length as usize {
            if let Op::Vector(kind) = self.ops[i] {
                self.ops[i] = Op::Vector(kind.swapped());
            }
            i += 1;
        }
        self
    }

    /// Whether the nodes are one expression.
    pub const fn check(&self) -> Result<(), Refusal> {
        if self.overflowed {
            return Err(Refusal::Epilogue { why: Malformed::TooLong });
        }
        let ops = self.ops();
        let (mut i, mut depth) = (0, 0);
        while i < ops.len() {
            match ops[i] {
                Op::Nop => return Err(Refusal::Epilogue { why: Malformed::Hole }),
                Op::Scalar(slot) if slot as usize >= SCALARS => {
                    return Err(Refusal::Epilogue { why: Malformed::ScalarBeyond });
                }
                _ => {}
            }
            if depth < ops[i].arity() {
                return Err(Refusal::Epilogue { why: Malformed::NoOperand });
            }
            if matches!(ops[i], Op::Scale) && self.scale_of(i).is_none() {
                return Err(Refusal::Epilogue { why: Malformed::ScaledByNoScalar });
            }
            depth = depth + 1 - ops[i].arity();
            i += 1;
        }
        if depth != 1 {
            return Err(Refusal::Epilogue { why: Malformed::NotOneResult });
        }
        Ok(())
    }

    /// The slot of the scalar that the `Scale` at `at` scales by, when it is a scalar.
    pub(super) const fn scale_of(&self, at: usize) -> Option<usize> {
        let (mut missing, mut i) = (1, at);
        while missing > 0 && i > 0 {
            i -= 1;
            missing = missing - 1 + self.ops[i].arity();
        }
        match self.ops[i.saturating_sub(1)] {
            Op::Scalar(slot) if i > 0 => Some(slot as usize % SCALARS),
            _ => None,
        }
    }
}

framed!(EpilogueDesc);

/// The name of a scalar, as arguments and expressions spell it.
pub(crate) const fn scalar_name(slot: u8) -> &'static str {
    Scalar(slot).name()
}

/// The slot of a scalar's name.
pub(crate) fn scalar_slot(name: &str) -> Option<u8> {
    (0..SCALARS as u8).find(|&slot| scalar_name(slot) == name)
}
