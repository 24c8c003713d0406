//! The rules of SIMT descriptions.

use crate::{
    arch::{Machine, OpKind},
    desc::{SimtDesc, SpillKind},
    family::one_schedule,
    operand::{Axis, OperandKind},
    refusal::{
        Field, Legal, Operand, Part, Refusal, hold,
        rules::{nearest_power_of_two, within},
    },
    smem::SmemLayout,
    threadblock::{LEAST_ASYNCHRONOUS_COPY, MainloopKind, MmaBase, OperandDesc},
    warp::{InterleaveKind, UnrollKind},
};

impl SimtDesc {
    pub(in crate::family) const fn check_on(&self, machine: &Machine) -> Result<(), Refusal> {
        let class = &self.class;
        if !matches!(class.op, OpKind::Simt) {
            let (mainloop, nearest) = (self.knobs.mainloop.name(), OpKind::Simt.name());
            return Err(Refusal::unsupported(Field::Op, class.op.name(), mainloop, nearest));
        }
        if !class.combined().is_of(class.op) {
            return Err(class.combined().refused_by(class.op));
        }
        hold!(self.check_shapes());
        hold!(self.check_mainloop());
        let base = self.base();
        hold!(self.check_operand(&base, OperandKind::A, self.knobs.align_a));
        hold!(self.check_operand(&base, OperandKind::B, self.knobs.align_b));
        hold!(class.check_epilogue(self.knobs.align_c));
        self.check_budgets(&base, machine)
    }

    const fn check_shapes(&self) -> Result<(), Refusal> {
        let (tb, warp) = (self.knobs.threadblock, self.knobs.warp);
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
                    Legal::OneOf(one_schedule::WARP_EXTENTS),
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
        one_schedule::check_threadblock(tb, warp)
    }

    const fn check_mainloop(&self) -> Result<(), Refusal> {
        hold!(one_schedule::check_slices(
            self.knobs.mainloop,
            self.knobs.decomposition,
            self.knobs.split_k
        ));
        hold!(one_schedule::check_order(self.knobs.swizzle, self.knobs.blocks_per_sm));
        if let InterleaveKind::Elements(elements) = self.knobs.interleave
            && !(elements.is_power_of_two() && elements <= 64)
        {
            let legal = Legal::OneOf(&[1, 2, 4, 8, 16, 32, 64]);
            let nearest = nearest_power_of_two(elements, 1, 64) as u64;
            return Err(Refusal::not_one_of(Field::Interleave, elements as u64, legal, nearest));
        }
        if let UnrollKind::By(groups) = self.knobs.unroll {
            if !matches!(self.knobs.mainloop, MainloopKind::SingleStage) {
                return Err(Refusal::no_loop_to_unroll(groups, self.knobs.mainloop.name()));
            }
            hold!(within(Field::Unroll, groups as u64, 1, self.knobs.warp.k as u64));
        }
        one_schedule::check_stages(self.knobs.mainloop, self.knobs.stages, self.class.arch)
    }

    const fn check_operand(
        &self,
        base: &MmaBase,
        kind: OperandKind,
        align: u32,
    ) -> Result<(), Refusal> {
        let operand = Operand::from_kind(kind);
        let facts = base.operand(kind);
        hold!(one_schedule::check_access(base, kind, align));
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
        self.check_copy(operand, &facts)
    }

    const fn check_copy(&self, operand: Operand, facts: &OperandDesc) -> Result<(), Refusal> {
        if !self.knobs.mainloop.copies_asynchronously() {
            return Ok(());
        }
        let (bytes, element) = (facts.access_bytes(), facts.element);
        if bytes < LEAST_ASYNCHRONOUS_COPY {
            // A wider access helps only if its elements stay adjacent in shared memory, and if it
            // divides the tile.
            let wider = element.elements_in(LEAST_ASYNCHRONOUS_COPY);
            let helps = !facts.transposes()
                && facts.smem.vector(wider) == wider
                && facts.tile_contiguous().is_multiple_of(wider);
            return Err(Refusal::copy_width(operand, bytes, if helps { wider } else { 0 }));
        }
        let run = facts.shared_access();
        if run < facts.access {
            let nearest = if element.bytes_of(run) < LEAST_ASYNCHRONOUS_COPY { 0 } else { run };
            return Err(Refusal::copy_not_whole(operand, facts.access, run, nearest));
        }
        Ok(())
    }

    const fn check_budgets(&self, base: &MmaBase, machine: &Machine) -> Result<(), Refusal> {
        let registers = [base.registers(), self.registers_available(machine.registers_per_sm)];
        let bounded = matches!(self.knobs.spills, SpillKind::Refused);
        one_schedule::check_budgets(
            base,
            machine,
            self.knobs.blocks_per_sm,
            if bounded { Some(registers) } else { None },
        )
    }
}
