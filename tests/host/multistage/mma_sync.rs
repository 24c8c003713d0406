//! `mma.sync` kernels with the multistage main loop.

use super::super::mma_sync::{
    ORDERS,
    cutlass_list::{REFUSED, lines_are_exact},
    drop_steps, load_a_before_products, subject, swap_points,
};
use crate::harness::prelude::*;

#[test]
fn cutlass_configurations_are_exact() {
    lines_are_exact(455, ArchKind::copies_asynchronously, REFUSED, 1);
}

/// Returns programs of f64 and of f16 by ldmatrix, with sliced K. The last has one k-block.
fn subjects() -> Vec<(String, Program)> {
    let f64s = element_types(ElementKind::F64, ElementKind::F64, ElementKind::F64);
    let halves = element_types(ElementKind::F16, ElementKind::F32, ElementKind::F16);
    let (hopper, ampere) = (ArchKind::Sm90, ArchKind::Sm80);
    let stages = |stages| (MainloopKind::Multistage, stages);
    [
        ("f64", f64s, hopper, ORDERS[1], ["32x32x16", "16x16x16"], stages(3)),
        ("f16", halves, ampere, ORDERS[0], ["32x32x64", "32x16x32"], stages(2)),
        ("f16 transposed", halves, ampere, ORDERS[3], ["64x64x32", "32x32x32"], stages(4)),
        ("f16 one deep", halves, ampere, ORDERS[1], ["32x32x16", "16x16x16"], stages(3)),
    ]
    .map(subject)
    .into()
}

#[test]
fn every_dropped_step_of_mma_sync_is_found() {
    drop_steps(&subjects(), 65);
}

#[test]
fn a_tile_with_one_k_block_loads_a_after_its_products() {
    load_a_before_products(subjects().pop().expect("the last has one k-block"));
}

#[test]
fn every_map_of_mma_sync_with_two_swapped_points_is_found() {
    swap_points(&subjects());
}
