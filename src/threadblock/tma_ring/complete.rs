//! Completion of the pins of a TMA ring whose consumers are grids of warps. The threadblock tile is
//! a grid of warp tiles.

use crate::{
    arch::PORTABLE_CLUSTER,
    nest::{GemmDesc, Pins},
    schedule::ScheduleKind,
    shape::{Mn, Mnk},
};

/// Divisors of the row's tile along M and N, if no tile is pinned.
pub(crate) const TILES: [(u32, u32); 8] =
    [(1, 1), (1, 2), (2, 1), (2, 2), (1, 4), (2, 4), (4, 4), (4, 16)];

/// Warps of a tile along M and N, for two, one, and three consumers.
#[rustfmt::skip]
pub(crate) const GRIDS: [(u32, u32); 13] = [
    (4, 2), (2, 4), (2, 2), (4, 1), (1, 4), (8, 1), (1, 8), (6, 2), (3, 4), (4, 3), (2, 6), (12, 1), (1, 12),
];

/// Returns the row's schedule, or the other one, unless the schedule is pinned.
pub(crate) const fn schedule_at(base: &GemmDesc, pins: &Pins, other: bool) -> Option<ScheduleKind> {
    match (other, base.schedule()) {
        (false, schedule) => Some(schedule),
        _ if pins.schedule.is_some() => None,
        (true, ScheduleKind::Cooperative) => Some(ScheduleKind::Pingpong),
        (true, ScheduleKind::Pingpong) => Some(ScheduleKind::Cooperative),
    }
}

/// Returns the threadblock tile and the warp tile of a grid of warps. Without a pinned tile, the
/// threadblock tile is fraction number `tile` of the row's, with multiples of `shares` rows and
/// columns for each CTA of a cluster.
pub(crate) const fn tiles_at(
    base: &GemmDesc,
    pinned: (Option<Mnk>, Option<Mnk>),
    tile: u32,
    (m, n): (u32, u32),
    shares: [u32; 2],
) -> (Mnk, Mnk) {
    match pinned {
        (Some(threadblock), Some(warp)) => (threadblock, warp),
        (None, Some(warp)) => {
            (Mnk { m: warp.m.saturating_mul(m), n: warp.n.saturating_mul(n), k: warp.k }, warp)
        }
        (Some(threadblock), None) => (threadblock, divided(threadblock, m, n)),
        (None, None) => {
            let threadblock = fraction(base, tile, shares);
            (threadblock, divided(threadblock, m, n))
        }
    }
}

/// Returns one of `m` x `n` shares of a tile, with extents of 0 if they do not divide it.
const fn divided(tile: Mnk, m: u32, n: u32) -> Mnk {
    if tile.m.is_multiple_of(m) && tile.n.is_multiple_of(n) {
        Mnk { m: tile.m / m, n: tile.n / n, k: tile.k }
    } else {
        Mnk { m: 0, n: 0, k: tile.k }
    }
}

/// Returns a fraction of the row's tile that the CTAs of a cluster can share.
const fn fraction(base: &GemmDesc, tile: u32, [rows, columns]: [u32; 2]) -> Mnk {
    let (m, n) = TILES[tile as usize];
    // The rules refuse larger clusters.
    let (blocks_m, blocks_n) = match base.cluster() {
        Mn { m: m @ 1..=PORTABLE_CLUSTER, n: n @ 1..=PORTABLE_CLUSTER } => (m, n),
        _ => (1, 1),
    };
    let Mnk { m: whole_m, n: whole_n, k } = base.threadblock();
    Mnk {
        m: (whole_m / m).next_multiple_of(rows * blocks_n),
        n: (whole_n / n).next_multiple_of(columns * blocks_m),
        k,
    }
}
