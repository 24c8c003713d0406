//! `mma.sync` kernels compared with SIMT kernels.

use super::register_terms::{ARCHS, desc, judged, resolve};
use crate::harness::{
    on_tensor_cores::{DATA, Data},
    prelude::*,
};

#[test]
fn f64_simt_selects_cuda_cores() {
    let types = element_types(ElementKind::F64, ElementKind::F64, ElementKind::F64);
    let simt = default_gemm_configurations(OpKind::Simt, ArchKind::Sm90, types).expect("a row")[0];
    assert!(simt.mma.op() == OpKind::Simt, "{simt:?}");
}

/// Errors are within the bound for all data and any K, and near those of an f32 sum.
#[test]
fn errors_are_near_those_of_sums_in_f32() {
    let [m, n] = [20, 24];
    let simt = resolve(OpKind::Simt, ArchKind::Sm80, ORDERS[0], &[]);
    for arch in ARCHS {
        let emulated = desc(EmulationKind::Tf32x3, arch, ORDERS[0]);
        let mut shares = [0.0f64; 2];
        for data in DATA {
            for (seed, k) in [(1, 1), (2, 31), (3, 32), (4, 33), (5, 300), (6, 1000)] {
                let (a, b) = (draws(data, seed, m, k), draws(data, seed + 50, n, k));
                let (share, ours) = judged(&emulated, [m, n, k], (&a, &b));
                shares[0] = shares[0].max(share);
                if matches!(data, Data::Normal | Data::Wide) && k >= 300 {
                    let (_, plain) = judged(&simt, [m, n, k], (&a, &b));
                    println!("{arch} {data:?} K = {k}: {ours:.1} units, a sum in f32 {plain:.1}");
                    shares[1] = shares[1].max(ours / plain);
                }
            }
        }
        println!(
            "{arch}: {:.3} of the bound, {:.2} times the error of a sum in f32",
            shares[0], shares[1]
        );
        assert!(shares[0] > 0.02 && shares[1] > 0.1 && shares[1] < 1.7, "{arch}: {shares:?}");
    }
}
