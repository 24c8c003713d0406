//! From types and knobs to a description; which knobs is [`resolve`](crate::family)'s.

use super::{
    derived::Typed,
    knobs::{GemmDesc, Knobs},
};
use crate::{
    arch::{Arch, ArchKind, OpClass, OpKind},
    layout::{Layout, Operands, Order},
    numeric::{Combined, Element},
};

impl Typed {
    /// What row-major operands, an accumulator, units and an architecture say.
    pub(crate) const fn of<P: Operands, Accumulator: Element, Op: OpClass, A: Arch>() -> Self {
        Self {
            a: <P::A as Element>::KIND,
            b: <P::B as Element>::KIND,
            c: <P::C as Element>::KIND,
            accumulator: Accumulator::KIND,
            layout_a: <P::LayoutA as Layout>::ORDER,
            layout_b: <P::LayoutB as Layout>::ORDER,
            exchanged: P::EXCHANGED,
            op: Op::KIND,
            arch: A::KIND,
        }
    }
}

impl Knobs {
    /// The knobs that belong to an operand change places with it; shapes belong to the kernel and stay.
    pub const fn exchange(self) -> Self {
        Self { align_a: self.align_b, align_b: self.align_a, smem_a: self.smem_b, smem_b: self.smem_a, ..self }
    }
}

impl GemmDesc {
    /// The description of types and knobs given as values, in the user's order; a column-major C exchanges the operands.
    /// Not checked yet.
    pub fn of_values(op: OpKind, arch: ArchKind, types: Combined, [a, b, c]: [Order; 3], knobs: Knobs) -> Self {
        let typed = Typed {
            a: types.a,
            b: types.b,
            c: types.c,
            accumulator: types.accumulator,
            layout_a: a,
            layout_b: b,
            exchanged: false,
            op,
            arch,
        };
        let desc = Self::from_parts(typed, knobs);
        if c.is_row() { desc.settled() } else { desc.exchange().settled() }
    }

    /// The same product with other knobs, which belong to the user's A and B. Not checked yet.
    #[must_use]
    pub fn with_knobs(&self, knobs: Knobs) -> Self {
        let (user, orders) = (if self.exchanged { self.exchange() } else { *self }, self.orders());
        let desc = Self::of_values(self.op, self.arch, user.combined(), [orders.a, orders.b, orders.c], knobs);
        Self { compute: self.compute, ..desc }
    }
}
