//! Requests that the tests of the resolver enumerate.

use crate::{
    arch::{
        ArchKind::{self, *},
        OpKind::{self, *},
    },
    layout::Order::{self, *},
    nest::{
        Class, DecompositionKind, Frame, GemmDesc, Pins, SpillKind,
        random_kernels::{Asked, Draw, SMEM, kernel, transforms},
    },
    numeric::{
        Combined,
        ElementKind::{self, *},
        EmulationKind,
    },
    schedule::ScheduleKind,
    shape::{Mn, Mnk},
    threadblock::{L2PromotionKind, MainloopKind, SwizzleKind},
    warp::{AOperandKind, InterleaveKind, PromotionKind, SaturateKind, UnrollKind},
};

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
        Mnk::new(
            draw.choose(&extents),
            draw.choose(&extents),
            draw.choose(&[k, k, 8, 16, 32, 64, 128, 24]),
        )
    };
    let often = draw.choose(&[3, 6, 12]);
    Pins {
        threadblock: draw.once_in(often).then(|| shape(draw)),
        warp: draw.once_in(often).then(|| shape(draw)),
        instruction: draw.once_in(often).then(|| match draw.below(4) {
            0 => Mnk::new(
                64,
                draw.choose(&[8, 64, 128, 192, 256, 96, 40]),
                user.a.element.elements_in(32),
            ),
            1 => Mnk::new(draw.choose(&[8, 16]), 8, draw.choose(&[4, 8, 16, 32])),
            2 => Mnk::new(draw.choose(&[4, 8, 12, 16]), draw.choose(&[4, 8, 12, 16]), 1),
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
        l2_promotion: draw.maybe(6 * often, &L2PromotionKind::ALL),
        pending: draw.maybe(3 * often, &[0, 1, 2, 3]),
        promotion: draw.maybe(3 * often, &PromotionKind::ALL),
        emulation: draw.maybe(3 * often, &EmulationKind::ALL),
        transform_a: draw.maybe(6 * often, &transforms(user.a.element)),
        transform_b: draw.maybe(6 * often, &transforms(user.b.element)),
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

/// Returns some of the pins.
fn some_of(draw: &mut Draw, mut pins: Pins) -> Pins {
    let (of, mut kept) = (draw.choose(&[2, 2, 3, 5, 8]), Pins::NONE);
    let most = draw.once_in(8);
    while let Some((one, others)) = pins.split_first() {
        if draw.once_in(of) != most {
            kept = one.over(kept);
        }
        pins = others;
    }
    kept
}
