//! TMA-fed `mma.sync` kernels on the device.

use crate::harness::{
    conformance::{self, suites},
    prelude::*,
    same_bits::{self, Pairs},
};

suites! {
    #[ignore = "needs an NVIDIA GPU of Hopper"]
    the_device_conforms_for_tma_fed_mma_sync: run of OnCuda::new(),
        conformance::mma_sync_ring(), (60, 12), 24_000_000, 0x0c0d_a064, (700, 50), 0.02, conformance::any;
    #[ignore = "needs an NVIDIA GPU of Hopper"]
    a_few_tma_fed_mma_sync_cases_for_a_sanitizer: run of OnCuda::new(),
        conformance::mma_sync_ring(), (20, 1), 6_000_000, 0x5a41_7264, (20, 1), -1.0, conformance::any;
}

#[test]
#[ignore = "needs an NVIDIA GPU of Hopper"]
fn tma_fed_mma_sync_has_the_bits_of_the_host() {
    let device = OnCuda::new();
    let (wanted, asked) = (same_bits::mma_sync_ring(), |_: &GemmDesc| true);
    let pairs =
        Pairs { seed: 0xb175_0f64, descriptions: 60, problems: 8, wanted, asked, aligned: true };
    let on_device = |desc: &GemmDesc, guarded: &Guarded, buffers: &Buffers, _| {
        let mut after = buffers.clone();
        after.run(&device, desc, guarded)?;
        Ok(after.d)
    };
    pairs.compare(&on_device, (400, 0, 50));
}
