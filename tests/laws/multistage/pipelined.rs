//! Refusals of the multistage main loop that suggest the pipelined main loop, and completions that
//! select it.

use super::{
    super::refusals::{ROWS, are_refused, changed},
    ring_of,
};
use crate::harness::{prelude::*, random_cases};

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

/// A problem with any pitch has a kernel. The kernel has the same tile if it may spill. If
/// asynchronous copies cannot move single elements, it uses the pipelined main loop.
#[test]
fn single_element_accesses_complete() {
    for kernel_kind in [KernelKind::Simt, KernelKind::MmaSync] {
        let (mut pipelined, mut copied) = (0, 0);
        for seed in 0..2000u64 {
            let spilling = Pins { spills: Some(SpillKind::Allowed), ..Pins::NONE };
            let desc =
                description(seed, Wanted { kernel_kind, ..Wanted::default() }).pinned(spilling);
            let narrow = desc.narrowed([1; 3]);
            assert_eq!((narrow.threadblock(), narrow.alignments()), (desc.threadblock(), [1; 3]));
            assert_eq!(narrow.check(), Ok(()), "{desc:?}");
            match (desc.mainloop.kind(), narrow.mainloop.kind()) {
                (MainloopKind::Multistage, MainloopKind::Pipelined) => pipelined += 1,
                (MainloopKind::Multistage, _) => copied += 1,
                (own, same) => assert_eq!(own, same),
            }
        }
        assert!(pipelined > 100 && copied > 100, "{kernel_kind:?}: {pipelined}, {copied}");
    }
}
