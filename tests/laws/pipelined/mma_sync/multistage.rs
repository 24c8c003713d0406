//! Refusals of one of the two main loops that suggest the other one.

use super::super::super::mma_sync::kernels::refused;
use crate::harness::prelude::*;
use falchion::numeric::ElementKind::{F16, F32};

#[test]
fn more_than_two_stages_are_refused_on_turing() {
    let halves = (F16, F32, F16);
    #[rustfmt::skip]
    let table = [
        (ArchKind::Sm75, halves, &[("stages", "3")][..], "stages = 3 is not 2 (pipelined main loop); try 2, or mainloop = multistage on sm80 and newer; no kernel was found with this stages"),
        (ArchKind::Sm75, halves, &[("mainloop", "multistage")], "mainloop = multistage is not supported by sm75 (asynchronous copies need sm80); try arch = sm80, or mainloop = pipelined with stages = 2"),
    ];
    for (arch, types, knobs, wanted) in table {
        assert_eq!(refused(arch, types, knobs), wanted);
    }
}

#[test]
fn copies_of_two_bytes_are_refused() {
    let knobs = [("mainloop", "multistage"), ("align_a", "1")];
    assert_eq!(
        refused(ArchKind::Sm80, (F16, F32, F16), &knobs),
        "asynchronous copy of A = 2 bytes is not one of 4, 8, 16; try align_a = 2, or mainloop = pipelined; no kernel was found with this mainloop and this align_a"
    );
}
