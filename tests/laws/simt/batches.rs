//! Batches of SIMT kernels before their launch.

use super::super::batches::{batch, description, geometry, params};
use crate::harness::prelude::*;

#[test]
fn one_launch_has_the_parameters_of_the_whole_batch() {
    let f32 = ElementKind::F32;
    let simt = description(OpKind::Simt, (f32, f32, f32), [Row, Row, Row]).for_batch(3);
    let problem = batch(&simt, (9, 7, 5), 3, [None, Some(2), Some(0), Some(1)]);
    let tile = simt.threadblock();
    let launch = simt
        .plan()
        .expect("a kernel")
        .launch(&problem, &geometry(tile, WorkKind::DataParallel), 1)
        .expect("a launch");
    let told: GemmParams = params(&launch);
    assert_eq!((told.batch, launch.grid.clusters), (3, 3));
    assert_eq!(
        [told.stride_a, told.stride_b, told.operands[0].batch_stride, told.stride_d],
        [0, 37, 63, 64]
    );
    // The text of a description states the mode if it is not the default one.
    assert_eq!(GemmDesc::from_json(&simt.to_json().expect("text")).expect("a description"), simt);
    assert!(simt.to_json().expect("text").contains(r#""mode":"batched""#));
    let alone = description(OpKind::Simt, (f32, f32, f32), [Row, Row, Row]);
    assert!(!alone.to_json().expect("text").contains("mode"));
}
