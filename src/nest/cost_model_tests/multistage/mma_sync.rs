//! Tests of the tiles that `mma.sync` kernels with the multistage main loop select.

use super::super::choose_for_one_type;
use crate::{arch::OpKind, layout::Order, nest::ProblemSize, numeric::ElementKind};

/// `f64` with few tiles selects small tiles: the fastest, or one within 3% (`lab/data/trials.csv`,
/// log `f64_few_tiles`).
#[test]
fn few_tiles_are_small() {
    for (extents, wanted) in [
        ((128, 128, 16384), (64, 64)),
        ((64, 64, 65536), (32, 32)),
        ((512, 512, 512), (32, 64)),
        ((768, 768, 768), (32, 64)),
        ((1024, 1024, 1024), (128, 64)),
        ((1536, 1536, 1536), (32, 64)),
        ((2048, 2048, 2048), (128, 128)),
        ((1024, 256, 16384), (128, 128)),
    ] {
        let (op, size) = (OpKind::TensorOp, ProblemSize::new(extents));
        let orders = [Order::Row, Order::Col];
        let tile = choose_for_one_type(ElementKind::F64, op, orders, size).threadblock();
        assert_eq!((tile.m, tile.n), wanted, "{extents:?}");
    }
}
