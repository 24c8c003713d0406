//! Refusals of SIMT kernels with the knobs of `mma.sync` kernels.

use crate::harness::{prelude::*, product};

#[test]
fn saturation_on_cuda_cores_names_the_units_that_have_it() {
    let request = product::request(["f32:row"; 3], &[("saturate", "on")]);
    assert_eq!(
        request.resolve(ArchKind::Sm80).message(),
        "saturate is not a knob of CUDA-core kernels; try op = tensorop"
    );
}
