//! Completion of the pins of a TMA-fed `mma.sync` kernel. The threadblock tile is a grid of warp
//! tiles, and the instruction has a depth of 8 or 4.

use crate::{
    nest::{
        GemmDesc, Pins,
        fit::nests,
        places::{Completed, LAST, Place, Places},
    },
    shape::Mnk,
    threadblock::tma_ring::complete::{
        GRIDS, TILES, fraction, pinned_tiles, schedule_at, tiles_of, with_tiles,
    },
    warp::{
        MmaSyncKnobs,
        mma_sync::tma_ring::{DEPTHS, check_warp},
    },
};

/// Rows and columns of which the CTAs of a cluster share multiples.
const SHARES: [u32; 2] = [16; 2];

impl MmaSyncKnobs {
    /// Returns the places of a kernel with a TMA ring: threadblock tiles and schedules, grids of
    /// warps, and instructions.
    pub(crate) const fn consumer_places(pins: &Pins) -> Places {
        let free = pins.threadblock.is_none() && pins.warp.is_none();
        let tiles = if free { TILES.len() as u32 } else { 1 };
        let instructions = if pins.instruction.is_none() { DEPTHS.len() as u32 } else { 1 };
        Places::new([2 * tiles, GRIDS.len() as u32, instructions, 1])
    }

    /// Returns the knobs at a place, if tiles nest there.
    pub(crate) const fn completed_consumer(
        base: &GemmDesc,
        pins: &Pins,
        [tile, grid, depth, _]: Place,
    ) -> Completed {
        let Some(schedule) = schedule_at(base, pins, tile % 2 == 1) else { return Err(0) };
        let grid = GRIDS[grid as usize];
        let (threadblock, warp) = match pinned_tiles((pins.threadblock, pins.warp), grid) {
            Some(tiles) => tiles,
            None => tiles_of(fraction(base, tile / 2, SHARES), grid),
        };
        // The rules refuse pinned tiles that do not nest.
        if pins.warp.is_none() && (!nests(threadblock, warp) || check_warp(warp).is_err()) {
            return Err(LAST);
        }
        let instruction = match pins.instruction {
            Some(instruction) => instruction,
            None => Mnk { k: DEPTHS[depth as usize], ..base.instruction() },
        };
        Ok(with_tiles(base, (threadblock, warp, instruction), schedule))
    }
}
