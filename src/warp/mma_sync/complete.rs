//! Completion of the pins of an `mma.sync` kernel without a producer. The instruction is the row's,
//! or another one of the architecture that divides the pinned depths. The threadblock tile is the
//! row's, a fraction of it, or a multiple of the pinned warp tile. Accesses are the widest that
//! divide the tile.

use crate::{
    nest::{
        GemmDesc, Knobs, Pins,
        fit::{nests, widest_dividing},
        or,
        places::{Completed, LAST, Place, Places},
    },
    shape::{Frame, Mnk, OperandKind},
    threadblock::{Mainloop, MainloopKind},
    warp::{
        MmaSyncKnobs, UnrollKind,
        mma_sync::{MathOperator, WarpInstruction},
    },
};

/// Rows and depths of instructions after the row's own.
const INSTRUCTIONS: [(u32, u32); 5] = [(16, 8), (16, 4), (16, 16), (8, 4), (8, 16)];

/// Threadblock tiles: divisors of the row's tile, or multiples of the pinned warp tile.
#[rustfmt::skip]
const TILES: [(u32, u32); 13] = [
    (1, 1), (2, 2), (1, 2), (2, 1), (4, 2), (2, 4), (4, 4), (4, 1), (8, 4), (8, 8), (1, 4), (8, 1), (1, 8),
];

/// Divisors of the depth of the row's tile, if no tile is pinned. MN-major bytes need registers for
/// each k-block.
const DEPTHS: [u32; 3] = [1, 2, 4];

/// Divisors of accesses of A and B that are not pinned. Narrower accesses can need fewer registers,
/// if rows are shorter than the threads of a CTA.
const NARROWER: [[u32; 2]; 6] = [[1, 1], [2, 2], [4, 4], [8, 8], [2, 1], [1, 2]];

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
    /// Returns the candidates' places: instructions for each access and main loop, threadblock
    /// tiles with their depths, and warp tiles, by a pair or by M and N. Instructions come twice:
    /// first those that divide a warp tile at least twice, and then those that divide it once.
    pub(crate) const fn places(pins: &Pins) -> Places {
        Places::new([
            loops(pins) * accesses(pins) * instructions(pins),
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
        let (divisors, mainloop) =
            (NARROWER[(first % accesses(pins)) as usize], first / accesses(pins));
        let Some((mainloop, stages)) = mainloop_and_stages(base, pins, mainloop > 0) else {
            return Err(0);
        };
        // Asynchronous copies do not pass through registers.
        let asynchronous = mainloop.copies_asynchronously();
        if asynchronous
            && (divisors[0] * divisors[1] > 1
                || pins.mainloop.is_none() && base.copies_narrowly(pins))
        {
            return Err(0);
        }
        let once = pins.instruction.is_some() || 2 * place >= instructions(pins);
        let Some(instruction) = instruction_at(base, pins, place % (1 + INSTRUCTIONS.len() as u32))
        else {
            return Err(0);
        };
        let (tile, depth) = (tile % tiles(pins), tile / tiles(pins));
        // The depth of warp tiles that are not pinned.
        let (least, twice) = (instruction.k, instruction.k.saturating_mul(2));
        let wanted = match (pins.threadblock, depth) {
            (Some(_), 1) => MOST_DEPTH,
            (Some(_), 2) => least,
            _ if base.warp().k < twice => twice,
            _ => base.warp().k,
        };
        let Some(warp) = warp_at(base, pins, (warp_m, warp_n), wanted) else { return Err(2) };
        let threadblock = match pins.threadblock {
            Some(threadblock) => threadblock,
            None => tile_at(base, pins, (tile, depth), warp, twice),
        };
        if pins.warp.is_none() && !threadblock.m.is_multiple_of(warp.m) {
            return Err(2);
        }
        let warp = match pins.warp {
            Some(pinned) => pinned,
            None => Mnk { k: widest_dividing(threadblock.k, warp.k), ..warp },
        };
        let deep = if once { least } else { twice };
        if pins.warp.is_none()
            && (warp.k < deep
                || !nests(threadblock, warp)
                || warp.m * warp.n < LEAST_AREA
                || !is_legal(warp.m, instruction.m, base.k_contiguous(OperandKind::A))
                || !is_legal(warp.n, instruction.n, base.k_contiguous(OperandKind::B)))
        {
            return Err(LAST);
        }
        if pins.instruction.is_none()
            && (warp.m < instruction.m || !warp.k.is_multiple_of(instruction.k))
        {
            return Err(LAST);
        }
        let [align_a, align_b] = [
            access(base, OperandKind::A, pins.align_a, threadblock, divisors[0]),
            access(base, OperandKind::B, pins.align_b, threadblock, divisors[1]),
        ];
        let knobs = base.knobs();
        let derived = Knobs {
            mainloop: Mainloop::new(mainloop, threadblock, stages, UnrollKind::Full),
            access: [align_a, align_b, knobs.access[2]],
            ..knobs
        };
        let (warp, instruction) = (Some(warp), Some(instruction));
        Ok(derived.pinned(&Pins { warp, instruction, mainloop: None, ..*pins }))
    }
}

/// Returns the number of main loops.
const fn loops(pins: &Pins) -> u32 {
    if pins.mainloop.is_some() { 1 } else { 2 }
}

/// Returns the number of divisors of accesses.
const fn accesses(pins: &Pins) -> u32 {
    if pins.align_a.is_some() && pins.align_b.is_some() { 1 } else { NARROWER.len() as u32 }
}

/// Returns the number of instructions, each of which comes twice.
const fn instructions(pins: &Pins) -> u32 {
    if pins.instruction.is_some() { 1 } else { 2 * (1 + INSTRUCTIONS.len() as u32) }
}

/// Returns the number of threadblock tiles of one depth.
const fn tiles(pins: &Pins) -> u32 {
    if pins.threadblock.is_some() { 1 } else { TILES.len() as u32 }
}

/// Returns the number of depths: of tiles that are not pinned, or of the warp tiles of a pinned
/// tile.
const fn depths(pins: &Pins) -> u32 {
    match (pins.threadblock, pins.warp) {
        (None, None) => DEPTHS.len() as u32,
        (Some(_), Some(_)) => 1,
        (Some(_), None) => 3,
        (None, Some(_)) => 2,
    }
}

/// Returns a fraction of the row's tile, or a multiple of the pinned warp tile. The second depth of
/// a multiple is the depth of the warp tile.
const fn tile_at(
    base: &GemmDesc,
    pins: &Pins,
    (tile, depth): (u32, u32),
    warp: Mnk,
    twice: u32,
) -> Mnk {
    let (m, n) = TILES[tile as usize];
    let Mnk { m: down, n: across, k } = base.threadblock();
    match pins.warp {
        Some(_) => {
            let whole = depth == 0 && warp.k > 0 && k.is_multiple_of(warp.k);
            let k = if whole { k } else { warp.k };
            Mnk { m: warp.m.saturating_mul(m), n: warp.n.saturating_mul(n), k }
        }
        None => {
            let k = k / DEPTHS[depth as usize];
            let k = if twice > 0 && k.is_multiple_of(twice) { k } else { warp.k };
            Mnk { m: down / m, n: across / n, k }
        }
    }
}

/// Returns the pinned access of an operand, or the widest that divides the tile, up to the row's
/// divided by `divisor`.
const fn access(
    base: &GemmDesc,
    operand: OperandKind,
    pinned: Option<u32>,
    tile: Mnk,
    divisor: u32,
) -> u32 {
    if let Some(pinned) = pinned {
        return pinned;
    }
    let extent = match operand {
        _ if base.k_contiguous(operand) => tile.k,
        OperandKind::A => tile.m,
        OperandKind::B => tile.n,
    };
    let own = base.operand(operand).access;
    widest_dividing(extent, if own < divisor { own } else { own / divisor })
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
            (None | Some(2), Some(double)) => Some((double, 2)),
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
    if n > 0 && m < preferred {
        return None;
    }
    let (m, n) = match pins.warp {
        Some(pinned) => return Some(pinned),
        None if m == 0 => (base.warp().m, base.warp().n),
        None if m < preferred => WARPS[m - 1],
        None => (EXTENTS[m - preferred], EXTENTS[n]),
    };
    Some(Mnk { m, n, k })
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
