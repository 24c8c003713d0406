//! Mutants of SIMT programs of the pipelined main loop.

use super::super::simt::mutants::{
    K_MAJOR, drop_steps, mutate_maps, programs, sliced, streams, swap_steps,
};
use crate::harness::prelude::*;

/// Returns the programs that are mutated: the defaults, warp slices, and stream-K.
fn subjects() -> Vec<(String, Program)> {
    let default =
        |arch, ab, acc, c| default_of(OpKind::Simt, arch, element_types(ab, acc, c), K_MAJOR);
    let classic = default_f32(ArchKind::Sm70, K_MAJOR);
    let narrow = but!(classic, align_a: 1, align_b: 1);
    let (f64, i8, i32) = (ElementKind::F64, ElementKind::I8, ElementKind::I32);
    let all = vec![
        ("f32 sm70", classic),
        ("f64 sm80", default(ArchKind::Sm80, f64, f64, f64)),
        ("i8 sm90", default(ArchKind::Sm90, i8, i32, i32)),
        ("2 warp slices", sliced(narrow, 2)),
        ("3 warp slices", sliced(narrow, 3)),
        ("streams", streams(sliced(narrow, 1))),
        ("stream-K, 2 warp slices", streams(sliced(narrow, 2))),
    ];
    assert!(all.iter().all(|(_, desc)| desc.mainloop.kind() == MainloopKind::Pipelined));
    programs(all)
}

#[test]
fn every_dropped_step_is_found() {
    drop_steps(&subjects(), 182);
}

#[test]
fn swapped_steps_are_found_or_commute() {
    swap_steps(&subjects(), 88, 165);
}

#[test]
fn maps_with_wrong_edges_are_found() {
    mutate_maps(&subjects(), 188);
}
