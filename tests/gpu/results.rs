//! Results of an epilogue beside D, on a device.

use crate::harness::{
    conformance::judge_both,
    prelude::*,
    problems,
    results::{compare, descriptions, descriptions_to_fp8},
    sample,
};

/// The device gives the bits of the host, and the values of the reference.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn the_device_writes_each_result() {
    let device = OnCuda::new();
    let wanted = problems::Wanted { most_work: 2_000_000, aligned: true };
    sample(descriptions(0xa0d4, 160)).par_iter().for_each(|(seed, desc)| {
        compare(desc, *seed, &OnHost(Mode::Fast), &device);
        judge_both(&device, desc, &guarded(*seed, desc, wanted), (0, *seed));
    });
}

/// A D of fp8 with a scale in memory, and its maxima, have the bits of the host and the values of
/// the reference.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn the_device_scales_and_stores_fp8() {
    let device = OnCuda::new();
    let wanted = problems::Wanted { most_work: 2_000_000, aligned: true };
    sample(descriptions_to_fp8(0xa0d6, 120)).par_iter().for_each(|(seed, desc)| {
        compare(desc, *seed, &OnHost(Mode::Fast), &device);
        judge_both(&device, desc, &guarded(*seed, desc, wanted), (0, *seed));
    });
}
