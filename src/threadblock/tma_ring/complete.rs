//! Completion of the pins of a TMA ring. The threadblock tile is a grid of warp tiles. With
//! `wgmma`, a warp tile is the tile of a consumer.

use crate::{
    arch::PORTABLE_CLUSTER,
    nest::{GemmDesc, Knobs, Pins},
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

/// Returns the threadblock tile and the warp tile for an `m` x `n` grid of warp tiles, or `None` if
/// neither tile is pinned.
pub(crate) const fn pinned_tiles(
    pinned: (Option<Mnk>, Option<Mnk>),
    (m, n): (u32, u32),
) -> Option<(Mnk, Mnk)> {
    match pinned {
        (Some(threadblock), Some(warp)) => Some((threadblock, warp)),
        (None, Some(warp)) => {
            let m = warp.m.saturating_mul(m);
            Some((Mnk { m, n: warp.n.saturating_mul(n), k: warp.k }, warp))
        }
        (Some(threadblock), None) => Some(tiles_of(threadblock, (m, n))),
        (None, None) => None,
    }
}

/// Returns a threadblock tile and the warp tile of its `m` x `n` grid. The warp tile has extents of
/// 0 if the grid does not divide the threadblock tile.
pub(crate) const fn tiles_of(threadblock: Mnk, (m, n): (u32, u32)) -> (Mnk, Mnk) {
    let divides = threadblock.m.is_multiple_of(m) && threadblock.n.is_multiple_of(n);
    let [rows, columns] = if divides { [threadblock.m / m, threadblock.n / n] } else { [0, 0] };
    (threadblock, Mnk { m: rows, n: columns, k: threadblock.k })
}

/// Returns the knobs of the row with these tiles and this schedule.
pub(crate) const fn with_tiles(
    base: &GemmDesc,
    (threadblock, warp, instruction): (Mnk, Mnk, Mnk),
    schedule: ScheduleKind,
) -> Knobs {
    base.knobs().pinned(&Pins {
        threadblock: Some(threadblock),
        warp: Some(warp),
        instruction: Some(instruction),
        schedule: Some(schedule),
        ..Pins::NONE
    })
}

/// Returns the CTAs of the row's cluster along M and N.
pub(crate) const fn ctas(base: &GemmDesc) -> (u32, u32) {
    // The rules refuse larger clusters.
    match base.cluster() {
        Mn { m: m @ 1..=PORTABLE_CLUSTER, n: n @ 1..=PORTABLE_CLUSTER } => (m, n),
        _ => (1, 1),
    }
}

/// Returns fraction number `tile` of the row's tile, with multiples of `rows` and `columns` for
/// each CTA of a cluster.
pub(crate) const fn fraction(base: &GemmDesc, tile: u32, [rows, columns]: [u32; 2]) -> Mnk {
    let (m, n) = TILES[tile as usize];
    let (ctas_m, ctas_n) = ctas(base);
    let Mnk { m: whole_m, n: whole_n, k } = base.threadblock();
    Mnk {
        m: (whole_m / m).next_multiple_of(rows * ctas_n),
        n: (whole_n / n).next_multiple_of(columns * ctas_m),
        k,
    }
}
