//! Random descriptions of kernels with a TMA ring.

mod coverage;
pub mod mma_sync;
pub mod simt;
pub mod wgmma;

use super::Wanted;
use crate::harness::prelude::*;

/// Returns the first valid description of a TMA-fed kernel without `wgmma` among random ones.
/// Layouts and the cluster stay fixed while `attempt` draws the other knobs again, so that each
/// keeps its share.
fn first_valid(
    seed: u64,
    wanted: Wanted,
    attempt: fn(&mut Random, [Order; 3], (u32, u32), bool) -> GemmDesc,
) -> GemmDesc {
    let mut random = Random::new(seed);
    let orders = [0; 3].map(|_| random.pick(&[Order::Row, Order::Col]));
    let cluster = random.pick(&[(1, 1), (1, 1), (2, 1), (1, 2), (4, 1)]);
    for _ in 0..100_000 {
        let desc = attempt(&mut random, orders, cluster, wanted.plain);
        let tile = desc.threadblock();
        if tile.m * tile.n * tile.k <= wanted.largest_tile && desc.check().is_ok() {
            return desc;
        }
    }
    panic!("no valid description was drawn from seed {seed}: {orders:?} {cluster:?}");
}

/// Returns a random schedule, and the warps of a tile along M and N.
fn grid_of_warps(random: &mut Random) -> (ScheduleKind, (u32, u32)) {
    if random.once_in(4) {
        (ScheduleKind::Pingpong, random.pick(&[(1, 4), (2, 2), (4, 1)]))
    } else {
        let grids = [(1, 4), (2, 2), (4, 1), (2, 4), (4, 2), (8, 1), (3, 4), (2, 6), (6, 2)];
        (ScheduleKind::Cooperative, random.pick(&grids))
    }
}
