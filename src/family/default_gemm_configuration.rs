//! What a kernel is configured as unless the user says otherwise: a table, one row for each class of types.
//!
//! A row names architectures, combinations of types, and the knobs. The same row answers types, while compiling, and flags and
//! files.

use super::resolve::check_pins;
use crate::{
    arch::{
        ArchKind::{self, *},
        OpKind,
    },
    desc::{FamilyDesc, GemmDesc, Pins, PromotionKind, SimtKnobs, SourceKind, SpillKind, WarpSpecializedKnobs},
    layout::Order,
    numeric::{
        Combined,
        ElementKind::{self, *},
        SplitKind,
    },
    refusal::Refusal,
    schedule::ScheduleKind,
    shape::{Mn, Mnk},
    threadblock::{MainloopKind, SmemLayout, SwizzleKind},
    warp::{InterleaveKind, UnrollKind},
};

/// Knobs for these types on these architectures.
struct Row {
    op: OpKind,
    archs: &'static [ArchKind],
    types: &'static [Combined],
    /// What has to be pinned for it: sums that are promoted are others.
    promotion: Option<PromotionKind>,
    /// The first is what [`Auto`](crate::desc::Auto) stands for; all are what a problem chooses among.
    families: &'static [FamilyDesc],
}

/// Operands of two types.
const fn mixed(a: ElementKind, b: ElementKind, accumulator: ElementKind, c: ElementKind) -> Combined {
    Combined { a, b, accumulator, c }
}

/// Operands of one type.
const fn of(ab: ElementKind, accumulator: ElementKind, c: ElementKind) -> Combined {
    mixed(ab, ab, accumulator, c)
}

/// The configuration that this library began with, and CUTLASS's for the CUDA cores: 128x128x8, two stages, accesses of one
/// element; layouts of shared memory that follow from the operands.
const CLASSIC: SimtKnobs = SimtKnobs {
    threadblock: Mnk::new(128, 128, 8),
    warp: Mnk::new(32, 64, 8),
    mainloop: MainloopKind::Pipelined,
    stages: 2,
    swizzle: SwizzleKind::Identity(1),
    align_a: 1,
    align_b: 1,
    align_c: 1,
    smem_a: SmemLayout::Auto,
    smem_b: SmemLayout::Auto,
    blocks_per_sm: 1,
    interleave: InterleaveKind::Vector,
    unroll: UnrollKind::Full,
    spills: SpillKind::Refused,
};

/// `f64`: half the columns, since an accumulator takes two registers.
const DOUBLE: SimtKnobs = SimtKnobs { threadblock: Mnk::new(128, 64, 8), warp: Mnk::new(32, 32, 8), ..CLASSIC };

/// `f32` with asynchronous copies: the largest tile whose accumulators fit, 16x8 a thread, so that the fewest instructions go
/// to anything but products. Chosen on an H200 among those of `docs/performance/learned.md`.
const ASYNCHRONOUS: SimtKnobs = SimtKnobs {
    threadblock: Mnk::new(256, 128, 8),
    warp: Mnk::new(64, 64, 8),
    mainloop: MainloopKind::Multistage,
    stages: 4,
    ..CLASSIC
};

/// Accesses of so many elements of A and B, and of C.
const fn aligned(knobs: SimtKnobs, ab: u32, c: u32) -> FamilyDesc {
    FamilyDesc::Simt(SimtKnobs { align_a: ab, align_b: ab, align_c: c, ..knobs })
}

/// Tensor cores of Hopper: tiles of `m` x `n` for a block and of `warp_m` x `n` for a consumer, 128 bytes deep, an instruction
/// of 64 x `n` and 32 bytes; tiles eight rows abreast, and accesses of 16 bytes to elements of A, B and C.
const fn specialized(m: u32, warp_m: u32, n: u32, stages: u32, a: ElementKind, c: ElementKind) -> WarpSpecializedKnobs {
    let (depth, step) = (a.elements_in(128), a.elements_in(32));
    WarpSpecializedKnobs {
        threadblock: Mnk::new(m, n, depth),
        warp: Mnk::new(warp_m, n, depth),
        instruction: Mnk::new(64, n, step),
        stages,
        swizzle: SwizzleKind::Grouped(8),
        align_a: a.elements_in(16),
        align_b: a.elements_in(16),
        align_c: c.elements_in(16),
        cluster: Mn { m: 1, n: 1 },
        schedule: if warp_m == m { ScheduleKind::Pingpong } else { ScheduleKind::Cooperative },
        promotion: PromotionKind::Never,
        emulation: SplitKind::None,
        a_operand: SourceKind::Shared,
        spills: SpillKind::Refused,
    }
}

/// 128 x `n`, each warpgroup its own: stores cost nothing where there is a next tile.
const fn turns(n: u32, a: ElementKind, c: ElementKind) -> FamilyDesc {
    FamilyDesc::WarpSpecialized(specialized(128, 128, n, if n == 128 { 6 } else { 4 }, a, c))
}

/// A from registers, where it is contiguous along M.
const fn from_registers(knobs: WarpSpecializedKnobs) -> FamilyDesc {
    FamilyDesc::WarpSpecialized(WarpSpecializedKnobs { a_operand: SourceKind::Registers, ..knobs })
}

/// A from registers: consumers share a tile of 128 x `n`, so that one loads while the other multiplies.
const fn loaded(n: u32, a: ElementKind, c: ElementKind) -> FamilyDesc {
    from_registers(specialized(128, 64, n, 4, a, c))
}

/// The same of `tf32`, 64 x 256 in turns.
const LOADED_IN_TURNS: FamilyDesc = from_registers(specialized(64, 64, 256, 5, Tf32, F32));

/// `f32` in parts of 16 bits, sums promoted after each stage: the tile of [`of_sums`].
const IN_PARTS: FamilyDesc = promoted(WarpSpecializedKnobs {
    emulation: SplitKind::Bf16x6,
    align_a: 4,
    align_b: 4,
    ..specialized(256, 128, 128, 4, Bf16, F32)
});

/// Those of 8 bits and one output.
const fn of_bytes(c: ElementKind) -> [FamilyDesc; 5] {
    [turns(128, E4m3, c), turns(176, E4m3, c), turns(192, E4m3, c), loaded(256, E4m3, c), loaded(192, E4m3, c)]
}

/// Those of 16 bits and one output.
const fn of_halves(c: ElementKind) -> [FamilyDesc; 3] {
    [turns(128, F16, c), turns(176, F16, c), turns(192, F16, c)]
}

/// fp8 with sums promoted after each stage: two consumers on one tile, so that one multiplies while the other adds; in turns nobody would.
/// 128 x 128 each, of which the partial sums of an instruction of 64 x 128 fit beside the sums; or 64 x 192, with as many partial sums as sums.
const fn of_sums(c: ElementKind) -> [FamilyDesc; 2] {
    [promoted(specialized(256, 128, 128, 4, E4m3, c)), promoted(specialized(128, 64, 192, 4, E4m3, c))]
}

const fn promoted(knobs: WarpSpecializedKnobs) -> FamilyDesc {
    FamilyDesc::WarpSpecialized(WarpSpecializedKnobs { promotion: PromotionKind::Stage, ..knobs })
}

/// The products of fp8 with one output.
const fn of_fp8(c: ElementKind) -> [Combined; 4] {
    [of(E4m3, F32, c), mixed(E4m3, E5m2, F32, c), mixed(E5m2, E4m3, F32, c), of(E5m2, F32, c)]
}

const fn simt(archs: &'static [ArchKind], types: &'static [Combined], families: &'static [FamilyDesc]) -> Row {
    Row { op: OpKind::Simt, archs, types, promotion: None, families }
}

const fn tensor_op(types: &'static [Combined], families: &'static [FamilyDesc]) -> Row {
    Row { op: OpKind::TensorOp, archs: &[Sm90], types, promotion: None, families }
}

const fn with_promotion(types: &'static [Combined], families: &'static [FamilyDesc]) -> Row {
    Row { promotion: Some(PromotionKind::Stage), ..tensor_op(types, families) }
}

/// Architectures without asynchronous copies, and those with them.
const OLDER: &[ArchKind] = &[Sm70, Sm75];
const NEWER: &[ArchKind] = &[Sm80, Sm86, Sm89, Sm90];

const ROWS: &[Row] = &[
    simt(OLDER, &[of(F32, F32, F32), of(I32, I32, I32)], &[aligned(CLASSIC, 1, 1)]),
    simt(
        OLDER,
        &[of(F16, F32, F16), of(F16, F32, F32), of(F16, F16, F16), of(Bf16, F32, Bf16), of(Bf16, F32, F32)],
        &[aligned(CLASSIC, 1, 1)],
    ),
    simt(
        OLDER,
        &[of(I8, I32, I32), of(I8, I32, I8), of(I8, I32, F32), of(U8, I32, I32), of(U8, I32, U8)],
        &[aligned(CLASSIC, 1, 1)],
    ),
    simt(OLDER, &[of(F64, F64, F64)], &[aligned(DOUBLE, 1, 1)]),
    simt(NEWER, &[of(F32, F32, F32)], &[aligned(ASYNCHRONOUS, 4, 4)]),
    simt(&[Sm90], &[of(F32, F32, F32)], &[COPIED_BY_TMA]),
    simt(NEWER, &[of(I32, I32, I32)], &[aligned(CLASSIC, 4, 4)]),
    simt(NEWER, &[of(F16, F32, F16), of(F16, F16, F16), of(Bf16, F32, Bf16)], &[aligned(CLASSIC, 8, 8)]),
    simt(NEWER, &[of(F16, F32, F32), of(Bf16, F32, F32)], &[aligned(CLASSIC, 8, 4)]),
    simt(NEWER, &[of(I8, I32, I8), of(U8, I32, U8)], &[aligned(CLASSIC, 8, 8)]),
    simt(NEWER, &[of(I8, I32, I32), of(I8, I32, F32), of(U8, I32, I32)], &[aligned(CLASSIC, 8, 4)]),
    simt(NEWER, &[of(F64, F64, F64)], &[aligned(DOUBLE, 2, 2)]),
    tensor_op(&[of(F16, F32, F16), of(F16, F32, Bf16), of(F16, F16, F16)], &of_halves(F16)),
    tensor_op(&[of(Bf16, F32, Bf16), of(Bf16, F32, F16)], &of_halves(Bf16)),
    tensor_op(&[of(F16, F32, F32), of(Bf16, F32, F32)], &of_halves(F32)),
    tensor_op(&[of(Tf32, F32, F32)], &[turns(128, Tf32, F32), turns(176, Tf32, F32), turns(192, Tf32, F32), LOADED_IN_TURNS]),
    tensor_op(&[of(F32, F32, F32)], &[IN_PARTS]),
    with_promotion(&of_fp8(Bf16), &of_sums(Bf16)),
    with_promotion(&of_fp8(F16), &of_sums(F16)),
    with_promotion(&of_fp8(F32), &of_sums(F32)),
    tensor_op(&of_fp8(Bf16), &of_bytes(Bf16)),
    tensor_op(&of_fp8(F16), &of_bytes(F16)),
    tensor_op(&of_fp8(F32), &of_bytes(F32)),
    tensor_op(&[of(I8, I32, I32), of(U8, I32, I32)], &of_bytes(I32)),
];

/// What a class may take, by default the first: the families of the first row that has what is pinned.
///
/// # Errors
///
/// [`Refusal::NoSuchOperation`], [`Refusal::NoSuchCombination`] or [`Refusal::OfOtherUnits`] when the table has no row;
/// [`Refusal::OtherFamilysKnob`] or [`Refusal::OtherMainloop`] when no row of these types has what is pinned.
pub(super) const fn rows(op: OpKind, arch: ArchKind, types: Combined, pins: &Pins) -> Result<&'static [FamilyDesc], Refusal> {
    let (mut i, mut elsewhere, mut refused): (_, &[ArchKind], _) = (0, &[], None);
    while i < ROWS.len() {
        let row = &ROWS[i];
        i += 1;
        if op as u8 != row.op as u8 || !types.is_among(row.types) {
            continue;
        }
        if !has_arch(row.archs, arch) {
            elsewhere = row.archs;
            continue;
        }
        match (row.promotion, pins.promotion) {
            (None, _) | (Some(PromotionKind::Stage), Some(PromotionKind::Stage)) => {}
            _ => continue,
        }
        match check_pins(&row.families[0], pins, op, arch) {
            Ok(()) => return Ok(row.families),
            Err(refusal) if refused.is_none() => refused = Some(refusal),
            Err(_) => {}
        }
    }
    match (refused, elsewhere) {
        (Some(refusal), _) => Err(refusal),
        (None, [nearest, ..]) => Err(Refusal::NoSuchOperation { op, arch, nearest: *nearest }),
        (None, []) => Err(types.refused_by(op)),
    }
}

const fn has_arch(archs: &[ArchKind], arch: ArchKind) -> bool {
    let mut i = 0;
    while i < archs.len() {
        if archs[i] as u8 == arch as u8 {
            return true;
        }
        i += 1;
    }
    false
}

/// What types on an architecture may take, by default the first: that is what [`Auto`](crate::desc::Auto) stands for.
///
/// # Errors
///
/// Those of a table without a row: [`Refusal::NoSuchOperation`], [`Refusal::NoSuchCombination`] or [`Refusal::OfOtherUnits`].
pub const fn default_gemm_configurations(op: OpKind, arch: ArchKind, types: Combined) -> Result<&'static [FamilyDesc], Refusal> {
    rows(op, arch, types, &Pins::NONE)
}

/// The description of a product whose types are values, configured by default. C may be column-major: then the description
/// is that of the exchanged problem.
///
/// # Errors
///
/// Those of [`default_gemm_configurations`]; the description itself is still to be checked, with what the caller changes in it.
pub fn default_description(op: OpKind, arch: ArchKind, types: Combined, [a, b, c]: [Order; 3]) -> Result<GemmDesc, Refusal> {
    let families = default_gemm_configurations(op, arch, types)?;
    Ok(GemmDesc::of_values(op, arch, types, [a, b, c], families[0]))
}

/// Knobs of `f32` on the CUDA cores whose tiles TMA brings: 16x8 a thread, which measured best of
/// `docs/performance/f32_simt.md`. Not [`Auto`](crate::desc::Auto)'s, since operands that are contiguous along K need a workspace.
pub const COPIED_BY_TMA: FamilyDesc = FamilyDesc::WarpSpecialized(WarpSpecializedKnobs {
    threadblock: Mnk::new(256, 128, 16),
    warp: Mnk::new(64, 64, 16),
    instruction: Mnk::new(16, 8, 1),
    schedule: ScheduleKind::Cooperative,
    ..specialized(128, 128, 128, 8, F32, F32)
});
