//! Descriptions and nodes drawn at random, for laws.

use super::completions::completed;
use super::descriptions::{Wanted, description};
use crate::harness::OfFamily;
use falchion::{
    arch::{ArchKind, OpKind},
    desc::{COMBINATIONS, GemmDesc, Pins},
    epilogue::{EpilogueDesc, NodeId, Op},
    internals::{family::default_gemm_configuration::default_description, operand::VectorKind},
    layout::Order,
    numeric::{Combined, ComputeKind, ElementKind},
    refusal::Refusal,
    shape::{Mn, Mnk},
    threadblock::{Along, MainloopKind, SmemLayout, SwizzleKind},
    warp::{InterleaveKind, UnrollKind},
};
use proptest::{prelude::*, sample::select, test_runner::Config};

/// So many cases of a law, failures printed and not filed.
pub fn cases(cases: u32) -> Config {
    Config {
        cases,
        failure_persistence: None,
        max_local_rejects: 1_000_000,
        max_global_rejects: 1_000_000,
        ..Config::default()
    }
}

/// The four layouts of A and B, with both of C.
pub fn orders() -> impl Iterator<Item = [Order; 3]> {
    let both = [Order::Row, Order::Col];
    both.into_iter().flat_map(move |a| {
        both.into_iter().flat_map(move |b| both.into_iter().map(move |c| [a, b, c]))
    })
}

/// Every row of the default table, for every tag and layout, with every arithmetic that its
/// epilogue can have: what the library ships.
pub fn shipped() -> impl Iterator<Item = GemmDesc> {
    ArchKind::ALL.into_iter().flat_map(|arch| {
        COMBINATIONS.iter().flat_map(move |types| {
            orders()
                .filter_map(move |orders| {
                    default_description(OpKind::Simt, arch, *types, orders).ok()
                })
                .flat_map(|d| {
                    let scaled = (d.class.compute == ComputeKind::I32)
                        .then_some(but!(d, compute: ComputeKind::F32));
                    [d].into_iter().chain(scaled)
                })
        })
    })
}

/// Taking advice after advice ends at a kernel, or at a sentence that gives none; never in a
/// circle.
pub fn follow_advice(
    mut d: GemmDesc,
    advised: impl Fn(GemmDesc, &Refusal) -> Option<GemmDesc>,
) -> Result<(), TestCaseError> {
    let mut said = Vec::new();
    while let Err(refusal) = d.check() {
        let sentence = refusal.to_string();
        let Some(better) = advised(d, &refusal) else { break };
        prop_assert!(!said.contains(&sentence), "in a circle: {:#?}", said);
        said.push(sentence);
        d = better;
    }
    prop_assert!(said.len() < 30);
    Ok(())
}

/// A row of Hopper's tensor cores with sums promoted after each stage.
pub fn promoted(types: Combined, orders: [Order; 3]) -> GemmDesc {
    let default =
        default_description(OpKind::TensorOp, ArchKind::Sm90, types, orders).expect("a row");
    completed(&default, &[("promotion", "stage".to_owned())])
        .expect("a row of promoted accumulators")
}

/// Types by their names, in the order A = B, accumulator, C.
pub fn types(ab: ElementKind, accumulator: ElementKind, c: ElementKind) -> Combined {
    Combined { a: ab, b: ab, accumulator, c }
}

/// The default description of `f32` for a tag.
pub fn default_f32(arch: ArchKind, orders: [Order; 3]) -> GemmDesc {
    let f32 = ElementKind::F32;
    default_description(OpKind::Simt, arch, types(f32, f32, f32), orders)
        .expect("the table has f32 for every tag")
}

/// A ring of four stages of asynchronous copies, 128x128x16, whatever the defaults are.
pub fn ring(orders: [Order; 3]) -> GemmDesc {
    but!(default_f32(ArchKind::Sm80, orders), threadblock: Mnk::new(128, 128, 16), warp: Mnk::new(32, 64, 16), mainloop: MainloopKind::Multistage, stages: 4, blocks_per_sm: 2, align_a: 4, align_b: 4, align_c: 4)
    .expect()
}

fn order() -> impl Strategy<Value = Order> {
    select(vec![Order::Row, Order::Col])
}

fn along() -> impl Strategy<Value = Along> {
    select(vec![Along::Mn, Along::K])
}

/// Descriptions that `check` accepts, from all that it accepts on the CUDA cores without spills.
pub fn legal() -> impl Strategy<Value = GemmDesc> {
    let wanted = Wanted { plain: true, ..Wanted::default() };
    any::<u64>().no_shrink().prop_map(move |seed| description(seed, wanted))
}

/// Numbers at and beyond every edge, and small ones.
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

/// Fields of descriptions that hold numbers.
pub const NUMBERS: usize = 29;

/// The description with its number of index `field` replaced; one that its family has no knob for
/// stays.
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
        panic!("every family has tiles")
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

/// Any nodes in any order: mostly no expression.
pub fn any_nodes() -> impl Strategy<Value = EpilogueDesc> {
    let node = prop_oneof![
        Just(Op::Nop),
        Just(Op::Accumulator),
        Just(Op::Source),
        prop::sample::select(&VectorKind::ALL[..]).prop_map(Op::Vector),
        any::<u8>().prop_map(Op::Scalar),
        any::<i32>().prop_map(Op::Constant),
        Just(Op::Add),
        Just(Op::Multiply),
        Just(Op::Scale),
        Just(Op::Minimum),
        Just(Op::Maximum),
        Just(Op::Relu),
        any::<u64>().prop_map(|id| Op::User(NodeId(id))),
    ];
    proptest::collection::vec(node, 1..40)
        .prop_map(|ops| ops[1..].iter().fold(EpilogueDesc::leaf(ops[0]), |desc, op| desc.then(*op)))
}

/// Any value of any field.
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
            let [smem_a, smem_b] = if numbers[0] % 2 == 0 {
                smem
            } else {
                [d.one().knobs.smem_a, d.one().knobs.smem_b]
            };
            let types = but!(d, a, b, c, accumulator, compute, swapped);
            but!(types, layout_a, layout_b, op, arch, mainloop, smem_a, smem_b, epilogue)
        },
    )
}
