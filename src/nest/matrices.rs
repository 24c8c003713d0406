//! The matrices of a description: the operands A and B, and the output D.

use crate::{
    layout::Order,
    nest::{class::OperandClass, knobs::Knobs},
    numeric::{ComputeKind, ElementKind, Multiplied},
    shape::{Axis, OperandKind},
    threadblock::smem::SmemLayout,
};

/// An input operand: A (M x K) or B (K x N).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct OperandDesc {
    /// Element type in memory.
    pub stored: ElementKind,
    /// The elements that the MMA multiplies: stored elements, terms of them, or the results of a
    /// transform.
    pub multiplied: Multiplied,
    /// Layout in memory.
    pub layout: Order,
    /// Elements per memory access.
    pub access: u32,
    /// Layout of a tile in shared memory.
    pub smem: SmemLayout,
    /// Whether an index list selects the rows of A, or the columns of B.
    pub indexed: bool,
}

/// The output matrices C and D (M x N).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct OutputDesc {
    /// Element type of C and D.
    pub element: ElementKind,
    /// Elements of C and D per memory access.
    pub access: u32,
    /// Element type of the accumulators.
    pub accumulator: ElementKind,
    /// Type in which the epilogue computes.
    pub compute: ComputeKind,
    /// Axis of D whose lines an index list selects.
    pub indexed: Option<Axis>,
    /// Whether C or D has another order than the layout of D, or no stride of 1.
    pub strided: bool,
}

impl OperandDesc {
    /// Returns an operand of a class with the knobs of a kernel.
    pub(crate) const fn new(class: &OperandClass, knobs: &Knobs, operand: OperandKind) -> Self {
        Self {
            stored: class.element,
            multiplied: knobs.multiplied[operand.index()],
            layout: class.layout,
            access: knobs.access[operand.index()],
            smem: knobs.smem[operand.index()],
            indexed: class.indexed,
        }
    }

    /// Returns the element type that the instruction reads.
    pub(crate) const fn factor(&self) -> ElementKind {
        self.multiplied.element(self.stored)
    }

    /// Returns the transposed operand.
    pub(crate) const fn transposed(self) -> Self {
        Self { layout: self.layout.transposed(), ..self }
    }
}
