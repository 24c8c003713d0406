//! The rungs, from the bottom up: each a kernel of its own, or a description.

use super::Textbook;
use falchion::{
    arch::{ArchKind, OpKind},
    desc::{GemmDesc, SimtDesc, SimtKnobs, SpillKind},
    internals::family::default_gemm_configuration::default_description,
    layout::Order,
    numeric::{Combined, ElementKind},
    refusal::Refusal,
    shape::Mnk,
    threadblock::{Along, MainloopKind, SmemLayout},
    warp::{InterleaveKind, UnrollKind},
};

/// What a rung runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(clippy::large_enum_variant, reason = "fourteen of them are made, and copied freely")]
pub enum Program {
    /// One of the two kernels that the parameterized one cannot be.
    Textbook(Textbook),
    /// A configuration of the parameterized kernel.
    Gemm(SimtDesc),
}

/// One rung.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rung {
    /// Its short name, as the chart has it.
    pub name: &'static str,
    /// What is new on it.
    pub adds: &'static str,
    /// What it runs.
    pub program: Program,
    /// For a wrong turn: the rung that it was meant to better.
    pub wrong_turn_of: Option<&'static str>,
}

/// What is common to all configurations of the ladder: `f32`, all matrices row-major, any
/// alignment, one block at least.
fn classic() -> Result<(Combined, GemmDesc), Refusal> {
    let f32 = ElementKind::F32;
    let types = Combined { a: f32, b: f32, accumulator: f32, c: f32 };
    Ok((types, default_description(OpKind::Simt, ArchKind::Sm70, types, [Order::Row; 3])?))
}

/// A description of row-major matrices.
fn desc(arch: ArchKind, change: impl FnOnce(&mut SimtKnobs)) -> Result<SimtDesc, Refusal> {
    let mut desc = classic()?.1.as_simt()?;
    desc.class.arch = arch;
    change(&mut desc.knobs);
    desc.sum().check()?;
    Ok(desc)
}

const fn rows(along: Along, padding: u32) -> SmemLayout {
    SmemLayout::Padded { along, padding }
}

/// SimtKnobs of a kernel as it is first written: A as `[m][k]`, B as `[k][n]`, a thread's elements
/// in one piece, one stage.
fn first_written(knobs: &mut SimtKnobs, tile: Mnk, warp: Mnk) {
    (knobs.threadblock, knobs.warp) = (tile, warp);
    (knobs.mainloop, knobs.stages) = (MainloopKind::SingleStage, 1);
    (knobs.smem_a, knobs.smem_b) = (rows(Along::K, 0), rows(Along::Mn, 0));
    knobs.interleave = InterleaveKind::Elements(64);
}

/// 2 x 2 elements a thread, 256 threads: 32 x 32 x 16.
fn two_by_two(knobs: &mut SimtKnobs) {
    first_written(knobs, Mnk::new(32, 32, 16), Mnk::new(8, 16, 16));
}

/// 4 x 4 elements a thread, 256 threads: 64 x 64 x 16.
fn four_by_four(knobs: &mut SimtKnobs) {
    first_written(knobs, Mnk::new(64, 64, 16), Mnk::new(16, 32, 16));
}

/// The lowest configuration of the parameterized kernel.
pub(super) fn first_configuration() -> Result<SimtDesc, Refusal> {
    desc(ArchKind::Sm70, two_by_two)
}

fn double_buffered(knobs: &mut SimtKnobs) {
    (knobs.mainloop, knobs.stages) = (MainloopKind::Pipelined, 2);
}

/// 64 x 64 x 64, 4 x 4 a thread, elements 16 apart: what the tuning notes ended with.
fn four_by_four_strided(knobs: &mut SimtKnobs) {
    first_written(knobs, Mnk::new(64, 64, 64), Mnk::new(8, 64, 64));
    knobs.interleave = InterleaveKind::Elements(1);
    (knobs.align_a, knobs.align_b) = (4, 4);
}

/// The ladder: the sixth version twice, as its author has it, and three wrong turns beside the rung
/// that they left.
///
/// # Errors
/// [`Refusal`] when a configuration does not check; a test sees that all do.
pub fn rungs() -> Result<Vec<Rung>, Refusal> {
    use ArchKind::{Sm70, Sm80};
    let step = |name, adds, program| Rung { name, adds, program, wrong_turn_of: None };
    let gemm = |name, adds, desc| step(name, adds, Program::Gemm(desc));
    let astray = |name, adds, of, desc| Rung {
        name,
        adds,
        program: Program::Gemm(desc),
        wrong_turn_of: Some(of),
    };
    Ok(vec![
        step(
            "V1 naive",
            "one element of C a thread, all from global memory",
            Program::Textbook(Textbook::Naive),
        ),
        step(
            "V2 shared memory",
            "16x16 tiles of A and B are read once a block",
            Program::Textbook(Textbook::SharedMemory),
        ),
        gemm(
            "V3 2x2 a thread",
            "each element of shared memory is used twice",
            first_configuration()?,
        ),
        gemm(
            "V4 4x4, vectors",
            "four times, and B comes four elements at a time",
            desc(Sm70, |k| {
                four_by_four(k);
                k.align_b = 4;
            })?,
        ),
        gemm(
            "V5 double buffer",
            "the next tile loads while this one multiplies; 2x2 again",
            desc(Sm70, |k| {
                two_by_two(k);
                double_buffered(k);
                k.align_b = 2;
            })?,
        ),
        gemm(
            "V6 no conflicts",
            "rows of shared memory are one element longer",
            desc(Sm70, |k| {
                two_by_two(k);
                double_buffered(k);
                k.align_b = 2;
                (k.smem_a, k.smem_b) = (rows(Along::K, 1), rows(Along::Mn, 1));
            })?,
        ),
        gemm(
            "V6 larger tile",
            "the same with 4x4 a thread",
            desc(Sm70, |k| {
                four_by_four(k);
                double_buffered(k);
                k.align_b = 2;
                (k.smem_a, k.smem_b) = (rows(Along::K, 1), rows(Along::Mn, 1));
            })?,
        ),
        gemm(
            "64x64x64",
            "deep tiles, vectors for both operands, elements dealt one by one",
            desc(Sm70, four_by_four_strided)?,
        ),
        astray(
            "64x64x64, padded",
            "rows of 65 take the vectors apart",
            "64x64x64",
            desc(Sm70, |k| {
                four_by_four_strided(k);
                (k.smem_a, k.smem_b) = (rows(Along::K, 1), rows(Along::Mn, 1));
            })?,
        ),
        astray(
            "64x64x16, spilling",
            "two buffers, held to eight blocks a multiprocessor: 32 registers a thread, and they spill",
            "64x64x64",
            desc(Sm80, |k| {
                four_by_four_strided(k);
                double_buffered(k);
                (k.threadblock.k, k.warp.k) = (16, 16);
                (k.blocks_per_sm, k.spills) = (8, SpillKind::Allowed);
            })?,
        ),
        astray(
            "64x64x64, rolled",
            "the loop over k is not unrolled",
            "64x64x64",
            desc(Sm70, |k| {
                four_by_four_strided(k);
                k.unroll = UnrollKind::By(1);
            })?,
        ),
        gemm(
            "128x128x8",
            "8x8 a thread: eight uses of each element",
            desc(Sm70, |k| {
                first_written(k, Mnk::new(128, 128, 8), Mnk::new(16, 128, 8));
                (k.align_a, k.align_b, k.align_c) = (4, 4, 4);
                // The estimate is 7 registers too high here: the assembler spills none.
                (k.blocks_per_sm, k.spills) = (2, SpillKind::Allowed);
            })?,
        ),
        gemm(
            "pipelined",
            "this library's two stages: A turned on its way, lanes interleaved, 16x8 a thread, fragments double-buffered",
            desc(Sm70, |k| {
                k.warp = Mnk::new(64, 64, 8);
                (k.align_a, k.align_b, k.align_c) = (4, 4, 4);
            })?,
        ),
        gemm("multistage", "its ring of asynchronous copies, and a tile of 256x128", {
            let (types, _) = classic()?;
            default_description(OpKind::Simt, Sm80, types, [Order::Row; 3])?.as_simt()?
        }),
    ])
}
