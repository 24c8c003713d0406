//! Completion of the pins of an `mma.sync` kernel without a producer. The instruction is the row's,
//! or another one of the architecture that divides the pinned depths. The threadblock tile is the
//! row's, a fraction of it, or a multiple of the pinned warp tile. Accesses are the widest that
//! divide the tile.

use crate::{
    nest::{
        GemmDesc, Knobs, Pins, SpillKind,
        fit::{nests, widest_dividing},
        or,
        places::{Completed, LAST, Place, Places},
    },
    shape::{Frame, Mnk, OperandKind, at_least_one},
    threadblock::{Mainloop, MainloopKind, mma::check::MOST_WARPS},
    warp::{
        MmaSyncKnobs, UnrollKind,
        mma_sync::{MathOperator, WarpInstruction, check::WARP_DEPTHS},
    },
};

/// Rows and depths of instructions after the row's own.
const INSTRUCTIONS: [(u32, u32); 5] = [(16, 8), (16, 4), (16, 16), (8, 4), (8, 16)];

/// Divisors of the row's threadblock tile along M and N.
#[rustfmt::skip]
const TILES: [(u32, u32); 13] = [
    (1, 1), (2, 2), (1, 2), (2, 1), (4, 2), (2, 4), (4, 4), (4, 1), (8, 4), (8, 8), (1, 4), (8, 1), (1, 8),
];

/// Warps of a threadblock tile along M and N, if the warp tile is pinned. The grids of the
/// row's tile come first.
#[rustfmt::skip]
const GRIDS: [(u32, u32); 24] = [
    (2, 2), (1, 2), (2, 1), (1, 1), (4, 2), (2, 4), (4, 1), (1, 4), (4, 4), (8, 1), (1, 8), (8, 2),
    (2, 8), (3, 2), (2, 3), (4, 3), (3, 4), (6, 1), (1, 6), (3, 1), (1, 3), (16, 1), (1, 16), (3, 3),
];

/// Depths of a tile that is not pinned, or of the warp tiles of a pinned tile: each has half the
/// depth of the one before. MN-major bytes need registers for each k-block.
const DEPTHS: u32 = 5;

/// Preferred warp tiles after the row's own.
const WARPS: [(u32, u32); 9] =
    [(64, 64), (32, 64), (64, 32), (32, 32), (16, 64), (64, 16), (16, 32), (32, 16), (16, 16)];

/// Minimum number of sums of a warp tile.
const LEAST_AREA: u32 = 128;

/// Maximum depth of a warp tile.
const MOST_DEPTH: u32 = 256;

/// Extents of the other warp tiles. An extent that is no power of two needs a K-major operand.
const EXTENTS: [u32; 9] = [64, 32, 48, 96, 128, 16, 80, 112, 8];

impl MmaSyncKnobs {
    /// Returns the candidates' places: instructions for each main loop, with the widest accesses
    /// and with those whose copies need the fewest registers; threadblock tiles and depths; and
    /// warp tiles, by a pair or by M and N. Instructions come twice: first those that divide a warp
    /// tile at least twice, and then those that divide it once.
    pub(crate) const fn places(pins: &Pins) -> Places {
        Places::new([
            2 * loops(pins) * instructions(pins),
            depths(pins) * tiles(pins),
            match (pins.threadblock, pins.warp) {
                (_, Some(_)) => 1,
                (None, None) => 1 + WARPS.len() as u32,
                (Some(_), None) => (1 + WARPS.len() + EXTENTS.len()) as u32,
            },
            EXTENTS.len() as u32,
        ])
    }

    /// Returns the knobs at a place, if the architecture has the instruction, and if tiles nest.
    pub(crate) const fn completed(
        base: &GemmDesc,
        pins: &Pins,
        [first, tile, warp_m, warp_n]: Place,
    ) -> Completed {
        let (place, first) = (first % instructions(pins), first / instructions(pins));
        let lean = first % 2 > 0;
        let Some((mainloop, stages)) = mainloop_and_stages(base, pins, first / 2 > 0) else {
            return Err(0);
        };
        let asynchronous = mainloop.copies_asynchronously();
        if lean && !has_lean_accesses(base, pins, asynchronous)
            || asynchronous && pins.mainloop.is_none() && base.copies_narrowly(pins)
        {
            return Err(0);
        }
        let Some(instruction) = instruction_at(base, pins, place % (1 + INSTRUCTIONS.len() as u32))
        else {
            return Err(0);
        };
        // The depths of warp tiles that are not pinned. `deep` is the least of them.
        let (least, twice) = (instruction.k, instruction.k.saturating_mul(2));
        let once = 2 * place >= instructions(pins);
        let deep = if once || pins.instruction.is_some() { least } else { twice };
        // The depths of a fraction come before the next fraction.
        let (tile, depth) = match (pins.threadblock, pins.warp) {
            (None, None) => (tile / depths(pins), tile % depths(pins)),
            _ => (tile % tiles(pins), tile / tiles(pins)),
        };
        let Some(wanted) = depth_at(base, pins, depth, [deep, twice]) else { return Err(1) };
        let Some(warp) = warp_at(base, pins, (warp_m, warp_n), wanted) else { return Err(2) };
        let threadblock = match pins.threadblock {
            Some(threadblock) => threadblock,
            None => match tile_at(base, pins, (tile, depth), warp, deep) {
                Some(threadblock) => threadblock,
                None => return Err(1),
            },
        };
        if pins.warp.is_none()
            && (!threadblock.m.is_multiple_of(warp.m)
                || !is_legal(warp.m, instruction.m, base.k_contiguous(OperandKind::A)))
        {
            return Err(2);
        }
        let warp = match pins.warp {
            Some(pinned) => pinned,
            None => Mnk { k: widest_dividing(threadblock.k, warp.k), ..warp },
        };
        if pins.warp.is_none()
            && (warp.k < deep
                || !nests(threadblock, warp)
                || warp.m * warp.n < LEAST_AREA
                || warp_m as usize > WARPS.len() && is_preferred(warp)
                || !is_legal(warp.n, instruction.n, base.k_contiguous(OperandKind::B)))
        {
            return Err(LAST);
        }
        if pins.instruction.is_none()
            && (warp.m < instruction.m
                || !warp.k.is_multiple_of(instruction.k)
                || once && (pins.warp.is_some() || warp.k >= twice))
        {
            return Err(if pins.warp.is_some() { 0 } else { LAST });
        }
        let [align_a, align_b] = [
            access(base, OperandKind::A, pins.align_a, threadblock),
            access(base, OperandKind::B, pins.align_b, threadblock),
        ];
        let knobs = base.knobs();
        let derived = Knobs {
            mainloop: Mainloop::new(mainloop, threadblock, stages, UnrollKind::Full),
            access: [align_a, align_b, knobs.access[2]],
            ..knobs
        };
        let (warp, instruction) = (Some(warp), Some(instruction));
        let derived = derived.pinned(&Pins { warp, instruction, mainloop: None, ..*pins });
        // The registers beside those of copies do not depend on the threadblock tile.
        if pins.warp.is_some() && tile == 0 && depth == 0 && !base.warp_has_registers(&derived) {
            return Err(0);
        }
        Ok(if lean { leanest(base, pins, derived) } else { derived })
    }
}

impl GemmDesc {
    /// Returns whether a thread has the registers for the warp tile of knobs, beside those of
    /// copies.
    const fn warp_has_registers(&self, knobs: &Knobs) -> bool {
        let needed = MmaSyncKnobs::registers_beside_copies(&self.with_kernel_knobs(knobs).base());
        matches!(self.limits.spills, SpillKind::Allowed) || needed <= self.most_registers(1)
    }
}

/// Returns whether other accesses than the widest can need fewer registers: copies pass through
/// registers, or the last copy of f64 is idle for some threads.
const fn has_lean_accesses(base: &GemmDesc, pins: &Pins, asynchronous: bool) -> bool {
    let pinned = pins.align_a.is_some() && pins.align_b.is_some();
    !pinned && (!asynchronous || base.operands[0].stored.bits() == 64)
}

/// Returns the knobs with the accesses of A and B whose copies need the fewest registers.
const fn leanest(base: &GemmDesc, pins: &Pins, mut knobs: Knobs) -> Knobs {
    let cta = base.with_kernel_knobs(&knobs).base();
    if pins.align_a.is_none() {
        knobs.access[0] = MmaSyncKnobs::leanest_access(&cta, OperandKind::A);
    }
    if pins.align_b.is_none() {
        knobs.access[1] = MmaSyncKnobs::leanest_access(&cta, OperandKind::B);
    }
    knobs
}

/// Returns the number of main loops.
const fn loops(pins: &Pins) -> u32 {
    if pins.mainloop.is_some() { 1 } else { 2 }
}

/// Returns the number of instructions, each of which comes twice.
const fn instructions(pins: &Pins) -> u32 {
    if pins.instruction.is_some() { 1 } else { 2 * (1 + INSTRUCTIONS.len() as u32) }
}

/// Returns the number of threadblock tiles of one depth.
const fn tiles(pins: &Pins) -> u32 {
    match (pins.threadblock, pins.warp) {
        (Some(_), _) => 1,
        (None, Some(_)) => 1 + GRIDS.len() as u32,
        (None, None) => TILES.len() as u32,
    }
}

/// Returns the number of depths: of tiles that are not pinned, or of the warp tiles of a pinned
/// tile.
const fn depths(pins: &Pins) -> u32 {
    match (pins.threadblock, pins.warp) {
        (None, None) => DEPTHS,
        (Some(_), Some(_)) => 1,
        (Some(_), None) => 2 + DEPTHS,
        (None, Some(_)) => 2,
    }
}

/// Returns the greatest depth of a warp tile that is not pinned. For a pinned threadblock tile, the
/// row's own comes first, and then the powers of two that divide the tile, the greatest first.
const fn depth_at(
    base: &GemmDesc,
    pins: &Pins,
    depth: u32,
    [deep, twice]: [u32; 2],
) -> Option<u32> {
    let own = if base.warp().k < twice { twice } else { base.warp().k };
    match (pins.threadblock, pins.warp) {
        (Some(tile), None) if depth > 0 => {
            let wanted = widest_dividing(tile.k, MOST_DEPTH) >> (depth - 1);
            let repeats = wanted == widest_dividing(tile.k, own);
            if repeats || wanted < deep || wanted < WARP_DEPTHS[0] { None } else { Some(wanted) }
        }
        _ => Some(own),
    }
}

/// Returns a fraction of the row's tile, or a multiple of the pinned warp tile. A multiple has the
/// depth of the warp tile, and then the row's depth.
const fn tile_at(
    base: &GemmDesc,
    pins: &Pins,
    (tile, depth): (u32, u32),
    warp: Mnk,
    deep: u32,
) -> Option<Mnk> {
    let Mnk { m: down, n: across, k } = base.threadblock();
    if pins.warp.is_some() {
        let (m, n) = match tile {
            0 => grid_of(base.threadblock(), warp),
            _ => GRIDS[tile as usize - 1],
        };
        let k = match depth {
            0 => warp.k,
            _ if warp.k > 0 && k > warp.k && k.is_multiple_of(warp.k) => k,
            _ => return None,
        };
        return Some(Mnk { m: warp.m.saturating_mul(m), n: warp.n.saturating_mul(n), k });
    }
    let (m, n) = TILES[tile as usize];
    let k = match k >> depth {
        k if deep > 0 && k >= deep && k.is_multiple_of(deep) => k,
        _ if depth == 0 => warp.k,
        _ => return None,
    };
    Some(Mnk { m: down / m, n: across / n, k })
}

/// Returns the warps that fill a tile, halved along the longer axis until a CTA holds them.
const fn grid_of(tile: Mnk, warp: Mnk) -> (u32, u32) {
    let (mut m, mut n) =
        (at_least_one(tile.m / at_least_one(warp.m)), at_least_one(tile.n / at_least_one(warp.n)));
    while m * n > MOST_WARPS {
        if m > n {
            m /= 2;
        } else {
            n /= 2;
        }
    }
    (m, n)
}

/// Returns the pinned access of an operand, or the widest that divides the tile, up to the row's.
const fn access(base: &GemmDesc, operand: OperandKind, pinned: Option<u32>, tile: Mnk) -> u32 {
    if let Some(pinned) = pinned {
        return pinned;
    }
    let extent = match operand {
        _ if base.k_contiguous(operand) => tile.k,
        OperandKind::A => tile.m,
        OperandKind::B => tile.n,
    };
    widest_dividing(extent, base.operand(operand).access)
}

/// Returns the pinned main loop, the row's own, or the main loop with two stages, which supports
/// narrow accesses.
const fn mainloop_and_stages(
    base: &GemmDesc,
    pins: &Pins,
    through_registers: bool,
) -> Option<(MainloopKind, u32)> {
    let deepest = if base.stages() > 2 { base.stages() } else { 3 };
    let asynchronous = base.arch.copies_asynchronously();
    match (pins.mainloop, through_registers) {
        (Some(mainloop), _) => Some((mainloop, or!(mainloop.fixed_stages(), deepest))),
        (None, false) => match (pins.stages, MainloopKind::with_stages(None)) {
            (Some(3..), Some(ring)) if asynchronous => Some((ring, deepest)),
            _ => Some((base.mainloop.kind(), base.stages())),
        },
        (None, true) => match (pins.stages, MainloopKind::with_stages(Some(2))) {
            (None | Some(2), Some(double)) if base.mainloop.kind() as u8 != double as u8 => {
                Some((double, 2))
            }
            _ => None,
        },
    }
}

/// Returns the pinned instruction, the row's own, or another one of the architecture.
const fn instruction_at(base: &GemmDesc, pins: &Pins, place: u32) -> Option<Mnk> {
    if let Some(pinned) = pins.instruction {
        return Some(pinned);
    }
    if place == 0 {
        return Some(base.instruction());
    }
    let (m, k) = INSTRUCTIONS[place as usize - 1];
    let (shape, types) = (Mnk::new(m, 8, k), base.types());
    let [a, b] = base.operands;
    let math = MathOperator::for_operands([a.multiplied, b.multiplied], Frame::USER);
    match WarpInstruction::new(math, [types.a, types.b], types.accumulator, shape) {
        Some(one) if one.sm() <= base.arch.sm() => Some(shape),
        _ => None,
    }
}

/// Returns the pinned warp tile, or one of depth `k`: the row's, a preferred one, or another one. A
/// pair has no value along N, and neither has a pinned tile.
const fn warp_at(base: &GemmDesc, pins: &Pins, (m, n): (u32, u32), k: u32) -> Option<Mnk> {
    let (m, n, preferred) = (m as usize, n as usize, 1 + WARPS.len());
    let (m, n) = match pins.warp {
        Some(pinned) => return Some(pinned),
        None if m < preferred && n > 0 => return None,
        None if m == 0 => (base.warp().m, base.warp().n),
        None if m < preferred => WARPS[m - 1],
        None => (EXTENTS[m - preferred], EXTENTS[n]),
    };
    Some(Mnk { m, n, k })
}

/// Returns whether [`WARPS`] has a warp tile's extents.
const fn is_preferred(Mnk { m, n, .. }: Mnk) -> bool {
    matches!((m, n), (16 | 32 | 64, 16 | 32 | 64))
}

/// Returns whether an extent of a warp tile is valid for an instruction with this extent.
const fn is_legal(extent: u32, instruction: u32, k_contiguous: bool) -> bool {
    extent >= instruction && (k_contiguous || extent.is_power_of_two())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{arch::ArchKind, nest::Request};

    fn resolved(knobs: &[(&str, &str)]) -> GemmDesc {
        let [a, b] = ["f16:row", "f16:col"].map(|text| text.parse().ok());
        let knobs = knobs.iter().map(|(name, words)| ((*name).to_owned(), (*words).to_owned()));
        let (op, knobs) = (None, knobs.collect());
        let request = Request { a, b, op, knobs, ..Request::default() };
        request.resolve(ArchKind::Sm80).expect("a kernel").desc
    }

    #[test]
    fn instruction_divides_a_pinned_depth() {
        assert_eq!(resolved(&[]).instruction().k, 16);
        let desc = resolved(&[("threadblock", "64x64x24")]);
        assert_eq!((desc.instruction().k, desc.warp().k), (8, 8));
    }

    /// A warp tile of a K-major operand may have 80 rows. No power of two but 16 divides 80, and
    /// tiles of 16 rows are more than 16 warps.
    #[test]
    fn warp_tile_of_80_rows_divides_a_tile_of_80_rows() {
        let desc = resolved(&[("threadblock", "80x112x32")]);
        assert_eq!(desc.threadblock(), Mnk::new(80, 112, 32));
        assert!(desc.warp().m == 80 || desc.warp().n == 112, "{}", desc.warp());
    }
}
