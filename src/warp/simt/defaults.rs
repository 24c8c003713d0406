//! The default table of SIMT kernels.

use crate::{
    arch::{
        ArchKind::{self, *},
        OpKind,
    },
    nest::{
        DecompositionKind, Knobs,
        defaults::{Alternative::AsGiven, Row, combined, with},
    },
    numeric::{Combined, ElementKind::*},
    shape::Mnk,
    threadblock::{Mainloop, MainloopKind},
    warp::{InterleaveKind, SimtKnobs, UnrollKind, WarpMma, simt::tma_ring},
};

const THROUGH_REGISTERS: &[MainloopKind] = MainloopKind::THROUGH_REGISTERS;

/// The first configuration of this library, and CUTLASS's for the CUDA cores: 128x128x8, two
/// stages, accesses of one element, and shared-memory layouts that follow from the operands.
const CLASSIC: Knobs = Knobs::new(
    Mainloop::new(THROUGH_REGISTERS[0], Mnk::new(128, 128, 8), 2, UnrollKind::Full),
    WarpMma::Simt(SimtKnobs {
        warp: Mnk::new(32, 64, 8),
        thread: None,
        interleave: InterleaveKind::Vector,
    }),
    [1; 3],
);

/// `f64`: half the columns, because an accumulator needs two registers.
const DOUBLE: Knobs = with!(CLASSIC, threadblock: Mnk::new(128, 64, 8), warp: Mnk::new(32, 32, 8));

/// `f32` with asynchronous copies: the largest tile whose accumulators fit, with 16x8 per thread.
/// It has the highest share of multiply-adds among its instructions. It was chosen on an H200; the
/// notebook that `book/src/lessons.md` names lists the candidates.
const ASYNCHRONOUS: Knobs = with!(CLASSIC, threadblock: Mnk::new(256, 128, 8),
    warp: Mnk::new(64, 64, 8),
    mainloop: MainloopKind::Multistage,
    stages: 4);

/// Tiles for `f32` with one wave or few. `HALF_AS_LARGE` has half the tile. In `SMALL`, two warps
/// share the depth. `DEEP` has the same extent with half as many accumulators per thread, for
/// split-K with many slices (`lab/data/trials.csv`, log `split_k_simt`). In `LEAST`, four warps
/// share the depth. Except for `DEEP`, these tiles were chosen among those of
/// `lab/data/trials.csv`, log `small_tiles_simt`. The same holds for the tiles of `f64` and of
/// narrower types below.
const HALF_AS_LARGE: Knobs = with!(ASYNCHRONOUS, threadblock: Mnk::new(128, 128, 8));
/// Half the large tile with stream-K, for sizes whose whole waves would leave multiprocessors idle
/// (`lab/data/trials.csv`, log `streams_f32`).
const STREAMED: Knobs = with!(HALF_AS_LARGE, decomposition: DecompositionKind::StreamK);
const DEEP: Knobs =
    with!(ASYNCHRONOUS, threadblock: Mnk::new(64, 64, 16), warp: Mnk::new(32, 32, 16));
const SMALL: Knobs = with!(ASYNCHRONOUS, threadblock: Mnk::new(64, 64, 32),
    warp: Mnk::new(32, 64, 16),
    stages: 3);
const LEAST: Knobs = with!(ASYNCHRONOUS, threadblock: Mnk::new(32, 32, 32),
    warp: Mnk::new(32, 32, 8),
    stages: 3);
/// Half and a quarter of [`HALF_AS_LARGE`], with the same depth. They were faster for a short K,
/// for 64 rows, and for groups that leave tiles half empty (`lab/data/trials.csv`, log
/// `short_tiles_simt`).
const SHALLOW_AND_WIDE: Knobs =
    with!(ASYNCHRONOUS, threadblock: Mnk::new(64, 128, 8), warp: Mnk::new(32, 64, 8));
const SHALLOW: Knobs =
    with!(ASYNCHRONOUS, threadblock: Mnk::new(64, 64, 8), warp: Mnk::new(32, 32, 8));
/// `f32` with a small M: the tile has as many rows as D, so no multiply-add is wasted. In
/// `lab/data/trials.csv`, log `few_rows_simt`, these tiles were the fastest for an N-major and a
/// K-major B, or a few percent slower than the fastest.
const ROWS_OF_8: Knobs =
    with!(ASYNCHRONOUS, threadblock: Mnk::new(8, 128, 32), warp: Mnk::new(8, 64, 16));
const ROWS_OF_16: Knobs =
    with!(ASYNCHRONOUS, threadblock: Mnk::new(16, 128, 32), warp: Mnk::new(16, 64, 16));
const ROWS_OF_32: Knobs =
    with!(ASYNCHRONOUS, threadblock: Mnk::new(32, 64, 16), warp: Mnk::new(32, 32, 8));

/// `f64` with few waves, with asynchronous copies.
const SMALL_DOUBLE: Knobs =
    with!(ASYNCHRONOUS, threadblock: Mnk::new(64, 64, 8), warp: Mnk::new(32, 32, 8));
const SMALLER_DOUBLE: Knobs =
    with!(ASYNCHRONOUS, threadblock: Mnk::new(64, 32, 8), warp: Mnk::new(32, 16, 8));
const LEAST_DOUBLE: Knobs =
    with!(ASYNCHRONOUS, threadblock: Mnk::new(32, 32, 16), warp: Mnk::new(16, 16, 16));

/// Elements of 8 and 16 bits: twice the depth halves the number of barriers.
const SMALL_DEEP: Knobs =
    with!(CLASSIC, threadblock: Mnk::new(64, 64, 16), warp: Mnk::new(32, 32, 16));
const LEAST_DEEP: Knobs =
    with!(CLASSIC, threadblock: Mnk::new(32, 32, 16), warp: Mnk::new(16, 16, 16));

/// `f16` accumulators, two per register, for sm_80 and newer: 8x16 per thread, and 128 threads per
/// CTA. The registers allow three CTAs per multiprocessor. The notebook that `book/src/lessons.md`
/// names lists the candidates, with bounds of three and four CTAs.
const HALF: Knobs =
    with!(CLASSIC, threadblock: Mnk::new(128, 128, 16), warp: Mnk::new(32, 128, 16));

/// Returns `knobs` with `ab` elements per access of A and B, and `c` of C.
const fn aligned(knobs: Knobs, ab: u32, c: u32) -> Knobs {
    with!(knobs, align_a: ab, align_b: ab, align_c: c)
}

/// Returns the configurations for 8 and 16 bits, with `c` elements per access of C.
const fn deep(c: u32) -> [Knobs; 3] {
    [aligned(CLASSIC, 8, c), aligned(SMALL_DEEP, 8, c), aligned(LEAST_DEEP, 8, c)]
}

const fn simt(
    archs: &'static [ArchKind],
    types: &'static [Combined],
    knobs: &'static [Knobs],
) -> Row {
    Row::new(OpKind::Simt, archs, types, knobs)
}

/// Architectures without asynchronous copies, and those with them.
const OLDER: &[ArchKind] = &[Sm70, Sm75];
const NEWER: &[ArchKind] = &[Sm80, Sm86, Sm89, Sm90];

/// Configurations for `f32` with asynchronous copies.
const SINGLES: &[Knobs] = &[
    aligned(ASYNCHRONOUS, 4, 4),
    aligned(HALF_AS_LARGE, 4, 4),
    aligned(SHALLOW_AND_WIDE, 4, 4),
    aligned(SHALLOW, 4, 4),
    aligned(SMALL, 4, 4),
    aligned(DEEP, 4, 4),
    aligned(LEAST, 4, 4),
    aligned(ROWS_OF_32, 4, 4),
    aligned(ROWS_OF_16, 4, 4),
    aligned(ROWS_OF_8, 4, 4),
];

/// The rows of the table.
pub(crate) const ROWS: &[Row] = &[
    simt(OLDER, &[combined(F32, F32, F32), combined(I32, I32, I32)], &[aligned(CLASSIC, 1, 1)]),
    simt(
        OLDER,
        &[
            combined(F16, F32, F16),
            combined(F16, F32, F32),
            combined(F16, F16, F16),
            combined(Bf16, F32, Bf16),
            combined(Bf16, F32, F32),
        ],
        &[aligned(CLASSIC, 1, 1)],
    ),
    simt(
        OLDER,
        &[
            combined(I8, I32, I32),
            combined(I8, I32, I8),
            combined(I8, I32, F32),
            combined(U8, I32, I32),
            combined(U8, I32, U8),
        ],
        &[aligned(CLASSIC, 1, 1)],
    ),
    simt(OLDER, &[combined(F64, F64, F64)], &[aligned(DOUBLE, 1, 1)]),
    Row {
        alternatives: &[AsGiven(aligned(STREAMED, 4, 4))],
        ..simt(&[Sm80, Sm86, Sm89], &[combined(F32, F32, F32)], SINGLES)
    },
    Row {
        alternatives: &[
            AsGiven(aligned(STREAMED, 4, 4)),
            AsGiven(tma_ring::defaults::COPIED_BY_TMA),
        ],
        ..simt(&[Sm90], &[combined(F32, F32, F32)], SINGLES)
    },
    simt(NEWER, &[combined(I32, I32, I32)], &[aligned(CLASSIC, 4, 4)]),
    simt(NEWER, &[combined(F16, F32, F16), combined(Bf16, F32, Bf16)], &deep(8)),
    simt(NEWER, &[combined(F16, F16, F16)], &[aligned(HALF, 8, 8)]),
    simt(NEWER, &[combined(F16, F32, F32), combined(Bf16, F32, F32)], &deep(4)),
    simt(NEWER, &[combined(I8, I32, I8), combined(U8, I32, U8)], &deep(8)),
    simt(
        NEWER,
        &[combined(I8, I32, I32), combined(I8, I32, F32), combined(U8, I32, I32)],
        &deep(4),
    ),
    simt(
        NEWER,
        &[combined(F64, F64, F64)],
        &[
            aligned(DOUBLE, 2, 2),
            aligned(SMALL_DOUBLE, 2, 2),
            aligned(SMALLER_DOUBLE, 2, 2),
            aligned(LEAST_DOUBLE, 2, 2),
        ],
    ),
];
