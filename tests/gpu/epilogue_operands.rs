//! Vectors, auxiliary matrices, and mathematical functions of an epilogue on a device.

use crate::harness::{
    conformance::judge_both,
    epilogue_operands::{descriptions, math_functions},
    prelude::*,
    problems,
    same_bits::compare,
};

/// Checks that the device gives the bits of the host, and the values of the reference.
fn conform(descriptions: &[(u64, GemmDesc)]) {
    let device = OnCuda::new();
    let wanted = problems::Wanted { most_work: 2_000_000, aligned: true };
    descriptions.par_iter().for_each(|(seed, desc)| {
        let on_device = |guarded: &Guarded, buffers: &Buffers, _| {
            let mut after = buffers.clone();
            after.run(&device, desc, guarded)?;
            Ok(after.d)
        };
        compare(desc, (0, *seed), true, &on_device)
            .unwrap_or_else(|error| panic!("{error}\n  {desc:?}"));
        judge_both(&device, desc, &guarded(*seed, desc, wanted), (0, *seed));
    });
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn the_device_reads_each_operand() {
    conform(&descriptions(0xa0c7, 120));
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn the_device_computes_each_math_function() {
    conform(&math_functions(0xa0c8, 200));
}
