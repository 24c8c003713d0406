//! The rules of `mma.sync` descriptions.

use crate::{
    arch::Machine,
    nest::{GemmDesc, SaturateKind, SpillKind},
    numeric::{ElementKind, EmulationKind},
    operand::{Axis, OperandKind},
    refusal::{
        Field, Legal, Operand, Refusal, hold,
        rules::{multiple, nearest_power_of_two, within},
    },
    threadblock::{MmaBase, mma::check},
    warp::mma_sync::WarpInstruction,
};

/// Valid depths of a warp tile.
const WARP_DEPTHS: &[u32] = &[8, 16, 32, 64, 128, 256];

/// Divisor of larger warp extents of K-major operands: whole `ldmatrix` loads of an instruction's
/// words.
const ROWS: u32 = 16;

/// Checks an extent of a warp tile.
///
/// If the operand is contiguous along the extent, it must be a power of two. The bits of an address
/// that depend on the lane are then distinct from the compile-time bits. If the operand is K-major,
/// rows of shared memory lie along the extent. A swizzle reads only the lowest bits of the row,
/// which depend on the lane.
const fn extent(axis: Axis, value: u32, least: u32, k_contiguous: bool) -> Result<(), Refusal> {
    if !k_contiguous || value <= ROWS {
        return power(axis, value, check::WARP_EXTENTS, least);
    }
    let field = Field::Warp(axis);
    hold!(within(field, value as u64, least as u64, 128));
    multiple(field, value as u64, ROWS as u64, 128)
}

/// Checks that an extent of a warp tile is a power of two in its range.
const fn power(axis: Axis, value: u32, legal: &'static [u32], least: u32) -> Result<(), Refusal> {
    let most = legal[legal.len() - 1];
    if value.is_power_of_two() && value >= least && value <= most {
        return Ok(());
    }
    let nearest = nearest_power_of_two(value, least, most) as u64;
    Err(Refusal::not_one_of(Field::Warp(axis), value as u64, Legal::OneOf(legal), nearest))
}

impl GemmDesc {
    pub(crate) const fn check_on_mma_sync(&self, machine: &Machine) -> Result<(), Refusal> {
        if !self.types().is_of(self.op()) {
            return Err(self.types().refused_by(self.op()));
        }
        hold!(self.check_emulation_mma_sync());
        let instruction = hold!(self.instruction_mma_sync());
        if matches!(self.mma.saturate(), SaturateKind::On) && !self.output.accumulator.is_integer()
        {
            return Err(Refusal::nothing_to_saturate(self.output.accumulator));
        }
        hold!(self.check_shapes_mma_sync(&instruction));
        hold!(check::check_slices(
            self.mainloop.kind(),
            self.work.decomposition,
            self.work.split_k
        ));
        hold!(check::check_order(self.work.swizzle, self.limits.blocks_per_sm));
        hold!(self.mainloop.check(self));
        let base = self.base();
        hold!(self.check_operand_mma_sync(&base, OperandKind::A, self.operands[0].access));
        hold!(self.check_operand_mma_sync(&base, OperandKind::B, self.operands[1].access));
        hold!(self.check_epilogue());
        let registers =
            [self.registers_mma_sync(&base), self.registers_available(machine.registers_per_sm)];
        let bounded = matches!(self.limits.spills, SpillKind::Refused);
        check::check_budgets(
            &base,
            machine,
            self.limits.blocks_per_sm,
            if bounded { Some(registers) } else { None },
        )
    }

    /// Checks that f32 is emulated in registers, and that no other type is emulated.
    const fn check_emulation_mma_sync(&self) -> Result<(), Refusal> {
        let (a, b, emulation) =
            (self.operands[0].stored, self.operands[1].stored, self.emulation());
        match (emulation, a.is(ElementKind::F32) && b.is(ElementKind::F32)) {
            (EmulationKind::None, true) => Err(Refusal::NOT_EMULATED),
            (EmulationKind::None, false) => Ok(()),
            (_, false) => Err(Refusal::nothing_to_emulate(emulation, a, b)),
            (_, true) if emulation.in_registers() => Ok(()),
            (_, true) => Err(Refusal::emulation_of_others(emulation)),
        }
    }

    const fn check_shapes_mma_sync(&self, instruction: &WarpInstruction) -> Result<(), Refusal> {
        let (tb, warp, shape) = (self.threadblock(), self.warp(), instruction.shape());
        hold!(extent(Axis::M, warp.m, shape.m, self.k_contiguous(OperandKind::A)));
        hold!(extent(Axis::N, warp.n, shape.n, self.k_contiguous(OperandKind::B)));
        hold!(power(Axis::K, warp.k, WARP_DEPTHS, 8));
        hold!(multiple(Field::Warp(Axis::K), warp.k as u64, shape.k as u64, 256));
        hold!(within(Field::WarpArea, (warp.m * warp.n) as u64, 128, 128 * 128));
        check::check_threadblock(tb, warp)
    }

    const fn check_operand_mma_sync(
        &self,
        base: &MmaBase,
        kind: OperandKind,
        align: u32,
    ) -> Result<(), Refusal> {
        let (operand, facts) = (Operand::from_kind(kind), base.operand(kind));
        hold!(check::check_access(base, kind, align));
        self.mainloop.check_copies(operand, &facts)
    }
}
