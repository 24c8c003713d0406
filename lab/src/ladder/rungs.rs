//! The rungs from the slowest idea to the fastest. A rung is a textbook kernel or a description.

use super::Textbook;
use falchion::{
    arch::{ArchKind, OpKind},
    internals::nest::defaults::default_description,
    layout::Order,
    nest::{GemmDesc, Pins, SpillKind},
    numeric::{Combined, ElementKind},
    refusal::Refusal,
    shape::Mnk,
    threadblock::{Along, MainloopKind, SmemLayout},
    warp::{InterleaveKind, UnrollKind},
};

/// The kernel of a rung.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(clippy::large_enum_variant, reason = "a ladder has only fourteen rungs")]
pub enum Program {
    /// One of the two kernels that the parameterized kernel cannot express.
    Textbook(Textbook),
    /// A configuration of the parameterized kernel.
    Gemm(GemmDesc),
}

/// One rung.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rung {
    /// The short name in the chart.
    pub name: &'static str,
    /// The idea that the rung adds.
    pub adds: &'static str,
    /// The kernel.
    pub program: Program,
    /// The rung that a wrong turn tries to improve, or `None`.
    pub wrong_turn_of: Option<&'static str>,
}

/// Types and defaults of all configurations: `f32`, row-major matrices, any alignment, and at least
/// one CTA per multiprocessor.
fn classic() -> Result<(Combined, GemmDesc), Refusal> {
    let f32 = ElementKind::F32;
    let types = Combined { a: f32, b: f32, accumulator: f32, c: f32 };
    Ok((types, default_description(OpKind::Simt, ArchKind::Sm70, types, [Order::Row; 3])?))
}

/// A description of row-major matrices.
fn desc(arch: ArchKind, change: impl FnOnce(&mut Pins)) -> Result<GemmDesc, Refusal> {
    let mut pins = Pins::NONE;
    change(&mut pins);
    let desc = GemmDesc { arch, ..classic()?.1.pinned(pins) };
    desc.check()?;
    Ok(desc)
}

const fn rows(along: Along, padding: u32) -> SmemLayout {
    SmemLayout::Padded { along, padding }
}

/// Returns the main loop with the fixed number of stages closest to `wanted`, and that number.
fn with_stages(wanted: u32) -> (Option<MainloopKind>, Option<u32>) {
    let fixed = MainloopKind::ALL.into_iter().filter_map(|kind| Some((kind, kind.fixed_stages()?)));
    fixed.min_by_key(|(_, stages)| stages.abs_diff(wanted)).unzip()
}

/// Knobs of a first version: A as `[m][k]`, B as `[k][n]`, contiguous elements per thread, and one
/// stage.
fn first_written(knobs: &mut Pins, tile: Mnk, warp: Mnk) {
    (knobs.threadblock, knobs.warp) = (Some(tile), Some(warp));
    (knobs.mainloop, knobs.stages) = with_stages(1);
    (knobs.smem_a, knobs.smem_b) = (Some(rows(Along::K, 0)), Some(rows(Along::Mn, 0)));
    knobs.interleave = Some(InterleaveKind::Elements(64));
}

/// Tile of 32 x 32 x 16 with 2 x 2 elements per thread and 256 threads.
fn two_by_two(knobs: &mut Pins) {
    first_written(knobs, Mnk::new(32, 32, 16), Mnk::new(8, 16, 16));
}

/// Tile of 64 x 64 x 16 with 4 x 4 elements per thread and 256 threads.
fn four_by_four(knobs: &mut Pins) {
    first_written(knobs, Mnk::new(64, 64, 16), Mnk::new(16, 32, 16));
}

/// The first configuration of the parameterized kernel.
pub(super) fn first_configuration() -> Result<GemmDesc, Refusal> {
    desc(ArchKind::Sm70, two_by_two)
}

fn double_buffered(knobs: &mut Pins) {
    (knobs.mainloop, knobs.stages) = with_stages(2);
}

/// Tile of 64 x 64 x 64 with 4 x 4 elements per thread, 16 elements apart: the last kernel of the
/// tuning notes.
fn four_by_four_strided(knobs: &mut Pins) {
    first_written(knobs, Mnk::new(64, 64, 64), Mnk::new(8, 64, 64));
    knobs.interleave = Some(InterleaveKind::Elements(1));
    (knobs.align_a, knobs.align_b) = (Some(4), Some(4));
}

/// Returns the rungs in order. V6 appears twice, as in the source. Each of the three wrong turns
/// follows the rung that the wrong turn changes.
///
/// # Errors
/// [`Refusal`] if a configuration is invalid. A test checks that all configurations are valid.
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
            "one element of D per thread, with all reads from global memory",
            Program::Textbook(Textbook::Naive),
        ),
        step(
            "V2 shared memory",
            "16x16 tiles of A and B in shared memory",
            Program::Textbook(Textbook::SharedMemory),
        ),
        gemm(
            "V3 2x2 per thread",
            "each thread uses an element of shared memory twice",
            first_configuration()?,
        ),
        gemm(
            "V4 4x4, vectors",
            "each thread uses an element four times, and loads four elements of B at once",
            desc(Sm70, |k| {
                four_by_four(k);
                k.align_b = Some(4);
            })?,
        ),
        gemm(
            "V5 double buffer",
            "the next tile loads during the multiplication, with 2x2 per thread",
            desc(Sm70, |k| {
                two_by_two(k);
                double_buffered(k);
                k.align_b = Some(2);
            })?,
        ),
        gemm(
            "V6 no conflicts",
            "padding by one element per row of shared memory",
            desc(Sm70, |k| {
                two_by_two(k);
                double_buffered(k);
                k.align_b = Some(2);
                (k.smem_a, k.smem_b) = (Some(rows(Along::K, 1)), Some(rows(Along::Mn, 1)));
            })?,
        ),
        gemm(
            "V6 larger tile",
            "double buffering and padding with 4x4 per thread",
            desc(Sm70, |k| {
                four_by_four(k);
                double_buffered(k);
                k.align_b = Some(2);
                (k.smem_a, k.smem_b) = (Some(rows(Along::K, 1)), Some(rows(Along::Mn, 1)));
            })?,
        ),
        gemm(
            "64x64x64",
            "deep tiles, vector loads of both operands, and interleaved elements per thread",
            desc(Sm70, four_by_four_strided)?,
        ),
        astray(
            "64x64x64, padded",
            "rows of 65 elements split vector stores into scalar stores",
            "64x64x64",
            desc(Sm70, |k| {
                four_by_four_strided(k);
                (k.smem_a, k.smem_b) = (Some(rows(Along::K, 1)), Some(rows(Along::Mn, 1)));
            })?,
        ),
        astray(
            "64x64x16, spilling",
            "two buffers and eight CTAs per multiprocessor: each thread has 32 registers and spills",
            "64x64x64",
            desc(Sm80, |k| {
                four_by_four_strided(k);
                double_buffered(k);
                (k.threadblock, k.warp) = (Some(Mnk::new(64, 64, 16)), Some(Mnk::new(8, 64, 16)));
                (k.blocks_per_sm, k.spills) = (Some(8), Some(SpillKind::Allowed));
            })?,
        ),
        astray(
            "64x64x64, rolled",
            "no unrolling of the loop over k",
            "64x64x64",
            desc(Sm70, |k| {
                four_by_four_strided(k);
                k.unroll = Some(UnrollKind::By(1));
            })?,
        ),
        gemm(
            "128x128x8",
            "8x8 per thread: each thread uses an element eight times",
            desc(Sm70, |k| {
                first_written(k, Mnk::new(128, 128, 8), Mnk::new(16, 128, 8));
                (k.align_a, k.align_b, k.align_c) = (Some(4), Some(4), Some(4));
                // The estimate is 7 registers too high here: the assembler spills none.
                (k.blocks_per_sm, k.spills) = (Some(2), Some(SpillKind::Allowed));
            })?,
        ),
        gemm(
            "pipelined",
            "two stages, transposed A, interleaved lanes, 16x8 per thread, and double-buffered fragments",
            desc(Sm70, |k| {
                k.warp = Some(Mnk::new(64, 64, 8));
                (k.align_a, k.align_b, k.align_c) = (Some(4), Some(4), Some(4));
            })?,
        ),
        gemm("multistage", "a ring of asynchronous copies, and a tile of 256x128", {
            let (types, _) = classic()?;
            default_description(OpKind::Simt, Sm80, types, [Order::Row; 3])?
        }),
    ])
}
