//! Parts of K that a second kernel adds, on a device: the bits of as many parts that blocks add,
//! whole numbers of the host, and the same bits in every run.

use super::split_k_cluster::held;
use crate::harness::{descriptions::cut_in_parallel, prelude::*};
use rayon::prelude::*;

const FAMILIES: [Family; 3] = [Family::Simt, Family::MmaSync, Family::WarpSpecialized];

fn drawn(seed: u64, count: u64, family: Family) -> Vec<([GemmDesc; 2], u64)> {
    let wanted = Wanted { family, largest_tile: 1 << 20, arch: Some(ArchKind::Sm90), plain: true };
    // Reductions of one, two, and three levels. The registers must suffice for the narrowest
    // accesses. TMA has no narrower accesses.
    let accesses = if family == Family::WarpSpecialized { [u32::MAX, u32::MAX, 1] } else { [1; 3] };
    let narrow =
        |both: &[GemmDesc; 2]| both.iter().all(|desc| desc.narrowed(accesses).check().is_ok());
    let of = |i: u64| {
        let both =
            cut_in_parallel(description(seed + i, wanted), [2, 9, 3, 8, 20, 70][i as usize % 6]);
        both.filter(narrow).map(|both| (both, seed + i))
    };
    (0..count).filter_map(of).collect()
}

fn held_on(context: &Arc<CudaContext>, all: &[([GemmDesc; 2], u64)]) {
    all.par_iter().for_each(|(both, seed)| held(context, *both, *seed));
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn parts_of_a_second_kernel_are_those_of_blocks() {
    let context = open(0).expect("this test runs on an NVIDIA GPU");
    for family in FAMILIES {
        let all = drawn(0x5e_c0d0, 36, family);
        held_on(&context, &all);
        println!("{} descriptions of {family:?}", all.len());
        assert!(all.len() > 12);
    }
}

/// What problems of a deep K take by themselves, at extents of any kind.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn what_problems_of_a_deep_k_take_by_themselves_is_that_of_blocks() {
    let context = open(0).expect("this test runs on an NVIDIA GPU");
    let machine = ArchKind::Sm90.machine();
    for (kinds, op) in [
        (["f32:row", "f32:col", "f32:row"], OpKind::Simt),
        (["f64:row", "f64:col", "f64:row"], OpKind::TensorOp),
        (["bf16:row", "bf16:col", "bf16:row"], OpKind::TensorOp),
        (["i8:row", "i8:col", "i32:row"], OpKind::TensorOp),
    ] {
        let [a, b, c] = kinds.map(|matrix| matrix.parse().ok());
        let request =
            Request { a, b, c, op: Some(op), arch: Some(ArchKind::Sm90), ..Request::default() };
        let operation = GemmOperation::of(&request).expect("a kernel");
        for extents in [(64, 64, 65536), (512, 512, 32768), (1024, 256, 16384)] {
            let desc = operation.desc_for(&ProblemSize::of(extents), &machine);
            assert!(desc.reduces_in_parallel(), "{desc:?}");
            let split = but!(desc, decomposition: DecompositionKind::SplitK);
            (0..4).for_each(|seed| held(&context, [split, desc], 0xdee9_0000 + seed));
        }
    }
}

/// Some cases of each family.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_few_second_kernels_for_a_sanitizer() {
    let context = open(0).expect("this test runs on an NVIDIA GPU");
    for family in FAMILIES {
        drawn(0x5e_c0d0, 6, family).into_iter().for_each(|(both, seed)| held(&context, both, seed));
    }
}
