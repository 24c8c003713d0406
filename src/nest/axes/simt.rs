//! The axes that complete the pins of SIMT kernels: accesses, threadblock tiles, warp tiles, and
//! main loops.

use crate::{
    nest::{GemmDesc, Knobs, OperandDesc, Pins, axes::AXES},
    operand::{Axis, OperandKind},
    refusal::{Advice, Because, Field, Refusal, Rule},
    shape::Mnk,
    threadblock::{
        Mainloop, MainloopKind,
        smem::{Along, SmemLayout},
    },
    warp::UnrollKind,
};

/// Numbers of accesses, threadblock tiles, warp tiles, and main loops.
pub(crate) const VALUES: [u32; AXES] = [4, TILES.len() as u32, WARPS.len() as u32, 4];

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

/// Stages of the multistage main loop if the row has another main loop.
const STAGES: u32 = 4;

/// Returns the knobs at a place along the axes.
pub(crate) const fn along_axes(
    base: &GemmDesc,
    pins: &Pins,
    [access, tile, warp, mainloop]: [u32; AXES],
) -> Option<Knobs> {
    let Some((mainloop, stages)) = mainloop_and_stages(base, pins, mainloop) else { return None };
    let operands = [
        operand(base, OperandKind::A, mainloop, access),
        operand(base, OperandKind::B, mainloop, access),
    ];
    let warp = match (pins.warp, WARPS[warp as usize]) {
        (Some(pinned), (0, 0)) => pinned,
        (Some(_), _) => return None,
        (None, (0, 0)) => base.warp(),
        (None, (m, n)) => Mnk { m, n, ..base.warp() },
    };
    let threadblock = match pins.threadblock {
        Some(_) if tile > 0 => return None,
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
    let nest = threadblock.m.is_multiple_of(warp.m) && threadblock.n.is_multiple_of(warp.n);
    if !nest && pins.warp.is_none() {
        return None;
    }
    let [align_a, align_b] = [operands[0].dividing(threadblock), operands[1].dividing(threadblock)];
    let [smem_a, smem_b] = [operands[0].smem, operands[1].smem];
    let knobs = base.knobs();
    let unroll = knobs.mainloop.unroll();
    let derived = Knobs {
        mainloop: Mainloop::without_producer(mainloop, threadblock, stages, unroll),
        access: [align_a, align_b, knobs.access[2]],
        smem: [smem_a, smem_b],
        ..knobs
    };
    Some(derived.pinned(&Pins { warp: Some(warp), mainloop: None, ..*pins }))
}

/// Returns an access halved `halved` times. Narrower accesses need fewer registers.
const fn narrower(access: u32, halved: u32) -> u32 {
    if access >> halved > 0 { access >> halved } else { 1 }
}

/// Returns a fraction of the row's tile, or a multiple of the pinned warp tile.
const fn fraction(base: &GemmDesc, pins: &Pins, tile: u32) -> Mnk {
    let Mnk { m, n, k } = base.threadblock();
    match pins.warp {
        None => Mnk { m: m / TILES[tile as usize].0, n: n / TILES[tile as usize].1, k },
        Some(warp) => {
            let (warps_m, warps_n) = GRIDS[tile as usize];
            let k = if warp.k > k { warp.k } else { k };
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

/// Returns the requirements of an operand. In the multistage main loop, a K-major operand with
/// elements below 32 bits stays K-major in shared memory. Asynchronous copies are wider than such
/// elements.
const fn operand(
    base: &GemmDesc,
    operand: OperandKind,
    mainloop: MainloopKind,
    halved: u32,
) -> Rows {
    let OperandDesc { stored: element, access, smem, .. } = base.operand(operand);
    let align = narrower(access, halved);
    let contiguous = if base.k_contiguous(operand) { Axis::K } else { operand.axis() };
    let wide = base.k_contiguous(operand) && element.bits() < 32;
    let (smem, along) = match (smem, mainloop) {
        (SmemLayout::Auto, MainloopKind::Multistage) if wide => {
            (SmemLayout::Padded { along: Along::K, padding: element.elements_in(16) }, Axis::K)
        }
        _ if matches!(smem.along(), Along::K) => (smem, Axis::K),
        _ => (smem, operand.axis()),
    };
    let chunk = match smem {
        SmemLayout::Swizzled { bits: bits @ 0..=4, base: base @ 0..=4, .. } => 1 << (bits + base),
        _ => 1,
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
        match 1u32.checked_shl(extent(&mut tile, self.contiguous).trailing_zeros()) {
            Some(most) if most < self.align => most,
            _ => self.align,
        }
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

/// Returns the axis along which the next knobs may avoid the refusal.
pub(crate) const fn axis_against(pins: &Pins, refusal: &Refusal) -> usize {
    match (refusal.rule, refusal.field) {
        (_, Field::CopyElements(_)) if matches!(refusal.advice, Advice::Other(..)) => 0,
        (_, Field::RegistersPerThread)
            if matches!(refusal.because, Because::Block { blocks: 2.., .. }) =>
        {
            2
        }
        _ if pins.threadblock.is_some() => 3,
        (_, Field::SharedMemoryOfABlock | Field::SwizzleBlock(_))
        | (Rule::Within, Field::Threadblock(_) | Field::ThreadsOfAMultiprocessor) => 1,
        (Rule::Within, _) => 2,
        _ => 3,
    }
}

/// Returns a main loop and its stages: the row's own first, or the pinned one.
const fn mainloop_and_stages(
    base: &GemmDesc,
    pins: &Pins,
    place: u32,
) -> Option<(MainloopKind, u32)> {
    let mainloop = match place {
        0 => base.mainloop.kind(),
        _ if pins.mainloop.is_some() => return None,
        1 => MainloopKind::Pipelined,
        2 => MainloopKind::Multistage,
        _ => MainloopKind::SingleStage,
    };
    let unrolled = matches!(pins.unroll, Some(UnrollKind::By(_)));
    let stages = match (mainloop, pins.stages) {
        (MainloopKind::SingleStage, None) => 1,
        (MainloopKind::Pipelined, None) => 2,
        (_, None) if base.stages() > 2 => base.stages(),
        (_, None) => STAGES,
        (_, Some(stages)) => stages,
    };
    let fits = match mainloop {
        MainloopKind::SingleStage => stages == 1,
        MainloopKind::Pipelined => stages == 2 && !unrolled,
        _ => stages >= 2 && !unrolled,
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
