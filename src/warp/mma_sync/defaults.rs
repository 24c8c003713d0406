//! The default table of `mma.sync` kernels.

use crate::{
    arch::{
        ArchKind::{self, *},
        OpKind,
    },
    nest::{
        Knobs, SaturateKind,
        defaults::{Row, combined, mixed, with},
    },
    numeric::{Combined, ElementKind::*, EmulationKind},
    shape::Mnk,
    threadblock::{Mainloop, MainloopKind},
    warp::{MmaSyncKnobs, UnrollKind, WarpMma, WarpMmaKind},
};

/// Turing, which has no asynchronous copies. It has no rows without a main loop that copies through
/// registers.
const TURING: &[ArchKind] = if MainloopKind::first_through_registers(WarpMmaKind::MmaSync).is_some()
{
    &[Sm75]
} else {
    &[]
};

/// Main loops of the rows. The rows have the first.
const LOOPS: &[MainloopKind] = &[MainloopKind::Multistage, MainloopKind::Pipelined];

/// Returns the knobs of a threadblock tile and a warp tile of depth `k`, with asynchronous copies
/// into `stages` stages. An access has `align` elements, which are 16 bytes by default.
const fn tiled(
    (m, n): (u32, u32),
    (warp_m, warp_n): (u32, u32),
    k: u32,
    instruction: Mnk,
    stages: u32,
    align: u32,
) -> Knobs {
    Knobs::new(
        Mainloop::new(LOOPS[0], Mnk::new(m, n, k), stages, UnrollKind::Full),
        WarpMma::MmaSync(MmaSyncKnobs {
            warp: Mnk::new(warp_m, warp_n, k),
            instruction,
            saturate: SaturateKind::Off,
        }),
        [align, align, 2],
    )
}

/// Returns a tile, half of it, and a quarter with smaller warp tiles, for problems of few tiles.
const fn three(k: u32, instruction: Mnk, stages: u32, align: u32) -> [Knobs; 3] {
    [
        tiled((128, 128), (64, 64), k, instruction, stages, align),
        tiled((128, 64), (64, 32), k, instruction, stages, align),
        tiled((64, 64), (32, 32), k, instruction, stages, align),
    ]
}

/// Returns the tiles of [`three`] after a tile with twice the columns and twice the depth, if
/// shared memory holds three of its stages: 144 KB for any type. It was the fastest on an H100, or
/// within 1% of the fastest (book/src/lessons.md names the notebook).
const fn four(k: u32, instruction: Mnk, stages: u32, align: u32) -> [Knobs; 4] {
    let [most, half, quarter] = three(k, instruction, stages, align);
    [tiled((128, 256), (64, 64), 2 * k, instruction, 3, align), most, half, quarter]
}

/// Returns the knobs with two stages that are copied through registers, as on Turing.
const fn through_registers(knobs: Knobs) -> Knobs {
    with!(knobs, mainloop: MainloopKind::Pipelined, stages: 2)
}

/// `f64` on Hopper: 128x128 in eight warps, and smaller tiles, among them cuBLAS's own shape. The
/// instruction is 16x8x8. In the smallest tiles, it is as fast as 16x8x4 within a few hundredths of
/// a microsecond. In others, it is up to 6% faster (`lab/data/trials.csv`, log
/// `f64_two_fragments`).
const DOUBLE: [Knobs; 6] = [
    double((128, 128), (32, 64), 16),
    double((128, 64), (32, 32), 32),
    double((64, 128), (32, 64), 16),
    double((64, 64), (32, 32), 32),
    double((32, 64), (16, 32), 32),
    double((32, 32), (16, 16), 32),
];
const fn double(block: (u32, u32), warp: (u32, u32), k: u32) -> Knobs {
    tiled(block, warp, k, Mnk::new(16, 8, 8), 3, 2)
}

/// `f64` on Ampere: the tiles that fit its instruction of 8x8x4.
const DOUBLE_OF_AMPERE: [Knobs; 3] = [
    tiled((64, 64), (32, 32), 16, Mnk::new(8, 8, 4), 4, 2),
    tiled((64, 32), (32, 16), 16, Mnk::new(8, 8, 4), 4, 2),
    tiled((32, 32), (16, 16), 16, Mnk::new(8, 8, 4), 4, 2),
];

const HALVES: [Knobs; 4] = four(32, Mnk::new(16, 8, 16), 4, 8);
const WORDS: [Knobs; 4] = four(16, Mnk::new(16, 8, 8), 4, 4);
const BYTES: [Knobs; 4] = four(64, Mnk::new(16, 8, 32), 4, 16);
/// Returns tiles of 64x64 and 32x64 with a depth of 128 bytes and `align` elements per access. In
/// `lab/data/trials.csv`, log `odd_in_place`, they were the fastest below 1000 cubed.
const fn anywhere(k: u32, instruction: Mnk, align: u32) -> [Knobs; 2] {
    [
        tiled((64, 64), (32, 32), k, instruction, 3, align),
        tiled((32, 64), (16, 32), k, instruction, 3, align),
    ]
}

/// Returns the tiles of [`anywhere`] for rows whose pitch is a multiple of 8 bytes, of 4 bytes, and
/// of one element.
const fn narrow(k: u32, instruction: Mnk, [eight, four]: [u32; 2]) -> [Knobs; 6] {
    let ([a, b], [c, d], [e, f]) = (
        anywhere(k, instruction, eight),
        anywhere(k, instruction, four),
        anywhere(k, instruction, 1),
    );
    let (e, f) = (with!(e, align_c: 1), with!(f, align_c: 1));
    [a, b, c, d, through_registers(e), through_registers(f)]
}

const HALVES_IN_PLACE: [Knobs; 6] = narrow(64, Mnk::new(16, 8, 16), [4, 2]);
const BYTES_IN_PLACE: [Knobs; 6] = narrow(128, Mnk::new(16, 8, 32), [8, 4]);
const WORDS_IN_PLACE: [Knobs; 4] = {
    let ([a, b], [c, d]) =
        (anywhere(32, Mnk::new(16, 8, 8), 2), anywhere(32, Mnk::new(16, 8, 8), 1));
    [a, b, c, d]
};
const HALVES_OF_99_KB: [Knobs; 3] = three(32, Mnk::new(16, 8, 16), 4, 8);
const WORDS_OF_99_KB: [Knobs; 3] = three(16, Mnk::new(16, 8, 8), 4, 4);
const BYTES_OF_99_KB: [Knobs; 3] = three(64, Mnk::new(16, 8, 32), 4, 16);

/// Returns a tile for f32 in terms of tf32. Fragments and accumulators need twice the registers, so
/// warp tiles are half as large.
const fn fast((m, n): (u32, u32), warp: (u32, u32), k: u32, stages: u32) -> Knobs {
    let knobs = tiled((m, n), warp, k, Mnk::new(16, 8, 8), stages, 4);
    with!(knobs, emulation: EmulationKind::Tf32x3)
}

const FAST: [Knobs; 3] = [
    fast((128, 128), (64, 32), 32, 3),
    fast((128, 64), (64, 32), 16, 4),
    fast((64, 64), (32, 32), 16, 4),
];

const HALVES_OF_TURING: [Knobs; 2] = [
    through_registers(tiled((128, 128), (64, 64), 32, Mnk::new(16, 8, 8), 2, 8)),
    through_registers(tiled((64, 64), (32, 32), 32, Mnk::new(16, 8, 8), 2, 8)),
];
/// The last tile is for MN-major bytes, whose loads need registers for each k-block.
const BYTES_OF_TURING: [Knobs; 3] = [
    through_registers(tiled((128, 128), (64, 64), 64, Mnk::new(8, 8, 16), 2, 16)),
    through_registers(tiled((64, 64), (32, 32), 64, Mnk::new(8, 8, 16), 2, 16)),
    through_registers(tiled((64, 64), (32, 32), 32, Mnk::new(8, 8, 16), 2, 16)),
];

const fn tensor_op(
    archs: &'static [ArchKind],
    types: &'static [Combined],
    knobs: &'static [Knobs],
) -> Row {
    Row::new(OpKind::TensorOp, archs, types, knobs)
}

/// Returns a row that also supplies the configurations that read operands in place, for a problem
/// in which another main loop would copy operands.
const fn in_place(
    types: &'static [Combined],
    knobs: &'static [Knobs],
    in_place: &'static [Knobs],
) -> Row {
    Row { in_place, ..tensor_op(LARGE, types, knobs) }
}

const AMPERE: &[ArchKind] = &[Sm80, Sm86, Sm89];
/// Architectures whose shared memory holds the large tile. On Hopper, the rows of the TMA
/// ring precede these.
const LARGE: &[ArchKind] = &[Sm80, Sm90];
const SMALL: &[ArchKind] = &[Sm86, Sm89];

/// Types of f16 that Turing also supports.
const OF_F16: &[Combined] = &[
    combined(F16, F32, F16),
    combined(F16, F32, Bf16),
    combined(F16, F32, F32),
    combined(F16, F16, F16),
];
const OF_BF16: &[Combined] =
    &[combined(Bf16, F32, Bf16), combined(Bf16, F32, F16), combined(Bf16, F32, F32)];
/// Types of 16 bits with results of fp8, whose conversion needs sm_89.
const HALVES_TO_FP8: &[Combined] = &[combined(F16, F32, E4m3), combined(Bf16, F32, E4m3)];
const OF_BYTES: &[Combined] = &[
    combined(I8, I32, I32),
    combined(I8, I32, I8),
    combined(I8, I32, F16),
    combined(I8, I32, F32),
    combined(U8, I32, I32),
    combined(U8, I32, U8),
];

/// The rows of the table. If an architecture lacks a class, the refusal proposes the nearest
/// architecture that has it.
pub(crate) const ROWS: &[Row] = &[
    tensor_op(&[Sm90], &[combined(F64, F64, F64)], &DOUBLE),
    tensor_op(AMPERE, &[combined(F64, F64, F64)], &DOUBLE_OF_AMPERE),
    tensor_op(TURING, OF_F16, &HALVES_OF_TURING),
    tensor_op(SMALL, OF_F16, &HALVES_OF_99_KB),
    in_place(OF_F16, &HALVES, &HALVES_IN_PLACE),
    tensor_op(SMALL, OF_BF16, &HALVES_OF_99_KB),
    in_place(OF_BF16, &HALVES, &HALVES_IN_PLACE),
    tensor_op(SMALL, &[combined(Tf32, F32, F32)], &WORDS_OF_99_KB),
    in_place(&[combined(Tf32, F32, F32)], &WORDS, &WORDS_IN_PLACE),
    tensor_op(&[Sm80, Sm86, Sm89, Sm90], &[combined(F32, F32, F32)], &FAST),
    tensor_op(TURING, OF_BYTES, &BYTES_OF_TURING),
    tensor_op(SMALL, OF_BYTES, &BYTES_OF_99_KB),
    in_place(OF_BYTES, &BYTES, &BYTES_IN_PLACE),
    tensor_op(
        &[Sm89],
        &[
            combined(E4m3, F32, Bf16),
            combined(E4m3, F32, F16),
            combined(E4m3, F32, F32),
            combined(E5m2, F32, Bf16),
            combined(E5m2, F32, F16),
            combined(E5m2, F32, F32),
            mixed(E4m3, E5m2, F32, Bf16),
            mixed(E4m3, E5m2, F32, F16),
            mixed(E4m3, E5m2, F32, F32),
            mixed(E5m2, E4m3, F32, Bf16),
            mixed(E5m2, E4m3, F32, F16),
            mixed(E5m2, E4m3, F32, F32),
            combined(E4m3, F32, E4m3),
            combined(E4m3, F32, E5m2),
            mixed(E4m3, E5m2, F32, E4m3),
            mixed(E4m3, E5m2, F32, E5m2),
            mixed(E5m2, E4m3, F32, E4m3),
            mixed(E5m2, E4m3, F32, E5m2),
            combined(E5m2, F32, E4m3),
            combined(E5m2, F32, E5m2),
        ],
        &BYTES_OF_99_KB,
    ),
    tensor_op(&[Sm89], HALVES_TO_FP8, &HALVES_OF_99_KB),
    Row { in_place: &HALVES_IN_PLACE, ..tensor_op(&[Sm90], HALVES_TO_FP8, &HALVES) },
];
