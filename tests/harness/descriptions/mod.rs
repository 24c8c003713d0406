//! Descriptions drawn from all that `check` accepts, the same one for the same seed: for every
//! suite that needs any.

pub mod coverage;
pub mod mma_sync;
pub mod simt;
pub mod threads;
pub mod warp_specialized;

use super::random::Random;
use crate::harness::OfFamily;
use falchion::{
    arch::ArchKind,
    desc::{DecompositionKind, GemmDesc},
    epilogue::{EpilogueDesc, LinearCombination, Node, Op},
    numeric::EmulationKind,
    shape::Mn,
    threadblock::SwizzleKind,
};
use falchion_lab::verify::draw;
pub use simt::ONE_SCHEDULE;

/// Kernels that differ in more than a knob.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Family {
    /// On the CUDA cores: all threads follow one schedule.
    Simt,
    /// On Hopper's tensor cores: warp-specialized.
    WarpSpecialized,
    /// On the tensor cores of a warp: all threads follow one schedule.
    MmaSync,
    /// On Hopper's CUDA cores: warp-specialized, and threads multiply.
    Threads,
}

/// What is wanted of a description.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// Its threadblock tile is at most so many products.
    pub largest_tile: u32,
    /// Only this architecture's instructions.
    pub arch: Option<ArchKind>,
    /// Only linear combinations, and no kernel that may spill.
    pub plain: bool,
    /// Which kernels.
    pub family: Family,
}

impl Default for Wanted {
    fn default() -> Self {
        Self { largest_tile: u32::MAX, arch: None, plain: false, family: Family::Simt }
    }
}

/// Who adds so many parts of K: of those that are drawn, a second kernel adds half.
fn adding(parts: u32) -> DecompositionKind {
    if matches!(parts, 3 | 11) {
        DecompositionKind::SplitKParallel
    } else {
        DecompositionKind::SplitK
    }
}

/// The description in so many parts that the blocks add, and in as many that a second kernel adds.
pub fn cut_in_parallel(desc: GemmDesc, parts: u32) -> Option<[GemmDesc; 2]> {
    let both = [DecompositionKind::SplitK, DecompositionKind::SplitKParallel];
    let both = both.map(|decomposition| but!(desc, split_k: parts, decomposition: decomposition));
    both.iter().all(|desc| desc.check().is_ok()).then_some(both)
}

/// The description with K whole, and the same streamed; none where the latter has not the registers
/// for it.
pub fn streamed(desc: GemmDesc) -> Option<[GemmDesc; 2]> {
    let whole = but!(desc, split_k: 1, decomposition: DecompositionKind::SplitK);
    let streamed = but!(whole, decomposition: DecompositionKind::StreamK);
    streamed.check().is_ok().then_some([whole, streamed])
}

/// The description with K in so many parts through a workspace, and the same parts as those of a
/// cluster's blocks; none where either lacks the room or the registers, but with as many stages as
/// the latter has the shared memory for.
pub fn cut_by_clusters(desc: GemmDesc, parts: u32) -> Option<[GemmDesc; 2]> {
    let alone =
        but!(desc, split_k: parts, decomposition: DecompositionKind::SplitK, cluster: Mn::ONE);
    let fitting =
        |stages| but!(alone, decomposition: DecompositionKind::SplitKCluster, stages: stages);
    let clustered = (2..=desc.stages()).rev().map(fitting).find(|desc| desc.check().is_ok())?;
    let split = but!(clustered, decomposition: DecompositionKind::SplitK);
    split.check().is_ok().then_some([split, clustered])
}

/// Epilogues beside the linear combination. Scalars are alpha and beta; s2 is 0.
pub const EPILOGUES: &[&str] = &[
    "relu(alpha * acc + beta * source)",
    "clamp(alpha * acc + beta * source, -20, 50)",
    "alpha * acc",
    "beta * source + alpha * relu(acc)",
    "max(alpha * acc, beta * source) + 3",
    "alpha * (acc + beta * source)",
    "multiply(min(acc, 3), alpha * acc) + beta * source",
    "acc",
    "alpha * acc + s2 * source",
];

/// The linear combination, or another epilogue.
fn epilogue(random: &mut Random, plain: bool) -> EpilogueDesc {
    match random.below(3) {
        0 if !plain => {
            random.pick(EPILOGUES).parse::<EpilogueDesc>().expect("the epilogues are expressions")
        }
        _ => LinearCombination::DESC,
    }
}

/// An order of tiles.
fn order(random: &mut Random) -> SwizzleKind {
    match random.below(4) {
        0 => random.pick(&[SwizzleKind::Horizontal, SwizzleKind::Hilbert]),
        2 => SwizzleKind::Grouped(1 + random.below(16) as u32),
        1 => SwizzleKind::Identity(1 << random.below(4)),
        _ => SwizzleKind::Identity(1 + random.below(64) as u32),
    }
}

/// A legal description.
pub fn description(seed: u64, wanted: Wanted) -> GemmDesc {
    let desc = match wanted.family {
        Family::Simt => simt::description(seed, wanted),
        Family::WarpSpecialized => warp_specialized::description(seed, wanted),
        Family::MmaSync => mma_sync::description(seed, wanted),
        Family::Threads => threads::description(seed, wanted),
    };
    let desc = with_groups_under_way(desc, seed);
    if wanted.plain { desc } else { with_vectors(desc, seed) }
}

/// The description with groups of products left under way, and half of those of three parts with
/// two, where that is valid.
fn with_groups_under_way(desc: GemmDesc, seed: u64) -> GemmDesc {
    let Some(roles) = desc.warp_specialized() else { return desc };
    let mut random = Random::new(draw(seed, 1));
    let emulation = match roles.knobs.emulation {
        EmulationKind::Bf16x6 if random.once_in(2) => EmulationKind::Bf16x3,
        other => other,
    };
    let other = but!(desc, emulation, pending: random.below(4) as u32);
    if other.check().is_ok() { other } else { desc }
}

/// Sums with vectors, of which some are scaled by 0, as by s2.
const VECTORS: &[&str] = &[
    "bias_m",
    "bias_n",
    "s2 * scale_m + bias_n",
    "bias_m + beta * scale_n",
    "multiply(scale_m, bias_n)",
];

/// The description, in one of three cases with an epilogue that has vectors, too.
fn with_vectors(mut desc: GemmDesc, seed: u64) -> GemmDesc {
    let mut random = Random::new(draw(seed, 2));
    if random.once_in(3) {
        let sum = random.pick(VECTORS).parse().expect("they are expressions");
        let epilogue = desc.class.output.epilogue.join(sum, Op::Add);
        desc.class.output.epilogue =
            if random.once_in(2) { epilogue.then(Op::Relu) } else { epilogue };
    }
    desc
}

/// A legal description that would be refused if it needed `spare` registers more.
pub fn that_just_fits(seed: u64, wanted: Wanted, spare: u32) -> GemmDesc {
    let fits = |d: &GemmDesc| match d.components() {
        Some(components) => {
            components.registers_needed() + spare > components.registers_available()
        }
        None => {
            d.one().base().registers() + spare
                > d.one().registers_available(d.class.arch.machine().registers_per_sm)
        }
    };
    (0..)
        .map(|i| description(draw(seed, i), wanted))
        .find(fits)
        .expect("a description that just fits")
}
