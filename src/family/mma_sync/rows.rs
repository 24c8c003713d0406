//! What kernels of this family are configured as, by their types and architectures.

use crate::{
    arch::{
        ArchKind::{self, *},
        OpKind,
    },
    desc::{FamilyDesc, MmaSyncKnobs, SpillKind},
    family::default_gemm_configuration::{Row, mixed, of},
    numeric::{Combined, ElementKind::*},
    shape::Mnk,
    threadblock::{MainloopKind, SwizzleKind},
};

/// Tiles of a block and of a warp, `k` deep, by an instruction, in stages that are copied asynchronously; accesses of `align` elements, which are 16 bytes.
const fn tiled(
    (m, n): (u32, u32),
    (warp_m, warp_n): (u32, u32),
    k: u32,
    instruction: Mnk,
    stages: u32,
    align: u32,
) -> MmaSyncKnobs {
    MmaSyncKnobs {
        threadblock: Mnk::new(m, n, k),
        warp: Mnk::new(warp_m, warp_n, k),
        instruction,
        mainloop: MainloopKind::Multistage,
        stages,
        swizzle: SwizzleKind::Grouped(8),
        split_k: 1,
        align_a: align,
        align_b: align,
        align_c: 2,
        blocks_per_sm: 1,
        spills: SpillKind::Refused,
    }
}

/// The same of a quarter of the tile, and of an eighth in smaller warp tiles, for problems of few tiles.
const fn three(k: u32, instruction: Mnk, stages: u32, align: u32) -> [FamilyDesc; 3] {
    [
        FamilyDesc::MmaSync(tiled((128, 128), (64, 64), k, instruction, stages, align)),
        FamilyDesc::MmaSync(tiled((128, 64), (64, 32), k, instruction, stages, align)),
        FamilyDesc::MmaSync(tiled((64, 64), (32, 32), k, instruction, stages, align)),
    ]
}

/// Turing copies through registers.
const fn pipelined(knobs: MmaSyncKnobs) -> FamilyDesc {
    FamilyDesc::MmaSync(MmaSyncKnobs { mainloop: MainloopKind::Pipelined, stages: 2, ..knobs })
}

/// `f64` on Hopper, which measured best of `docs/performance/explore/f64_tensor_op.jsonl` without spills: 128x128 in eight warps, by the instruction of 16x8x4. Two fragments of 16x8x8
/// leave too few registers beside 128 of accumulators: five are spilled where both operands lie along K, and it is faster by 4 parts in 100 all the same. Then cuBLAS's own shape, and smaller ones.
const DOUBLE: [FamilyDesc; 5] = [
    FamilyDesc::MmaSync(tiled((128, 128), (32, 64), 16, Mnk::new(16, 8, 4), 3, 2)),
    FamilyDesc::MmaSync(tiled((64, 128), (32, 64), 16, Mnk::new(16, 8, 4), 3, 2)),
    FamilyDesc::MmaSync(tiled((128, 64), (32, 32), 16, Mnk::new(16, 8, 8), 3, 2)),
    FamilyDesc::MmaSync(tiled((64, 64), (32, 32), 16, Mnk::new(16, 8, 8), 4, 2)),
    FamilyDesc::MmaSync(tiled((32, 64), (16, 32), 16, Mnk::new(16, 8, 8), 4, 2)),
];

/// `f64` on Ampere: what fits its instruction of 8x8x4.
const DOUBLE_OF_AMPERE: [FamilyDesc; 3] = [
    FamilyDesc::MmaSync(tiled((64, 64), (32, 32), 16, Mnk::new(8, 8, 4), 4, 2)),
    FamilyDesc::MmaSync(tiled((64, 32), (32, 16), 16, Mnk::new(8, 8, 4), 4, 2)),
    FamilyDesc::MmaSync(tiled((32, 32), (16, 16), 16, Mnk::new(8, 8, 4), 4, 2)),
];

const HALVES: [FamilyDesc; 3] = three(32, Mnk::new(16, 8, 16), 4, 8);
const WORDS: [FamilyDesc; 3] = three(16, Mnk::new(16, 8, 8), 4, 4);
const BYTES: [FamilyDesc; 3] = three(64, Mnk::new(16, 8, 32), 4, 16);
const HALVES_OF_TURING: [FamilyDesc; 2] = [
    pipelined(tiled((128, 128), (64, 64), 32, Mnk::new(16, 8, 8), 2, 8)),
    pipelined(tiled((64, 64), (32, 32), 32, Mnk::new(16, 8, 8), 2, 8)),
];
const BYTES_OF_TURING: [FamilyDesc; 2] = [
    pipelined(tiled((128, 128), (64, 64), 64, Mnk::new(8, 8, 16), 2, 16)),
    pipelined(tiled((64, 64), (32, 32), 64, Mnk::new(8, 8, 16), 2, 16)),
];

const fn tensor_op(archs: &'static [ArchKind], types: &'static [Combined], families: &'static [FamilyDesc]) -> Row {
    Row { op: OpKind::TensorOp, archs, types, promotion: None, families, of_columns: &[] }
}

const AMPERE: &[ArchKind] = &[Sm80, Sm86, Sm89];
/// Hopper's own family comes first there.
const NEWER: &[ArchKind] = &[Sm80, Sm86, Sm89, Sm90];

/// Those of f16 that Turing has, too.
const OF_F16: &[Combined] = &[of(F16, F32, F16), of(F16, F32, Bf16), of(F16, F32, F32), of(F16, F16, F16)];
const OF_BYTES: &[Combined] = &[of(I8, I32, I32), of(U8, I32, I32)];

/// The rows.
pub(in crate::family) const ROWS: &[Row] = &[
    tensor_op(&[Sm90], &[of(F64, F64, F64)], &DOUBLE),
    tensor_op(AMPERE, &[of(F64, F64, F64)], &DOUBLE_OF_AMPERE),
    tensor_op(&[Sm75], OF_F16, &HALVES_OF_TURING),
    tensor_op(NEWER, OF_F16, &HALVES),
    tensor_op(NEWER, &[of(Bf16, F32, Bf16), of(Bf16, F32, F16), of(Bf16, F32, F32)], &HALVES),
    tensor_op(NEWER, &[of(Tf32, F32, F32)], &WORDS),
    tensor_op(&[Sm75], OF_BYTES, &BYTES_OF_TURING),
    tensor_op(NEWER, OF_BYTES, &BYTES),
    tensor_op(
        &[Sm89],
        &[
            of(E4m3, F32, Bf16),
            of(E4m3, F32, F16),
            of(E4m3, F32, F32),
            of(E5m2, F32, Bf16),
            of(E5m2, F32, F16),
            of(E5m2, F32, F32),
            mixed(E4m3, E5m2, F32, Bf16),
            mixed(E4m3, E5m2, F32, F16),
            mixed(E4m3, E5m2, F32, F32),
            mixed(E5m2, E4m3, F32, Bf16),
            mixed(E5m2, E4m3, F32, F16),
            mixed(E5m2, E4m3, F32, F32),
        ],
        &BYTES,
    ),
];
