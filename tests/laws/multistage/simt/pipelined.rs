//! Refusals of the multistage main loop that suggest the pipelined main loop.

use super::ring_of;
use crate::{
    harness::{prelude::*, random_cases},
    refusals::{ROWS, are_refused},
    simt::refusals::changed,
};

#[test]
fn copies_that_only_the_pipelined_main_loop_supports_are_refused() {
    let odd = SmemLayout::Padded { along: Along::Mn, padding: 1 };
    let (columns, bf16) = ([Order::Col, Order::Row, Order::Row], ElementKind::Bf16);
    #[rustfmt::skip]
    are_refused(vec![
        (Changed::new(but!(random_cases::ring(ROWS), arch: ArchKind::Sm75)), "mainloop = multistage is not supported by sm75 (asynchronous copies need sm80); try arch = sm80, or mainloop = pipelined with stages = 2", false),
        (Changed::new(ring_of(bf16, columns, 1)), "asynchronous copy of A = 2 bytes is not one of 4, 8, 16; try align_a = 2, or mainloop = pipelined", true),
        (Changed::new(ring_of(bf16, [Order::Row, Order::Row, Order::Row], 8)), "asynchronous copy of A = 2 bytes is not one of 4, 8, 16; try mainloop = pipelined", false),
        (Changed::new(but!(ring_of(bf16, columns, 8), smem_a: odd)), "asynchronous copy of A = 8 elements exceeds 1 element (adjacent elements in shared memory); use another layout of shared memory, or mainloop = pipelined", false),
    ]);
}

#[test]
fn more_than_two_stages_of_the_pipelined_main_loop_are_refused() {
    are_refused(vec![(
        changed(|d| d.stages = 3),
        "stages = 3 is not 2 (pipelined main loop); try 2, or mainloop = multistage on sm80 and newer",
        true,
    )]);
}
