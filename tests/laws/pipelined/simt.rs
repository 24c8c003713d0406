//! Refusals of SIMT kernels with the pipelined main loop.

use crate::{harness::prelude::*, refusals::are_refused, simt::refusals::changed};

#[test]
fn another_number_of_stages_and_unrolling_are_refused() {
    #[rustfmt::skip]
    are_refused(vec![
        (changed(|d| d.stages = 1), "stages = 1 is not 2; try 2", true),
        (changed(|d| d.unroll = UnrollKind::By(2)), "unroll = 2 is not supported by the pipelined main loop; try full", true),
        (changed(|d| (d.threadblock, d.warp) = (Mnk::new(32, 32, 256), Mnk::new(32, 32, 32))), "shared memory of a block = 139264 bytes exceeds 98304 bytes (2 stages of 69632; sm_70 with 1 block per multiprocessor); use a smaller threadblock tile", false),
    ]);
}
