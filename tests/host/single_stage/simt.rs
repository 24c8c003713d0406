//! Mutants of SIMT programs of the single-stage main loop.

use super::super::simt::mutants::{
    K_MAJOR, drop_steps, mutate_maps, programs, sliced, streams, swap_steps,
};
use crate::harness::prelude::*;

/// Returns the programs that are mutated: the default, warp slices, and stream-K.
fn subjects() -> Vec<(String, Program)> {
    let classic = default_f32(ArchKind::Sm70, K_MAJOR);
    let single = but!(classic, mainloop: MainloopKind::SingleStage, stages: 1).expect();
    let narrow = but!(single, align_a: 1, align_b: 1);
    programs(vec![
        ("1 stage", single),
        ("1 stage, 2 warp slices", sliced(narrow, 2)),
        ("stream-K, 1 stage, 2 warp slices", streams(sliced(narrow, 2))),
    ])
}

#[test]
fn every_dropped_step_is_found() {
    drop_steps(&subjects(), 25);
}

#[test]
fn swapped_steps_are_found_or_commute() {
    swap_steps(&subjects(), 17, 20);
}

#[test]
fn maps_with_wrong_edges_are_found() {
    mutate_maps(&subjects(), 84);
}
