//! Completion of the pins of a TMA ring whose consumers are grids of warps. The threadblock tile is
//! a grid of warp tiles.

use crate::{
    arch::PORTABLE_CLUSTER,
    nest::{GemmDesc, Pins, SpillKind, fit::nests},
    numeric::ElementKind,
    schedule::ScheduleKind,
    shape::{Mn, Mnk, OperandKind},
    threadblock::{
        Pipeline, SharedOperand, WarpSpecialized,
        tma_ring::{
            components::PARTNERS,
            pipeline::{ALIGNMENT_BYTES, MOST_CONSUMERS, WARPS},
            registers::registers_beside_accumulators,
            shapes::MOST_TILE,
        },
    },
    warp::ConsumerRegisters,
};

/// Divisors of the row's tile along M and N, if no tile is pinned.
pub(crate) const TILES: [(u32, u32); 8] =
    [(1, 1), (1, 2), (2, 1), (2, 2), (1, 4), (2, 4), (4, 4), (4, 16)];

/// Warps of a tile along M and N, for two, one, and three consumers.
#[rustfmt::skip]
pub(crate) const GRIDS: [(u32, u32); 13] = [
    (4, 2), (2, 4), (2, 2), (4, 1), (1, 4), (8, 1), (1, 8), (6, 2), (3, 4), (4, 3), (2, 6), (12, 1), (1, 12),
];

/// Divisor of the extents of a threadblock tile that is not pinned: lanes of a warp.
const BOXED: u32 = 16;

/// Rows of D that the shares of a cluster are multiples of.
const ROWS: u32 = 64;

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
/// threadblock tile is fraction number `tile` of the row's.
pub(crate) const fn tiles_at(
    base: &GemmDesc,
    pinned: (Option<Mnk>, Option<Mnk>),
    tile: u32,
    (m, n): (u32, u32),
) -> (Mnk, Mnk) {
    match pinned {
        (Some(threadblock), Some(warp)) => (threadblock, warp),
        (None, Some(warp)) => {
            (Mnk { m: warp.m.saturating_mul(m), n: warp.n.saturating_mul(n), k: warp.k }, warp)
        }
        (Some(threadblock), None) => (threadblock, divided(threadblock, m, n)),
        (None, None) => {
            let threadblock = fraction(base, tile);
            (threadblock, divided(threadblock, m, n))
        }
    }
}

/// The parts of a stage and of a thread that decide whether a ring fits.
pub(crate) struct RingParts {
    /// Type of the elements of a stage.
    pub element: ElementKind,
    /// Extents along M and N of which a share of a stage is a multiple.
    pub multiple: [u32; 2],
    /// Accumulators per thread.
    pub accumulators: u32,
    /// Registers of a thread.
    pub registers: ConsumerRegisters,
}

/// Returns the ring of a description if its warps fill warpgroups, CTAs of a cluster share the
/// tiles evenly, and the registers suffice.
pub(crate) const fn ring_of_warps(d: &GemmDesc, parts: &RingParts) -> Option<Pipeline> {
    let (tile, warp) = (d.threadblock(), d.warp());
    if !nests(tile, warp) || tile.m > MOST_TILE || tile.n > MOST_TILE {
        return None;
    }
    let pingpong = matches!(d.schedule(), ScheduleKind::Pingpong);
    let warps = (tile.m / warp.m) * (tile.n / warp.n);
    let most = if pingpong { WARPS } else { WARPS * MOST_CONSUMERS };
    let multicast = WarpSpecialized::multicast(d);
    let row = parts.element.bytes_of(tile.k);
    let [of_m, of_n] = parts.multiple;
    if !warps.is_multiple_of(WARPS)
        || warps > most
        || !shares_evenly(multicast, OperandKind::A, (tile.m, of_m), row)
        || !shares_evenly(multicast, OperandKind::B, (tile.n, of_n), row)
    {
        return None;
    }
    let ConsumerRegisters { accumulators, fragments, sum, .. } = parts.registers;
    let ring = Pipeline {
        stages: d.stages(),
        stage_bytes: [tile.m.saturating_mul(row), tile.n.saturating_mul(row)],
        consumers: if pingpong { PARTNERS } else { warps / WARPS },
        pingpong,
        multicast,
        slices: d.cluster_slices(parts.accumulators),
        staging_buffers: 0,
        staging_bytes: 0,
        source: false,
    };
    let needed = accumulators
        + fragments
        + registers_beside_accumulators(d.has_slices() && ring.slices.is_none(), sum);
    let available = match WarpSpecialized::registers(&ring) {
        Some([_, consumer]) => consumer as u32,
        None => ring.launch_registers(),
    };
    let fits = matches!(d.limits.spills, SpillKind::Allowed) || needed <= available;
    if fits { Some(ring) } else { None }
}

/// Returns whether the CTAs of a cluster divide the boxes of an operand's tile, and whether each
/// share of a stage is a multiple of the ring's alignment.
const fn shares_evenly(
    multicast: Option<SharedOperand>,
    operand: OperandKind,
    (extent, boxed): (u32, u32),
    row: u32,
) -> bool {
    let blocks = match multicast {
        Some(shared) if shared.operand.index() == operand.index() => shared.blocks,
        _ => 1,
    };
    extent.is_multiple_of(boxed.saturating_mul(blocks))
        && extent.saturating_mul(row).is_multiple_of(ALIGNMENT_BYTES.saturating_mul(blocks))
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
const fn fraction(base: &GemmDesc, tile: u32) -> Mnk {
    let (m, n) = TILES[tile as usize];
    // The rules refuse larger clusters.
    let (blocks_m, blocks_n) = match base.cluster() {
        Mn { m: m @ 1..=PORTABLE_CLUSTER, n: n @ 1..=PORTABLE_CLUSTER } => (m, n),
        _ => (1, 1),
    };
    let Mnk { m: whole_m, n: whole_n, k } = base.threadblock();
    Mnk {
        m: (whole_m / m).next_multiple_of(ROWS * blocks_n),
        n: (whole_n / n).next_multiple_of(BOXED * blocks_m),
        k,
    }
}
