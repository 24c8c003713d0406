//! Completion of the pins of a SIMT kernel without a producer. The threadblock tile is the row's, a
//! fraction of it, or a multiple of the pinned warp tile. The warp tile is the one with the most
//! multiply-adds per read whose accumulators, fragments, and copies fit the registers. Accesses are
//! the widest that divide the tile. If no tile has the registers or the shared memory for them, the
//! completion selects layouts and accesses whose copies need the fewest registers.

use crate::{
    nest::{
        GemmDesc, Knobs, OperandDesc, Pins,
        fit::{nests, widest_dividing},
        places::{Completed, LAST, Place, Places},
    },
    shape::{Axis, Mnk, OperandKind},
    threadblock::{
        Mainloop, MainloopKind,
        smem::{Along, SmemLayout},
    },
    warp::{SimtKnobs, UnrollKind},
};

/// Divisors of the row's threadblock tile along M and N.
const TILES: [(u32, u32); 8] = [(1, 1), (1, 2), (2, 1), (2, 2), (4, 2), (2, 4), (4, 4), (8, 8)];

/// Warps of a threadblock tile along M and N, if the warp tile is pinned. Copies need fewer
/// registers per thread if more warps share them.
#[rustfmt::skip]
const GRIDS: [(u32, u32); 24] = [
    (4, 2), (2, 4), (2, 2), (4, 1), (1, 4), (2, 1), (1, 2), (1, 1), (8, 1), (1, 8), (3, 2), (2, 3),
    (4, 3), (3, 4), (6, 1), (1, 6), (3, 1), (1, 3), (4, 4), (8, 2), (2, 8), (16, 1), (1, 16), (3, 3),
];

/// Depths of warp tiles that share the depth of a pinned threadblock tile.
const DEPTHS: u32 = 4;

/// Warp tiles along M and N. (0, 0) is the row's own, and the others are sorted by multiply-adds
/// per read, the highest first.
#[rustfmt::skip]
const WARPS: [(u32, u32); 22] = [
    (0, 0), (64, 64), (32, 64), (64, 32), (32, 128), (128, 32), (32, 32), (16, 64), (64, 16), (16, 128), (128, 16), (16, 32),
    (32, 16), (16, 16), (8, 64), (64, 8), (8, 128), (128, 8), (8, 32), (32, 8), (8, 16), (16, 8),
];

/// Main loops after the row's own. The main loop with one stage comes last, because its copies and
/// multiplications do not overlap.
const MAINLOOPS: &[MainloopKind] = &[MainloopKind::Pipelined, MainloopKind::Multistage];

/// Axes along which A and B are contiguous in shared memory, if their copies shall need the fewest
/// registers. The axis of a pinned layout stands. Each comes with padding, and then without it.
const LEAN: [[Along; 2]; 4] =
    [[Along::Mn, Along::Mn], [Along::K, Along::Mn], [Along::Mn, Along::K], [Along::K, Along::K]];

/// Number of layouts with their accesses: those of the row first.
const LAYOUTS: u32 = 1 + 2 * LEAN.len() as u32;

/// Stages of a main loop with any number of stages, if the row has another main loop.
const STAGES: u32 = 4;

impl SimtKnobs {
    /// Returns the candidates' places: layouts with accesses, threadblock tiles or depths of warp
    /// tiles, warp tiles, and main loops. Layouts repeat with the main loop that has one stage.
    pub(crate) const fn places(pins: &Pins) -> Places {
        Places::new([
            2 * LAYOUTS,
            match (pins.threadblock, pins.warp) {
                (Some(_), Some(_)) => 1,
                (Some(_), None) => DEPTHS,
                (None, None) => TILES.len() as u32,
                (None, Some(_)) => 2 * GRIDS.len() as u32,
            },
            if pins.warp.is_some() { 1 } else { WARPS.len() as u32 },
            if pins.mainloop.is_some() { 1 } else { 1 + MAINLOOPS.len() as u32 },
        ])
    }

    /// Returns the knobs at a place, if tiles nest there and the main loop has the pinned stages.
    pub(crate) const fn completed(
        base: &GemmDesc,
        pins: &Pins,
        [layout, tile, warp, mainloop]: Place,
    ) -> Completed {
        let single = layout >= LAYOUTS;
        if single && pins.mainloop.is_some() || !single && needs_one_stage(base, pins) {
            return Err(0);
        }
        let Ok(lean) = lean(pins, layout % LAYOUTS) else { return Err(0) };
        let Some((mainloop, stages)) = mainloop_and_stages(base, pins, mainloop, single) else {
            return Err(if single { 2 } else { LAST });
        };
        let asynchronous = mainloop.copies_asynchronously();
        if asynchronous && pins.mainloop.is_none() && base.copies_narrowly(pins) {
            return Err(LAST);
        }
        let (Some(a), Some(b)) = (
            operand(base, pins, OperandKind::A, mainloop, lean),
            operand(base, pins, OperandKind::B, mainloop, lean),
        ) else {
            return Err(LAST);
        };
        let warp = match (pins.warp, WARPS[warp as usize]) {
            (Some(pinned), _) => pinned,
            (None, (0, 0)) => base.warp(),
            (None, (m, n)) => Mnk { m, n, ..base.warp() },
        };
        let threadblock = match pins.threadblock {
            Some(threadblock) => threadblock,
            None => {
                let depths = match pins.warp {
                    Some(warp) => warp.k,
                    None => 8,
                };
                b.whole(a.whole(fraction(base, pins, tile), depths), depths)
            }
        };
        let warp = match (pins.warp, pins.threadblock) {
            (Some(pinned), _) => pinned,
            (None, None) => Mnk { k: depth(threadblock.k, 0), ..warp },
            (None, Some(_)) => match depth(threadblock.k, tile) {
                0 => return Err(1),
                k => Mnk { k, ..warp },
            },
        };
        // The rules refuse pinned tiles that do not nest.
        if !nests(threadblock, warp) && pins.warp.is_none() {
            return Err(if pins.threadblock.is_some() { 2 } else { LAST });
        }
        let knobs = base.knobs();
        let derived = Knobs {
            mainloop: Mainloop::new(mainloop, threadblock, stages, knobs.mainloop.unroll()),
            access: [a.dividing(threadblock), b.dividing(threadblock), knobs.access[2]],
            smem: [a.smem, b.smem],
            ..knobs
        };
        let derived = derived.pinned(&Pins { warp: Some(warp), mainloop: None, ..*pins });
        Ok(if lean.is_some() { leanest(base, pins, derived) } else { derived })
    }
}

/// Returns the axes of lean layouts, and whether they have padding. `None` stands for the row's
/// layouts and accesses.
///
/// # Errors
/// If pinned layouts and accesses leave nothing to choose.
const fn lean(pins: &Pins, layout: u32) -> Result<Option<([Along; 2], bool)>, ()> {
    if layout == 0 {
        return Ok(None);
    }
    let (layout, bare) = ((layout as usize - 1) % LEAN.len(), layout as usize > LEAN.len());
    let [a, b] = LEAN[layout];
    let fixed = [pins.smem_a.is_some(), pins.smem_b.is_some()];
    if fixed[0] && a.is(Along::K)
        || fixed[1] && b.is(Along::K)
        || fixed[0] && fixed[1] && bare
        || layout == 0 && !bare && pins.align_a.is_some() && pins.align_b.is_some()
    {
        return Err(());
    }
    Ok(Some(([a, b], !bare)))
}

/// Returns the knobs with the accesses of A and B whose copies need the fewest registers. A
/// transposing asynchronous copy moves single elements, whatever the access.
const fn leanest(base: &GemmDesc, pins: &Pins, mut knobs: Knobs) -> Knobs {
    let operands = SimtKnobs::components(&base.with_kernel_knobs(&knobs)).operands;
    let cost = SimtKnobs::copy_cost(&knobs.mainloop);
    let (mut i, pinned) = (0, [pins.align_a.is_some(), pins.align_b.is_some()]);
    while i < 2 {
        let transposes = operands[i].transposes() && knobs.mainloop.copies_asynchronously();
        if !pinned[i] && !transposes {
            knobs.access[i] = operands[i].leanest_access(&knobs.mainloop, &cost);
        }
        i += 1;
    }
    knobs
}

/// Returns a fraction of the row's tile, or a multiple of the pinned warp tile. The second half of
/// the multiples have the depth of the warp tile.
const fn fraction(base: &GemmDesc, pins: &Pins, tile: u32) -> Mnk {
    let Mnk { m, n, k } = base.threadblock();
    match pins.warp {
        None => Mnk { m: m / TILES[tile as usize].0, n: n / TILES[tile as usize].1, k },
        Some(warp) => {
            let (warps_m, warps_n) = GRIDS[tile as usize % GRIDS.len()];
            let k = if tile as usize >= GRIDS.len() {
                warp.k
            } else if warp.k == 0 || k.is_multiple_of(warp.k) {
                k
            } else {
                warp.k.saturating_mul(k.div_ceil(warp.k))
            };
            Mnk { m: warp.m.saturating_mul(warps_m), n: warp.n.saturating_mul(warps_n), k }
        }
    }
}

/// The requirements of an operand on the threadblock tile.
struct Rows {
    /// Axis along which the operand is contiguous in global memory, and elements per access along
    /// it.
    contiguous: Axis,
    align: u32,
    /// Layout in shared memory, the axis along which it is contiguous, and the divisor of its rows.
    smem: SmemLayout,
    along: Axis,
    chunk: u32,
}

/// Returns the requirements of an operand. With asynchronous copies, a K-major operand with
/// elements below 32 bits stays K-major in shared memory, because the copies are wider than such
/// elements; `None` for another lean layout. There, an access has at most the elements that are
/// adjacent in shared memory.
const fn operand(
    base: &GemmDesc,
    pins: &Pins,
    operand: OperandKind,
    mainloop: MainloopKind,
    lean: Option<([Along; 2], bool)>,
) -> Option<Rows> {
    let OperandDesc { stored: element, access, smem, .. } = base.operand(operand);
    let (pinned, pinned_smem) = match operand {
        OperandKind::A => (pins.align_a, pins.smem_a),
        OperandKind::B => (pins.align_b, pins.smem_b),
    };
    let k_contiguous = base.k_contiguous(operand);
    let contiguous = if k_contiguous { Axis::K } else { operand.axis() };
    let asynchronous = mainloop.copies_asynchronously();
    let narrow = asynchronous && element.bits() < 32;
    let padding = element.elements_in(16);
    let smem = match (pinned_smem, lean) {
        (Some(pinned), _) => pinned,
        (None, None) if narrow && k_contiguous => SmemLayout::Padded { along: Along::K, padding },
        (None, None) => smem,
        (None, Some((along, padded))) => {
            let along = along[operand.index()];
            if narrow && along.is(Along::K) != k_contiguous {
                return None;
            }
            match (along, padded) {
                (Along::Mn, true) => SmemLayout::Auto,
                (_, padded) => {
                    SmemLayout::Padded { along, padding: if padded { padding } else { 0 } }
                }
            }
        }
    };
    let along = if matches!(smem.along(), Along::K) { Axis::K } else { operand.axis() };
    let chunk = match smem {
        SmemLayout::Swizzled { bits: bits @ 0..=4, base: base @ 0..=4, .. } => 1 << (bits + base),
        _ => 1,
    };
    let transposes = k_contiguous != matches!(along, Axis::K);
    let align = match smem {
        _ if pinned.is_some() || transposes || !asynchronous => access,
        SmemLayout::Padded { padding, .. } if padding > 0 => widest_dividing(padding, access),
        SmemLayout::Swizzled { base: base @ 0..=4, .. } if 1 << base < access => 1 << base,
        _ => access,
    };
    Some(Rows { contiguous, align, smem, along, chunk })
}

impl Rows {
    /// Returns the tile, enlarged so that its extents are multiples of accesses and chunks. K grows
    /// in steps of `depths`, and M or N in steps of 8.
    const fn whole(&self, tile: Mnk, depths: u32) -> Mnk {
        let tile = larger(
            tile,
            self.contiguous,
            self.align,
            if matches!(self.contiguous, Axis::K) { depths } else { 8 },
        );
        larger(tile, self.along, self.chunk, if matches!(self.along, Axis::K) { depths } else { 8 })
    }

    /// Returns the access, reduced to the widest that divides the tile.
    const fn dividing(&self, mut tile: Mnk) -> u32 {
        widest_dividing(*extent(&mut tile, self.contiguous), self.align)
    }
}

/// Returns an extent of a tile.
const fn extent(tile: &mut Mnk, axis: Axis) -> &mut u32 {
    match axis {
        Axis::M => &mut tile.m,
        Axis::N => &mut tile.n,
        Axis::K => &mut tile.k,
    }
}

/// Returns the tile with one extent increased in `steps` until it is a multiple of `of`, if such a
/// tile exists below the limit.
const fn larger(mut tile: Mnk, axis: Axis, of: u32, steps: u32) -> Mnk {
    let extent = extent(&mut tile, axis);
    while of.is_power_of_two()
        && !extent.is_multiple_of(of)
        && 0 < steps
        && steps <= 64
        && *extent < 512
    {
        *extent += steps;
    }
    tile
}

/// Returns whether only the main loop with one stage has the pinned stages and the pinned
/// unrolling.
const fn needs_one_stage(base: &GemmDesc, pins: &Pins) -> bool {
    let pinned = matches!(pins.stages, Some(1)) || matches!(pins.unroll, Some(UnrollKind::By(_)));
    let row = matches!(base.mainloop.kind().fixed_stages(), Some(1));
    pinned && pins.mainloop.is_none() && !row
}

/// Returns a main loop and its stages: the row's own first, or the pinned one.
const fn mainloop_and_stages(
    base: &GemmDesc,
    pins: &Pins,
    place: u32,
    single: bool,
) -> Option<(MainloopKind, u32)> {
    let mainloop = match (place, single, MainloopKind::with_stages(Some(1))) {
        (0, false, _) => base.mainloop.kind(),
        (0, true, Some(mainloop)) if pins.mainloop.is_none() => mainloop,
        (_, true, _) => return None,
        (_, false, _) => MAINLOOPS[place as usize - 1],
    };
    let unrolled = matches!(pins.unroll, Some(UnrollKind::By(_)));
    let stages = match (mainloop.fixed_stages(), pins.stages) {
        (_, Some(stages)) => stages,
        (Some(fixed), None) => fixed,
        (None, None) if base.stages() > 2 => base.stages(),
        (None, None) => STAGES,
    };
    let fits = match mainloop.fixed_stages() {
        Some(1) => stages == 1,
        Some(fixed) => stages == fixed && !unrolled,
        None => stages >= 2 && !unrolled,
    };
    if fits || pins.mainloop.is_some() { Some((mainloop, stages)) } else { None }
}

/// Returns the depth of warp tiles for a threadblock tile of depth `k`, after `skip` greater ones:
/// `k` itself, or an even divisor from 8 to 64. 0 if there is none.
const fn depth(k: u32, skip: u32) -> u32 {
    let greatest = if k < 64 { k } else { 64 };
    let (mut depth, mut left) = (greatest, skip);
    while depth >= 8 {
        if k.is_multiple_of(depth) && depth.is_multiple_of(2) {
            if left == 0 {
                return depth;
            }
            left -= 1;
        }
        depth -= 1;
    }
    if skip == 0 { greatest - greatest.saturating_sub(8) } else { 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        arch::{ArchKind, OpKind},
        nest::Request,
    };

    fn resolved(operands: [&str; 2], knobs: &[(&str, &str)]) -> GemmDesc {
        let [a, b] = operands.map(|text| text.parse().ok());
        let knobs = knobs.iter().map(|(name, words)| ((*name).to_owned(), (*words).to_owned()));
        let (op, knobs) = (Some(OpKind::Simt), knobs.collect());
        let request = Request { a, b, op, knobs, ..Request::default() };
        request.resolve(ArchKind::Sm80).expect("a kernel").desc
    }

    /// No 64x64 warp tile divides the pinned tile, so a warp has the largest one that does.
    #[test]
    fn warp_tile_divides_a_pinned_tile() {
        let desc = resolved(["f32:row", "f32:row"], &[("threadblock", "96x64x8")]);
        assert_eq!(desc.warp(), Mnk::new(32, 64, 8));
    }

    #[test]
    fn access_divides_a_pinned_depth() {
        let desc = resolved(["f32:row", "f32:col"], &[("threadblock", "128x128x10")]);
        assert_eq!(desc.alignments()[..2], [2, 2]);
    }

    mod multistage {
        use super::*;

        /// An asynchronous copy moves at least two elements of f16, which must be adjacent.
        #[test]
        fn k_major_halves_stay_k_major() {
            let desc = resolved(["f16:row", "f16:row"], &[("mainloop", "multistage")]);
            assert!(matches!(desc.operands[0].smem, SmemLayout::Padded { along: Along::K, .. }));
            assert_eq!(desc.operands[1].smem, SmemLayout::Auto);
        }
    }
}
