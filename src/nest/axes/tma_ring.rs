//! The axes that complete the pins of kernels with a TMA ring: threadblock tiles, schedules,
//! consumers' shares of a tile, and instructions, the widest first.
//!
//! If one of the threadblock and warp tiles is pinned, the other is a multiple or a share of it. If
//! neither is pinned, tiles are fractions of the row's tile that a cluster can share.

use crate::{
    arch::{OpKind, PORTABLE_CLUSTER, WARP},
    nest::{GemmDesc, Knobs, Pins, axes::AXES},
    refusal::{Field, Refusal, Rule},
    schedule::ScheduleKind,
    shape::{Mn, Mnk},
    threadblock::tma_ring::pipeline::WARPS,
    warp::wgmma::{MOST_COLUMNS, ROWS, THREADS, columns_of},
};

/// Numbers of threadblock tiles, schedules, shares, and instructions.
pub(crate) const VALUES: [u32; AXES] = [2 * TILES.len() as u32, 2, GRIDS.len() as u32, 6];

/// Divisors of the row's tile along M and N, if no tile is pinned.
const TILES: [(u32, u32); 8] = [(1, 1), (1, 2), (2, 1), (2, 2), (1, 4), (2, 4), (4, 4), (4, 16)];

/// Consumers of a tile along M and N, on tensor cores.
const CONSUMERS: [(u32, u32); 5] = [(2, 1), (1, 2), (1, 1), (3, 1), (1, 3)];

/// Warps of a tile along M and N in a SIMT kernel, for one, two, and three consumers.
const GRIDS: [(u32, u32); 13] = [
    (4, 2),
    (2, 4),
    (2, 2),
    (4, 1),
    (1, 4),
    (8, 1),
    (1, 8),
    (6, 2),
    (3, 4),
    (4, 3),
    (2, 6),
    (12, 1),
    (1, 12),
];

/// Lanes of a warp along M in a SIMT kernel.
const LANES: [u32; 4] = [4, 8, 2, 16];

/// Columns of the narrowest and the widest instruction.
const NARROWEST: u32 = 8;
const WIDEST: u32 = MOST_COLUMNS;

/// Returns the knobs at a place along the axes.
pub(crate) const fn along_axes(
    base: &GemmDesc,
    pins: &Pins,
    [tile, schedule, share, place]: [u32; AXES],
) -> Option<Knobs> {
    let schedule = match (schedule, base.schedule()) {
        (0, schedule) => schedule,
        _ if pins.schedule.is_some() => return None,
        (_, ScheduleKind::Cooperative) => ScheduleKind::Pingpong,
        (_, ScheduleKind::Pingpong) => ScheduleKind::Cooperative,
    };
    let threads = matches!(base.op(), OpKind::Simt);
    let (m, n) = match (schedule, threads) {
        (ScheduleKind::Pingpong, false) if share == 0 => (1, 1),
        (ScheduleKind::Cooperative, false) if (share as usize) < CONSUMERS.len() => {
            CONSUMERS[share as usize]
        }
        (_, false) => return None,
        (_, true) => GRIDS[share as usize],
    };
    if threads
        && (matches!(schedule, ScheduleKind::Pingpong) && m * n != WARPS
            || place as usize >= LANES.len())
    {
        return None;
    }
    let lanes = LANES[place as usize % LANES.len()];
    let pinned_warp = match (pins.warp, pins.instruction) {
        (None, Some(thread)) if threads => Some(Mnk {
            m: thread.m.saturating_mul(lanes),
            n: thread.n.saturating_mul(WARP / lanes),
            k: base.threadblock().k,
        }),
        (warp, _) => warp,
    };
    let (threadblock, warp) = match (pins.threadblock, pinned_warp) {
        _ if tile > 0 && (pins.threadblock.is_some() || pinned_warp.is_some()) => return None,
        (Some(threadblock), Some(warp)) => (threadblock, warp),
        (None, Some(warp)) => {
            (Mnk { m: warp.m.saturating_mul(m), n: warp.n.saturating_mul(n), k: warp.k }, warp)
        }
        (Some(threadblock), None) => (threadblock, divided(threadblock, m, n)),
        (None, None) => {
            let threadblock = fraction(base, pins, tile);
            (threadblock, divided(threadblock, m, n))
        }
    };
    // The rules refuse pinned tiles that do not nest.
    let nest = warp.m > 0
        && warp.n > 0
        && threadblock.m.is_multiple_of(warp.m)
        && threadblock.n.is_multiple_of(warp.n);
    let instruction = match pins.instruction {
        Some(instruction) => instruction,
        None if threads => Mnk { m: warp.m / lanes, n: warp.n.saturating_mul(lanes) / WARP, k: 1 },
        None if place + 1 == VALUES[3] => Mnk { n: NARROWEST, ..base.instruction() },
        None => Mnk { n: widest(base, warp.n, place), ..base.instruction() },
    };
    // An unpinned tile is skipped if its accumulators alone exceed the 255 registers of a thread.
    let accumulators =
        base.output.accumulator.matrix_bytes(warp.m as u64).saturating_mul(warp.n as u64)
            / (4 * THREADS) as u64;
    let fits = !threads && (accumulators < 255 || pins.threadblock.is_some())
        || threads && matches!((instruction.m, instruction.n), (4 | 8 | 12 | 16, 4 | 8 | 12 | 16));
    let only = pins.instruction.is_some() && !(threads && pins.warp.is_none()) && place > 0;
    if only || instruction.n == 0 || !(nest && fits) && pins.warp.is_none() {
        return None;
    }
    Some(base.knobs().pinned(&Pins {
        threadblock: Some(threadblock),
        warp: Some(warp),
        instruction: Some(instruction),
        schedule: Some(schedule),
        ..Pins::NONE
    }))
}

/// Returns the axis along which the next knobs may avoid the refusal.
pub(crate) const fn axis_against(base: &GemmDesc, _: &Pins, refusal: &Refusal) -> usize {
    match (refusal.rule, refusal.field) {
        // In SIMT kernels, the grid of warps determines the boxes.
        (Rule::Divides, Field::Cluster(_)) if matches!(base.op(), OpKind::Simt) => 2,
        (_, Field::SharedMemoryOfABlock) | (Rule::Divides, Field::Cluster(_)) => 0,
        _ => AXES - 1,
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

/// Returns a fraction of the row's tile that instructions divide and that the CTAs of a cluster can
/// share. Shares are multiples of kilobytes, swizzles, or boxes.
const fn fraction(base: &GemmDesc, pins: &Pins, tile: u32) -> Mnk {
    let (m, n) = TILES[tile as usize / 2];
    let boxed = match base.op() {
        OpKind::Simt => 16,
        OpKind::TensorOp if tile.is_multiple_of(2) => 8,
        OpKind::TensorOp => ROWS,
    };
    // The rules refuse larger clusters.
    let (blocks_m, blocks_n) = match base.cluster() {
        Mn { m: m @ 1..=PORTABLE_CLUSTER, n: n @ 1..=PORTABLE_CLUSTER } => (m, n),
        _ => (1, 1),
    };
    let mut columns = boxed * blocks_m;
    if let Some(Mnk { n: instruction @ 1..=WIDEST, .. }) = pins.instruction {
        while !columns.is_multiple_of(instruction) {
            columns += boxed * blocks_m;
        }
    }
    let Mnk { m: whole_m, n: whole_n, k } = base.threadblock();
    Mnk {
        m: (whole_m / m).next_multiple_of(ROWS * blocks_n),
        n: (whole_n / n).next_multiple_of(columns),
        k,
    }
}

/// Returns the columns of the widest instruction that divides a consumer's columns, after `skip`
/// wider ones. 0 if there is none.
const fn widest(base: &GemmDesc, columns: u32, mut skip: u32) -> u32 {
    let mut n = if columns < WIDEST { columns } else { WIDEST } / NARROWEST * NARROWEST;
    while n > 0 {
        if columns.is_multiple_of(n)
            && n.is_multiple_of(columns_of(base.operands[0].stored.is_integer(), n))
        {
            if skip == 0 {
                return n;
            }
            skip -= 1;
        }
        n -= NARROWEST;
    }
    0
}
