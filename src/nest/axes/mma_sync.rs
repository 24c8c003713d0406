//! The axes that complete the pins of `mma.sync` kernels: main loops, instructions, threadblock
//! tiles, and warp tiles.

use crate::{
    nest::{GemmDesc, Knobs, Pins, axes::AXES},
    operand::{Frame, OperandKind},
    refusal::{Field, Refusal, Rule, Value},
    shape::Mnk,
    threadblock::{Mainloop, MainloopKind},
    warp::{
        UnrollKind,
        mma_sync::{MathOperator, WarpInstruction},
    },
};

/// Numbers of main loops with their accesses, instructions, threadblock tiles, and warp tiles.
pub(crate) const VALUES: [u32; AXES] =
    [2, DEPTHS.len() as u32 + 1, TILES.len() as u32, WARPS.len() as u32 + 1];

/// Rows and depths of instructions, tried if the architecture lacks the row's instruction, or if
/// that is too deep for the pins.
const DEPTHS: [(u32, u32); 5] = [(16, 8), (16, 4), (16, 16), (8, 4), (8, 16)];

/// Threadblock tiles: divisors of the row's tile, or multiples of the pinned warp tile.
const TILES: [(u32, u32); 8] = [(1, 1), (2, 2), (1, 2), (2, 1), (4, 2), (2, 4), (4, 4), (4, 1)];

/// Warp tiles after the row's own.
const WARPS: [(u32, u32); 9] =
    [(64, 64), (32, 64), (64, 32), (32, 32), (16, 64), (64, 16), (16, 32), (32, 16), (16, 16)];

/// Returns the knobs at a place along the axes.
pub(crate) const fn along_axes(
    base: &GemmDesc,
    pins: &Pins,
    [mainloop, instruction, tile, warp]: [u32; AXES],
) -> Option<Knobs> {
    let deepest = if base.stages() > 2 { base.stages() } else { 3 };
    let (mainloop, stages) = match (mainloop, pins.mainloop) {
        (0, None) => (base.mainloop.kind(), base.stages()),
        (0, Some(MainloopKind::Pipelined)) => (MainloopKind::Pipelined, 2),
        (0, Some(mainloop)) => (mainloop, deepest),
        // Asynchronous copies do not support narrow accesses.
        (_, None) => (MainloopKind::Pipelined, 2),
        (_, Some(_)) => return None,
    };
    let instruction = match (instruction, pins.instruction) {
        (0, Some(pinned)) => pinned,
        (0, None) => base.instruction(),
        (_, Some(_)) => return None,
        (i, None) => {
            let (m, k) = DEPTHS[i as usize - 1];
            let shape = Mnk::new(m, 8, k);
            let types = base.types();
            let [a, b] = base.operands;
            let math = MathOperator::for_operands([a.multiplied, b.multiplied], Frame::USER);
            match WarpInstruction::new(math, [types.a, types.b], types.accumulator, shape) {
                Some(one) if one.sm() <= base.arch.sm() => shape,
                _ => return None,
            }
        }
    };
    let Some(warp) = warp_tile(base, pins, warp, instruction) else { return None };
    let threadblock = match pins.threadblock {
        Some(_) if tile > 0 => return None,
        Some(threadblock) => threadblock,
        None => {
            let (m, n) = TILES[tile as usize];
            let Mnk { m: down, n: across, k } = base.threadblock();
            let k = if warp.k > 0 && k.is_multiple_of(warp.k) { k } else { warp.k };
            match pins.warp {
                Some(_) => Mnk { m: warp.m.saturating_mul(m), n: warp.n.saturating_mul(n), k },
                None => Mnk { m: down / m, n: across / n, k },
            }
        }
    };
    // A warp tile is at least two instructions deep, or one if the instruction is pinned.
    let least =
        if pins.instruction.is_some() { instruction.k } else { instruction.k.saturating_mul(2) };
    let warp = if pins.warp.is_none() {
        Mnk { k: share(threadblock.k, warp.k, least), ..warp }
    } else {
        warp
    };
    let nest = warp.m <= threadblock.m && warp.n <= threadblock.n;
    if !nest && pins.warp.is_none() {
        return None;
    }
    let [align_a, align_b] = [
        dividing(
            if base.k_contiguous(OperandKind::A) { threadblock.k } else { threadblock.m },
            base.operands[0].access,
        ),
        dividing(
            if base.k_contiguous(OperandKind::B) { threadblock.k } else { threadblock.n },
            base.operands[1].access,
        ),
    ];
    let knobs = base.knobs();
    let derived = Knobs {
        mainloop: Mainloop::without_producer(mainloop, threadblock, stages, UnrollKind::Full),
        access: [align_a, align_b, knobs.access[2]],
        ..knobs
    };
    let (warp, instruction) = (Some(warp), Some(instruction));
    Some(derived.pinned(&Pins { warp, instruction, mainloop: None, ..*pins }))
}

/// Returns a warp tile: the pinned one, the row's, or one of `WARPS`.
const fn warp_tile(base: &GemmDesc, pins: &Pins, place: u32, instruction: Mnk) -> Option<Mnk> {
    let depth = if base.warp().k < instruction.k.saturating_mul(2) {
        instruction.k.saturating_mul(2)
    } else {
        base.warp().k
    };
    match (place, pins.warp) {
        (0, Some(pinned)) => Some(pinned),
        (_, Some(_)) => None,
        (0, None) => Some(Mnk { k: depth, ..base.warp() }),
        (i, None) => {
            let (m, n) = WARPS[i as usize - 1];
            Some(Mnk { m, n, k: depth })
        }
    }
}

/// Returns the depth of a warp tile in a threadblock tile of depth `k`: the largest power of two up
/// to `wanted` that divides `k`, and at least `least`.
const fn share(k: u32, wanted: u32, least: u32) -> u32 {
    let whole = match 1u32.checked_shl(k.trailing_zeros()) {
        Some(whole) if whole < wanted => whole,
        _ => wanted,
    };
    if whole < least { least } else { whole }
}

/// Returns the access, reduced to the widest that divides a row.
const fn dividing(row: u32, access: u32) -> u32 {
    match 1u32.checked_shl(row.trailing_zeros()) {
        Some(most) if most < access => most,
        _ => access,
    }
}

/// Returns the axis along which the next knobs may avoid the refusal.
pub(crate) const fn axis_against(pins: &Pins, refusal: &Refusal) -> usize {
    match (refusal.rule, refusal.field) {
        (_, Field::CopyBytes(_) | Field::Mainloop) | (Rule::Equal, Field::Stages) => 0,
        (Rule::OneOf, Field::Instruction(_)) => 1,
        (Rule::Multiple, _) if !matches!(refusal.limit, Value::Part(..)) => 1,
        (_, Field::SharedMemoryOfABlock) | (Rule::Within, _) if pins.threadblock.is_none() => 2,
        _ => 3,
    }
}
