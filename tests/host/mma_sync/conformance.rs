//! The host executor conforms for `mma.sync`.

use crate::harness::{conformance::*, prelude::*};

suites! {
    the_fast_host_conforms_for_mma_sync: run_decisively of OnHost(Mode::Fast),
        mma_sync(None), (160, 6), 6_000_000, 0x0fa1_c4b0, (900, 140), 0.02,
        Coverage::missing_mma_sync;
    the_checked_host_conforms_for_mma_sync: run of OnHost(Mode::Checked { seed: 7 }),
        Wanted { largest_tile: 64 * 64 * 64, ..mma_sync(None) }, (60, 2), 200_000, 0x0fa1_c4b1,
        (120, 0), 0.0, any;
}
