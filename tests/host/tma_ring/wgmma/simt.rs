//! Column-major D of SIMT kernels.

use crate::harness::{descriptions::tma_ring, prelude::*};

/// SIMT kernels, with and without TMA, cannot store columns.
#[test]
fn kernels_that_cannot_store_columns_are_unchanged() {
    let (row, col) = (Order::Row, Order::Col);
    let f32s = element_types(ElementKind::F32, ElementKind::F32, ElementKind::F32);
    let threads = ((128, 128, 16), (64, 32), (8, 8));
    for desc in [
        default_of(OpKind::Simt, ArchKind::Sm90, f32s, [row; 3]),
        tma_ring::simt::plain([col, row, row], threads.0, threads.1, threads.2),
    ] {
        assert_eq!(desc.with_rows_as_columns(), desc);
    }
}
