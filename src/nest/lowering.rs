//! Construction of descriptions from types and knobs as values, and from other descriptions.

use crate::{
    arch::{ArchKind, OpKind},
    layout::Order,
    nest::{Class, Frame, GemmDesc, Knobs, OperandDesc, Pins, SpillKind},
    numeric::{Combined, ComputeKind},
    refusal::{Field, Refusal},
    shape::Mnk,
    threadblock::{MOST_TILES_OF_ONE, MainloopKind},
};

impl GemmDesc {
    /// Returns the description of types and knobs in the user's frame, unchecked. A column-major C
    /// swaps the operands.
    pub fn from_values(
        op: OpKind,
        arch: ArchKind,
        types: Combined,
        [a, b, c]: [Order; 3],
        knobs: Knobs,
    ) -> Self {
        let desc = Self::new(&Class::new(op, arch, types, [a, b]), &knobs);
        desc.enter(Frame::for_output(c)).settled()
    }

    /// Returns the description with the pinned knobs replaced. The pins are in the user's frame.
    /// The result is not checked.
    #[must_use]
    pub fn with(&self, pins: Pins) -> Self {
        let desc = self.with_knobs(self.user_knobs().pinned(&pins));
        desc.pinned(Pins { epilogue: pins.epilogue, ..Pins::NONE }.enter(desc.frame))
    }

    /// Returns the description with other knobs, which are in the user's frame. A D that is
    /// column-major in the kernel stays so if the knobs support it. The result is not checked.
    #[must_use]
    pub fn with_knobs(&self, knobs: Knobs) -> Self {
        let orders = self.orders();
        let desc = self.leave(self.frame);
        let mut desc = Self { frame: Frame::USER, ..desc.with_kernel_knobs(&knobs) }
            .enter(Frame::for_output(orders.c))
            .settled();
        if self.is_of_columns() {
            desc = desc.with_rows_as_columns();
        }
        desc
    }

    /// Returns the knobs in the user's frame.
    pub const fn user_knobs(&self) -> Knobs {
        self.leave(self.frame).knobs()
    }

    /// Returns the description whose epilogue can compute with these scalars. An i32 epilogue
    /// becomes `f32` if a scalar is not an integer.
    pub fn for_scalars(mut self, scalars: &[f64]) -> Self {
        if !self.computes_with(scalars) {
            self.output.compute = ComputeKind::F32;
        }
        self
    }

    /// Returns whether the epilogue can compute with these scalars.
    pub(crate) fn computes_with(&self, scalars: &[f64]) -> bool {
        let whole = |x: &f64| x.fract() == 0.0 && x.abs() <= f64::from(i32::MAX);
        !matches!(self.output.compute, ComputeKind::I32) || scalars.iter().all(whole)
    }

    /// Returns the description with each alignment reduced to at most `given`.
    ///
    /// If an asynchronous copy does not support the access, threads copy through registers, in the
    /// pipelined main loop. If that needs too many registers, tiles have half as many rows or
    /// columns, or threads spill if the epilogue adds rows or columns in an order that depends on
    /// the tiles. The order of additions does not change.
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
        if narrow.has_producer() {
            return narrow;
        }
        let too_narrow =
            |operand: OperandDesc| narrow.mainloop.is_too_narrow(operand.stored, operand.access);
        if !narrow.operands.into_iter().any(too_narrow) {
            return if narrow.mainloop.copies_asynchronously() {
                narrow
            } else {
                narrow.with_few_registers()
            };
        }
        let through_registers = Pins { mainloop: Some(MainloopKind::Pipelined), ..Pins::NONE };
        narrow.pinned(through_registers).with_few_registers()
    }

    /// Returns whether threads have too few registers for the description.
    fn lacks_registers(&self) -> bool {
        matches!(self.check(), Err(Refusal { field: Field::RegistersPerThread, .. }))
    }

    /// Returns the description with warp tiles of half or a quarter the size, so that the registers
    /// suffice. The larger extent is halved first. Returns `self` if no such description is valid.
    fn with_few_registers(self) -> Self {
        if self.epilogue.has_sums() && self.lacks_registers() {
            return self.pinned(Pins { spills: Some(SpillKind::Allowed), ..Pins::NONE });
        }
        let mut smaller = self;
        let mut tiles = 1;
        while tiles < MOST_TILES_OF_ONE && smaller.lacks_registers() {
            let pins = smaller.knobs().pins();
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
