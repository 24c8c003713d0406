//! Requests whose accesses TMA does not support select `mma.sync`.

use super::super::super::request_refusals::{request, said};
use crate::harness::prelude::*;

/// A value that the first default configuration lacks selects another main loop or MMA.
#[test]
fn pinned_value_selects_a_kernel_that_supports_it() {
    let f32_d = ["bf16:row", "bf16:col", "f32:row"];
    let one = [("align_a", "1"), ("align_b", "1"), ("align_c", "1")];
    for knobs in [
        &one[..1],
        &one,
        &[("threadblock", "32x32x32")],
        &[("threadblock", "128x128x32")],
        &[("warp", "64x32x32")],
    ] {
        let desc = request(Some(OpKind::TensorOp), f32_d, knobs)
            .resolve(ArchKind::Sm90)
            .unwrap_or_else(|error| panic!("{knobs:?}: {error}"))
            .desc;
        assert!(!desc.has_producer(), "{knobs:?}");
    }
    // If no configuration has a value, the first one refuses it.
    let refused =
        said(&request(Some(OpKind::TensorOp), f32_d, &[("align_a", "3")]), ArchKind::Sm90);
    assert_eq!(
        refused,
        "align_a = 3 is not one of 8 (16 bytes of TMA); try 8; no kernel was found with this align_a"
    );
}
