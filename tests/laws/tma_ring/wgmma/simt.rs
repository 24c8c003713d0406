//! Refusals of SIMT kernels with the main loop or the knobs of `wgmma` kernels.

use super::{super::refusals::check_refusals, refusals::changed};
use crate::harness::prelude::*;

#[test]
fn types_other_than_f32_are_refused_on_cuda_cores() {
    let simt = changed(|d| d.desc.mma = with_units(d.desc.mma, OpKind::Simt));
    let sentence = "mainloop = warpspecialized is not supported by CUDA cores (element types other than f32); try op = tensorop";
    check_refusals(vec![(simt, sentence, true)]);
}

/// A knob of tensor cores is refused by name on CUDA cores.
#[test]
fn a_knob_of_tensor_cores_is_named() {
    for (knob, value) in
        [("promotion", "stage"), ("emulation", "f16x3"), ("a_operand", "registers")]
    {
        let a = Some(MatrixType { element: ElementKind::F32, order: Order::Row });
        let op = Some(OpKind::Simt);
        let request = Request { a, op, knobs: knobs(&[(knob, value)]), ..Request::default() };
        let sentence = request.resolve(ArchKind::Sm80).message();
        let wanted = format!("{knob} is not a knob of CUDA-core kernels; try op = tensorop");
        assert_eq!(sentence, wanted);
    }
}
