//! Mutants of programs of the single-stage main loop, as in `mutants.rs`.

use super::mutants::{K_MAJOR, commute, find, find_fault, programs, sliced, streams};
use crate::harness::prelude::*;
use falchion_check::mutation::drop_each;

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
    for (name, program) in subjects() {
        assert_eq!(find_fault(&program), None, "{name}, unchanged");
    }
    drop_each(&subjects(), find).check(25);
}

#[test]
fn swapped_steps_are_found_or_commute() {
    let sections = [Section::Prologue, Section::Body, Section::Epilogue];
    let findings = swap_each(&subjects(), &sections, commute, |program, _| find(program));
    findings.check(17);
    assert_eq!(findings.tried, 20);
}

#[test]
fn maps_with_wrong_edges_are_found() {
    mutate_edges(&subjects(), |_, _, _| None, |program, _| find(program)).check(84);
}
