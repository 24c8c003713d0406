//! Completion of the pins of a SIMT kernel without a producer. The threadblock tile is the row's, a
//! fraction of it, or a multiple of the pinned warp tile. The warp tile is the one with the most
//! multiply-adds per read whose accumulators, fragments, and copies fit the registers. Accesses are
//! the widest that divide the tile.

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

/// Warps of a threadblock tile along M and N, if the warp tile is pinned.
const GRIDS: [(u32, u32); 8] = [(4, 2), (2, 4), (2, 2), (4, 1), (1, 4), (2, 1), (1, 2), (1, 1)];

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

/// Factors and divisors of accesses of A and B that are not pinned. Other accesses can need fewer
/// registers: narrower ones if rows are shorter than the threads of a CTA, and wider ones if they
/// are longer.
#[rustfmt::skip]
const ACCESSES: [[(u32, u32); 2]; 10] = [
    [(1, 1); 2], [(1, 2); 2], [(1, 4); 2], [(1, 8); 2], [(2, 1); 2], [(4, 1); 2], [(8, 1); 2], [(16, 1); 2],
    [(1, 2), (1, 1)], [(1, 1), (1, 2)],
];

/// Stages of a main loop with any number of stages, if the row has another main loop.
const STAGES: u32 = 4;

impl SimtKnobs {
    /// Returns the candidates' places: accesses, threadblock tiles, warp tiles, and main loops.
    /// Accesses repeat with the main loop that has one stage.
    pub(crate) const fn places(pins: &Pins) -> Places {
        Places::new([
            2 * ACCESSES.len() as u32,
            match (pins.threadblock, pins.warp) {
                (Some(_), _) => 1,
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
        [access, tile, warp, mainloop]: Place,
    ) -> Completed {
        let access = access as usize;
        let single = access >= ACCESSES.len();
        let pinned = pins.align_a.is_some() && pins.align_b.is_some();
        if single && pins.mainloop.is_some() || !access.is_multiple_of(ACCESSES.len()) && pinned {
            return Err(0);
        }
        if !single && needs_one_stage(base, pins) {
            return Err(0);
        }
        let Some((mainloop, stages)) = mainloop_and_stages(base, pins, mainloop, single) else {
            return Err(if single { 2 } else { LAST });
        };
        let asynchronous = mainloop.copies_asynchronously();
        if asynchronous && pins.mainloop.is_none() && base.copies_narrowly(pins) {
            return Err(LAST);
        }
        let accesses = ACCESSES[access % ACCESSES.len()];
        let operands = [
            operand(base, pins, OperandKind::A, mainloop, accesses[0]),
            operand(base, pins, OperandKind::B, mainloop, accesses[1]),
        ];
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
                operands[1].whole(operands[0].whole(fraction(base, pins, tile), depths), depths)
            }
        };
        let warp = if pins.warp.is_none() { Mnk { k: depth(threadblock.k), ..warp } } else { warp };
        // The rules refuse pinned tiles that do not nest.
        if !nests(threadblock, warp) && pins.warp.is_none() {
            return Err(if pins.threadblock.is_some() { 2 } else { LAST });
        }
        let [align_a, align_b] =
            [operands[0].dividing(threadblock), operands[1].dividing(threadblock)];
        let knobs = base.knobs();
        let derived = Knobs {
            mainloop: Mainloop::new(mainloop, threadblock, stages, knobs.mainloop.unroll()),
            access: [align_a, align_b, knobs.access[2]],
            smem: [operands[0].smem, operands[1].smem],
            ..knobs
        };
        Ok(derived.pinned(&Pins { warp: Some(warp), mainloop: None, ..*pins }))
    }
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
/// elements. There, an access has at most the elements that are adjacent in shared
/// memory.
const fn operand(
    base: &GemmDesc,
    pins: &Pins,
    operand: OperandKind,
    mainloop: MainloopKind,
    (factor, divisor): (u32, u32),
) -> Rows {
    let OperandDesc { stored: element, access, smem, .. } = base.operand(operand);
    let pinned = match operand {
        OperandKind::A => pins.align_a,
        OperandKind::B => pins.align_b,
    };
    let access = match pinned {
        None if access >= divisor && access * factor <= element.elements_in(16) => {
            access / divisor * factor
        }
        _ => access,
    };
    let k_contiguous = base.k_contiguous(operand);
    let contiguous = if k_contiguous { Axis::K } else { operand.axis() };
    let wide = k_contiguous && element.bits() < 32;
    let asynchronous = mainloop.copies_asynchronously();
    let (smem, along) = match smem {
        SmemLayout::Auto if wide && asynchronous => {
            (SmemLayout::Padded { along: Along::K, padding: element.elements_in(16) }, Axis::K)
        }
        _ if matches!(smem.along(), Along::K) => (smem, Axis::K),
        _ => (smem, operand.axis()),
    };
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
    Rows { contiguous, align, smem, along, chunk }
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

/// Returns the depth of warp tiles for a threadblock tile of depth `k`: `k` itself, or its largest
/// even divisor up to 64.
const fn depth(k: u32) -> u32 {
    let mut depth = if k < 64 { k } else { 64 };
    while depth > 8 && !(k.is_multiple_of(depth) && depth.is_multiple_of(2)) {
        depth -= 1;
    }
    depth
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

    /// An asynchronous copy moves at least two elements of f16, which must be adjacent.
    #[test]
    fn k_major_halves_stay_k_major_in_a_multistage_kernel() {
        let desc = resolved(["f16:row", "f16:row"], &[("mainloop", "multistage")]);
        assert!(matches!(desc.operands[0].smem, SmemLayout::Padded { along: Along::K, .. }));
        assert_eq!(desc.operands[1].smem, SmemLayout::Auto);
    }
}
