//! Parts of K that a cluster's blocks have, on a device: the bits of as many parts through a
//! workspace, whole numbers of the host, and the same bits in every run.

use super::stream_k::{computed, differences, problem};
use crate::harness::{descriptions::cut_by_clusters, prelude::*};
use falchion_lab::owned::HostProduct;
use rayon::prelude::*;

pub(super) fn held(context: &Arc<CudaContext>, [split, clustered]: [GemmDesc; 2], seed: u64) {
    let random = &mut Random::new(seed);
    let problem = problem(&clustered, random);
    let types = clustered.user_types();
    let prepared = |desc: &GemmDesc| {
        CudaKernel::prepare(context, &desc.for_batch(problem.batch))
            .unwrap_or_else(|error| panic!("{error}\n{desc:?}"))
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
        assert!(
            got == computed(context, &kernel, &mut again),
            "two runs: {clustered:?} {problem:?}"
        );
        let added = computed(context, &through_workspace, &mut other);
        assert!(
            got == added,
            "through a workspace, {}: {clustered:?} {problem:?}",
            differences(&clustered, &got, &added)
        );
        if fill == Fill::Integers && exact {
            let mut wanted = again.clone();
            wanted.run(&split, Mode::Fast).expect("the host");
            assert!(got == wanted.d.slice().expect("D").bytes(), "{clustered:?} {problem:?}");
        }
    }
}

fn drawn(seed: u64, count: u64, family: Family) -> Vec<([GemmDesc; 2], u64)> {
    let wanted = Wanted { family, largest_tile: 1 << 20, arch: Some(ArchKind::Sm90), plain: true };
    let of = |i: u64| {
        cut_by_clusters(description(seed + i, wanted), [2, 4, 3, 8][i as usize % 4])
            .map(|both| (both, seed + i))
    };
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

/// What problems of few tiles take by themselves, of one product and of batches, at extents of any
/// kind.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn what_problems_take_by_themselves_is_that_of_workspaces() {
    let context = open(0).expect("this test runs on an NVIDIA GPU");
    let machine = ArchKind::Sm90.machine();
    type Of<A, C> = Gemm<A, RowMajor, A, ColMajor, C, RowMajor, f32, TensorOp, Sm90>;
    for extents in [(16, 2112, 7168), (32, 2112, 7168), (64, 2112, 7168)] {
        let size = ProblemSize::of(extents);
        for desc in [
            Of::<Bf16, Bf16>::new().desc_for(&size, &machine),
            Of::<F16, f32>::new().desc_for(&size, &machine),
        ] {
            assert!(desc.cuts_by_cluster(), "{desc:?}");
            let split = but!(desc, decomposition: DecompositionKind::SplitK);
            (0..8).for_each(|seed| held(&context, [split, desc], 0xfe3_7200 + seed));
        }
    }
}

/// Some cases of each family.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn a_few_splits_of_clusters_for_a_sanitizer() {
    let context = open(0).expect("this test runs on an NVIDIA GPU");
    for family in [Family::WarpSpecialized, Family::Threads] {
        drawn(0xc1a_5700, 8, family)
            .into_iter()
            .for_each(|(both, seed)| held(&context, both, seed));
    }
}

/// A stage is filled again once all of it has been read: peers' accumulators, 128 KB for a tile in
/// three parts, hold loads of shared memory up, and an arrival at a barrier has overtaken the last
/// of them.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn what_peers_send_lets_nobody_read_a_stage_too_late() {
    let context = open(0).expect("this test runs on an NVIDIA GPU");
    let wide = |desc: &GemmDesc| desc.threadblock().n == 512 && desc.split_k() == 3;
    let all = drawn(0xc1a_5700, 64, Family::Threads);
    let ([whole, clustered], seed) = all
        .iter()
        .find(|([_, clustered], _)| wide(clustered))
        .expect("32x512 in three parts is drawn");
    let problem = problem(clustered, &mut Random::new(*seed));
    let mut product = HostProduct::poisoned(clustered, &problem).expect("room");
    let from = Fill::Integers.operands(clustered.user_types(), problem.k);
    product.a.draw(from, *seed).expect("a matrix");
    product.b.draw(from, seed + 1).expect("a matrix");
    let mut wanted = product.clone();
    wanted.run(whole, Mode::Fast).expect("the host");
    let kernel =
        CudaKernel::prepare(&context, &clustered.for_batch(problem.batch)).expect("it is a kernel");
    // Of 160 runs, several at a time, six were wrong.
    let wrong = (0..320).into_par_iter().filter(|_| {
        let got = computed(&context, &kernel, &mut product.clone());
        got != wanted.d.slice().expect("D").bytes()
    });
    assert_eq!(wrong.count(), 0);
}
