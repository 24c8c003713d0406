//! Refusals and completions of the single-stage main loop.

use crate::{
    completions::each,
    harness::{completions::classes, prelude::*},
    refusals::are_refused,
    simt::refusals::changed,
};

/// Returns a changed description with one stage.
fn single(change: impl FnOnce(&mut Changed)) -> Changed {
    changed(|d| {
        (d.mainloop, d.stages) = (MainloopKind::SingleStage, 1);
        change(d);
    })
}

#[test]
fn another_number_of_stages_and_too_much_unrolling_are_refused() {
    are_refused(vec![
        (single(|d| d.unroll = UnrollKind::By(9)), "unroll = 9 is outside 1 to 8; try 8", true),
        (single(|d| d.stages = 2), "stages = 2 is not 1; try 1", true),
    ]);
}

#[test]
fn one_stage_completes() {
    classes(OpKind::Simt).for_each(|base| each(&base, "stages", "1"));
}
