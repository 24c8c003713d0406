//! Completions of the multistage main loop that select the pipelined main loop.

use crate::harness::prelude::*;

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
