//! Completion of the pins of a TMA-fed SIMT kernel. The threadblock tile is a grid of warp tiles,
//! and a warp tile is a grid of 32 thread tiles. Pinned tiles determine the others by the two
//! grids.

use crate::{
    arch::{PORTABLE_CLUSTER, WARP},
    nest::{
        GemmDesc, Pins,
        fit::nests,
        places::{Completed, LAST, Place, Places},
    },
    schedule::ScheduleKind,
    shape::{Mn, Mnk},
    warp::{SimtKnobs, simt::consumer::DEPTHS},
};

/// Divisors of the row's tile along M and N, if no tile is pinned.
const TILES: [(u32, u32); 8] = [(1, 1), (1, 2), (2, 1), (2, 2), (1, 4), (2, 4), (4, 4), (4, 16)];

/// Warps of a tile along M and N, for two, one, and three consumers.
#[rustfmt::skip]
const GRIDS: [(u32, u32); 13] = [
    (4, 2), (2, 4), (2, 2), (4, 1), (1, 4), (8, 1), (1, 8), (6, 2), (3, 4), (4, 3), (2, 6), (12, 1), (1, 12),
];

/// Lanes of a warp along M.
const LANES: [u32; 4] = [4, 8, 2, 16];

/// Divisor of the extents of a threadblock tile that is not pinned: lanes of a warp.
const BOXED: u32 = 16;

/// Minimum depth of a stage.
const LEAST_DEPTH: u32 = DEPTHS.0 as u32;

/// Rows of D that the shares of a cluster are multiples of.
const ROWS: u32 = 64;

impl SimtKnobs {
    /// Returns the places of a kernel with a TMA ring: threadblock tiles and schedules, grids of
    /// warps, and lanes.
    pub(crate) const fn consumer_places(pins: &Pins) -> Places {
        let free = pins.threadblock.is_none() && pins.warp.is_none() && pins.instruction.is_none();
        let tiles = if free { TILES.len() as u32 } else { 1 };
        Places::new([2 * tiles, GRIDS.len() as u32, LANES.len() as u32, 1])
    }

    /// Returns the knobs at a place, if tiles nest there.
    pub(crate) const fn completed_consumer(
        base: &GemmDesc,
        pins: &Pins,
        [tile, grid, lanes, _]: Place,
    ) -> Completed {
        let schedule = match (tile % 2, base.schedule()) {
            (0, schedule) => schedule,
            _ if pins.schedule.is_some() => return Err(0),
            (_, ScheduleKind::Cooperative) => ScheduleKind::Pingpong,
            (_, ScheduleKind::Pingpong) => ScheduleKind::Cooperative,
        };
        let ((m, n), lanes) = (GRIDS[grid as usize], LANES[lanes as usize]);
        let pinned_warp = match (pins.warp, pins.instruction) {
            (None, Some(thread)) => Some(Mnk {
                m: thread.m.saturating_mul(lanes),
                n: thread.n.saturating_mul(WARP / lanes),
                k: match pins.threadblock {
                    Some(threadblock) => threadblock.k,
                    None => depth(
                        base,
                        pins,
                        thread.m.saturating_mul(lanes).saturating_mul(m),
                        thread.n.saturating_mul(WARP / lanes).saturating_mul(n),
                    ),
                },
            }),
            (warp, _) => warp,
        };
        let (threadblock, warp) = match (pins.threadblock, pinned_warp) {
            (Some(threadblock), Some(warp)) => (threadblock, warp),
            (None, Some(warp)) => {
                (Mnk { m: warp.m.saturating_mul(m), n: warp.n.saturating_mul(n), k: warp.k }, warp)
            }
            (Some(threadblock), None) => (threadblock, divided(threadblock, m, n)),
            (None, None) => {
                let threadblock = fraction(base, pins, tile / 2);
                (threadblock, divided(threadblock, m, n))
            }
        };
        let instruction = match pins.instruction {
            Some(instruction) => instruction,
            None => Mnk { m: warp.m / lanes, n: warp.n.saturating_mul(lanes) / WARP, k: 1 },
        };
        // The rules refuse pinned tiles that do not nest.
        if pins.warp.is_none() && (!nests(threadblock, warp) || !is_thread(instruction)) {
            return Err(LAST);
        }
        Ok(base.knobs().pinned(&Pins {
            threadblock: Some(threadblock),
            warp: Some(warp),
            instruction: Some(instruction),
            schedule: Some(schedule),
            ..Pins::NONE
        }))
    }
}

/// Returns whether a thread can have the tile.
const fn is_thread(tile: Mnk) -> bool {
    matches!((tile.m, tile.n, tile.k), (4 | 8 | 12 | 16, 4 | 8 | 12 | 16, 1))
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
const fn fraction(base: &GemmDesc, pins: &Pins, tile: u32) -> Mnk {
    let (m, n) = TILES[tile as usize];
    // The rules refuse larger clusters.
    let (blocks_m, blocks_n) = match base.cluster() {
        Mn { m: m @ 1..=PORTABLE_CLUSTER, n: n @ 1..=PORTABLE_CLUSTER } => (m, n),
        _ => (1, 1),
    };
    let Mnk { m: whole_m, n: whole_n, .. } = base.threadblock();
    let m = (whole_m / m).next_multiple_of(ROWS * blocks_n);
    let n = (whole_n / n).next_multiple_of(BOXED * blocks_m);
    Mnk { m, n, k: depth(base, pins, m, n) }
}

/// Returns the row's depth, halved until shared memory holds the pinned stages and their barriers.
const fn depth(base: &GemmDesc, pins: &Pins, m: u32, n: u32) -> u32 {
    let (mut k, available) = (base.threadblock().k, base.arch.machine().shared_bytes_each_of(1));
    if let Some(stages) = pins.stages {
        while k > LEAST_DEPTH
            && base.bytes_of_stage(Mnk { m, n, k }).saturating_mul(stages) >= available
        {
            k /= 2;
        }
    }
    k
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        arch::{ArchKind, OpKind},
        nest::Request,
        threadblock::tma_ring::pipeline::WARPS,
    };

    fn resolved(knobs: &[(&str, &str)]) -> GemmDesc {
        let [a, b] = ["f32:row", "f32:row"].map(|text| text.parse().ok());
        let knobs = [("mainloop", "warpspecialized")]
            .iter()
            .chain(knobs)
            .map(|(name, words)| ((*name).to_owned(), (*words).to_owned()));
        let (op, knobs) = (Some(OpKind::Simt), knobs.collect());
        let request = Request { a, b, op, knobs, ..Request::default() };
        request.resolve(ArchKind::Sm90).expect("a kernel").desc
    }

    #[test]
    fn thread_tiles_fill_a_pinned_tile() {
        let desc = resolved(&[("threadblock", "128x128x16")]);
        let (warp, thread) = (desc.warp(), desc.instruction());
        assert_eq!(warp.m / thread.m * (warp.n / thread.n), WARP);
        assert_eq!(128 / warp.m * (128 / warp.n) % WARPS, 0);
    }

    #[test]
    fn warps_fill_a_warpgroup_with_ping_pong() {
        let desc = resolved(&[("schedule", "pingpong")]);
        let (tile, warp) = (desc.threadblock(), desc.warp());
        assert_eq!(tile.m / warp.m * (tile.n / warp.n), WARPS);
    }
}
