//! Refusals of SIMT kernels with the main loop or the knobs of `wgmma` kernels.

use super::{super::refusals::check_refusals, refusals::changed};
use crate::harness::{prelude::*, product};

#[test]
fn types_other_than_f32_are_refused_on_cuda_cores() {
    let simt = changed(|d| d.desc.mma = with_units(d.desc.mma, OpKind::Simt));
    let sentence = "mainloop = warpspecialized is not supported by CUDA cores (element types other than f32); try op = tensorop";
    check_refusals(vec![(simt, sentence, true)]);
}

/// A knob of tensor cores is refused by name on CUDA cores.
#[test]
fn a_knob_of_tensor_cores_is_named() {
    let named = [
        ("promotion", "stage"),
        ("emulation", "f16x3"),
        ("emulation", "bf16x6"),
        ("a_operand", "registers"),
    ];
    for (knob, value) in named {
        let simt = product::request(["f32:row"; 3], &[(knob, value)]);
        let wanted = format!("{knob} is not a knob of CUDA-core kernels; try op = tensorop");
        let simt = Request { op: Some(OpKind::Simt), ..simt };
        for arch in [ArchKind::Sm80, ArchKind::Sm90] {
            assert_eq!(simt.resolve(arch).message(), wanted);
        }
    }
    let simt = product::request(["f32:row"; 3], &[("a_operand", "registers")]);
    assert_eq!(
        simt.resolve(ArchKind::Sm80).message(),
        "a_operand is not a knob of CUDA-core kernels; try op = tensorop"
    );
}
