//! Completion of the pins of a TMA-fed SIMT kernel. The threadblock tile is a grid of warp tiles,
//! and a warp tile is a grid of 32 thread tiles. Pinned tiles determine the others by the two
//! grids.

use crate::{
    arch::WARP,
    nest::{
        GemmDesc, Pins,
        fit::nests,
        places::{Completed, LAST, Place, Places},
    },
    shape::Mnk,
    threadblock::tma_ring::complete::{
        GRIDS, TILES, fraction, pinned_tiles, schedule_at, tiles_of, with_tiles,
    },
    warp::{SimtKnobs, simt::tma_ring::DEPTHS},
};

/// Lanes of a warp along M.
const LANES: [u32; 4] = [4, 8, 2, 16];

/// Rows and columns of which the CTAs of a cluster share multiples.
const SHARES: [u32; 2] = [64, 16];

/// Minimum depth of a stage.
const LEAST_DEPTH: u32 = DEPTHS.0 as u32;

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
        let Some(schedule) = schedule_at(base, pins, tile % 2 == 1) else { return Err(0) };
        let lanes = LANES[lanes as usize];
        let pinned_warp = match (pins.warp, pins.instruction) {
            (None, Some(thread)) => Some(Mnk {
                m: thread.m.saturating_mul(lanes),
                n: thread.n.saturating_mul(WARP / lanes),
                k: match pins.threadblock {
                    Some(threadblock) => threadblock.k,
                    None => base.threadblock().k,
                },
            }),
            (warp, _) => warp,
        };
        let (pinned, grid) = ((pins.threadblock, pinned_warp), GRIDS[grid as usize]);
        let (mut threadblock, mut warp) = match pinned_tiles(pinned, grid) {
            Some(tiles) => tiles,
            None => tiles_of(fraction(base, tile / 2, SHARES), grid),
        };
        if pins.threadblock.is_none() && pins.warp.is_none() {
            let k = depth(base, pins, threadblock.m, threadblock.n);
            (threadblock.k, warp.k) = (k, k);
        }
        let instruction = match pins.instruction {
            Some(instruction) => instruction,
            None => Mnk { m: warp.m / lanes, n: warp.n.saturating_mul(lanes) / WARP, k: 1 },
        };
        // The rules refuse pinned tiles that do not nest.
        if pins.warp.is_none() && (!nests(threadblock, warp) || !is_thread(instruction)) {
            return Err(LAST);
        }
        Ok(with_tiles(base, (threadblock, warp, instruction), schedule))
    }
}

/// Returns whether a thread can have the tile.
const fn is_thread(tile: Mnk) -> bool {
    matches!((tile.m, tile.n, tile.k), (4 | 8 | 12 | 16, 4 | 8 | 12 | 16, 1))
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
        warp::warpgroup::WARPS,
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
