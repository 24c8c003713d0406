//! Construction of descriptions from types and knobs as values, and from other descriptions.

use crate::{
    arch::{ArchKind, OpKind},
    desc::{Class, FamilyDesc, Frame, GemmDesc, Pins},
    layout::Order,
    numeric::{Combined, ComputeKind},
    operand::OperandKind,
    refusal::{Field, Refusal},
    shape::Mnk,
    threadblock::{LEAST_ASYNCHRONOUS_COPY, MOST_TILES_OF_ONE, MainloopKind},
};

impl GemmDesc {
    /// Returns the description of types and knobs in the user's frame, unchecked. A column-major C
    /// swaps the operands.
    pub fn from_values(
        op: OpKind,
        arch: ArchKind,
        types: Combined,
        [a, b, c]: [Order; 3],
        family: FamilyDesc,
    ) -> Self {
        let desc = Self { class: Class::new(op, arch, types, [a, b]), frame: Frame::USER, family };
        desc.enter(Frame::for_output(c)).settled()
    }

    /// Returns the description with the pinned knobs replaced. The pins are in the user's frame.
    /// The result is not checked.
    #[must_use]
    pub fn with(&self, pins: Pins) -> Self {
        let desc = self.with_family(self.family_of_user().pinned(pins));
        desc.pinned(Pins { epilogue: pins.epilogue, ..Pins::NONE }.enter(desc.frame))
    }

    /// Returns the description with other knobs or another family. The knobs are in the user's
    /// frame. A D that is column-major in the kernel stays so if the family supports it. The result
    /// is not checked.
    #[must_use]
    pub fn with_family(&self, family: FamilyDesc) -> Self {
        let (types, orders, class) = (self.user_types(), self.orders(), &self.class);
        let mut desc =
            Self::from_values(class.op, class.arch, types, [orders.a, orders.b, orders.c], family);
        if self.is_of_columns() {
            desc = desc.with_rows_as_columns();
        }
        desc.class.compute = class.compute;
        desc.class.mode = class.mode.leave(self.frame).enter(desc.frame);
        desc.class.output.epilogue = class.output.epilogue.leave(self.frame).enter(desc.frame);
        desc
    }

    /// Returns the knobs of the family in the user's frame.
    pub const fn family_of_user(&self) -> FamilyDesc {
        self.family.pinned(self.user_pins())
    }

    /// Returns the description whose epilogue can compute with these scalars. An i32 epilogue
    /// becomes `f32` if a scalar is not an integer.
    pub fn for_scalars(mut self, scalars: &[f64]) -> Self {
        if !self.computes_with(scalars) {
            self.class.compute = ComputeKind::F32;
        }
        self
    }

    /// Returns whether the epilogue can compute with these scalars.
    pub(crate) fn computes_with(&self, scalars: &[f64]) -> bool {
        let whole = |x: &f64| x.fract() == 0.0 && x.abs() <= f64::from(i32::MAX);
        !matches!(self.class.compute, ComputeKind::I32) || scalars.iter().all(whole)
    }

    /// Returns the description with each alignment reduced to at most `given`.
    ///
    /// If an asynchronous copy does not support the access, threads copy through registers, in the
    /// pipelined main loop. If that needs too many registers, tiles have half as many rows or
    /// columns. The order of additions does not change.
    #[must_use]
    pub fn narrowed(self, given: [u32; 3]) -> Self {
        let [a, b, c] = self.alignments();
        let pins = Pins {
            align_a: Some(a.min(given[0])),
            align_b: Some(b.min(given[1])),
            align_c: Some(c.min(given[2])),
            ..Pins::NONE
        };
        let narrow = self.pinned(pins);
        let too_narrow = |operand: OperandKind| {
            let (element, align) =
                (narrow.class.operand(operand).element, narrow.alignments()[operand.index()]);
            align < element.elements_in(LEAST_ASYNCHRONOUS_COPY)
        };
        match narrow.family.mainloop() {
            MainloopKind::Multistage
                if too_narrow(OperandKind::A) || too_narrow(OperandKind::B) =>
            {
                narrow
                    .pinned(Pins {
                        mainloop: Some(MainloopKind::Pipelined),
                        stages: Some(2),
                        ..Pins::NONE
                    })
                    .with_few_registers()
            }
            MainloopKind::SingleStage | MainloopKind::Pipelined => narrow.with_few_registers(),
            _ => narrow,
        }
    }

    /// Returns the description with warp tiles of half or a quarter the size, so that the registers
    /// suffice. The larger extent is halved first. Returns `self` if no such description is valid.
    fn with_few_registers(self) -> Self {
        let mut smaller = self;
        let mut tiles = 1;
        while tiles < MOST_TILES_OF_ONE
            && matches!(smaller.check(), Err(Refusal { field: Field::RegistersPerThread, .. }))
        {
            let pins = smaller.family.pins();
            let (Some(warp), Some(threadblock)) = (pins.warp, pins.threadblock) else {
                return self;
            };
            let half = |shape: Mnk| {
                if warp.m > warp.n {
                    Mnk { m: shape.m / 2, ..shape }
                } else {
                    Mnk { n: shape.n / 2, ..shape }
                }
            };
            smaller = smaller.pinned(Pins {
                warp: Some(half(warp)),
                threadblock: Some(half(threadblock)),
                ..Pins::NONE
            });
            tiles *= 2;
        }
        if smaller.check().is_ok() { smaller } else { self }
    }
}
