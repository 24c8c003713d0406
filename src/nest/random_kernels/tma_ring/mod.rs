//! Random kernels with a TMA ring.

pub(super) mod mma_sync;
pub(super) mod simt;
pub(super) mod wgmma;

use super::Draw;
use crate::{
    schedule::ScheduleKind,
    shape::{Mn, Mnk},
    threadblock::{L2PromotionKind, Mainloop, TmaRingKnobs},
};

/// Returns a random ring.
fn ring(draw: &mut Draw, threadblock: Mnk, schedule: ScheduleKind) -> Mainloop {
    let cluster = draw.choose(&[
        Mn::ONE,
        Mn::ONE,
        Mn::ONE,
        Mn { m: 2, n: 1 },
        Mn { m: 1, n: 2 },
        Mn { m: 1, n: 4 },
        Mn { m: 3, n: 1 },
    ]);
    let stages = draw.choose(&[2, 2, 3, 4, 5, 6, 8, 12, 16]);
    let l2_promotion = draw.choose(&L2PromotionKind::ALL);
    Mainloop::TmaRing(TmaRingKnobs { threadblock, stages, cluster, schedule, l2_promotion })
}

/// Returns the warps of a tile along M and N, and a schedule.
fn grid_of_warps(draw: &mut Draw) -> ((u32, u32), ScheduleKind) {
    let grid =
        draw.choose(&[(4, 2), (2, 4), (2, 2), (4, 1), (1, 4), (8, 1), (6, 2), (3, 4), (12, 1)]);
    let schedule = if grid.0 * grid.1 == 4 && draw.once_in(2) {
        ScheduleKind::Pingpong
    } else {
        ScheduleKind::Cooperative
    };
    (grid, schedule)
}
