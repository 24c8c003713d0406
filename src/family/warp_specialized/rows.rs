//! What kernels of this family are configured as, by their types.

use crate::{
    arch::{ArchKind::Sm90, OpKind},
    desc::{
        AOperandKind, DecompositionKind, FamilyDesc, PromotionKind, SpillKind, WarpSpecializedKnobs,
    },
    family::default_gemm_configuration::{
        Alternative::{self, OfColumns},
        Row, mixed, of,
    },
    numeric::{
        Combined,
        ElementKind::{self, *},
        EmulationKind,
    },
    schedule::ScheduleKind,
    shape::{Mn, Mnk},
    threadblock::SwizzleKind,
};

/// Tensor cores of Hopper: tiles of `m` x `n` for a block and of `warp_m` x `n` for a consumer, 128
/// bytes deep, an instruction of 64 x `n` and 32 bytes; tiles in groups of eight rows, and accesses
/// of 16 bytes to elements of A, B and C.
const fn specialized(
    m: u32,
    warp_m: u32,
    n: u32,
    stages: u32,
    a: ElementKind,
    c: ElementKind,
) -> WarpSpecializedKnobs {
    let (depth, step) = (a.elements_in(128), a.elements_in(32));
    WarpSpecializedKnobs {
        threadblock: Mnk::new(m, n, depth),
        warp: Mnk::new(warp_m, n, depth),
        instruction: Mnk::new(64, n, step),
        stages,
        swizzle: SwizzleKind::Grouped(8),
        split_k: 1,
        decomposition: DecompositionKind::SplitK,
        align_a: a.elements_in(16),
        align_b: a.elements_in(16),
        align_c: c.elements_in(16),
        cluster: Mn::ONE,
        schedule: if warp_m == m { ScheduleKind::Pingpong } else { ScheduleKind::Cooperative },
        pending: 1,
        promotion: PromotionKind::Never,
        emulation: EmulationKind::None,
        a_operand: AOperandKind::Shared,
        spills: SpillKind::Refused,
    }
}

/// Two lists, one behind the other. Of configurations that cost a problem as much the first is
/// taken, so their order counts.
const fn joined<const N: usize, const MORE: usize, const ALL: usize>(
    some: [FamilyDesc; N],
    more: [FamilyDesc; MORE],
) -> [FamilyDesc; ALL] {
    assert!(ALL == N + MORE);
    let (mut all, mut i) = ([some[0]; ALL], 0);
    while i < ALL {
        all[i] = if i < N { some[i] } else { more[i - N] };
        i += 1;
    }
    all
}

/// 128 x `n`, each warpgroup its own: stores cost nothing where there is a next tile.
const fn turns(n: u32, a: ElementKind, c: ElementKind) -> FamilyDesc {
    FamilyDesc::WarpSpecialized(specialized(128, 128, n, if n == 128 { 6 } else { 4 }, a, c))
}

/// 64 x 128, which small problems have more of: half the rows a consumer under ping-pong. Chosen
/// among those of `lab/data/trials.csv`, log `small_tiles_tensor_op`.
const fn small(a: ElementKind, c: ElementKind) -> FamilyDesc {
    FamilyDesc::WarpSpecialized(of_64_rows(a, c))
}

/// The same of 16 bits, whose columns of B two blocks share: that pays where rows of 2000 bytes
/// begin in the middle of lines (log `squares_tensor_op`), and takes up to a tenth longer
/// where they do not (log `small_clusters`). Of few k-tiles six stages take less time than eight,
/// which all ask for theirs at once: 1000 cubed 7.35 us for 7.6 (log `stages_of_clusters`).
const fn small_shared(c: ElementKind) -> FamilyDesc {
    FamilyDesc::WarpSpecialized(WarpSpecializedKnobs {
        cluster: Mn { m: 2, n: 1 },
        stages: 6,
        ..of_64_rows(F16, c)
    })
}

/// 64 x 128 of two consumers that have half the columns each, and so the end of the tile: parts of
/// a deep K take up to a tenth less by it than by 128 x 64, and squares take the same
/// (`lab/data/trials.csv`, log `side_by_side`).
const fn side_by_side(a: ElementKind, c: ElementKind) -> FamilyDesc {
    let all = of_64_rows(a, c);
    FamilyDesc::WarpSpecialized(WarpSpecializedKnobs {
        warp: Mnk { n: 64, ..all.warp },
        instruction: Mnk { n: 64, ..all.instruction },
        schedule: ScheduleKind::Cooperative,
        ..all
    })
}

/// Knobs of 64 x 128 under ping-pong.
const fn of_64_rows(a: ElementKind, c: ElementKind) -> WarpSpecializedKnobs {
    // Wide outputs are staged in more of the shared memory.
    specialized(64, 64, 128, if a.bits() == 32 || matches!(c, I32 | F32) { 7 } else { 8 }, a, c)
}

/// 128 x `n`, of which two consumers have half the rows each: a tile that is its multiprocessor's
/// only one has nobody to take turns with. 1536 squared has as many of 128 x 144 as there are
/// multiprocessors (`lab/data/trials.csv`, log `squares_tensor_op`), and parts of a deep K are
/// of 128 x 128, or smaller (log `parallel_tensor_op`).
const fn together(n: u32, a: ElementKind, c: ElementKind) -> FamilyDesc {
    FamilyDesc::WarpSpecialized(specialized(
        128,
        64,
        n,
        if matches!(c, I32 | F32) { 5 } else { 6 },
        a,
        c,
    ))
}

/// 256 x `n` of two consumers, whose rows of A two blocks share: where rows begin within sectors of
/// memory, the second-level cache is asked for twice as many lines, and that is what limits
/// (`lab/data/trials.csv`, log `pitches_tensor_op`). 192 columns are three boxes of 64 where B
/// lies along N (log `wide_tiles`).
const fn wide(n: u32, a: ElementKind, c: ElementKind) -> FamilyDesc {
    let stages = if n > 160 { 3 } else { 4 };
    FamilyDesc::WarpSpecialized(WarpSpecializedKnobs {
        cluster: Mn { m: 1, n: 2 },
        ..specialized(256, 128, n, stages, a, c)
    })
}

/// The same of 128 x 256, whose columns of B are shared: those that lie along N come in boxes
/// of 64.
const fn shared(a: ElementKind, c: ElementKind) -> FamilyDesc {
    let stages = if matches!(c, I32 | F32) { 3 } else { 4 };
    FamilyDesc::WarpSpecialized(WarpSpecializedKnobs {
        cluster: Mn { m: 2, n: 1 },
        ..specialized(128, 64, 256, stages, a, c)
    })
}

/// Few rows of the user's D, as so many columns of the kernel's: 64 x `n`, in as many stages as
/// keep device memory busy.
const fn few_rows(n: u32, a: ElementKind, c: ElementKind) -> FamilyDesc {
    FamilyDesc::WarpSpecialized(specialized(64, 64, n, if n > 32 { 12 } else { 16 }, a, c))
}

/// Those of one input and one output, and wide tiles, whose B lies along K where the user's A does.
const fn of_columns(a: ElementKind, c: ElementKind) -> [FamilyDesc; 5] {
    [few_rows(16, a, c), few_rows(32, a, c), few_rows(64, a, c), wide(160, a, c), wide(192, a, c)]
}

/// 64 x `n` whose K a cluster's blocks have in `parts`, which pays where tiles are few and K is
/// deep: 33 tiles of 2112 columns leave most multiprocessors without any. Of
/// `lab/data/trials.csv`, log `split_k_cluster` those by which a problem takes less time than
/// by any other line: two parts of each tile, and four of the smallest; and eight of 64 x 32, by
/// log `deep_parts`. Slots of 64 x 64 take a stage.
const fn of_cluster(n: u32, parts: u32, a: ElementKind, c: ElementKind) -> FamilyDesc {
    let stages = if n > 32 { 11 } else { 16 };
    let decomposition = DecompositionKind::SplitKCluster;
    FamilyDesc::WarpSpecialized(WarpSpecializedKnobs {
        decomposition,
        split_k: parts,
        ..specialized(64, 64, n, stages, a, c)
    })
}

/// Those of 16 bits and one output: no other types' parts of a cluster took less time, but eight of
/// 64 x 32.
const fn halves_of_columns(a: ElementKind, c: ElementKind) -> [FamilyDesc; 10] {
    let [two, of_32, of_64] =
        [of_cluster(16, 2, a, c), of_cluster(32, 2, a, c), of_cluster(64, 2, a, c)];
    joined(of_columns(a, c), [two, of_32, of_64, of_cluster(16, 4, a, c), of_cluster(32, 8, a, c)])
}

/// Those of fp8 and one output.
const fn fp8_of_columns(c: ElementKind) -> [FamilyDesc; 6] {
    joined(of_columns(E4m3, c), [of_cluster(32, 8, E4m3, c)])
}

/// A from registers, where it is M-major.
const fn from_registers(knobs: WarpSpecializedKnobs) -> FamilyDesc {
    FamilyDesc::WarpSpecialized(WarpSpecializedKnobs {
        a_operand: AOperandKind::Registers,
        ..knobs
    })
}

/// A from registers: consumers share a tile of 128 x `n`, so that one loads while the other
/// multiplies.
const fn loaded(n: u32, a: ElementKind, c: ElementKind) -> FamilyDesc {
    from_registers(specialized(128, 64, n, 4, a, c))
}

/// The same of `tf32`, 64 x 256 ping-pong.
const LOADED_IN_TURNS: FamilyDesc = from_registers(specialized(64, 64, 256, 5, Tf32, F32));

/// `f32` in parts of 16 bits, accumulators promoted after each stage: the tile of
/// [`of_fp8_promoted`].
const IN_PARTS: FamilyDesc = promoted(WarpSpecializedKnobs {
    emulation: EmulationKind::Bf16x6,
    align_a: 4,
    align_b: 4,
    ..specialized(256, 128, 128, 4, Bf16, F32)
});

/// Those of one input and one output, whatever the input is.
const fn all_of(a: ElementKind, c: ElementKind) -> [FamilyDesc; 6] {
    [
        turns(128, a, c),
        turns(176, a, c),
        turns(192, a, c),
        wide(160, a, c),
        wide(192, a, c),
        shared(a, c),
    ]
}

/// Those of 8 bits and one output: consumers side by side come before the small ping-pong tile, as
/// of 16 bits; `tf32` has them the other way round.
const fn of_bytes(c: ElementKind) -> [FamilyDesc; 11] {
    joined(
        all_of(E4m3, c),
        [
            together(144, E4m3, c),
            side_by_side(E4m3, c),
            small(E4m3, c),
            loaded(256, E4m3, c),
            loaded(192, E4m3, c),
        ],
    )
}

/// The same of fp8: of integers, whose D is twice as wide, 128 x 128 has a stage less, and is no
/// faster.
const fn of_fp8_bytes(c: ElementKind) -> [FamilyDesc; 12] {
    joined(of_bytes(c), [together(128, E4m3, c)])
}

/// Those of 16 bits and one output: the small tile comes behind the others, and in clusters last,
/// so that it is taken where it costs less and not where it costs as much.
const fn of_halves(c: ElementKind) -> [FamilyDesc; 11] {
    let smaller = [
        together(144, F16, c),
        side_by_side(F16, c),
        together(128, F16, c),
        small(F16, c),
        small_shared(c),
    ];
    joined(all_of(F16, c), smaller)
}

/// Those of `tf32`.
const OF_TF32: [FamilyDesc; 10] = joined(
    all_of(Tf32, F32),
    [small(Tf32, F32), side_by_side(Tf32, F32), together(128, Tf32, F32), LOADED_IN_TURNS],
);

/// fp8 with accumulators promoted after each stage: two consumers on one tile, so that one
/// multiplies while the other adds; under ping-pong nobody would. 128 x 128 each, of which the
/// partial accumulators of an instruction of 64 x 128 fit beside the accumulators; or 64 x 192,
/// with as many partial accumulators as accumulators.
const fn of_fp8_promoted(c: ElementKind) -> [FamilyDesc; 2] {
    [
        promoted(specialized(256, 128, 128, 4, E4m3, c)),
        promoted(specialized(128, 64, 192, 4, E4m3, c)),
    ]
}

const fn promoted(knobs: WarpSpecializedKnobs) -> FamilyDesc {
    FamilyDesc::WarpSpecialized(WarpSpecializedKnobs { promotion: PromotionKind::Stage, ..knobs })
}

/// The products of fp8 with one output.
const fn of_fp8(c: ElementKind) -> [Combined; 4] {
    [of(E4m3, F32, c), mixed(E4m3, E5m2, F32, c), mixed(E5m2, E4m3, F32, c), of(E5m2, F32, c)]
}

/// Knobs of `f32` on the CUDA cores whose tiles TMA brings: 16x8 a thread, which measured best of
/// `git show e863db3:./docs/performance/f32_simt.md`. Not [`Auto`](crate::desc::Auto)'s, since
/// operands that are K-major need a workspace.
pub const COPIED_BY_TMA: FamilyDesc = FamilyDesc::WarpSpecialized(WarpSpecializedKnobs {
    threadblock: Mnk::new(256, 128, 16),
    warp: Mnk::new(64, 64, 16),
    instruction: Mnk::new(16, 8, 1),
    schedule: ScheduleKind::Cooperative,
    ..specialized(128, 128, 128, 8, F32, F32)
});

const fn tensor_op(types: &'static [Combined], families: &'static [FamilyDesc]) -> Row {
    Row {
        op: OpKind::TensorOp,
        archs: &[Sm90],
        types,
        promotion: None,
        families,
        of_columns: &[],
        beside: &[],
        in_place: &[],
    }
}

const fn and_of_columns(
    types: &'static [Combined],
    families: &'static [FamilyDesc],
    of_columns: &'static [FamilyDesc],
) -> Row {
    Row { of_columns, ..tensor_op(types, families) }
}

/// The same, and what stands beside: tiles of 128 x 192 whose columns are rows of D, so that of 192
/// of those none are left over (`lab/data/trials.csv`, log `rows_of_192`).
const fn and_beside(
    types: &'static [Combined],
    families: &'static [FamilyDesc],
    of_columns: &'static [FamilyDesc],
    beside: &'static [Alternative],
) -> Row {
    Row { beside, ..and_of_columns(types, families, of_columns) }
}

const fn with_promotion(types: &'static [Combined], families: &'static [FamilyDesc]) -> Row {
    Row { promotion: Some(PromotionKind::Stage), ..tensor_op(types, families) }
}

/// The rows.
pub(in crate::family) const ROWS: &[Row] = &[
    Row { op: OpKind::Simt, ..tensor_op(&[of(F32, F32, F32)], &[COPIED_BY_TMA]) },
    and_beside(
        &[of(F16, F32, F16), of(F16, F32, Bf16), of(F16, F16, F16)],
        &of_halves(F16),
        &halves_of_columns(F16, F16),
        &[OfColumns(turns(192, F16, F16))],
    ),
    and_beside(
        &[of(Bf16, F32, Bf16), of(Bf16, F32, F16)],
        &of_halves(Bf16),
        &halves_of_columns(Bf16, Bf16),
        &[OfColumns(turns(192, F16, Bf16))],
    ),
    and_of_columns(
        &[of(F16, F32, F32), of(Bf16, F32, F32)],
        &of_halves(F32),
        &halves_of_columns(F16, F32),
    ),
    and_of_columns(&[of(Tf32, F32, F32)], &OF_TF32, &of_columns(Tf32, F32)),
    tensor_op(&[of(F32, F32, F32)], &[IN_PARTS]),
    with_promotion(&of_fp8(Bf16), &of_fp8_promoted(Bf16)),
    with_promotion(&of_fp8(F16), &of_fp8_promoted(F16)),
    with_promotion(&of_fp8(F32), &of_fp8_promoted(F32)),
    and_beside(
        &of_fp8(Bf16),
        &of_fp8_bytes(Bf16),
        &fp8_of_columns(Bf16),
        &[OfColumns(turns(192, E4m3, Bf16))],
    ),
    and_beside(
        &of_fp8(F16),
        &of_fp8_bytes(F16),
        &fp8_of_columns(F16),
        &[OfColumns(turns(192, E4m3, F16))],
    ),
    and_beside(
        &of_fp8(F32),
        &of_fp8_bytes(F32),
        &fp8_of_columns(F32),
        &[OfColumns(turns(192, E4m3, F32))],
    ),
    and_of_columns(&[of(I8, I32, I32), of(U8, I32, I32)], &of_bytes(I32), &of_columns(I8, I32)),
];
