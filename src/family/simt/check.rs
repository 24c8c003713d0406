//! The rule book of kernels whose threads all follow one schedule.

use crate::{
    arch::{Machine, OpKind},
    desc::{SimtDesc, SpillKind},
    family::one_schedule,
    operand::{Axis, OperandKind},
    refusal::{
        Field, Legal, Operand, Part, Refusal, Word, hold,
        rules::{check_alignment, nearest_multiple, nearest_power_of_two, within},
    },
    smem::SmemLayout,
    threadblock::{MainloopKind, MmaBase, OperandDesc},
    warp::{InterleaveKind, UnrollKind},
};

/// Legal extents of a warp tile along M and N.
const WARP_EXTENTS: &[u32] = &[8, 16, 32, 64, 128];

/// The largest extent of a threadblock tile along M, and along N.
const THREADBLOCK_MN: u32 = 256;

/// The largest depth of a threadblock tile.
const THREADBLOCK_K: u32 = 512;

impl SimtDesc {
    pub(in crate::family) const fn check_on(&self, machine: &Machine) -> Result<(), Refusal> {
        let class = &self.class;
        if !matches!(class.op, OpKind::Simt) {
            return Err(Refusal::NoChoice {
                field: Field::OpTensorOp,
                mainloop: Word(self.knobs.mainloop.name()),
                nearest: Word(OpKind::Simt.name()),
            });
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
            let (field, extent) = if axis == 0 { (Field::Warp(Axis::M), warp.m) } else { (Field::Warp(Axis::N), warp.n) };
            if !(extent.is_power_of_two() && extent >= 8 && extent <= 128) {
                return Err(Refusal::NotOneOf {
                    field,
                    value: extent as u64,
                    legal: Legal::OneOf(WARP_EXTENTS),
                    nearest: nearest_power_of_two(extent, 8, 128) as u64,
                });
            }
            axis += 1;
        }
        hold!(within(Field::WarpArea, (warp.m * warp.n) as u64, 128, 4096));
        hold!(within(Field::Warp(Axis::K), warp.k as u64, 8, 64));
        if !warp.k.is_multiple_of(2) {
            return Err(Refusal::NotEven { field: Field::Warp(Axis::K), value: warp.k });
        }
        hold!(within(Field::Threadblock(Axis::M), tb.m as u64, 8, THREADBLOCK_MN as u64));
        hold!(within(Field::Threadblock(Axis::N), tb.n as u64, 8, THREADBLOCK_MN as u64));
        hold!(within(Field::Threadblock(Axis::K), tb.k as u64, 8, THREADBLOCK_K as u64));
        let axes = [(Axis::M, tb.m, warp.m), (Axis::N, tb.n, warp.n), (Axis::K, tb.k, warp.k)];
        let mut i = 0;
        while i < 3 {
            let (axis, outer, inner) = axes[i];
            if !outer.is_multiple_of(inner) {
                let nearest = nearest_multiple(outer, inner, if i < 2 { THREADBLOCK_MN } else { THREADBLOCK_K });
                let field = Field::Threadblock(axis);
                return Err(Refusal::DoesNotNest { field, inner: Part::Warp, value: outer, of: inner, nearest });
            }
            i += 1;
        }
        let warps = self.tiles().warps();
        within(Field::WarpsOfABlock, (warps.m * warps.n * warps.k) as u64, 1, 16)
    }

    const fn check_mainloop(&self) -> Result<(), Refusal> {
        hold!(one_schedule::check_order(self.knobs.swizzle, self.knobs.split_k, self.knobs.blocks_per_sm));
        if let InterleaveKind::Elements(elements) = self.knobs.interleave
            && !(elements.is_power_of_two() && elements <= 64)
        {
            let legal = Legal::OneOf(&[1, 2, 4, 8, 16, 32, 64]);
            let nearest = nearest_power_of_two(elements, 1, 64) as u64;
            return Err(Refusal::NotOneOf { field: Field::Interleave, value: elements as u64, legal, nearest });
        }
        if let UnrollKind::By(groups) = self.knobs.unroll {
            if !matches!(self.knobs.mainloop, MainloopKind::SingleStage) {
                return Err(Refusal::NoLoopToUnroll { groups, mainloop: Word(self.knobs.mainloop.name()) });
            }
            hold!(within(Field::Unroll, groups as u64, 1, self.knobs.warp.k as u64));
        }
        one_schedule::check_stages(self.knobs.mainloop, self.knobs.stages, self.class.arch)
    }

    const fn check_operand(&self, base: &MmaBase, kind: OperandKind, align: u32) -> Result<(), Refusal> {
        let operand = Operand::of(kind);
        let facts = base.operand(kind);
        hold!(check_alignment(Field::Alignment(operand), align, facts.element.elements_in(16)));
        let contiguous = facts.tile_contiguous();
        if !contiguous.is_multiple_of(align) {
            let nearest = 1 << contiguous.trailing_zeros();
            return Err(Refusal::AccessDoesNotDivideTile { operand, access: align, extent: contiguous, nearest });
        }
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
                    return Err(Refusal::SwizzleBeyondRow { operand, chunk, row });
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
        if bytes < 4 {
            // A wider access helps only where its elements stay neighbours, and where the tile is a whole number of it.
            let wider = element.elements_in(4);
            let helps = !facts.turns() && facts.smem.vector(wider) == wider && facts.tile_contiguous().is_multiple_of(wider);
            return Err(Refusal::CopyWidth { operand, bytes, element, nearest: if helps { wider } else { 0 } });
        }
        let run = facts.shared_access();
        if run < facts.access {
            let nearest = if element.bytes_of(run) < 4 { 0 } else { run };
            return Err(Refusal::CopyNotWhole { operand, access: facts.access, run, nearest });
        }
        Ok(())
    }

    const fn check_budgets(&self, base: &MmaBase, machine: &Machine) -> Result<(), Refusal> {
        let registers = [base.registers(), self.registers_available(machine.registers_per_sm)];
        let bounded = matches!(self.knobs.spills, SpillKind::Refused);
        one_schedule::check_budgets(base, machine, self.knobs.blocks_per_sm, if bounded { Some(registers) } else { None })
    }
}
