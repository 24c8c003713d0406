//! Requests that the tests of the resolver enumerate, and random kernels.

use crate::{
    arch::{
        ArchKind::{self, *},
        OpKind::{self, *},
    },
    layout::Order::{self, *},
    nest::{Class, DecompositionKind, Frame, GemmDesc, Knobs, Limits, Pins, SpillKind, WorkDesc},
    numeric::{
        Combined,
        ElementKind::{self, *},
        EmulationKind,
    },
    schedule::ScheduleKind,
    shape::{Mn, Mnk},
    threadblock::{
        Mainloop, MainloopKind, SwizzleKind, TmaRingKnobs,
        smem::{Along, SmemLayout},
    },
    warp::{
        AOperandKind, InterleaveKind, MmaSyncKnobs, PromotionKind, SaturateKind, SimtKnobs,
        UnrollKind, WarpMma, WgmmaKnobs, mma_sync::WarpInstruction,
    },
};

/// A class in the user's frame, the frame of its kernels, and pins.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub user: Class,
    pub frame: Frame,
    pub pins: Pins,
}

/// Random numbers. The same seed always gives the same numbers.
pub(super) struct Draw(u64);

impl Draw {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % n
    }

    fn once_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }

    fn maybe<T: Copy>(&mut self, n: u64, all: &[T]) -> Option<T> {
        self.once_in(n).then(|| self.of(all))
    }
}

const fn types(a: ElementKind, accumulator: ElementKind, c: ElementKind) -> Combined {
    Combined { a, b: a, accumulator, c }
}

/// Units, architectures, and types of the enumerated requests.
const TYPES: [(OpKind, ArchKind, Combined); 25] = [
    (Simt, Sm80, types(F32, F32, F32)),
    (Simt, Sm90, types(F32, F32, F32)),
    (Simt, Sm70, types(F32, F32, F32)),
    (Simt, Sm80, types(F64, F64, F64)),
    (Simt, Sm86, types(F16, F16, F16)),
    (Simt, Sm75, types(F16, F16, F16)),
    (Simt, Sm89, types(Bf16, F32, Bf16)),
    (Simt, Sm90, types(F16, F32, F32)),
    (Simt, Sm80, types(I8, I32, I32)),
    (Simt, Sm75, types(U8, I32, U8)),
    (TensorOp, Sm90, types(Bf16, F32, Bf16)),
    (TensorOp, Sm90, types(F16, F32, F32)),
    (TensorOp, Sm90, types(E4m3, F32, Bf16)),
    (TensorOp, Sm90, types(Tf32, F32, F32)),
    (TensorOp, Sm90, types(I8, I32, I32)),
    (TensorOp, Sm90, types(I8, I32, I8)),
    (TensorOp, Sm90, types(F32, F32, F32)),
    (TensorOp, Sm90, types(F64, F64, F64)),
    (TensorOp, Sm80, types(F16, F32, F16)),
    (TensorOp, Sm80, types(F64, F64, F64)),
    (TensorOp, Sm80, types(F32, F32, F32)),
    (TensorOp, Sm86, types(Tf32, F32, F32)),
    (TensorOp, Sm80, types(U8, I32, I32)),
    (TensorOp, Sm75, types(F16, F32, F16)),
    (TensorOp, Sm75, types(I8, I32, I32)),
];

/// Layouts of the enumerated requests.
const ORDERS: [[Order; 3]; 4] =
    [[Row, Col, Row], [Col, Row, Col], [Row, Row, Row], [Col, Row, Row]];

/// Returns the classes of the enumerated requests.
pub(super) fn classes() -> impl Iterator<Item = (Class, Frame)> {
    TYPES.into_iter().flat_map(|(op, arch, types)| {
        ORDERS.map(|[a, b, c]| (Class::new(op, arch, types, [a, b]), Frame::for_output(c)))
    })
}

/// Returns random kernels of a class.
pub(super) fn kernels(seed: u64, (user, frame): (Class, Frame)) -> Vec<GemmDesc> {
    let mut draw = Draw::new(seed + 1_000);
    (0..40_000).filter_map(|_| kernel(&mut draw, &user, frame)).take(150).collect()
}

/// Returns the requests of a class: each combination of tiles, warp tiles, and main loops with
/// their stages; random pins; and some of the knobs of kernels.
pub(super) fn requests(
    seed: u64,
    (user, frame): (Class, Frame),
    kernels: &[GemmDesc],
) -> Vec<Asked> {
    let mut draw = Draw::new(seed + 1);
    let mut all = combined(&user);
    all.extend((0..150).map(|_| drawn(&mut draw, &user)));
    all.extend(kernels.iter().map(|desc| some_of(&mut draw, desc.user_pins())));
    all.into_iter().map(|pins| Asked { user, frame, pins }).collect()
}

fn depth(user: &Class) -> u32 {
    match user.op {
        OpKind::TensorOp if user.a.element.bits() < 64 => user.a.element.elements_in(128),
        _ => 16,
    }
}

/// Returns combinations of threadblock tiles, warp tiles, main loops, and stages.
fn combined(user: &Class) -> Vec<Pins> {
    let k = depth(user);
    let tile = |&(m, n, k): &(u32, u32, u32)| Some(Mnk::new(m, n, k));
    let tiles: Vec<_> = [
        (128, 128, k),
        (96, 64, k),
        (256, 256, k),
        (64, 32, 32),
        (192, 136, k),
        (64, 256, 8),
        (100, 128, k),
        (256, 64, 24),
    ]
    .iter()
    .map(tile)
    .chain([None])
    .collect();
    let warps: Vec<_> = [(64, 64, k), (32, 64, 8), (64, 192, k), (16, 16, 32), (48, 40, k)]
        .iter()
        .map(tile)
        .chain([None])
        .collect();
    let loops = [
        (None, None),
        (None, Some(3)),
        (None, Some(17)),
        (Some(MainloopKind::SingleStage), None),
        (Some(MainloopKind::Pipelined), None),
        (Some(MainloopKind::Multistage), Some(9)),
        (Some(MainloopKind::TmaRing), None),
    ];
    let mut all = Vec::new();
    for &threadblock in &tiles {
        for &warp in &warps {
            all.extend(loops.map(|(mainloop, stages)| Pins {
                threadblock,
                warp,
                mainloop,
                stages,
                ..Pins::NONE
            }));
        }
    }
    all
}

/// Returns random pins, valid or not.
fn drawn(draw: &mut Draw, user: &Class) -> Pins {
    let k = depth(user);
    let extents = [8, 16, 24, 32, 48, 64, 96, 128, 160, 176, 192, 256, 512, 100];
    let shape = |draw: &mut Draw| {
        Mnk::new(draw.of(&extents), draw.of(&extents), draw.of(&[k, k, 8, 16, 32, 64, 128, 24]))
    };
    let often = draw.of(&[3, 6, 12]);
    Pins {
        threadblock: draw.once_in(often).then(|| shape(draw)),
        warp: draw.once_in(often).then(|| shape(draw)),
        instruction: draw.once_in(often).then(|| match draw.below(4) {
            0 => Mnk::new(
                64,
                draw.of(&[8, 64, 128, 192, 256, 96, 40]),
                user.a.element.elements_in(32),
            ),
            1 => Mnk::new(draw.of(&[8, 16]), 8, draw.of(&[4, 8, 16, 32])),
            2 => Mnk::new(draw.of(&[4, 8, 12, 16]), draw.of(&[4, 8, 12, 16]), 1),
            _ => Mnk::new(1, 1, 1),
        }),
        mainloop: draw.maybe(
            often,
            &[
                MainloopKind::SingleStage,
                MainloopKind::Pipelined,
                MainloopKind::Multistage,
                MainloopKind::TmaRing,
            ],
        ),
        stages: draw.maybe(often, &[1, 2, 3, 4, 5, 7, 11, 16, 17]),
        swizzle: draw.maybe(
            2 * often,
            &[
                SwizzleKind::Identity(4),
                SwizzleKind::Grouped(8),
                SwizzleKind::Hilbert,
                SwizzleKind::Grouped(65),
            ],
        ),
        split_k: draw.maybe(2 * often, &[1, 2, 8, 9, 2000]),
        decomposition: draw.maybe(
            2 * often,
            &[
                DecompositionKind::DataParallel,
                DecompositionKind::SplitK,
                DecompositionKind::SplitKParallel,
                DecompositionKind::SplitKCluster,
                DecompositionKind::StreamK,
            ],
        ),
        align_a: draw.maybe(often, &[1, 2, 4, 8, 16, 3]),
        align_b: draw.maybe(often, &[1, 2, 4, 8, 16]),
        align_c: draw.maybe(often, &[1, 2, 4, 8]),
        smem_a: draw.maybe(3 * often, &SMEM),
        smem_b: draw.maybe(3 * often, &SMEM),
        blocks_per_sm: draw.maybe(2 * often, &[1, 2, 3, 4, 8, 17]),
        cluster: draw.maybe(
            2 * often,
            &[
                Mn { m: 1, n: 1 },
                Mn { m: 2, n: 1 },
                Mn { m: 1, n: 2 },
                Mn { m: 3, n: 1 },
                Mn { m: 1, n: 5 },
                Mn { m: 1, n: 8 },
                Mn { m: 2, n: 2 },
            ],
        ),
        schedule: draw.maybe(2 * often, &ScheduleKind::ALL),
        pending: draw.maybe(3 * often, &[0, 1, 2, 3]),
        promotion: draw.maybe(3 * often, &PromotionKind::ALL),
        emulation: draw.maybe(3 * often, &EmulationKind::ALL),
        a_operand: draw.maybe(3 * often, &AOperandKind::ALL),
        saturate: draw.maybe(3 * often, &SaturateKind::ALL),
        interleave: draw.maybe(
            3 * often,
            &[InterleaveKind::Vector, InterleaveKind::Elements(2), InterleaveKind::Elements(16)],
        ),
        unroll: draw.maybe(
            3 * often,
            &[UnrollKind::Full, UnrollKind::By(1), UnrollKind::By(4), UnrollKind::By(100)],
        ),
        spills: draw.maybe(3 * often, &SpillKind::ALL),
        epilogue: None,
    }
}

const SMEM: [SmemLayout; 6] = [
    SmemLayout::Auto,
    SmemLayout::Padded { along: Along::Mn, padding: 4 },
    SmemLayout::Padded { along: Along::K, padding: 8 },
    SmemLayout::Padded { along: Along::Mn, padding: 3 },
    SmemLayout::Swizzled { along: Along::Mn, bits: 3, base: 2, shift: 1 },
    SmemLayout::Swizzled { along: Along::K, bits: 2, base: 2, shift: 0 },
];

/// Returns some of the pins.
fn some_of(draw: &mut Draw, mut pins: Pins) -> Pins {
    let (of, mut kept) = (draw.of(&[2, 2, 3, 5, 8]), Pins::NONE);
    let most = draw.once_in(8);
    while let Some((one, others)) = pins.split_first() {
        if draw.once_in(of) != most {
            kept = one.over(kept);
        }
        pins = others;
    }
    kept
}

/// Returns a random kernel of a class, or `None` if the draw is invalid.
pub(super) fn kernel(draw: &mut Draw, user: &Class, frame: Frame) -> Option<GemmDesc> {
    let desc = GemmDesc::new(user, &knobs(draw, user)).enter(frame).settled();
    let desc = if draw.once_in(4) { desc.with_rows_as_columns() } else { desc };
    desc.check().is_ok().then_some(desc)
}

/// Returns a random kernel of a class with pins, or `None` if the draw is invalid.
pub(super) fn kernel_with(draw: &mut Draw, asked: &Asked) -> Option<GemmDesc> {
    let knobs = knobs(draw, &asked.user);
    let desc = GemmDesc::new(&asked.user, &knobs).pinned(asked.pins).enter(asked.frame).settled();
    let desc = if draw.once_in(4) { desc.with_rows_as_columns() } else { desc };
    desc.check().is_ok().then_some(desc)
}

fn knobs(draw: &mut Draw, user: &Class) -> Knobs {
    let on_hopper = matches!(user.arch, Sm90);
    let is_f32 = user.a.element.is(F32);
    match user.op {
        Simt if on_hopper && is_f32 && draw.once_in(2) => threads(draw),
        Simt => simt(draw, user),
        TensorOp if on_hopper && !user.a.element.is(F64) && !draw.once_in(3) => wgmma(draw, user),
        TensorOp => mma_sync(draw, user),
    }
}

fn limits(draw: &mut Draw, knobs: Knobs) -> Knobs {
    let (decomposition, split_k) = match draw.below(8) {
        0 => (DecompositionKind::StreamK, 1),
        1 => (DecompositionKind::DataParallel, 1),
        2 => (DecompositionKind::SplitKParallel, draw.of(&[1, 2, 11])),
        3 => (DecompositionKind::SplitKCluster, draw.of(&[2, 4, 8])),
        _ => (DecompositionKind::SplitK, draw.of(&[1, 1, 1, 2, 8])),
    };
    let swizzle = draw.of(&[knobs.work.swizzle, SwizzleKind::Hilbert, SwizzleKind::Grouped(4)]);
    let blocks_per_sm = if knobs.has_producer() { 1 } else { draw.of(&[1, 1, 1, 1, 2, 3, 4]) };
    let spills =
        draw.of(&[SpillKind::Refused, SpillKind::Refused, SpillKind::Refused, SpillKind::Allowed]);
    Knobs {
        work: WorkDesc { decomposition, split_k, swizzle, ..knobs.work },
        limits: Limits { blocks_per_sm, spills },
        ..knobs
    }
}

/// Returns a random main loop without a producer.
fn mainloop(draw: &mut Draw, threadblock: Mnk, single: bool) -> Mainloop {
    match draw.below(6) {
        0 if single => {
            let unroll = draw.of(&[UnrollKind::Full, UnrollKind::By(1), UnrollKind::By(4)]);
            Mainloop::without_producer(MainloopKind::SingleStage, threadblock, 1, unroll)
        }
        0..=2 => {
            Mainloop::without_producer(MainloopKind::Pipelined, threadblock, 2, UnrollKind::Full)
        }
        _ => {
            let stages = draw.of(&[2, 3, 3, 4, 4, 5, 6, 8, 12]);
            Mainloop::without_producer(
                MainloopKind::Multistage,
                threadblock,
                stages,
                UnrollKind::Full,
            )
        }
    }
}

fn simt(draw: &mut Draw, user: &Class) -> Knobs {
    let (sides, k) =
        ([8, 16, 16, 32, 32, 64, 64, 128], draw.of(&[8, 8, 8, 16, 16, 32, 12, 64, 10]));
    let warp = Mnk::new(draw.of(&sides), draw.of(&sides), k);
    let warps = [1, 1, 2, 2, 3, 4, 8];
    let tile =
        Mnk::new(warp.m * draw.of(&warps), warp.n * draw.of(&warps), k * draw.of(&[1, 1, 1, 2, 4]));
    let most = user.a.element.elements_in(16);
    let accesses = [1, 2, 4, 8, 16].map(|access: u32| access.min(most));
    let access = [draw.of(&accesses), draw.of(&accesses), draw.of(&[1, 2, 4])];
    let interleave = draw.of(&[
        InterleaveKind::Vector,
        InterleaveKind::Vector,
        InterleaveKind::Elements(1),
        InterleaveKind::Elements(8),
    ]);
    let mma = WarpMma::Simt(SimtKnobs { warp, thread: None, interleave });
    let knobs = Knobs::new(mainloop(draw, tile, true), mma, access);
    let smem = [(); 2].map(|()| if draw.once_in(4) { draw.of(&SMEM) } else { SmemLayout::Auto });
    limits(draw, Knobs { smem, ..knobs })
}

fn mma_sync(draw: &mut Draw, user: &Class) -> Knobs {
    let emulation = match user.a.element {
        F32 => draw.of(&[EmulationKind::Tf32x3, EmulationKind::Tf32x3, EmulationKind::Bf16x1]),
        _ => EmulationKind::None,
    };
    let fits = |one: &WarpInstruction| {
        one.sm() <= user.arch.sm()
            && one.math().emulation() == emulation
            && one.accumulator() == user.accumulator
            && one.input(crate::operand::OperandKind::A) == user.a.element
            && one.input(crate::operand::OperandKind::B) == user.b.element
    };
    let instructions: Vec<_> = WarpInstruction::all().filter(fits).map(|one| one.shape()).collect();
    let instruction =
        if instructions.is_empty() { Mnk::new(16, 8, 8) } else { draw.of(&instructions) };
    let sides = [16, 32, 32, 48, 64, 64, 96, 128];
    let k = instruction.k * draw.of(&[1, 2, 2, 4, 8]);
    let warp = Mnk::new(draw.of(&sides), draw.of(&sides), k);
    let warps = [1, 1, 2, 2, 3, 4];
    let tile =
        Mnk::new(warp.m * draw.of(&warps), warp.n * draw.of(&warps), k * draw.of(&[1, 1, 1, 2]));
    let most = user.a.element.elements_in(16);
    let accesses = [most, most, most / 2, 4.min(most), 2.min(most), 1].map(|access| access.max(1));
    let access = [draw.of(&accesses), draw.of(&accesses), draw.of(&[1, 2, 2])];
    let saturate = if draw.once_in(8) { SaturateKind::On } else { SaturateKind::Off };
    let mma = WarpMma::MmaSync(MmaSyncKnobs { warp, instruction, saturate });
    let knobs = Knobs { emulation, ..Knobs::new(mainloop(draw, tile, false), mma, access) };
    limits(draw, knobs)
}

/// Returns a random ring.
fn ring(draw: &mut Draw, threadblock: Mnk, schedule: ScheduleKind) -> Mainloop {
    let cluster = draw.of(&[
        Mn::ONE,
        Mn::ONE,
        Mn::ONE,
        Mn { m: 2, n: 1 },
        Mn { m: 1, n: 2 },
        Mn { m: 1, n: 4 },
        Mn { m: 3, n: 1 },
    ]);
    let stages = draw.of(&[2, 2, 3, 4, 5, 6, 8, 12, 16]);
    Mainloop::TmaRing(TmaRingKnobs { threadblock, stages, cluster, schedule })
}

/// Returns the knobs of a random kernel with a ring and `wgmma`.
fn wgmma(draw: &mut Draw, user: &Class) -> Knobs {
    let emulation = match user.a.element {
        F32 => draw.of(&[EmulationKind::Bf16x6, EmulationKind::Bf16x3, EmulationKind::F16x3]),
        _ => EmulationKind::None,
    };
    let math = emulation.term_type().unwrap_or(user.a.element);
    let (k, step) = (math.elements_in(128), math.elements_in(32));
    let columns = draw.of(&[8, 16, 32, 64, 64, 96, 128, 128, 160, 176, 192, 256]);
    let warp = Mnk::new(64 * draw.of(&[1, 1, 2, 3]), columns * draw.of(&[1, 1, 1, 2]), k);
    let grid = draw.of(&[(1, 1), (1, 1), (2, 1), (1, 2), (3, 1), (1, 3)]);
    let schedule = if grid == (1, 1) && !draw.once_in(3) {
        ScheduleKind::Pingpong
    } else {
        ScheduleKind::Cooperative
    };
    let tile = Mnk::new(warp.m * grid.0, warp.n * grid.1, k);
    let promotion = draw.of(&[PromotionKind::Never, PromotionKind::Never, PromotionKind::Stage]);
    let a_operand = draw.of(&[AOperandKind::Shared, AOperandKind::Shared, AOperandKind::Registers]);
    let mma = WarpMma::Wgmma(WgmmaKnobs {
        warp,
        instruction: Mnk::new(64, columns, step),
        a_operand,
        pending: draw.of(&[0, 1, 1, 2]),
        promotion,
    });
    let [a, c] = [user.a.element, user.output.element].map(|kind| kind.elements_in(16));
    let access = [a, a, draw.of(&[c, c, c, 1, 2])];
    let ring = ring(draw, tile, schedule);
    limits(draw, Knobs { emulation, ..Knobs::new(ring, mma, access) })
}

/// Returns the knobs of a random TMA-fed SIMT kernel.
fn threads(draw: &mut Draw) -> Knobs {
    let sides = [4, 8, 8, 12, 16];
    let (thread, lanes) =
        (Mnk::new(draw.of(&sides), draw.of(&sides), 1), draw.of(&[4, 4, 8, 2, 16]));
    let k = draw.of(&[8, 16, 16, 32, 64, 24]);
    let warp = Mnk::new(lanes * thread.m, 32 / lanes * thread.n, k);
    let grid = draw.of(&[(4, 2), (2, 4), (2, 2), (4, 1), (1, 4), (8, 1), (6, 2), (3, 4), (12, 1)]);
    let tile = Mnk::new(warp.m * grid.0, warp.n * grid.1, k);
    let schedule = if grid.0 * grid.1 == 4 && draw.once_in(2) {
        ScheduleKind::Pingpong
    } else {
        ScheduleKind::Cooperative
    };
    let mma =
        WarpMma::Simt(SimtKnobs { warp, thread: Some(thread), interleave: InterleaveKind::Vector });
    let knobs = Knobs::new(ring(draw, tile, schedule), mma, [4, 4, draw.of(&[1, 2, 4])]);
    limits(draw, knobs)
}
