//! The rules of SIMT descriptions.

use crate::{
    arch::Machine,
    nest::{GemmDesc, SpillKind},
    operand::{Axis, OperandKind},
    refusal::{
        Field, Legal, Operand, Part, Refusal, hold,
        rules::{nearest_power_of_two, within},
    },
    smem::SmemLayout,
    threadblock::{MmaBase, mma::check},
    warp::InterleaveKind,
};

impl GemmDesc {
    pub(crate) const fn check_on_simt(&self, machine: &Machine) -> Result<(), Refusal> {
        if !self.types().is_of(self.op()) {
            return Err(self.types().refused_by(self.op()));
        }
        hold!(self.check_shapes_simt());
        hold!(self.check_mainloop_simt());
        let base = self.base();
        hold!(self.check_operand_simt(&base, OperandKind::A, self.operands[0].access));
        hold!(self.check_operand_simt(&base, OperandKind::B, self.operands[1].access));
        hold!(self.check_epilogue());
        self.check_budgets_simt(&base, machine)
    }

    const fn check_shapes_simt(&self) -> Result<(), Refusal> {
        let (tb, warp) = (self.threadblock(), self.warp());
        let mut axis = 0;
        while axis < 2 {
            let (field, extent) = if axis == 0 {
                (Field::Warp(Axis::M), warp.m)
            } else {
                (Field::Warp(Axis::N), warp.n)
            };
            if !(extent.is_power_of_two() && extent >= 8 && extent <= 128) {
                return Err(Refusal::not_one_of(
                    field,
                    extent as u64,
                    Legal::OneOf(check::WARP_EXTENTS),
                    nearest_power_of_two(extent, 8, 128) as u64,
                ));
            }
            axis += 1;
        }
        hold!(within(Field::WarpArea, (warp.m * warp.n) as u64, 128, 4096));
        hold!(within(Field::Warp(Axis::K), warp.k as u64, 8, 64));
        if !warp.k.is_multiple_of(2) {
            let (field, buffers) = (Field::Warp(Axis::K), Part::FragmentBuffers);
            return Err(Refusal::does_not_nest(field, buffers, warp.k, 2, warp.k + 1));
        }
        check::check_threadblock(tb, warp)
    }

    const fn check_mainloop_simt(&self) -> Result<(), Refusal> {
        hold!(check::check_slices(
            self.mainloop.kind(),
            self.work.decomposition,
            self.work.split_k
        ));
        hold!(check::check_order(self.work.swizzle, self.limits.blocks_per_sm));
        if let InterleaveKind::Elements(elements) = self.mma.interleave()
            && !(elements.is_power_of_two() && elements <= 64)
        {
            let legal = Legal::OneOf(&[1, 2, 4, 8, 16, 32, 64]);
            let nearest = nearest_power_of_two(elements, 1, 64) as u64;
            return Err(Refusal::not_one_of(Field::Interleave, elements as u64, legal, nearest));
        }
        self.mainloop.check(self)
    }

    const fn check_operand_simt(
        &self,
        base: &MmaBase,
        kind: OperandKind,
        align: u32,
    ) -> Result<(), Refusal> {
        let operand = Operand::from_kind(kind);
        let facts = base.operand(kind);
        hold!(check::check_access(base, kind, align));
        match self.smem_choice(kind) {
            SmemLayout::Auto => {}
            SmemLayout::Padded { padding, .. } => {
                hold!(within(Field::Padding(kind), padding as u64, 0, 64));
            }
            SmemLayout::Swizzled { bits, base, shift, .. } => {
                hold!(within(Field::SwizzleBits(kind), bits as u64, 1, 5));
                hold!(within(Field::SwizzleBase(kind), base as u64, 0, 5));
                hold!(within(Field::SwizzleShift(kind), shift as u64, 0, 8));
                let (chunk, row) = (1 << (bits + base), facts.smem.row());
                if !row.is_multiple_of(chunk) {
                    return Err(Refusal::swizzle_beyond_row(operand, chunk, row));
                }
            }
        }
        self.mainloop.check_copies(operand, &facts)
    }

    const fn check_budgets_simt(&self, base: &MmaBase, machine: &Machine) -> Result<(), Refusal> {
        let registers = [base.registers(), self.registers_available(machine.registers_per_sm)];
        let bounded = matches!(self.limits.spills, SpillKind::Refused);
        check::check_budgets(
            base,
            machine,
            self.limits.blocks_per_sm,
            if bounded { Some(registers) } else { None },
        )
    }
}
