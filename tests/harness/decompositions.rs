//! Kernels that decompose K: programs on a number of clusters, and the order of additions.

use super::{
    descriptions::{cut_by_clusters, cut_in_parallel},
    groups::copies_single_elements,
    prelude::*,
    product::computed,
};
use core::ops::Range;

/// Returns the program of a description on a number of clusters.
pub fn on_clusters(desc: &GemmDesc, clusters: u32) -> HostProgram {
    let mut program = HostProgram::new(desc).expect("a kernel");
    match &mut program {
        HostProgram::OneSchedule(program) => program.clusters = clusters,
        HostProgram::Roles(program) => program.clusters = clusters,
    }
    program
}

/// Returns f32 D of packed Bf16 operands: in the fast mode, or checked on a number of clusters.
pub fn product(
    desc: &GemmDesc,
    clusters: Option<u32>,
    extents: (usize, usize, usize),
    operands: [&[Bf16]; 2],
) -> Vec<f32> {
    let checked = Mode::Checked { seed: 7 };
    let operands = (operands, f32::NAN);
    match clusters {
        None => computed::<Bf16, f32>(desc, desc, Mode::Fast, extents, operands),
        Some(clusters) => {
            computed::<Bf16, f32>(desc, &on_clusters(desc, clusters), checked, extents, operands)
        }
    }
}

/// Returns the ranges of K of split-K slices of whole k-tiles. The first slices are longer.
pub fn slice_ranges(k: usize, depth: usize, slices: usize) -> Vec<Range<usize>> {
    let (tiles, mut begin) = (k.div_ceil(depth), 0);
    let tiles_of = |slice: usize| tiles / slices + usize::from(slice < tiles % slices);
    let range = |slice| {
        let range = begin..k.min(begin + depth * tiles_of(slice));
        begin = range.end;
        range
    };
    (0..slices).map(range).collect()
}

/// Adds eight neighbors at a time, then the sums of eight, and so on.
pub fn eight_by_eight<T: Copy>(mut sums: Vec<T>, add: impl Fn(T, T) -> T) -> T {
    while sums.len() > 1 {
        let eight = |few: &[T]| few[1..].iter().fold(few[0], |sum, &other| add(sum, other));
        sums = sums.chunks(8).map(eight).collect();
    }
    sums[0]
}

/// Way to decompose K.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Decomposition {
    /// Stream-K. The reference keeps K whole, so sums of integers are equal.
    StreamK,
    /// Split-K in a cluster. The reference reduces as many slices through a workspace.
    Cluster,
    /// Split-K with a second kernel. The reference reduces as many slices with tickets.
    Parallel,
}

/// Reference description, decomposed description, and seed of their problem.
pub type Pair = ([GemmDesc; 2], u64);

impl Decomposition {
    /// Returns the kinds of kernels that support the decomposition.
    pub const fn kernel_kinds(self) -> &'static [KernelKind] {
        match self {
            Self::StreamK => &[
                KernelKind::WgmmaRing,
                KernelKind::SimtRing,
                KernelKind::Simt,
                KernelKind::MmaSync,
                KernelKind::MmaSyncRing,
            ],
            Self::Cluster => &[KernelKind::WgmmaRing, KernelKind::SimtRing],
            Self::Parallel => &[KernelKind::Simt, KernelKind::MmaSync, KernelKind::WgmmaRing],
        }
    }

    /// Returns random pairs of a kind of kernel on Hopper, from at most `count` descriptions.
    pub fn pairs(self, count: u64, kernel_kind: KernelKind) -> Vec<Pair> {
        let arch = Some(ArchKind::Sm90);
        let wanted = Wanted { kernel_kind, largest_tile: 1 << 20, arch, plain: true };
        // TMA has no narrower accesses. Other kernels need registers for the narrowest ones.
        let accesses = match kernel_kind {
            KernelKind::WgmmaRing => [u32::MAX, u32::MAX, 1],
            _ => [1; 3],
        };
        let pair = |i: u64| {
            let (first, slices): (_, &[u32]) = match self {
                Self::StreamK => (0x57e_a400, &[1]),
                Self::Cluster => (0xc1a_5700, &[2, 4, 3, 8]),
                // Reductions of one, two, and three levels.
                Self::Parallel => (0x5e_c0d0, &[2, 9, 3, 8, 20, 70]),
            };
            let (desc, slices) =
                (description(first + i, wanted), slices[i as usize % slices.len()]);
            let both = match self {
                // Emulated f32 rounds the sums of its terms.
                Self::StreamK => with_stream_k(desc).filter(|both| {
                    !desc.emulation().decomposes() && both.iter().all(copies_single_elements)
                }),
                Self::Cluster => cut_by_clusters(desc, slices),
                Self::Parallel => cut_in_parallel(desc, slices)
                    .filter(|both| both.iter().all(|desc| desc.narrowed(accesses).check().is_ok())),
            };
            both.map(|both| (both, first + i))
        };
        (0..count).filter_map(pair).collect()
    }
}

/// Returns a random problem, sometimes a batch, with some hundreds of tiles, so that a CTA has
/// several tiles. Each slice has at least one k-tile.
pub fn problem_of_several_tiles(desc: &GemmDesc, seed: u64) -> Problem {
    let (tile, random) = (desc.threadblock(), &mut Random::new(seed));
    let batch = [1, 1, 3][random.below(3)];
    let mut extent = |tile: u32| {
        (1 + random.below(24 / batch)) * tile as usize - random.below(tile as usize / 2)
    };
    let (down, across) = (extent(tile.m), extent(tile.n));
    let user = |axis: Axis| if axis.leave(desc.frame) == Axis::M { down } else { across };
    let k = tile.k as usize * (desc.split_k() as usize + random.below(9))
        - random.below(tile.k as usize / 2);
    let operands = EpilogueOperands::NONE;
    let problem = Problem::new(desc, (user(Axis::M), user(Axis::N), k), [None; 3], PLAIN);
    Problem { batch, operands, ..problem }
}
