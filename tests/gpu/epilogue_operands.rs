//! Vectors and auxiliary matrices of an epilogue on a device.

use crate::harness::{
    conformance::judge_both, epilogue_operands::descriptions, prelude::*, problems,
    same_bits::compare,
};

/// The device gives the bits of the host, and the values of the reference.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn the_device_reads_each_operand() {
    let device = OnCuda::new();
    let wanted = problems::Wanted { most_work: 2_000_000, aligned: true };
    descriptions(0xa0c7, 120).par_iter().for_each(|(seed, desc)| {
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
