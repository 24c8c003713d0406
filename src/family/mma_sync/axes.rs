//! What completes pins of this family: main loops, instructions, threadblock tiles, warp tiles.

use crate::{
    desc::{Class, MmaSyncKnobs, Pins},
    family::resolve::AXES,
    operand::{Frame, OperandKind},
    refusal::{Field, Refusal},
    shape::Mnk,
    threadblock::MainloopKind,
    warp::mma_tensor_op::{MathOperator, WarpInstruction},
};

/// Main loops and accesses, instructions, threadblock tiles, warp tiles.
pub(in crate::family) const VALUES: [u32; AXES] =
    [2, DEPTHS.len() as u32 + 1, TILES.len() as u32, WARPS.len() as u32 + 1];

/// Depths of instructions, tried where the row's is none of the architecture's, or too deep for
/// what is pinned.
const DEPTHS: [(u32, u32); 5] = [(16, 8), (16, 4), (16, 16), (8, 4), (8, 16)];

/// Threadblock tiles: shares of the row's, or warps of the tile that is pinned.
const TILES: [(u32, u32); 8] = [(1, 1), (2, 2), (1, 2), (2, 1), (4, 2), (2, 4), (4, 4), (4, 1)];

/// Warp tiles: the row's first, then those.
const WARPS: [(u32, u32); 9] =
    [(64, 64), (32, 64), (64, 32), (32, 32), (16, 64), (64, 16), (16, 32), (32, 16), (16, 16)];

/// The knobs at a place along the axes.
pub(in crate::family) const fn along_axes(
    class: &Class,
    base: MmaSyncKnobs,
    pins: &Pins,
    [mainloop, instruction, tile, warp]: [u32; AXES],
) -> Option<MmaSyncKnobs> {
    let knobs = match (mainloop, pins.mainloop) {
        (0, None) => base,
        (0, Some(MainloopKind::Pipelined)) => {
            MmaSyncKnobs { mainloop: MainloopKind::Pipelined, stages: 2, ..base }
        }
        (0, Some(mainloop)) => {
            MmaSyncKnobs { mainloop, stages: if base.stages > 2 { base.stages } else { 3 }, ..base }
        }
        // Narrow accesses do not go by asynchronous copies.
        (_, None) => MmaSyncKnobs { mainloop: MainloopKind::Pipelined, stages: 2, ..base },
        (_, Some(_)) => return None,
    };
    let instruction = match (instruction, pins.instruction) {
        (0, Some(pinned)) => pinned,
        (0, None) => base.instruction,
        (_, Some(_)) => return None,
        (i, None) => {
            let (m, k) = DEPTHS[i as usize - 1];
            let shape = Mnk::new(m, 8, k);
            let inputs = [class.a.element, class.b.element];
            let math = MathOperator::of(base.emulation, Frame::USER);
            match WarpInstruction::of(math, inputs, class.accumulator, shape) {
                Some(one) if one.sm() <= class.arch.sm() => shape,
                _ => return None,
            }
        }
    };
    let Some(warp) = warp_tile(&base, pins, warp, instruction) else { return None };
    let threadblock = match pins.threadblock {
        Some(_) if tile > 0 => return None,
        Some(threadblock) => threadblock,
        None => {
            let (m, n) = TILES[tile as usize];
            let Mnk { m: down, n: across, k } = base.threadblock;
            let k = if warp.k > 0 && k.is_multiple_of(warp.k) { k } else { warp.k };
            match pins.warp {
                Some(_) => Mnk { m: warp.m.saturating_mul(m), n: warp.n.saturating_mul(n), k },
                None => Mnk { m: down / m, n: across / n, k },
            }
        }
    };
    // Two instructions deep, unless what is pinned leaves one.
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
            if class.k_contiguous(OperandKind::A) { threadblock.k } else { threadblock.m },
            knobs.align_a,
        ),
        dividing(
            if class.k_contiguous(OperandKind::B) { threadblock.k } else { threadblock.n },
            knobs.align_b,
        ),
    ];
    let derived = MmaSyncKnobs { threadblock, warp, instruction, align_a, align_b, ..knobs };
    Some(derived.pinned(Pins { mainloop: None, ..*pins }))
}

/// A warp tile: what is pinned, the row's, or one of those.
const fn warp_tile(base: &MmaSyncKnobs, pins: &Pins, place: u32, instruction: Mnk) -> Option<Mnk> {
    let depth = if base.warp.k < instruction.k.saturating_mul(2) {
        instruction.k.saturating_mul(2)
    } else {
        base.warp.k
    };
    match (place, pins.warp) {
        (0, Some(pinned)) => Some(pinned),
        (_, Some(_)) => None,
        (0, None) => Some(Mnk { k: depth, ..base.warp }),
        (i, None) => {
            let (m, n) = WARPS[i as usize - 1];
            Some(Mnk { m, n, k: depth })
        }
    }
}

/// The depth of a warp's tile within a block's of `k`: the largest power of two, up to what is
/// wanted, of which that is a whole number; no less than `least`.
const fn share(k: u32, wanted: u32, least: u32) -> u32 {
    let whole = match 1u32.checked_shl(k.trailing_zeros()) {
        Some(whole) if whole < wanted => whole,
        _ => wanted,
    };
    if whole < least { least } else { whole }
}

/// The access, or the widest that divides a row.
const fn dividing(row: u32, access: u32) -> u32 {
    match 1u32.checked_shl(row.trailing_zeros()) {
        Some(most) if most < access => most,
        _ => access,
    }
}

/// The axis along which the next knobs may not be refused so.
pub(in crate::family) const fn axis_against(_: &Class, pins: &Pins, refusal: &Refusal) -> usize {
    match refusal {
        Refusal::CopyWidth { .. }
        | Refusal::NoAsynchronousCopy { .. }
        | Refusal::PipelinedStages { .. } => 0,
        Refusal::NotOneOf { field: Field::Instruction(_), .. } | Refusal::NotMultiple { .. } => 1,
        Refusal::SharedMemory { .. } | Refusal::OutOfRange { .. } if pins.threadblock.is_none() => {
            2
        }
        _ => 3,
    }
}
