//! Index lists of a description: the operands whose rows or columns a kernel gathers, and the axis
//! of D along which it scatters.

use crate::{
    nest::GemmDesc,
    refusal::{Field, Operand, Refusal, hold, rules::within},
    shape::{Axis, OperandKind, framed},
};

/// The matrices of a GEMM that an index list addresses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Indexed {
    /// Whether a list selects the rows of A, and the columns of B.
    pub operands: [bool; 2],
    /// The axis of D whose lines a list selects: M for the user's rows.
    pub output: Option<Axis>,
}

impl Indexed {
    /// No index list.
    pub const NONE: Self = Self { operands: [false; 2], output: None };

    /// Returns whether there is no index list.
    pub const fn is_none(&self) -> bool {
        !self.operands[0] && !self.operands[1] && self.output.is_none()
    }

    const fn swapped(self) -> Self {
        let [a, b] = self.operands;
        Self { operands: [b, a], output: swapped(self.output) }
    }
}

framed!(Indexed);

/// Returns the axis of an output in the transposed GEMM.
pub(crate) const fn swapped(output: Option<Axis>) -> Option<Axis> {
    match output {
        Some(axis) => Some(axis.swapped()),
        None => None,
    }
}

impl GemmDesc {
    /// Returns the matrices that the kernel addresses by an index list, in the kernel's frame.
    pub const fn indexed(&self) -> Indexed {
        let [a, b] = self.operands;
        Indexed { operands: [a.indexed, b.indexed], output: self.output.indexed }
    }

    /// Returns the description of the kernel for a call with these index lists, which are in the
    /// kernel's frame. A pass gathers the operands of a TMA ring, because TMA copies boxes of
    /// neighboring rows. Accesses along an index have one element.
    #[must_use]
    pub(crate) fn for_indexed(mut self, indexed: Indexed) -> Self {
        let indexed = self.read_by_index(indexed);
        if self.indexed() == indexed {
            return self;
        }
        for operand in OperandKind::BOTH {
            self.operands[operand.index()].indexed = indexed.operands[operand.index()];
        }
        self.output.indexed = indexed.output;
        let most = self.most_indexed_accesses();
        if core::iter::zip(self.alignments(), most).all(|(own, most)| own <= most) {
            self
        } else {
            self.narrowed(most)
        }
    }

    /// Returns the index lists that the kernel reads. The others are read by passes.
    pub(crate) const fn read_by_index(&self, indexed: Indexed) -> Indexed {
        if self.has_producer() { Indexed { operands: [false; 2], ..indexed } } else { indexed }
    }

    /// Returns the maximum numbers of elements per access of A, B, and D: 1 along an index.
    pub(crate) fn most_indexed_accesses(&self) -> [u32; 3] {
        let along =
            |operand: OperandKind| self.operand(operand).indexed && !self.k_contiguous(operand);
        let output = self.output.indexed == Some(self.contiguous_axis_of_d());
        [along(OperandKind::A), along(OperandKind::B), output]
            .map(|along| if along { 1 } else { u32::MAX })
    }

    /// Returns the axis along which the elements of the kernel's D are contiguous.
    pub(crate) const fn contiguous_axis_of_d(&self) -> Axis {
        if self.frame.d_order().is_row() { Axis::N } else { Axis::M }
    }

    /// Checks that the main loop reads operands by an index, and that accesses along an index have
    /// one element.
    pub(crate) const fn check_indexed(&self) -> Result<(), Refusal> {
        let mut i = 0;
        while i < OperandKind::BOTH.len() {
            let (kind, desc) = (OperandKind::BOTH[i], &self.operands[i]);
            let operand = Operand::from_kind(kind);
            if desc.indexed && self.has_producer() {
                return Err(Refusal::index_of_tma(operand, self.mainloop.kind().name()));
            }
            if desc.indexed && !self.k_contiguous(kind) {
                hold!(within(Field::Alignment(operand), desc.access as u64, 1, 1));
            }
            i += 1;
        }
        match self.output.indexed {
            Some(Axis::K) => Err(Refusal::INDEX_ALONG_K),
            Some(axis) if axis as u8 == self.contiguous_axis_of_d() as u8 => {
                within(Field::Alignment(Operand::D), self.output.access as u64, 1, 1)
            }
            _ => Ok(()),
        }
    }
}
