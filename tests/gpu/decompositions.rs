//! Stream-K and split-K on a device. Two runs have the same bits. Integers equal the host's.
//! Split-K in a cluster or with a second kernel has the bits of split-K through a workspace.

use crate::harness::{
    decompositions::{Decomposition, Pair, problem_of_several_tiles},
    prelude::*,
};
use falchion_lab::owned::{ResidentArray, resident::run_from_host};

/// Maximum number of multiplications that the checked machine runs.
const MOST_CHECKED: usize = 40_000_000;

fn prepared(context: &Arc<CudaContext>, desc: &GemmDesc, batch: usize) -> CudaKernel {
    CudaKernel::prepare(context, &desc.for_batch(batch))
        .unwrap_or_else(|error| panic!("{error}\n{desc:?}"))
}

/// Returns the bytes of D of a kernel.
fn on_device(context: &Arc<CudaContext>, kernel: &CudaKernel, product: &HostProduct) -> Vec<u8> {
    let (stream, mut product) = (context.new_stream().expect("a stream"), product.clone());
    let (problem, desc) = (product.problem(), *kernel.desc());
    run_from_host(&stream, kernel, &problem, product.matrices().expect("matrices"))
        .unwrap_or_else(|error| panic!("{error}\n{desc:?}"));
    product.d.slice().expect("D").bytes().to_vec()
}

/// Returns the bytes of D of the fast mode.
fn on_host(desc: &GemmDesc, product: &HostProduct) -> Vec<u8> {
    let mut product = product.clone();
    product.run(desc, Mode::Fast).expect("the host");
    product.d.slice().expect("D").bytes().to_vec()
}

/// Asserts that two Ds are equal. The message lists elements that differ.
fn assert_same(what: &str, desc: &GemmDesc, product: &HostProduct, [one, other]: [&[u8]; 2]) {
    if one == other {
        return;
    }
    let bytes = desc.output.element.bytes_of(1) as usize;
    let element = |of: &[u8], i: usize| of[i * bytes..][..bytes].to_vec();
    let differ: Vec<usize> =
        (0..one.len() / bytes).filter(|&i| element(one, i) != element(other, i)).collect();
    let show = |&i: &usize| (i, element(one, i), element(other, i));
    let first: Vec<_> = differ.iter().take(4).map(show).collect();
    let (count, last, problem) = (differ.len(), differ.last(), product.problem());
    panic!("{what}: {count} elements differ, {first:02x?} to {last:?}: {desc:?} {problem:?}");
}

/// Returns a problem with random operands, and a poisoned D.
fn random_product(desc: &GemmDesc, problem: &Problem, fill: Fill, seed: u64) -> HostProduct {
    let mut product = HostProduct::poisoned(desc, problem).expect("host memory");
    let from = fill.operands(desc.user_types(), problem.k);
    product.a.draw(from, seed).expect("a matrix");
    product.b.draw(from, seed + 1).expect("a matrix");
    product
}

/// Checks a pair on integers and on random data.
fn check(context: &Arc<CudaContext>, how: Decomposition, ([reference, desc], seed): Pair) {
    let problem = problem_of_several_tiles(&desc, seed);
    let kernel = prepared(context, &desc, problem.batch);
    let simt = desc.op() == OpKind::Simt;
    // Emulated f32 rounds the sums of its terms.
    let exact = desc.user_types().a != ElementKind::F32 || simt;
    for fill in [Fill::Integers, Fill::Random] {
        let product = random_product(&desc, &problem, fill, seed);
        let got = on_device(context, &kernel, &product);
        let same = |what: &str, other: Vec<u8>| assert_same(what, &desc, &product, [&got, &other]);
        same("two runs", on_device(context, &kernel, &product));
        if how != Decomposition::StreamK {
            let through_workspace = prepared(context, &reference, problem.batch);
            same("through a workspace", on_device(context, &through_workspace, &product));
        }
        if fill == Fill::Integers {
            if exact || how == Decomposition::StreamK {
                same("the host", on_host(&reference, &product));
            }
        } else if how == Decomposition::StreamK && simt {
            check_streams(context, &desc, &product, &got);
        }
    }
}

/// Compares sums of SIMT stream-K kernels with the host, which cuts K for as many clusters.
fn check_streams(context: &Arc<CudaContext>, desc: &GemmDesc, product: &HostProduct, got: &[u8]) {
    let problem = product.problem();
    let work = problem.m * problem.n * problem.k * problem.batch;
    let multiprocessors = machine_of(context).expect("a device").multiprocessors;
    if !desc.has_producer() {
        if work <= MOST_CHECKED {
            let fitted = desc.fitted(&problem).expect("a kernel");
            let resident = prepared(context, &fitted, problem.batch).resident();
            let program = on_clusters(desc, resident.min(desc.most_streams()));
            let mut wanted = product.clone();
            let call = problem.with(wanted.matrices().expect("matrices"));
            run_in_mode(&program, Mode::Checked { seed: 0 }, call).expect("the host");
            let wanted = wanted.d.slice().expect("D").bytes();
            assert_same("the checked host", desc, product, [got, wanted]);
        }
    } else if desc.cluster() == Mn::ONE && multiprocessors == MOST_STREAMS {
        assert_same("the host", desc, product, [got, &on_host(desc, product)]);
    }
}

/// Checks random pairs of every kind of kernel.
fn check_all(how: Decomposition, count: u64, least: usize) {
    let context = open(0).expect("this test runs on an NVIDIA GPU");
    for &kernel_kind in how.kernel_kinds() {
        let all = how.pairs(count, kernel_kind);
        all.par_iter().for_each(|pair| check(&context, how, *pair));
        println!("{} descriptions of {kernel_kind:?}", all.len());
        assert!(all.len() > least);
    }
}

/// Checks a few pairs of every kind of kernel in sequence, for compute-sanitizer.
fn check_a_few(how: Decomposition, count: u64) {
    let context = open(0).expect("this test runs on an NVIDIA GPU");
    for &kernel_kind in how.kernel_kinds() {
        how.pairs(count, kernel_kind).into_iter().for_each(|pair| check(&context, how, pair));
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn stream_k_of_every_kernel_kind_computes_the_gemm() {
    check_all(Decomposition::StreamK, 32, 16);
}

#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn a_few_stream_k_kernels_for_a_sanitizer() {
    check_a_few(Decomposition::StreamK, 4);
}

#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn cluster_split_k_has_the_bits_of_workspace_split_k() {
    check_all(Decomposition::Cluster, 64, 16);
}

#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn a_few_cluster_split_k_kernels_for_a_sanitizer() {
    check_a_few(Decomposition::Cluster, 8);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn second_kernels_have_the_bits_of_tickets() {
    check_all(Decomposition::Parallel, 36, 12);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_few_second_kernels_for_a_sanitizer() {
    check_a_few(Decomposition::Parallel, 6);
}

/// Checks the decomposition that the default selects for some problem sizes.
fn check_selected(
    how: Decomposition,
    (types, op): ([&str; 3], OpKind),
    all: &[(usize, usize, usize)],
    seeds: core::ops::Range<u64>,
) {
    let context = open(0).expect("this test runs on an NVIDIA GPU");
    let request = Request { op: Some(op), arch: Some(ArchKind::Sm90), ..request(types, &[]) };
    let operation = GemmOperation::from_request(&request).expect("a kernel");
    for &extents in all {
        let desc = operation.desc_for(&ProblemSize::new(extents), &ArchKind::Sm90.machine());
        let selected = match how {
            Decomposition::Parallel => desc.reduces_in_parallel(),
            _ => desc.cuts_by_cluster(),
        };
        assert!(selected, "{desc:?}");
        let split = but!(desc, decomposition: DecompositionKind::SplitK);
        seeds.clone().for_each(|seed| check(&context, how, ([split, desc], seed)));
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn selected_cluster_kernels_have_the_bits_of_workspace_split_k() {
    let all = [(16, 2112, 7168), (32, 2112, 7168), (64, 2112, 7168)];
    for types in [["bf16:row", "bf16:col", "bf16:row"], ["f16:row", "f16:col", "f32:row"]] {
        let seeds = 0xfe3_7200..0xfe3_7208;
        check_selected(Decomposition::Cluster, (types, OpKind::TensorOp), &all, seeds);
    }
}

#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn selected_second_kernels_have_the_bits_of_tickets() {
    let all = [(64, 64, 65536), (512, 512, 32768), (1024, 256, 16384)];
    for class in [
        (["f32:row", "f32:col", "f32:row"], OpKind::Simt),
        (["f64:row", "f64:col", "f64:row"], OpKind::TensorOp),
        (["bf16:row", "bf16:col", "bf16:row"], OpKind::TensorOp),
        (["i8:row", "i8:col", "i32:row"], OpKind::TensorOp),
    ] {
        check_selected(Decomposition::Parallel, class, &all, 0xdee9_0000..0xdee9_0004);
    }
}

/// A stage is refilled only after all of its reads. Partial accumulators of other CTAs (128 KB for
/// a tile in three slices) delay loads from shared memory, and an arrival at a barrier once
/// overtook the last load.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn stage_release_waits_for_reads_under_dsmem_traffic() {
    let context = open(0).expect("this test runs on an NVIDIA GPU");
    let wide = |desc: &GemmDesc| desc.threadblock().n == 512 && desc.split_k() == 3;
    let all = Decomposition::Cluster.pairs(64, KernelKind::SimtRing);
    let ([whole, clustered], seed) =
        all.iter().find(|([_, desc], _)| wide(desc)).expect("32x512 with three slices");
    let problem = problem_of_several_tiles(clustered, *seed);
    let product = random_product(clustered, &problem, Fill::Integers, *seed);
    let wanted = on_host(whole, &product);
    let kernel = prepared(&context, clustered, problem.batch);
    // Six of 160 concurrent runs were wrong.
    let wrong = (0..320).into_par_iter();
    assert_eq!(wrong.filter(|_| on_device(&context, &kernel, &product) != wanted).count(), 0);
}

/// Each GEMM of a pointer array with stream-K is a launch. D has the bits of GEMMs that are called
/// separately, and also of the host if all CTAs that the host assumes are resident.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn a_pointer_array_with_stream_k_has_the_bits_of_separate_calls() {
    let context = open(0).expect("this test runs on an NVIDIA GPU");
    let stream = context.new_stream().expect("a stream");
    let streamed = [("decomposition", "streamk")];
    for (types, units, on_host_too) in [
        (["bf16:row", "bf16:col", "f32:row"], (OpKind::TensorOp, ArchKind::Sm90), true),
        (["f32:row", "f32:row", "f32:row"], (OpKind::Simt, ArchKind::Sm80), false),
    ] {
        let desc = described(types, units, &streamed);
        let one = Problem::new(&desc, (520, 392, 1024), [None; 3], PLAIN);
        let product = random_product(&desc, &Problem { batch: 3, ..one }, Fill::Random, 7);
        let mut array = product.clone().as_array(true);
        let calls = product.problem().with(array.matrices().expect("matrices"));
        let calls = calls.each().expect("three calls");
        let kernel = CudaKernel::prepare(&context, &desc.for_array(3)).expect("a kernel");
        let mut resident = ResidentArray::new(&stream, &calls).expect("device memory");
        resident.run(&kernel).expect("an array");
        resident.download(calls).expect("D");
        let of_array = array.d.slice().expect("D").bytes().to_vec();
        // Operands and D of one GEMM are a third of those of the batch.
        let apart = of_array.len() / 3;
        for number in 0..3 {
            let mut alone = HostProduct::poisoned(&desc, &one).expect("host memory");
            for (from, to) in [(&product.a, &mut alone.a), (&product.b, &mut alone.b)] {
                let from = from.slice().expect("a batch").bytes();
                let mut to = to.slice_mut().expect("a matrix");
                let length = to.bytes().len();
                to.bytes_mut().copy_from_slice(&from[number * length..][..length]);
            }
            let separate = on_device(&context, &prepared(&context, &desc, 1), &alone);
            let from_array = &of_array[number * apart..][..apart];
            assert_same("a separate call", &desc, &alone, [from_array, &separate]);
            if on_host_too {
                assert_same("the host", &desc, &alone, [from_array, &on_host(&desc, &alone)]);
            }
        }
    }
}
