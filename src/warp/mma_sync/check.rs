//! The rules of an `mma.sync` kernel without a producer: those of its own knobs and types.

use crate::{
    nest::{GemmDesc, emulation_of_others},
    numeric::{ElementKind, Multiplied, TransformId},
    refusal::{
        Field, Legal, Refusal, hold,
        rules::{multiple, nearest_power_of_two, within},
    },
    shape::{Axis, Mnk, OperandKind},
    threadblock::mma::check,
    warp::{MmaSyncKnobs, SaturateKind, mma_sync::table},
};

/// Valid depths of a warp tile.
pub(super) const WARP_DEPTHS: &[u32] = &[8, 16, 32, 64, 128, 256];

/// Minimum and maximum extent of a warp tile along M and N.
const LEAST_EXTENT: u32 = 8;
const MOST_EXTENT: u32 = 128;

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
    hold!(within(field, value as u64, least as u64, MOST_EXTENT as u64));
    multiple(field, value as u64, ROWS as u64, MOST_EXTENT as u64)
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

impl MmaSyncKnobs {
    /// Checks the knobs, and that the architecture has an instruction for the types.
    pub(crate) const fn check(&self, desc: &GemmDesc) -> Result<(), Refusal> {
        hold!(Self::check_multiplied(desc));
        let (instruction, warp) = (hold!(self.checked_instruction(desc)), self.warp);
        let shape = instruction.shape();
        hold!(self.check_saturate(desc.output.accumulator));
        hold!(Self::check_extents(desc, shape));
        hold!(multiple(Field::Warp(Axis::K), warp.k as u64, shape.k as u64, 256));
        within(Field::WarpArea, (warp.m * warp.n) as u64, 128, 128 * 128)
    }

    /// Checks that only sums of integers saturate.
    pub(super) const fn check_saturate(&self, accumulator: ElementKind) -> Result<(), Refusal> {
        match self.saturate {
            SaturateKind::On if !accumulator.is_integer() => {
                Err(Refusal::nothing_to_saturate(accumulator))
            }
            SaturateKind::On | SaturateKind::Off => Ok(()),
        }
    }

    /// Checks the extents of the warp tile for an instruction.
    const fn check_extents(desc: &GemmDesc, instruction: Mnk) -> Result<(), Refusal> {
        let warp = desc.warp();
        let (m, n) = (instruction.m, instruction.n);
        hold!(extent(Axis::M, warp.m, m, desc.k_contiguous(OperandKind::A)));
        hold!(extent(Axis::N, warp.n, n, desc.k_contiguous(OperandKind::B)));
        power(Axis::K, warp.k, WARP_DEPTHS, 8)
    }

    /// Checks the warp tile for the smallest instruction.
    pub(crate) const fn check_warp(desc: &GemmDesc) -> Result<(), Refusal> {
        Self::check_extents(desc, Mnk::new(LEAST_EXTENT, LEAST_EXTENT, 4))
    }

    /// Returns the number of the largest warp tiles that fill a threadblock tile. It is the maximum
    /// of `u32` if none does.
    pub(crate) const fn fewest_warps(desc: &GemmDesc, tile: Mnk) -> u32 {
        let axes = [
            (Axis::M, tile.m, desc.k_contiguous(OperandKind::A)),
            (Axis::N, tile.n, desc.k_contiguous(OperandKind::B)),
        ];
        let (mut i, mut warps) = (0, 1u32);
        while i < axes.len() {
            let (axis, whole, k_contiguous) = axes[i];
            let mut warp = MOST_EXTENT;
            while warp > 0
                && !(whole.is_multiple_of(warp)
                    && extent(axis, warp, LEAST_EXTENT, k_contiguous).is_ok())
            {
                warp -= LEAST_EXTENT;
            }
            warps = match whole.checked_div(warp) {
                Some(along) => warps.saturating_mul(along),
                None => return u32::MAX,
            };
            i += 1;
        }
        warps
    }

    /// Checks that a warp can compute what the instruction reads: f32 is emulated or transformed in
    /// registers, no other type is emulated, and A and B become one type.
    pub(crate) const fn check_multiplied(desc: &GemmDesc) -> Result<(), Refusal> {
        let ([a, b], mut i) = (desc.operands, 0);
        while i < 2 {
            let (operand, stored) = (desc.operands[i], desc.operands[i].stored);
            match operand.multiplied {
                Multiplied::Stored if stored.is(ElementKind::F32) => {
                    return Err(Refusal::NOT_EMULATED);
                }
                Multiplied::Terms(emulation) if !stored.is(ElementKind::F32) => {
                    return Err(Refusal::nothing_to_emulate(emulation, a.stored, b.stored));
                }
                Multiplied::Terms(emulation) if !emulation.in_registers() => {
                    return Err(emulation_of_others(emulation));
                }
                Multiplied::Stored | Multiplied::Terms(_) => {}
                Multiplied::Transformed(id) => {
                    hold!(Self::check_transform(OperandKind::BOTH[i], id, stored))
                }
            }
            i += 1;
        }
        let [x, y] = [a.factor(), b.factor()];
        if (x.is(y) || x.is_fp8() && y.is_fp8()) && a.multiplied.terms() == b.multiplied.terms() {
            return Ok(());
        }
        Err(Refusal::unlike_operands(a.multiplied, b.multiplied, [x, y]))
    }

    /// Checks that a warp can apply a transform to elements of type `stored`, and that the
    /// instruction reads the result.
    const fn check_transform(
        operand: OperandKind,
        id: TransformId,
        stored: ElementKind,
    ) -> Result<(), Refusal> {
        if !id.stored.is(stored) {
            return Err(Refusal::transform_of_other_type(operand, id, stored));
        }
        if table::supported(Multiplied::Transformed(id), stored) {
            return Ok(());
        }
        Err(Refusal::transform_of_others(
            operand,
            id,
            "mma.sync kernels",
            "they transform f32, tf32, f16, and bf16 to tf32, f16, and bf16 of at most that width",
            "try op = simt for f32, or another Multiplied",
        ))
    }
}
