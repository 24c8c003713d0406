//! Random descriptions and epilogue nodes for property tests.

use super::completions::completed;
use crate::harness::prelude::*;
use proptest::{prelude::*, sample::select, test_runner::Config};

/// Returns the configuration for `cases` cases of a property test. Failures are printed and not
/// stored.
pub fn cases(cases: u32) -> Config {
    Config {
        cases,
        failure_persistence: None,
        max_local_rejects: 1_000_000,
        max_global_rejects: 1_000_000,
        ..Config::default()
    }
}

/// Returns all layouts of A, B, and C.
pub fn orders() -> impl Iterator<Item = [Order; 3]> {
    let both = [Order::Row, Order::Col];
    both.into_iter().flat_map(move |a| {
        both.into_iter().flat_map(move |b| both.into_iter().map(move |c| [a, b, c]))
    })
}

/// Returns every default SIMT description, for every architecture and layout, with every math type
/// of its epilogue.
pub fn shipped() -> impl Iterator<Item = GemmDesc> {
    ArchKind::ALL.into_iter().flat_map(|arch| {
        COMBINATIONS.iter().flat_map(move |types| {
            orders()
                .filter_map(move |orders| {
                    default_description(OpKind::Simt, arch, *types, orders).ok()
                })
                .flat_map(|d| {
                    let scaled = (d.output.compute == ComputeKind::I32)
                        .then_some(but!(d, compute: ComputeKind::F32));
                    [d].into_iter().chain(scaled)
                })
        })
    })
}

/// Checks that repeated advice ends at a valid description or at a refusal without advice, and does
/// not cycle.
pub fn follow_advice(
    mut d: GemmDesc,
    advised: impl Fn(GemmDesc, &Refusal) -> Option<GemmDesc>,
) -> Result<(), TestCaseError> {
    let mut said = Vec::new();
    while let Err(refusal) = d.check() {
        let sentence = refusal.to_string();
        let Some(better) = advised(d, &refusal) else { break };
        prop_assert!(!said.contains(&sentence), "advice cycles: {:#?}", said);
        said.push(sentence);
        d = better;
    }
    prop_assert!(said.len() < 30);
    Ok(())
}

/// Returns a default description for Hopper's tensor cores with accumulators promoted after each
/// stage.
pub fn promoted(types: Combined, orders: [Order; 3]) -> GemmDesc {
    let default = default_of(OpKind::TensorOp, ArchKind::Sm90, types, orders);
    completed(&default, &[("promotion", "stage".to_owned())])
        .expect("a default with promoted accumulators")
}

/// Returns the default SIMT description of `f32` for an architecture.
pub fn default_f32(arch: ArchKind, orders: [Order; 3]) -> GemmDesc {
    let f32 = ElementKind::F32;
    default_of(OpKind::Simt, arch, element_types(f32, f32, f32), orders)
}

/// Returns a 128x128x16 description with four stages of asynchronous copies, independent of the
/// defaults. Without the multistage main loop, it has two stages, and a multiprocessor one CTA.
pub fn ring(orders: [Order; 3]) -> GemmDesc {
    let mainloop = MULTISTAGE_OR_OTHER[0];
    let blocks_per_sm = if mainloop.copies_asynchronously() { 2 } else { 1 };
    let ring = but!(default_f32(ArchKind::Sm80, orders), threadblock: Mnk::new(128, 128, 16), warp: Mnk::new(32, 64, 16), mainloop, stages: mainloop.fixed_stages().unwrap_or(4), blocks_per_sm, align_a: 4, align_b: 4, align_c: 4);
    ring.expect()
}

fn order() -> impl Strategy<Value = Order> {
    select(vec![Order::Row, Order::Col])
}

fn along() -> impl Strategy<Value = Along> {
    select(vec![Along::Mn, Along::K])
}

/// Strategy for valid SIMT descriptions without spills.
pub fn legal() -> impl Strategy<Value = GemmDesc> {
    let wanted = Wanted { plain: true, ..Wanted::default() };
    any::<u64>().no_shrink().prop_map(move |seed| description(seed, wanted))
}

/// Strategy for small numbers, and numbers at and beyond every limit.
pub fn number() -> impl Strategy<Value = u32> {
    prop_oneof![
        Just(0),
        Just(1),
        Just(u32::MAX),
        Just(1 << 31),
        0u32..=40,
        0u32..=600,
        (0u32..32).prop_map(|bit| 1 << bit),
        any::<u32>()
    ]
}

/// Number of numeric fields in a description.
pub const NUMBERS: usize = 29;

/// Returns the description with its numeric field `field` replaced. A field that the kernel does
/// not have stays unchanged.
pub fn spoiled(d: GemmDesc, field: usize, x: u32) -> GemmDesc {
    let smem = match field {
        17 | 18 => SmemLayout::Padded { along: [Along::Mn, Along::K][field - 17], padding: x },
        19 | 20 => SmemLayout::Swizzled {
            along: [Along::Mn, Along::K][field - 19],
            bits: x,
            base: 2,
            shift: 0,
        },
        21 | 22 => SmemLayout::Swizzled {
            along: [Along::Mn, Along::K][field - 21],
            bits: 2,
            base: x,
            shift: 0,
        },
        _ => SmemLayout::Swizzled { along: Along::Mn, bits: 2, base: 2, shift: x },
    };
    let mut pins = d.pins();
    let Pins { threadblock: Some(tile), warp: Some(warp), .. } = &mut pins else {
        panic!("every kernel has tiles")
    };
    match field {
        0 => tile.m = x,
        1 => tile.n = x,
        2 => tile.k = x,
        3 => warp.m = x,
        4 => warp.n = x,
        5 => warp.k = x,
        15 => (warp.m, tile.m) = (x, x),
        16 => (warp.k, tile.k) = (x, x),
        6 => pins.instruction = pins.instruction.map(|instruction| Mnk { m: x, ..instruction }),
        7 => pins.instruction = pins.instruction.map(|instruction| Mnk { n: x, ..instruction }),
        8 => pins.instruction = pins.instruction.map(|instruction| Mnk { k: x, ..instruction }),
        9 => pins.stages = Some(x),
        10 => pins.swizzle = Some(SwizzleKind::Identity(x)),
        11 => pins.align_a = Some(x),
        12 => pins.align_b = Some(x),
        13 => pins.align_c = Some(x),
        14 => pins.blocks_per_sm = Some(x),
        25 => pins.interleave = Some(InterleaveKind::Elements(x)),
        26 => pins.unroll = Some(UnrollKind::By(x)),
        27 => pins.cluster = pins.cluster.map(|cluster| Mn { m: x, ..cluster }),
        28 => pins.cluster = pins.cluster.map(|cluster| Mn { n: x, ..cluster }),
        _ if field.is_multiple_of(2) => pins.smem_a = Some(smem),
        _ => pins.smem_b = Some(smem),
    }
    d.pinned(pins)
}

/// Strategy for operands of an epilogue, some with an element type of their own.
pub fn operand() -> impl Strategy<Value = Op> {
    let element = prop::option::of(select(ElementKind::ALL.to_vec()));
    (select(EpilogueOperand::ALL.to_vec()), element)
        .prop_map(|(operand, element)| Op::Operand(operand, element))
}

/// Strategy for constants of an epilogue: whole numbers, fractions, and numbers near the limits.
pub fn constant() -> impl Strategy<Value = Op> {
    let fraction =
        (any::<f64>(), -19i32..20).prop_filter_map("a finite number", |(x, exponent)| {
            let mantissa =
                (x.is_finite() && x != 0.0).then(|| x / 2f64.powf(x.abs().log2().floor()))?;
            Real::new(mantissa * 10f64.powi(exponent)).map(Op::Constant)
        });
    prop_oneof![any::<i32>().prop_map(Op::integer), fraction]
}

/// Strategy for epilogue nodes in any order, which mostly are invalid.
pub fn any_nodes() -> impl Strategy<Value = EpilogueDesc> {
    let node = prop_oneof![
        Just(Op::Nop),
        Just(Op::Accumulator),
        Just(Op::SOURCE),
        operand(),
        operand().prop_map(|op| match op {
            Op::Operand(operand, element) => Op::Write(operand, element),
            other => other,
        }),
        any::<u8>().prop_map(Op::Scalar),
        constant(),
        any::<u8>().prop_map(|slot| Op::Local(slot % 9)),
        any::<u8>().prop_map(|slot| Op::Let(slot % 9)),
        Just(Op::Then),
        Just(Op::Scale),
        select(MathFunction::ALL).prop_map(Op::Math),
        any::<u64>().prop_map(|id| Op::User(NodeId(id))),
        any::<u64>().prop_map(|id| Op::UserBinary(NodeId(id))),
    ];
    proptest::collection::vec(node, 1..40)
        .prop_map(|ops| ops[1..].iter().fold(EpilogueDesc::leaf(ops[0]), |desc, op| desc.then(*op)))
}

/// Strategy for descriptions with any value in any field.
pub fn garbage() -> impl Strategy<Value = GemmDesc> {
    let kinds = || select(ElementKind::ALL.to_vec());
    let compute = select(vec![ComputeKind::F32, ComputeKind::F64, ComputeKind::I32]);
    let types = (kinds(), kinds(), kinds(), kinds(), compute, any::<bool>());
    let op = (
        select(vec![OpKind::Simt, OpKind::TensorOp]),
        select(ArchKind::ALL.to_vec()),
        select(MainloopKind::ALL.to_vec()),
    );
    let numbers = proptest::collection::vec(number(), NUMBERS);
    let smem = || {
        prop_oneof![
            Just(SmemLayout::Auto),
            (number(), along()).prop_map(|(padding, along)| SmemLayout::Padded { along, padding })
        ]
    };
    (legal(), types, [order(), order()], op, numbers, [smem(), smem()], any_nodes()).prop_map(
        |(
            legal,
            (a, b, c, accumulator, compute, swapped),
            [layout_a, layout_b],
            (op, arch, mainloop),
            numbers,
            smem,
            epilogue,
        )| {
            let d = numbers.iter().enumerate().fold(legal, |d, (field, x)| spoiled(d, field, *x));
            let [smem_a, smem_b] =
                if numbers[0] % 2 == 0 { smem } else { [d.operands[0].smem, d.operands[1].smem] };
            let types = but!(d, a, b, c, accumulator, compute, swapped);
            let mma = with_units(types.mma, op);
            let types = GemmDesc { mma, ..types };
            let (mainloop, smem_a, smem_b) = (Some(mainloop), Some(smem_a), Some(smem_b));
            let types = types.pinned(Pins { mainloop, ..Pins::NONE });
            let types = match op {
                OpKind::Simt => types.pinned(Pins { smem_a, smem_b, ..Pins::NONE }),
                OpKind::TensorOp => but_smem_of_simt(types),
            };
            but!(types, layout_a, layout_b, arch, epilogue)
        },
    )
}

/// Returns the description without the layouts in shared memory that only SIMT kernels choose.
fn but_smem_of_simt(desc: GemmDesc) -> GemmDesc {
    let (smem_a, smem_b) = (Some(SmemLayout::Auto), Some(SmemLayout::Auto));
    desc.pinned(Pins { smem_a, smem_b, ..Pins::NONE })
}
