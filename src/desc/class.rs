//! What a product is, whatever computes it.

use crate::{
    arch::{Arch, ArchKind, OpClass, OpKind},
    epilogue::{EpilogueDesc, LinearCombination, Node},
    layout::{Layout, Operands, Order},
    numeric::{Combined, ComputeKind, Element, ElementKind},
    operand::OperandKind,
};

/// An operand that is read: A, an M x K matrix, or B, a K x N matrix.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct OperandClass {
    /// Its elements.
    pub element: ElementKind,
    /// Its layout.
    pub layout: Order,
}

/// What is written: D, and C, which is as D is; M x N matrices.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct OutputClass {
    /// Elements of C and D.
    pub element: ElementKind,
    /// Layout of C and D: row-major, but where A and B have changed places so that A comes from registers.
    pub layout: Order,
    /// What becomes of an accumulator on its way to D.
    pub epilogue: EpilogueDesc,
}

/// What a product is, whatever computes it, in the kernel's frame.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Class {
    /// A.
    pub a: OperandClass,
    /// B.
    pub b: OperandClass,
    /// C and D.
    pub output: OutputClass,
    /// Elements that products are accumulated in.
    pub accumulator: ElementKind,
    /// What the epilogue computes in.
    pub compute: ComputeKind,
    /// Which units multiply.
    pub op: OpKind,
    /// Which instructions may be used.
    pub arch: ArchKind,
}

/// Whose A and B a description has.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Frame {
    /// The user's.
    AsGiven,
    /// The user's B and A, transposed, and D transposed with them: to make C row-major, or to have A in registers.
    Exchanged,
}

impl Frame {
    /// Whether A and B have changed places.
    pub const fn is_exchanged(self) -> bool {
        matches!(self, Self::Exchanged)
    }

    /// The other one.
    pub const fn exchange(self) -> Self {
        match self {
            Self::AsGiven => Self::Exchanged,
            Self::Exchanged => Self::AsGiven,
        }
    }
}

impl OperandClass {
    /// The same matrix, transposed.
    const fn transposed(self) -> Self {
        Self { layout: self.layout.transposed(), ..self }
    }
}

impl Class {
    /// Types, layouts of A and B, units and an architecture; C is row-major, and the epilogue a linear combination.
    pub(crate) const fn new(op: OpKind, arch: ArchKind, types: Combined, [a, b]: [Order; 2]) -> Self {
        Self {
            a: OperandClass { element: types.a, layout: a },
            b: OperandClass { element: types.b, layout: b },
            output: OutputClass { element: types.c, layout: Order::Row, epilogue: <LinearCombination as Node>::DESC },
            accumulator: types.accumulator,
            compute: ComputeKind::of(types.accumulator, types.c),
            op,
            arch,
        }
    }

    /// What row-major operands, an accumulator, units and an architecture say, as types.
    pub(crate) const fn of<P: Operands, Accumulator: Element, Op: OpClass, A: Arch>() -> Self {
        let types = Combined {
            a: <P::A as Element>::KIND,
            b: <P::B as Element>::KIND,
            accumulator: Accumulator::KIND,
            c: <P::C as Element>::KIND,
        };
        Self::new(Op::KIND, A::KIND, types, [<P::LayoutA as Layout>::ORDER, <P::LayoutB as Layout>::ORDER])
    }

    /// The element types.
    pub const fn combined(&self) -> Combined {
        Combined { a: self.a.element, b: self.b.element, accumulator: self.accumulator, c: self.output.element }
    }

    /// One of the operands that are read.
    pub const fn operand(&self, operand: OperandKind) -> OperandClass {
        match operand {
            OperandKind::A => self.a,
            OperandKind::B => self.b,
        }
    }

    /// Whether K runs through consecutive addresses of an operand.
    pub const fn k_contiguous(&self, operand: OperandKind) -> bool {
        match operand {
            OperandKind::A => self.a.layout.is_row(),
            OperandKind::B => !self.b.layout.is_row(),
        }
    }

    /// The class with A and B in each other's place, their layouts transposed. D keeps the kernel's order.
    pub const fn exchange(self) -> Self {
        Self { a: self.b.transposed(), b: self.a.transposed(), ..self }
    }
}
