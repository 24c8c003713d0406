//! Completion of the pins of a kernel with a TMA ring on Hopper's tensor cores. One of the
//! threadblock and warp tiles follows from the other by the number of consumers; if neither is
//! pinned, the tile is a fraction of the row's that a cluster can share. The instruction is the
//! widest that divides a consumer's columns and fits the registers.

use crate::{
    nest::{
        GemmDesc, Pins,
        fit::nests,
        places::{Completed, Place, Places},
    },
    schedule::ScheduleKind,
    shape::{Mnk, OperandKind},
    threadblock::{
        smem::Along,
        tma_ring::complete::{TILES, ctas, pinned_tiles, tiles_of, with_tiles},
    },
    warp::{
        WgmmaKnobs,
        wgmma::{MOST_COLUMNS, ROWS, STAGE_BYTES, columns_of},
    },
};

/// Consumers of a tile along M and N. Ping-pong has the first of `ALTERNATING`.
const SHARING: [(u32, u32); 5] = [(2, 1), (1, 2), (1, 1), (3, 1), (1, 3)];
const ALTERNATING: (u32, u32) = (1, 1);

/// Columns of the narrowest instruction.
const NARROWEST: u32 = 8;

impl WgmmaKnobs {
    /// Returns the candidates' places: threadblock tiles, schedules with their consumers, and
    /// widths of instructions.
    pub(crate) const fn places(pins: &Pins) -> Places {
        let free = pins.threadblock.is_none() && pins.warp.is_none();
        Places::new([
            if free { 2 * TILES.len() as u32 } else { 1 },
            1 + SHARING.len() as u32,
            if pins.instruction.is_some() { 1 } else { MOST_COLUMNS / NARROWEST },
            1,
        ])
    }

    /// Returns the knobs at a place, if tiles nest there.
    pub(crate) const fn completed(
        base: &GemmDesc,
        pins: &Pins,
        [tile, share, width, _]: Place,
    ) -> Completed {
        let Some((schedule, grid)) = consumers_at(base, pins, share as usize) else {
            return Err(1);
        };
        let (threadblock, warp) = match pinned_tiles((pins.threadblock, pins.warp), grid) {
            Some(tiles) => tiles,
            None => tiles_of(fraction(base, pins, tile), grid),
        };
        let instruction = match pins.instruction {
            Some(instruction) => instruction,
            None => Mnk { n: widest(base, warp.n, width), ..base.instruction() },
        };
        // The rules refuse pinned tiles that do not nest.
        if instruction.n == 0 || !nests(threadblock, warp) && pins.warp.is_none() {
            return Err(1);
        }
        Ok(with_tiles(base, (threadblock, warp, instruction), schedule))
    }
}

/// Returns the schedule and the consumers at a place: those of the row's schedule first.
const fn consumers_at(
    base: &GemmDesc,
    pins: &Pins,
    place: usize,
) -> Option<(ScheduleKind, (u32, u32))> {
    let found = match base.schedule() {
        ScheduleKind::Pingpong if place == 0 => (ScheduleKind::Pingpong, ALTERNATING),
        ScheduleKind::Pingpong => (ScheduleKind::Cooperative, SHARING[place - 1]),
        ScheduleKind::Cooperative if place < SHARING.len() => {
            (ScheduleKind::Cooperative, SHARING[place])
        }
        ScheduleKind::Cooperative => (ScheduleKind::Pingpong, ALTERNATING),
    };
    match (pins.schedule, found.0) {
        (None, _)
        | (Some(ScheduleKind::Pingpong), ScheduleKind::Pingpong)
        | (Some(ScheduleKind::Cooperative), ScheduleKind::Cooperative) => Some(found),
        _ => None,
    }
}

/// Returns a fraction of the row's tile that instructions divide and that the CTAs of a cluster can
/// share. Shares are multiples of swizzles or boxes.
const fn fraction(base: &GemmDesc, pins: &Pins, tile: u32) -> Mnk {
    let (m, n) = TILES[tile as usize / 2];
    let boxed = if tile.is_multiple_of(2) { NARROWEST } else { ROWS };
    let (ctas_m, ctas_n) = ctas(base);
    let mut columns = boxed * ctas_m;
    if let Some(Mnk { n: instruction @ 1..=MOST_COLUMNS, .. }) = pins.instruction {
        while !columns.is_multiple_of(instruction) {
            columns += boxed * ctas_m;
        }
    }
    let terms = base.multiplied();
    let box_rows = match WgmmaKnobs::along(&terms, OperandKind::A) {
        Along::Mn => terms.operands[0].stored.elements_in(STAGE_BYTES),
        Along::K => NARROWEST,
    };
    let mut rows = ROWS;
    while !rows.is_multiple_of(box_rows * ctas_n) {
        rows += ROWS;
    }
    let Mnk { m: whole_m, n: whole_n, k } = base.threadblock();
    Mnk { m: (whole_m / m).next_multiple_of(rows), n: (whole_n / n).next_multiple_of(columns), k }
}

/// Returns the columns of the widest instruction that divides a consumer's columns, after `skip`
/// wider ones. 0 if there is none.
const fn widest(base: &GemmDesc, columns: u32, mut skip: u32) -> u32 {
    let mut n = if columns < MOST_COLUMNS { columns } else { MOST_COLUMNS } / NARROWEST * NARROWEST;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{arch::ArchKind, nest::Request};

    fn resolved(knobs: &[(&str, &str)]) -> GemmDesc {
        let [a, b] = ["bf16:row", "bf16:col"].map(|text| text.parse().ok());
        let knobs = knobs.iter().map(|(name, words)| ((*name).to_owned(), (*words).to_owned()));
        let (op, knobs) = (None, knobs.collect());
        let request = Request { a, b, op, knobs, ..Request::default() };
        request.resolve(ArchKind::Sm90).expect("a kernel").desc
    }

    /// One consumer has no registers for 256 rows of 128 columns, so two share the tile.
    #[test]
    fn consumers_share_a_tile_of_256_rows() {
        let desc = resolved(&[("threadblock", "256x128x64")]);
        assert_eq!((desc.schedule(), desc.warp().m), (ScheduleKind::Cooperative, 128));
    }

    #[test]
    fn instruction_is_the_widest_that_divides_the_columns() {
        assert_eq!(resolved(&[("threadblock", "128x208x64")]).instruction().n, 208);
        assert_eq!(resolved(&[("threadblock", "64x320x64")]).instruction().n, 160);
    }

    /// Stages fill shared memory next to the staging buffers.
    #[test]
    fn stages_fit_shared_memory() {
        let desc = resolved(&[("threadblock", "256x192x64")]);
        let [own, more] = [0, 1].map(|more| desc.stages() + more);
        let pinned = |stages| Pins { stages: Some(stages), ..Pins::NONE };
        assert_eq!(desc.sufficing(&pinned(own)), Some(desc));
        assert_eq!(desc.pinned(pinned(more)).sufficing(&pinned(more)), None);
    }
}
