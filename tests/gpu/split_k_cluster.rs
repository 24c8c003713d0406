//! Parts of K that a cluster's blocks have, on a device: the bits of as many parts through a workspace, whole numbers of the host, and the same bits in every run.

use crate::harness::{
    descriptions::{Family, Wanted, cut_by_clusters, description},
    random::Random,
};
use cudarc::driver::CudaContext;
use falchion::{
    arch::{ArchKind, OpKind},
    cuda::{CudaKernel, open},
    desc::GemmDesc,
    internals::{
        call::Problem,
        host::Mode,
        operand::{Axis, Vectors},
    },
    numeric::ElementKind,
};
use falchion_lab::{
    owned::{HostProduct, resident::run_from_host},
    verify::Fill,
};
use rayon::prelude::*;
use std::sync::Arc;

/// A product of some hundreds of tiles at most, so that clusters take several, beside a batch of some; of a k-tile for each part at least.
fn problem(desc: &GemmDesc, random: &mut Random) -> Problem {
    let tile = desc.threadblock();
    let batch = [1, 1, 3][random.below(3)];
    let mut extent = |tile: u32| (1 + random.below(24 / batch)) * tile as usize - random.below(tile as usize / 2);
    let (down, across) = (extent(tile.m), extent(tile.n));
    let user = |axis: Axis| if axis.framed(desc.frame) == Axis::M { down } else { across };
    let k = tile.k as usize * (desc.split_k() as usize + random.below(9)) - random.below(tile.k as usize / 2);
    let mut scalars = [0.0; 8];
    scalars[0] = 1.0;
    Problem { batch, vectors: Vectors::NONE, ..Problem::of(desc, (user(Axis::M), user(Axis::N), k), [None; 3], scalars) }
}

/// The bytes of D of a kernel.
fn computed(context: &Arc<CudaContext>, kernel: &CudaKernel, product: &mut HostProduct) -> Vec<u8> {
    let stream = context.new_stream().expect("a stream");
    let problem = product.problem();
    let desc = *kernel.desc();
    run_from_host(&stream, kernel, &problem, product.matrices().expect("matrices"))
        .unwrap_or_else(|error| panic!("{error}\n{desc:?}"));
    product.d.slice().expect("D").bytes().to_vec()
}

fn held(context: &Arc<CudaContext>, [split, clustered]: [GemmDesc; 2], seed: u64) {
    let random = &mut Random::new(seed);
    let problem = problem(&clustered, random);
    let types = clustered.user_types();
    let prepared = |desc: &GemmDesc| {
        CudaKernel::prepare(context, &desc.for_batch(problem.batch)).unwrap_or_else(|error| panic!("{error}\n{desc:?}"))
    };
    let (kernel, through_workspace) = (prepared(&clustered), prepared(&split));
    // f32 is decomposed into parts, whose sums round.
    let exact = types.a != ElementKind::F32 || clustered.class.op == OpKind::Simt;
    for fill in [Fill::Integers, Fill::Random] {
        let mut product = HostProduct::poisoned(&clustered, &problem).expect("room");
        let from = fill.operands(types, problem.k);
        product.a.draw(from, seed).expect("a matrix");
        product.b.draw(from, seed + 1).expect("a matrix");
        let (mut again, mut other) = (product.clone(), product.clone());
        let got = computed(context, &kernel, &mut product);
        assert!(got == computed(context, &kernel, &mut again), "two runs: {clustered:?} {problem:?}");
        assert!(got == computed(context, &through_workspace, &mut other), "through a workspace: {clustered:?} {problem:?}");
        if fill == Fill::Integers && exact {
            let mut wanted = again.clone();
            wanted.run(&split, Mode::Fast).expect("the host");
            assert!(got == wanted.d.slice().expect("D").bytes(), "{clustered:?} {problem:?}");
        }
    }
}

fn drawn(seed: u64, count: u64, family: Family) -> Vec<([GemmDesc; 2], u64)> {
    let wanted = Wanted { family, largest_tile: 1 << 20, arch: Some(ArchKind::Sm90), plain: true };
    let of = |i: u64| cut_by_clusters(description(seed + i, wanted), [2, 4, 3, 8][i as usize % 4]).map(|both| (both, seed + i));
    (0..count).filter_map(of).collect()
}

#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn splits_of_clusters_are_those_of_workspaces() {
    let context = open(0).expect("this test runs on an NVIDIA GPU");
    for family in [Family::WarpSpecialized, Family::Threads] {
        let all = drawn(0xc1a_5700, 64, family);
        all.par_iter().for_each(|(both, seed)| held(&context, *both, *seed));
        println!("{} descriptions of {family:?}", all.len());
        assert!(all.len() > 16);
    }
}

/// Some cases of each family.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn a_few_splits_of_clusters_for_a_sanitizer() {
    let context = open(0).expect("this test runs on an NVIDIA GPU");
    for family in [Family::WarpSpecialized, Family::Threads] {
        drawn(0xc1a_5700, 8, family).into_iter().for_each(|(both, seed)| held(&context, both, seed));
    }
}
