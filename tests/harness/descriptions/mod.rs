//! Random descriptions that `check` accepts. The same seed always gives the same description.

pub mod coverage;
pub mod mma_sync;
pub mod mma_sync_ring;
pub mod simt;
pub mod threads;
pub mod warp_specialized;

use crate::harness::prelude::*;
pub use simt::ONE_SCHEDULE;

/// Kinds of kernels: an MMA with its main loops.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KernelKind {
    /// SIMT kernels on the CUDA cores. All threads follow one schedule.
    Simt,
    /// Warp-specialized kernels on Hopper's tensor cores.
    WarpSpecialized,
    /// `mma.sync` kernels. All threads follow one schedule.
    MmaSync,
    /// Warp-specialized TMA-fed SIMT kernels on Hopper's CUDA cores.
    Threads,
    /// Warp-specialized TMA-fed `mma.sync` kernels.
    MmaSyncRing,
}

/// Constraints on a random description.
#[derive(Clone, Copy, Debug)]
pub struct Wanted {
    /// Maximum number of multiplications of a threadblock tile.
    pub largest_tile: u32,
    /// Architecture, or any.
    pub arch: Option<ArchKind>,
    /// Whether the epilogue is a linear combination and the kernel must not spill.
    pub plain: bool,
    /// Kind of kernel.
    pub kernel_kind: KernelKind,
}

impl Default for Wanted {
    fn default() -> Self {
        Self { largest_tile: u32::MAX, arch: None, plain: false, kernel_kind: KernelKind::Simt }
    }
}

/// Returns the decomposition for a number of split-K slices. Some numbers use a second kernel.
fn adding(slices: u32) -> DecompositionKind {
    if matches!(slices, 3 | 11) {
        DecompositionKind::SplitKParallel
    } else {
        DecompositionKind::SplitK
    }
}

/// Returns the work of a description with this number of split-K slices.
fn work(swizzle: SwizzleKind, split_k: u32) -> WorkDesc {
    WorkDesc { swizzle, split_k, decomposition: adding(split_k), mode: GemmMode::Gemm }
}

/// Returns whether a description may spill: one of `of` random ones does, if `may`.
fn spills(random: &mut Random, may: bool, of: usize) -> SpillKind {
    if may && random.once_in(of) { SpillKind::Allowed } else { SpillKind::Refused }
}

/// Returns the description with split-K, reduced by its CTAs and by a second kernel.
pub fn cut_in_parallel(desc: GemmDesc, slices: u32) -> Option<[GemmDesc; 2]> {
    let both = [DecompositionKind::SplitK, DecompositionKind::SplitKParallel];
    let both = both.map(|decomposition| but!(desc, split_k: slices, decomposition: decomposition));
    both.iter().all(|desc| desc.check().is_ok()).then_some(both)
}

/// Returns the description without and with stream-K. `None` if stream-K needs too many registers.
pub fn with_stream_k(desc: GemmDesc) -> Option<[GemmDesc; 2]> {
    let whole = but!(desc, split_k: 1, decomposition: DecompositionKind::SplitK);
    let streamed = but!(whole, decomposition: DecompositionKind::StreamK);
    streamed.check().is_ok().then_some([whole, streamed])
}

/// Returns the description with split-K through the workspace and through a cluster. `None` if
/// either is invalid. Both have the number of stages for which the cluster version has shared
/// memory.
pub fn cut_by_clusters(desc: GemmDesc, slices: u32) -> Option<[GemmDesc; 2]> {
    let alone =
        but!(desc, split_k: slices, decomposition: DecompositionKind::SplitK, cluster: Mn::ONE);
    let fitting =
        |stages| but!(alone, decomposition: DecompositionKind::SplitKCluster, stages: stages);
    let clustered = (2..=desc.stages()).rev().map(fitting).find(|desc| desc.check().is_ok())?;
    let split = but!(clustered, decomposition: DecompositionKind::SplitK);
    split.check().is_ok().then_some([split, clustered])
}

/// Epilogues other than the linear combination. Scalars are alpha and beta; s2 is 0.
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

/// Returns the linear combination or another epilogue.
fn epilogue(random: &mut Random, plain: bool) -> EpilogueDesc {
    match random.below(3) {
        0 if !plain => {
            random.pick(EPILOGUES).parse::<EpilogueDesc>().expect("the epilogues are expressions")
        }
        _ => LinearCombination::DESC,
    }
}

/// Returns a random tile order.
fn order(random: &mut Random) -> SwizzleKind {
    match random.below(4) {
        0 => random.pick(&[SwizzleKind::Horizontal, SwizzleKind::Hilbert]),
        2 => SwizzleKind::Grouped(1 + random.below(16) as u32),
        1 => SwizzleKind::Identity(1 << random.below(4)),
        _ => SwizzleKind::Identity(1 + random.below(64) as u32),
    }
}

/// Returns the first valid description of a TMA-fed kernel without `wgmma` among random ones.
/// Layouts and the cluster stay fixed while `attempt` draws the other knobs again, so that each
/// keeps its share.
fn first_valid(
    seed: u64,
    wanted: Wanted,
    attempt: fn(&mut Random, [Order; 3], (u32, u32), bool) -> GemmDesc,
) -> GemmDesc {
    let mut random = Random::new(seed);
    let orders = [0; 3].map(|_| random.pick(&[Order::Row, Order::Col]));
    let cluster = random.pick(&[(1, 1), (1, 1), (2, 1), (1, 2), (4, 1)]);
    for _ in 0..100_000 {
        let desc = attempt(&mut random, orders, cluster, wanted.plain);
        let tile = desc.threadblock();
        if tile.m * tile.n * tile.k <= wanted.largest_tile && desc.check().is_ok() {
            return desc;
        }
    }
    panic!("no valid description was drawn from seed {seed}: {orders:?} {cluster:?}");
}

/// Returns a random schedule, and the warps of a tile along M and N.
fn grid_of_warps(random: &mut Random) -> (ScheduleKind, (u32, u32)) {
    if random.once_in(4) {
        (ScheduleKind::Pingpong, random.pick(&[(1, 4), (2, 2), (4, 1)]))
    } else {
        let grids = [(1, 4), (2, 2), (4, 1), (2, 4), (4, 2), (8, 1), (3, 4), (2, 6), (6, 2)];
        (ScheduleKind::Cooperative, random.pick(&grids))
    }
}

/// Returns a random valid description.
pub fn description(seed: u64, wanted: Wanted) -> GemmDesc {
    let desc = match wanted.kernel_kind {
        KernelKind::Simt => simt::description(seed, wanted),
        KernelKind::WarpSpecialized => warp_specialized::description(seed, wanted),
        KernelKind::MmaSync => mma_sync::description(seed, wanted),
        KernelKind::Threads => threads::description(seed, wanted),
        KernelKind::MmaSyncRing => mma_sync_ring::description(seed, wanted),
    };
    let desc = with_groups_under_way(desc, seed);
    if wanted.plain { desc } else { with_vectors(desc, seed) }
}

/// Returns the description with a random number of pending `wgmma` groups, if valid. Half of the
/// descriptions with `bf16x6` change to `bf16x3`.
fn with_groups_under_way(desc: GemmDesc, seed: u64) -> GemmDesc {
    if desc.mma.wgmma().is_none() {
        return desc;
    }
    let mut random = Random::new(draw(seed, 1));
    let emulation = match desc.emulation() {
        EmulationKind::Bf16x6 if random.once_in(2) => EmulationKind::Bf16x3,
        other => other,
    };
    let other = but!(desc, emulation, pending: random.below(4) as u32);
    if other.check().is_ok() { other } else { desc }
}

/// Sums with vectors. Some have a scale of 0, as s2 is.
const VECTORS: &[&str] = &[
    "bias_m",
    "bias_n",
    "s2 * scale_m + bias_n",
    "bias_m + beta * scale_n",
    "multiply(scale_m, bias_n)",
];

/// Adds vectors to the epilogue in one of three cases.
fn with_vectors(mut desc: GemmDesc, seed: u64) -> GemmDesc {
    let mut random = Random::new(draw(seed, 2));
    if random.once_in(3) {
        let sum = random.pick(VECTORS).parse().expect("they are expressions");
        let epilogue = desc.epilogue.join(sum, Op::Add);
        desc.epilogue =
            if random.once_in(2) { epilogue.then(Op::Math(MathFunction::Relu)) } else { epilogue };
    }
    desc
}

/// Returns a random valid description that is refused if it needs `spare` more registers.
pub fn largest_shape_that_fits(seed: u64, wanted: Wanted, spare: u32) -> GemmDesc {
    let fits = |d: &GemmDesc| match d.components() {
        Some(components) => {
            components.registers_needed() + spare > components.registers_available()
        }
        None => {
            d.base().registers() + spare > d.registers_available(d.arch.machine().registers_per_sm)
        }
    };
    (0..)
        .map(|i| description(draw(seed, i), wanted))
        .find(fits)
        .expect("a description that just fits")
}
