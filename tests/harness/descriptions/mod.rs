//! Random descriptions that `check` accepts. The same seed always gives the same description.

pub mod coverage;
pub mod mma_sync;
pub mod simt;
pub mod tma_ring;

use crate::harness::{prelude::*, words::has_all_variants};

/// Kinds of kernels: an MMA, and whether a TMA ring feeds it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KernelKind {
    /// SIMT kernels on the CUDA cores. All threads follow one schedule.
    Simt,
    /// Warp-specialized kernels on Hopper's tensor cores.
    WgmmaRing,
    /// `mma.sync` kernels. All threads follow one schedule.
    MmaSync,
    /// Warp-specialized TMA-fed SIMT kernels on Hopper's CUDA cores.
    SimtRing,
    /// Warp-specialized TMA-fed `mma.sync` kernels.
    MmaSyncRing,
}

impl KernelKind {
    /// All kinds.
    pub const ALL: &[Self] =
        &[Self::Simt, Self::WgmmaRing, Self::MmaSync, Self::SimtRing, Self::MmaSyncRing];

    /// Returns the architecture of kernels that round alike on a GPU, or any. The instructions of
    /// older architectures round otherwise on a newer GPU.
    pub const fn arch_of_one_rounding(self) -> Option<ArchKind> {
        match self {
            Self::MmaSync => Some(ArchKind::Sm90),
            Self::Simt | Self::WgmmaRing | Self::SimtRing | Self::MmaSyncRing => None,
        }
    }
}

/// Main loops whose threads all follow one schedule.
pub const ONE_SCHEDULE: &[MainloopKind] =
    &[MainloopKind::SingleStage, MainloopKind::Pipelined, MainloopKind::Multistage];

/// Main loops that copy through registers.
pub const THROUGH_REGISTERS: &[MainloopKind] =
    &[MainloopKind::Pipelined, MainloopKind::SingleStage];

/// The multistage main loop, and the main loop that replaces it in a tree without it.
pub const MULTISTAGE_OR_OTHER: &[MainloopKind] =
    &[MainloopKind::Multistage, MainloopKind::Pipelined];

/// Returns the operation class of an MMA.
pub fn op_of(mma: WarpMmaKind) -> OpKind {
    match mma {
        WarpMmaKind::Simt => OpKind::Simt,
        WarpMmaKind::MmaSync => OpKind::TensorOp,
        WarpMmaKind::Wgmma => OpKind::TensorOp,
    }
}

/// Returns the type combinations of an operation class that have kernels on sm90. In a tree with
/// all variants, each has one.
pub fn multiplied(op: OpKind) -> Vec<Combined> {
    let has_kernel =
        |types: &Combined| default_gemm_configurations(op, ArchKind::Sm90, *types).is_ok();
    let (found, others): (Vec<_>, Vec<_>) =
        Combined::all_of(op).iter().copied().partition(has_kernel);
    assert!(others.is_empty() || !has_all_variants(), "{others:?}");
    found
}

/// Main loops and MMAs on tensor cores, with the first architecture of some element types.
const TENSOR_CORES: &[(MainloopKind, WarpMmaKind, ArchKind, &[ElementKind])] = {
    use ArchKind::*;
    use ElementKind::*;
    &[
        (MainloopKind::Pipelined, WarpMmaKind::MmaSync, Sm75, &[F16, I8]),
        (MainloopKind::Pipelined, WarpMmaKind::MmaSync, Sm80, &[Bf16, Tf32, F64]),
        (MainloopKind::Pipelined, WarpMmaKind::MmaSync, Sm89, &[E4m3]),
        (MainloopKind::Multistage, WarpMmaKind::MmaSync, Sm80, &[F16, I8, Bf16, Tf32, F64]),
        (MainloopKind::Multistage, WarpMmaKind::MmaSync, Sm89, &[E4m3]),
        (MainloopKind::TmaRing, WarpMmaKind::Wgmma, Sm90, &[F16, I8, Bf16, Tf32, E4m3]),
    ]
};

/// Returns the first architecture whose tensor cores multiply an element type.
pub fn first_tensor_cores(element: ElementKind) -> Option<ArchKind> {
    TENSOR_CORES.iter().find(|row| row.3.contains(&element)).map(|row| row.2)
}

/// Architectures with tensor cores that kernels without a producer use.
pub const ARCHS: [ArchKind; 5] =
    [ArchKind::Sm75, ArchKind::Sm80, ArchKind::Sm86, ArchKind::Sm89, ArchKind::Sm90];

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
        Self { largest_tile: u32::MAX, arch: None, plain: false, kernel_kind: KernelKind::ALL[0] }
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
    "relu(alpha * acc + beta * c)",
    "clamp(alpha * acc + beta * c, -20, 50)",
    "alpha * acc",
    "beta * c + alpha * relu(acc)",
    "max(alpha * acc, beta * c) + 3",
    "alpha * (acc + beta * c)",
    "multiply(min(acc, 3), alpha * acc) + beta * c",
    "acc",
    "alpha * acc + s2 * c",
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

/// Returns a main loop without a producer.
pub fn main_loop(
    kind: MainloopKind,
    threadblock: Mnk,
    stages: u32,
    unroll: UnrollKind,
) -> Mainloop {
    match kind {
        MainloopKind::SingleStage => {
            Mainloop::SingleStage(SingleStageKnobs { threadblock, unroll })
        }
        MainloopKind::Pipelined => Mainloop::Pipelined(PipelinedKnobs { threadblock }),
        MainloopKind::Multistage => Mainloop::Multistage(MultistageKnobs { threadblock, stages }),
        MainloopKind::TmaRing => unreachable!("a producer has its own descriptions"),
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

/// Returns a random valid description.
pub fn description(seed: u64, wanted: Wanted) -> GemmDesc {
    let desc = match wanted.kernel_kind {
        KernelKind::Simt => simt::description(seed, wanted),
        KernelKind::WgmmaRing => tma_ring::wgmma::with_groups_under_way(seed, wanted),
        KernelKind::MmaSync => mma_sync::description(seed, wanted),
        KernelKind::SimtRing => tma_ring::simt::description(seed, wanted),
        KernelKind::MmaSyncRing => tma_ring::mma_sync::description(seed, wanted),
    };
    if wanted.plain { desc } else { with_vectors(desc, seed) }
}

/// Sums with vectors. Some have a scale of 0, as s2 is.
const VECTORS: &[&str] = &[
    "bias_m",
    "bias_n",
    "s2 * scale_m + bias_n",
    "bias_m + beta * scale_n",
    "multiply(scale_m, bias_n)",
];

/// Adds vectors to the epilogue in one of three cases, unless the kernel has no shared memory left
/// for their elements.
fn with_vectors(desc: GemmDesc, seed: u64) -> GemmDesc {
    let mut random = Random::new(draw(seed, 2));
    if !random.once_in(3) {
        return desc;
    }
    let sum = random.pick(VECTORS).parse().expect("they are expressions");
    let epilogue = desc.epilogue.join(sum, Op::ADD);
    let relu = random.once_in(2);
    let epilogue = if relu { epilogue.then(Op::Math(MathFunction::Relu)) } else { epilogue };
    let with_vectors = but!(desc, epilogue: epilogue);
    if with_vectors.check().is_ok() { with_vectors } else { desc }
}

/// Returns a random valid description that is refused if it needs `spare` more registers.
pub fn largest_shape_that_fits(seed: u64, wanted: Wanted, spare: u32) -> GemmDesc {
    let fits = |d: &GemmDesc| match d.mainloop {
        Mainloop::TmaRing(_) => d.components().is_some_and(|components| {
            components.registers_needed() + spare > components.registers_available()
        }),
        _ => {
            d.base().registers() + spare > d.registers_available(d.arch.machine().registers_per_sm)
        }
    };
    (0..)
        .map(|i| description(draw(seed, i), wanted))
        .find(fits)
        .expect("a description that just fits")
}

/// Returns the type combinations of tensor cores whose default has a TMA ring.
pub fn ring_types() -> Vec<Combined> {
    let has_default = |types: &&Combined| {
        let configurations = default_gemm_configurations(OpKind::TensorOp, ArchKind::Sm90, **types);
        configurations.is_ok_and(|configurations| configurations[0].has_producer())
    };
    TENSOR_OP_COMBINATIONS.iter().filter(has_default).copied().collect()
}
