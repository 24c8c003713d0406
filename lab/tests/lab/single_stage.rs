//! Rungs of the ladder with the single-stage main loop.

use falchion::threadblock::MainloopKind;
use falchion_lab::ladder::{Program, rungs};

/// A rung with one stage has the single-stage main loop.
#[test]
fn one_stage_selects_the_single_stage_main_loop() {
    for rung in rungs().expect("every configuration checks") {
        if let Program::Gemm(d) = rung.program {
            assert_eq!(
                d.mainloop.kind() == MainloopKind::SingleStage,
                d.stages() == 1,
                "{}",
                rung.name
            );
        }
    }
}
