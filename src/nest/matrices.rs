//! The matrices of a description: the operands A and B, and the output D.

use crate::{
    layout::Order,
    nest::{class::OperandClass, knobs::Knobs},
    numeric::{ComputeKind, ElementKind, EmulationKind},
    operand::OperandKind,
    threadblock::smem::SmemLayout,
};

/// An input operand: A (M x K) or B (K x N).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct OperandDesc {
    /// Element type in memory.
    pub stored: ElementKind,
    /// Emulation of f32 by terms of a narrower type. Both operands have the same.
    pub emulation: EmulationKind,
    /// Layout in memory.
    pub layout: Order,
    /// Elements per memory access.
    pub access: u32,
    /// Layout of a tile in shared memory.
    pub smem: SmemLayout,
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
}

impl OperandDesc {
    /// Returns an operand of a class with the knobs of a kernel.
    pub(crate) const fn new(class: &OperandClass, knobs: &Knobs, operand: OperandKind) -> Self {
        Self {
            stored: class.element,
            emulation: knobs.emulation,
            layout: class.layout,
            access: knobs.access[operand.index()],
            smem: knobs.smem[operand.index()],
        }
    }

    /// Returns the transposed operand.
    pub(crate) const fn transposed(self) -> Self {
        Self { layout: self.layout.transposed(), ..self }
    }
}
