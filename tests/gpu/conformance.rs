//! Conformance suites on the device.

use crate::harness::{
    completions::{conform, conform_all},
    conformance::*,
    mma_sync::cutlass_list::{kernels, list},
    on_cuda::ByPtx,
    prelude::*,
    requested_case,
};

suites! {
    #[ignore = "needs an NVIDIA GPU"]
    the_device_conforms: run of OnCuda::new(),
        Wanted::default(), (160, 15), 3_000_000, 0x0c0d_a001, (2000, 100), 0.05, any;
    #[ignore = "needs an NVIDIA GPU of Hopper"]
    the_device_conforms_where_threads_multiply: run of OnCuda::new(),
        simt_ring(), (60, 12), 24_000_000, 0x0c0d_a0f3, (700, 50), 0.05, any;
    #[ignore = "needs an NVIDIA GPU of Hopper"]
    the_device_conforms_for_warp_specialized_kernels: run of OnCuda::new(),
        wgmma_ring(), (90, 12), 24_000_000, 0x0c0d_a090, (1000, 80), 0.02, any;
    #[ignore = "needs an NVIDIA GPU of Hopper"]
    the_device_conforms_for_mma_sync: run of OnCuda::new(),
        mma_sync(Some(ArchKind::Sm90)), (90, 12), 8_000_000, 0x0c0d_a0b0, (1000, 80), 0.02, any;
    #[ignore = "needs an NVIDIA GPU of Hopper"]
    the_device_conforms_for_mma_sync_of_every_architecture: run of OnCuda::new(),
        mma_sync(None), (90, 12), 8_000_000, 0x0c0d_a0b1, (1000, 80), 0.02, any;
    #[ignore = "needs an NVIDIA GPU"]
    a_few_cases_for_a_sanitizer: run of OnCuda::new(),
        Wanted::default(), (60, 1), 300_000, 0x5a41_712e, (60, 1), -1.0, any;
    #[ignore = "needs an NVIDIA GPU of Hopper"]
    a_few_mma_sync_cases_for_a_sanitizer: run of OnCuda::new(),
        mma_sync(Some(ArchKind::Sm90)), (40, 1), 1_000_000, 0x5a41_7292, (40, 1), -1.0, any;
    #[ignore = "needs an NVIDIA GPU of Hopper"]
    a_few_warp_specialized_cases_for_a_sanitizer: run of OnCuda::new(),
        wgmma_ring(), (40, 1), 6_000_000, 0x5a41_7290, (40, 1), -1.0, any;
    #[ignore = "needs an NVIDIA GPU of Hopper"]
    a_few_cases_by_threads_for_a_sanitizer: run of OnCuda::new(),
        simt_ring(), (20, 1), 6_000_000, 0x5a41_7291, (20, 1), -1.0, any;
}

/// Kernels for older architectures as PTX, which the driver compiles. Every branch of the kernel
/// text runs on the device.
#[test]
#[ignore = "needs an NVIDIA GPU as new as sm89, and its driver NVRTC's PTX"]
fn older_targets_conform_by_ptx() {
    let targets = [ArchKind::Sm75, ArchKind::Sm80, ArchKind::Sm86, ArchKind::Sm89];
    for (i, ptx) in (0..).zip(targets) {
        let plain = Wanted { arch: Some(ptx), ..Wanted::default() };
        for (wanted, cases, seed) in
            [(mma_sync(Some(ptx)), (40, 6), 0x0c0d_a0c0), (plain, (16, 4), 0x0c0d_a0d0)]
        {
            let (most_work, seed, least) = (4_000_000, seed + i, (cases.0 * cases.1, 1));
            let suite =
                Suite { wanted, cases, most_work, seed, least, least_error: -1.0, missing: any };
            assert!(suite.run(&ByPtx::new(ptx)).exact > 0 || requested_case().is_some());
        }
    }
}

/// Completions of every single pinned knob conform: 3,191 kernels.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn completions_of_single_knobs_conform() {
    for (op, most_work) in [(OpKind::TensorOp, 4_000_000), (OpKind::Simt, 300_000)] {
        let tally = conform(&OnCuda::new(), op, most_work);
        println!("{op}: {tally:?}");
        assert!(tally.cases > 0 && tally.largest <= 1.0, "{op}: {tally:?}");
    }
}

/// CUTLASS's own `mma.sync` configurations of every architecture, compiled for the device.
#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn cutlass_configurations_conform() {
    let mut list = list();
    let descriptions: Vec<_> = kernels(&mut list).0.into_iter().map(|(_, desc)| desc).collect();
    let tally = conform_all(&OnCuda::new(), &sample(descriptions), 8_000_000);
    println!("{tally:?}");
    assert!(tally.cases > 0 && tally.exact > 0 && tally.largest <= 1.0, "{tally:?}");
}
