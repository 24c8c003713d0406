//! The default table of kernels with a TMA ring.

use crate::{
    arch::{ArchKind::Sm90, OpKind},
    nest::{
        AOperandKind, DecompositionKind, Knobs, PromotionKind,
        defaults::{
            Alternative::{self, OfColumns},
            Row, combined, mixed, with,
        },
    },
    numeric::{
        Combined,
        ElementKind::{self, *},
        EmulationKind,
    },
    schedule::ScheduleKind,
    shape::{Mn, Mnk},
    threadblock::{Mainloop, TmaRingKnobs},
    warp::{WarpMma, WgmmaKnobs},
};

/// Returns knobs for Hopper's tensor cores. The threadblock tile is `m` x `n` and 128 bytes deep,
/// and a consumer's tile is `warp_m` x `n`. The instruction is 64 x `n` x 32 bytes. Tiles are in
/// groups of eight rows. Accesses of A, B, and C have 16 bytes.
const fn specialized(
    m: u32,
    warp_m: u32,
    n: u32,
    stages: u32,
    a: ElementKind,
    c: ElementKind,
) -> Knobs {
    let (depth, step) = (a.elements_in(128), a.elements_in(32));
    let (threadblock, warp) = (Mnk::new(m, n, depth), Mnk::new(warp_m, n, depth));
    let schedule = if warp_m == m { ScheduleKind::Pingpong } else { ScheduleKind::Cooperative };
    Knobs::new(
        Mainloop::TmaRing(TmaRingKnobs { threadblock, stages, schedule, ..TmaRingKnobs::DEFAULT }),
        WarpMma::Wgmma(WgmmaKnobs {
            warp,
            instruction: Mnk::new(64, n, step),
            ..WgmmaKnobs::DEFAULT
        }),
        [a.elements_in(16), a.elements_in(16), c.elements_in(16)],
    )
}

/// Returns two lists joined. The order matters: of configurations with equal cost, the first is
/// chosen.
const fn joined<T: Copy, const N: usize, const MORE: usize, const ALL: usize>(
    some: [T; N],
    more: [T; MORE],
) -> [T; ALL] {
    assert!(ALL == N + MORE);
    let (mut all, mut i) = ([some[0]; ALL], 0);
    while i < ALL {
        all[i] = if i < N { some[i] } else { more[i - N] };
        i += 1;
    }
    all
}

/// Returns 128 x `n` with ping-pong. Stores overlap with the main loop of the next tile.
const fn pingpong(n: u32, a: ElementKind, c: ElementKind) -> Knobs {
    specialized(128, 128, n, if n == 128 { 6 } else { 4 }, a, c)
}

/// Returns 64 x 128 with ping-pong, for small problems, which have more such tiles. It was chosen
/// among the tiles of `lab/data/trials.csv`, log `small_tiles_tensor_op`.
const fn small(a: ElementKind, c: ElementKind) -> Knobs {
    tile_of_64_rows(a, c)
}

/// Returns 64 x 128 for 16 bits in clusters whose two CTAs share the columns of B.
///
/// The cluster is faster if rows, of 2000 bytes for example, begin in the middle of lines (log
/// `squares_tensor_op`). Otherwise, it is up to 10% slower (log `small_clusters`). With few
/// k-tiles, six stages are faster than eight, which are all requested at once. 1000 cubed takes
/// 7.35 us (7.6 us with eight, log `stages_of_clusters`).
const fn small_shared(c: ElementKind) -> Knobs {
    with!(tile_of_64_rows(F16, c), cluster: Mn { m: 2, n: 1 },
        stages: 6)
}

/// Returns 64 x 128 with two consumers that each have half the columns, and therefore half the
/// epilogue. Split-K of a deep K takes up to 10% less time than with 128 x 64, and squares take
/// equal time (`lab/data/trials.csv`, log `side_by_side`).
const fn side_by_side(a: ElementKind, c: ElementKind) -> Knobs {
    let all = tile_of_64_rows(a, c);
    with!(all, warp: Mnk { n: 64, ..all.warp() },
        instruction: Mnk::new(64, 64, all.warp().k / 4),
        schedule: ScheduleKind::Cooperative)
}

/// Returns the knobs of 64 x 128 with ping-pong.
const fn tile_of_64_rows(a: ElementKind, c: ElementKind) -> Knobs {
    // Wide outputs need more shared memory for staging.
    specialized(64, 64, 128, if a.bits() == 32 || matches!(c, I32 | F32) { 7 } else { 8 }, a, c)
}

/// Returns 128 x `n` with two consumers that each have half the rows. With one tile per
/// multiprocessor, ping-pong has no second tile. 1536 squared has as many tiles of 128 x 144 as
/// there are multiprocessors (`lab/data/trials.csv`, log `squares_tensor_op`). Split-K of a deep K
/// uses 128 x 128 or smaller tiles (log `parallel_tensor_op`).
const fn together(n: u32, a: ElementKind, c: ElementKind) -> Knobs {
    specialized(128, 64, n, if matches!(c, I32 | F32) { 5 } else { 6 }, a, c)
}

/// Returns 256 x `n` with two consumers, in clusters whose two CTAs share the rows of A. If rows
/// begin within sectors of memory, the L2 cache receives twice as many requests for lines, which
/// limits (`lab/data/trials.csv`, log `pitches_tensor_op`). 192 columns are three boxes of 64 for
/// an N-major B (log `wide_tiles`).
const fn wide(n: u32, a: ElementKind, c: ElementKind) -> Knobs {
    let stages = if n > 160 { 3 } else { 4 };
    with!(specialized(256, 128, n, stages, a, c), cluster: Mn { m: 1, n: 2 })
}

/// Returns 128 x 256 in clusters whose two CTAs share the columns of B. N-major columns arrive in
/// boxes of 64.
const fn shared(a: ElementKind, c: ElementKind) -> Knobs {
    let stages = if matches!(c, I32 | F32) { 3 } else { 4 };
    with!(specialized(128, 64, 256, stages, a, c), cluster: Mn { m: 2, n: 1 })
}

/// Returns 64 x `n` for a small M of the user's D, which maps to the kernel's columns. The stages
/// keep device memory busy.
const fn few_rows(n: u32, a: ElementKind, c: ElementKind) -> Knobs {
    specialized(64, 64, n, if n > 32 { 12 } else { 16 }, a, c)
}

/// Returns the tiles with swapped operands for one input and one output type. They include wide
/// tiles, whose B is K-major if the user's A is.
const fn small_m_knobs(a: ElementKind, c: ElementKind) -> [Knobs; 5] {
    [few_rows(16, a, c), few_rows(32, a, c), few_rows(64, a, c), wide(160, a, c), wide(192, a, c)]
}

/// Returns 64 x `n` with split-K in a cluster of `slices` CTAs.
///
/// It is faster with few tiles and a deep K: 33 tiles of 2112 columns leave most multiprocessors
/// idle. The numbers of slices measured faster than all alternatives (`lab/data/trials.csv`, log
/// `split_k_cluster`): two for each tile, and four for the smallest. 64 x 32 also has eight slices,
/// by log `deep_parts`. Slots of 64 x 64 use the memory of a stage.
const fn cluster_knobs(n: u32, slices: u32, a: ElementKind, c: ElementKind) -> Knobs {
    let stages = if n > 32 { 11 } else { 16 };
    let decomposition = DecompositionKind::SplitKCluster;
    with!(specialized(64, 64, n, stages, a, c), decomposition,
        split_k: slices)
}

/// Returns the tiles with swapped operands for 16 bits and one output type. For other types,
/// split-K in a cluster was faster only with eight slices of 64 x 32.
const fn halves_of_columns(a: ElementKind, c: ElementKind) -> [Knobs; 10] {
    let [two, of_32, of_64] =
        [cluster_knobs(16, 2, a, c), cluster_knobs(32, 2, a, c), cluster_knobs(64, 2, a, c)];
    joined(
        small_m_knobs(a, c),
        [two, of_32, of_64, cluster_knobs(16, 4, a, c), cluster_knobs(32, 8, a, c)],
    )
}

/// Returns the tiles with swapped operands for fp8 and one output type.
const fn fp8_of_columns(c: ElementKind) -> [Knobs; 6] {
    joined(small_m_knobs(E4m3, c), [cluster_knobs(32, 8, E4m3, c)])
}

/// Returns the knobs with an M-major A from registers.
const fn from_registers(knobs: Knobs) -> Knobs {
    with!(knobs, a_operand: AOperandKind::Registers)
}

/// Returns 128 x `n` with A from registers. Two consumers share the tile, so one loads while the
/// other multiplies.
const fn loaded(n: u32, a: ElementKind, c: ElementKind) -> Knobs {
    from_registers(specialized(128, 64, n, 4, a, c))
}

/// 64 x 256 for `tf32` with A from registers and ping-pong.
const LOADED_IN_TURNS: Knobs = from_registers(specialized(64, 64, 256, 5, Tf32, F32));

/// Emulated `f32` with terms of 16 bits and promotion after each stage, in the first tile of
/// [`promoted_fp8_knobs`].
const PROMOTED_F32: Knobs =
    promoted(with!(specialized(256, 128, 128, 4, Bf16, F32), emulation: EmulationKind::Bf16x6,
    align_a: 4,
    align_b: 4));

/// Returns the tiles for any input type and one output type.
const fn all_of(a: ElementKind, c: ElementKind) -> [Knobs; 6] {
    [
        pingpong(128, a, c),
        pingpong(176, a, c),
        pingpong(192, a, c),
        wide(160, a, c),
        wide(192, a, c),
        shared(a, c),
    ]
}

/// Returns the tiles for 8 bits and one output type. Consumers side by side precede the small
/// ping-pong tile, as for 16 bits; for `tf32`, they follow it.
const fn byte_knobs(c: ElementKind) -> [Knobs; 11] {
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

/// Returns the tiles for fp8. For integers, whose D is twice as wide, 128 x 128 has one stage less
/// and is not faster.
const fn fp8_byte_knobs(c: ElementKind) -> [Knobs; 12] {
    joined(byte_knobs(c), [together(128, E4m3, c)])
}

/// Returns the tiles for 16 bits and one output type. The small tile follows the others, and its
/// clusters are last, so that equal costs select a larger tile.
const fn half_knobs(c: ElementKind) -> [Knobs; 11] {
    let smaller = [
        together(144, F16, c),
        side_by_side(F16, c),
        together(128, F16, c),
        small(F16, c),
        small_shared(c),
    ];
    joined(all_of(F16, c), smaller)
}

/// Returns the tiles for results of fp8. Rows of a subtile have at least 32 bytes, so the columns
/// of a tile are a multiple of 32.
const fn knobs_to_fp8(a: ElementKind) -> [Knobs; 8] {
    [
        pingpong(128, a, E4m3),
        pingpong(192, a, E4m3),
        wide(160, a, E4m3),
        wide(192, a, E4m3),
        shared(a, E4m3),
        together(128, a, E4m3),
        side_by_side(a, E4m3),
        small(a, E4m3),
    ]
}

/// The tiles for `tf32`.
const OF_TF32: [Knobs; 10] = joined(
    all_of(Tf32, F32),
    [small(Tf32, F32), side_by_side(Tf32, F32), together(128, Tf32, F32), LOADED_IN_TURNS],
);

/// Returns the tiles for fp8 with promotion after each stage. Two consumers share a tile, so one
/// multiplies while the other adds; with ping-pong, these steps would not overlap. Consumers have
/// 128 x 128, and the partial accumulators of a 64 x 128 instruction fit next to the accumulators.
/// Or they have 64 x 192, with as many partial accumulators as accumulators.
const fn promoted_fp8_knobs(c: ElementKind) -> [Knobs; 2] {
    [
        promoted(specialized(256, 128, 128, 4, E4m3, c)),
        promoted(specialized(128, 64, 192, 4, E4m3, c)),
    ]
}

const fn promoted(knobs: Knobs) -> Knobs {
    with!(knobs, promotion: PromotionKind::Stage)
}

/// Returns the combinations of fp8 types with one output type.
const fn fp8_types(c: ElementKind) -> [Combined; 4] {
    [
        combined(E4m3, F32, c),
        mixed(E4m3, E5m2, F32, c),
        mixed(E5m2, E4m3, F32, c),
        combined(E5m2, F32, c),
    ]
}

/// The combinations of fp8 types with results of fp8.
const FP8_TO_FP8: [Combined; 8] = joined(fp8_types(E4m3), fp8_types(E5m2));

const fn tensor_op(types: &'static [Combined], knobs: &'static [Knobs]) -> Row {
    Row::new(OpKind::TensorOp, &[Sm90], types, knobs)
}

const fn and_of_columns(
    types: &'static [Combined],
    knobs: &'static [Knobs],
    of_columns: &'static [Knobs],
) -> Row {
    Row { of_columns, ..tensor_op(types, knobs) }
}

/// Returns a row with alternatives: tiles of 128 x 192 whose columns are rows of D, so that 192
/// rows fill a tile exactly (`lab/data/trials.csv`, log `rows_of_192`).
const fn and_beside(
    types: &'static [Combined],
    knobs: &'static [Knobs],
    of_columns: &'static [Knobs],
    alternatives: &'static [Alternative],
) -> Row {
    Row { alternatives, ..and_of_columns(types, knobs, of_columns) }
}

const fn with_promotion(types: &'static [Combined], knobs: &'static [Knobs]) -> Row {
    Row { promotion: Some(PromotionKind::Stage), ..tensor_op(types, knobs) }
}

/// The rows of the table.
pub(crate) const ROWS: &[Row] = &[
    and_beside(
        &[combined(F16, F32, F16), combined(F16, F32, Bf16), combined(F16, F16, F16)],
        &half_knobs(F16),
        &halves_of_columns(F16, F16),
        &[OfColumns(pingpong(192, F16, F16))],
    ),
    and_beside(
        &[combined(Bf16, F32, Bf16), combined(Bf16, F32, F16)],
        &half_knobs(Bf16),
        &halves_of_columns(Bf16, Bf16),
        &[OfColumns(pingpong(192, F16, Bf16))],
    ),
    and_of_columns(
        &[combined(F16, F32, F32), combined(Bf16, F32, F32)],
        &half_knobs(F32),
        &halves_of_columns(F16, F32),
    ),
    and_of_columns(&[combined(Tf32, F32, F32)], &OF_TF32, &small_m_knobs(Tf32, F32)),
    tensor_op(&[combined(F32, F32, F32)], &[PROMOTED_F32]),
    with_promotion(&fp8_types(Bf16), &promoted_fp8_knobs(Bf16)),
    with_promotion(&fp8_types(F16), &promoted_fp8_knobs(F16)),
    with_promotion(&fp8_types(F32), &promoted_fp8_knobs(F32)),
    and_beside(
        &fp8_types(Bf16),
        &fp8_byte_knobs(Bf16),
        &fp8_of_columns(Bf16),
        &[OfColumns(pingpong(192, E4m3, Bf16))],
    ),
    and_beside(
        &fp8_types(F16),
        &fp8_byte_knobs(F16),
        &fp8_of_columns(F16),
        &[OfColumns(pingpong(192, E4m3, F16))],
    ),
    and_beside(
        &fp8_types(F32),
        &fp8_byte_knobs(F32),
        &fp8_of_columns(F32),
        &[OfColumns(pingpong(192, E4m3, F32))],
    ),
    tensor_op(&[combined(F16, F32, E4m3), combined(Bf16, F32, E4m3)], &knobs_to_fp8(F16)),
    with_promotion(&FP8_TO_FP8, &promoted_fp8_knobs(E4m3)),
    tensor_op(&FP8_TO_FP8, &knobs_to_fp8(E4m3)),
    and_of_columns(
        &[combined(I8, I32, I32), combined(U8, I32, I32)],
        &byte_knobs(I32),
        &small_m_knobs(I8, I32),
    ),
];
