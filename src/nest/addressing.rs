//! Addressing of a description: the operands whose rows or columns a kernel gathers, the axis of D
//! along which it scatters, and whether D has two strides.

use crate::{
    nest::GemmDesc,
    refusal::{Field, Operand, Refusal, hold, rules::within},
    shape::{Axis, OperandKind, framed},
};

/// The addressing of the matrices of a GEMM, beyond their layouts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Addressing {
    /// Whether an index list selects the rows of A, and the columns of B.
    pub gathers: [bool; 2],
    /// The axis of D whose lines an index list selects: M for the user's rows.
    pub scatters: Option<Axis>,
    /// Whether C or D has another order than the layout of D, or no stride of 1.
    pub strided: bool,
}

impl Addressing {
    /// Matrices in their layouts, without an index list.
    pub const PLAIN: Self = Self { gathers: [false; 2], scatters: None, strided: false };

    /// Returns whether all matrices are in their layouts, without an index list.
    pub const fn is_plain(&self) -> bool {
        !self.gathers[0] && !self.gathers[1] && self.scatters.is_none() && !self.strided
    }

    const fn swapped(self) -> Self {
        let [a, b] = self.gathers;
        Self { gathers: [b, a], scatters: swapped(self.scatters), ..self }
    }
}

framed!(Addressing);

/// Returns the axis of an output in the transposed GEMM.
pub(crate) const fn swapped(output: Option<Axis>) -> Option<Axis> {
    match output {
        Some(axis) => Some(axis.swapped()),
        None => None,
    }
}

impl GemmDesc {
    /// Returns the addressing of the kernel's matrices, in the kernel's frame.
    pub const fn addressing(&self) -> Addressing {
        let ([a, b], output) = (self.operands, self.output);
        Addressing {
            gathers: [a.indexed, b.indexed],
            scatters: output.indexed,
            strided: output.strided,
        }
    }

    /// Returns the description of the kernel for a call with this addressing, which is in the
    /// kernel's frame. If the producer of a TMA ring cannot gather an operand, a pass does, and the
    /// kernel reads plain lines. Accesses along an index, and to a D with two strides, have one
    /// element.
    #[must_use]
    pub fn for_addressing(mut self, addressing: Addressing) -> Self {
        let gathers = OperandKind::BOTH
            .map(|operand| addressing.gathers[operand.index()] && self.gathers(operand));
        let addressing = Addressing { gathers, ..addressing };
        if self.addressing() == addressing {
            return self;
        }
        for operand in OperandKind::BOTH {
            self.operands[operand.index()].indexed = gathers[operand.index()];
        }
        (self.output.indexed, self.output.strided) = (addressing.scatters, addressing.strided);
        let most = self.most_accesses();
        if core::iter::zip(self.alignments(), most).all(|(own, most)| own <= most) {
            self
        } else {
            self.narrowed(most)
        }
    }

    /// Returns the maximum numbers of elements per access of A, B, and D for the addressing.
    fn most_accesses(&self) -> [u32; 3] {
        let along =
            |operand: OperandKind| self.operand(operand).indexed && !self.k_contiguous(operand);
        let output =
            self.output.strided || self.output.indexed == Some(self.contiguous_axis_of_d());
        [along(OperandKind::A), along(OperandKind::B), output]
            .map(|single| if single { 1 } else { u32::MAX })
    }

    /// Returns the axis along which the elements of the kernel's D are contiguous.
    const fn contiguous_axis_of_d(&self) -> Axis {
        if self.frame.d_order().is_row() { Axis::N } else { Axis::M }
    }

    /// Checks that the main loop reads operands by an index, and that accesses along an index, and
    /// to a D with two strides, have one element. A producer gathers lines along K for `wgmma`.
    pub(crate) const fn check_addressing(&self) -> Result<(), Refusal> {
        let mut i = 0;
        while i < OperandKind::BOTH.len() {
            let (kind, desc) = (OperandKind::BOTH[i], &self.operands[i]);
            let operand = Operand::from_kind(kind);
            if desc.indexed && !self.may_gather(kind) {
                return Err(Refusal::index_of_tma(operand, self.mainloop.kind().name()));
            }
            if desc.indexed && !self.k_contiguous(kind) {
                hold!(within(Field::Alignment(operand), desc.access as u64, 1, 1));
            }
            i += 1;
        }
        let along = match self.output.indexed {
            Some(Axis::K) => return Err(Refusal::INDEX_ALONG_K),
            Some(axis) => axis as u8 == self.contiguous_axis_of_d() as u8,
            None => false,
        };
        if along || self.output.strided {
            return within(Field::Alignment(Operand::D), self.output.access as u64, 1, 1);
        }
        Ok(())
    }
}
