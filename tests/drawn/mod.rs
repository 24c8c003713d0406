//! Descriptions drawn at random, maps bent on purpose, and products of small integers to run them on.
//!
//! Integer data has one right answer in every element type, so a product is compared with `==`.
#![allow(dead_code, reason = "each test file uses its part")]

#[path = "../bent/mod.rs"]
mod bent;
#[path = "../descriptions/mod.rs"]
pub mod descriptions;

#[allow(unused_imports, reason = "each test file uses its part")]
pub use bent::bent;
#[allow(unused_imports, reason = "each test file uses its part")]
pub use falchion::device::host::Map;

use descriptions::{Wanted, description};
use falchion::{
    arch::{ArchKind, OpKind},
    desc::GemmDesc,
    device::{
        HostMatrices, HostSlice, HostSliceMut, MatrixShape, Shapes, Source,
        default_gemm_configuration::default_description,
        host::{Mode, Program},
        run_program,
    },
    epilogue::{EpilogueDesc, NodeId, Op},
    layout::Order,
    numeric::{Bf16, COMBINATIONS, Combined, ComputeKind, Element, ElementKind, F16},
    refusal::Refusal,
    shape::Mnk,
    threadblock::{Along, MainloopKind, SmemLayout, SwizzleKind},
    warp::{InterleaveKind, UnrollKind},
};
use proptest::{prelude::*, sample::select, test_runner::Config};

/// So many cases of a law, failures printed and not filed.
pub fn cases(cases: u32) -> Config {
    Config { cases, failure_persistence: None, max_local_rejects: 1_000_000, max_global_rejects: 1_000_000, ..Config::default() }
}

/// The four layouts of A and B, with both of C.
pub fn orders() -> impl Iterator<Item = [Order; 3]> {
    let both = [Order::Row, Order::Col];
    both.into_iter().flat_map(move |a| both.into_iter().flat_map(move |b| both.into_iter().map(move |c| [a, b, c])))
}

/// Every row of the default table, for every tag and layout, with every arithmetic that its epilogue can have: what the library
/// ships.
pub fn shipped() -> impl Iterator<Item = GemmDesc> {
    ArchKind::ALL.into_iter().flat_map(|arch| {
        COMBINATIONS.iter().flat_map(move |types| {
            orders().filter_map(move |orders| default_description(OpKind::Simt, arch, *types, orders).ok()).flat_map(|d| {
                let scaled = (d.compute == ComputeKind::I32).then_some(GemmDesc { compute: ComputeKind::F32, ..d });
                [d].into_iter().chain(scaled)
            })
        })
    })
}

/// Taking advice after advice ends at a kernel, or at a sentence that gives none; never in a circle.
pub fn follow_advice(mut d: GemmDesc, advised: impl Fn(GemmDesc, &Refusal) -> Option<GemmDesc>) -> Result<(), TestCaseError> {
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

/// Types by their names, in the order A = B, accumulator, C.
pub fn types(ab: ElementKind, accumulator: ElementKind, c: ElementKind) -> Combined {
    Combined { a: ab, b: ab, accumulator, c }
}

/// The default description of `f32` for a tag.
pub fn default_f32(arch: ArchKind, orders: [Order; 3]) -> GemmDesc {
    let f32 = ElementKind::F32;
    default_description(OpKind::Simt, arch, types(f32, f32, f32), orders).expect("the table has f32 for every tag")
}

/// A ring of four stages of asynchronous copies, 128x128x16, whatever the defaults are.
pub fn ring(orders: [Order; 3]) -> GemmDesc {
    GemmDesc {
        threadblock: Mnk::new(128, 128, 16),
        warp: Mnk::new(32, 64, 16),
        mainloop: MainloopKind::Multistage,
        stages: 4,
        blocks_per_sm: 2,
        align_a: 4,
        align_b: 4,
        align_c: 4,
        ..default_f32(ArchKind::Sm80, orders)
    }
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

/// Fields of a description that hold numbers.
pub const NUMBERS: usize = 29;

/// The description with its number of index `field` replaced.
pub fn spoiled(mut d: GemmDesc, field: usize, x: u32) -> GemmDesc {
    let smem = match field {
        17 | 18 => SmemLayout::Padded { along: [Along::Mn, Along::K][field - 17], padding: x },
        19 | 20 => SmemLayout::Swizzled { along: [Along::Mn, Along::K][field - 19], bits: x, base: 2, shift: 0 },
        21 | 22 => SmemLayout::Swizzled { along: [Along::Mn, Along::K][field - 21], bits: 2, base: x, shift: 0 },
        _ => SmemLayout::Swizzled { along: Along::Mn, bits: 2, base: 2, shift: x },
    };
    match field {
        0 => d.threadblock.m = x,
        1 => d.threadblock.n = x,
        2 => d.threadblock.k = x,
        3 => d.warp.m = x,
        4 => d.warp.n = x,
        5 => d.warp.k = x,
        6 => d.instruction.m = x,
        7 => d.instruction.n = x,
        8 => d.instruction.k = x,
        9 => d.stages = x,
        10 => d.swizzle = SwizzleKind::Identity(x),
        11 => d.align_a = x,
        12 => d.align_b = x,
        13 => d.align_c = x,
        14 => d.blocks_per_sm = x,
        15 => (d.warp.m, d.threadblock.m) = (x, x),
        16 => (d.warp.k, d.threadblock.k) = (x, x),
        25 => d.interleave = InterleaveKind::Elements(x),
        26 => d.unroll = UnrollKind::By(x),
        27 => d.cluster.m = x,
        28 => d.cluster.n = x,
        _ if field.is_multiple_of(2) => d.smem_a = smem,
        _ => d.smem_b = smem,
    }
    d
}

/// Any nodes in any order: mostly no expression.
pub fn any_nodes() -> impl Strategy<Value = EpilogueDesc> {
    let node = prop_oneof![
        Just(Op::Nop),
        Just(Op::Accumulator),
        Just(Op::Source),
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
    let op = (select(vec![OpKind::Simt, OpKind::TensorOp]), select(ArchKind::ALL.to_vec()), select(MainloopKind::ALL.to_vec()));
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
            (a, b, c, accumulator, compute, exchanged),
            [layout_a, layout_b],
            (op, arch, mainloop),
            numbers,
            smem,
            epilogue,
        )| {
            let d = numbers.iter().enumerate().fold(legal, |d, (field, x)| spoiled(d, field, *x));
            let [smem_a, smem_b] = if numbers[0] % 2 == 0 { smem } else { [d.smem_a, d.smem_b] };
            let types = GemmDesc { a, b, c, accumulator, compute, exchanged, ..d };
            GemmDesc { layout_a, layout_b, op, arch, mainloop, smem_a, smem_b, epilogue, ..types }
        },
    )
}

macro_rules! data {
    ($($Kind:ident: $Element:ty, |$x:ident| $from:expr, |$y:ident| $to:expr;)*) => {
        /// The elements of a matrix, their type a value.
        pub enum Data {
            $($Kind(Vec<<$Element as Element>::Storage>),)*
        }

        impl Data {
            /// Whole numbers as elements of a kind.
            pub fn new(kind: ElementKind, values: impl Iterator<Item = i32>) -> Self {
                match kind {
                    $(ElementKind::$Kind => Self::$Kind(values.map(|$x| $from).collect()),)*
                    other => panic!("no kernel takes {other} yet"),
                }
            }

            /// The elements, to be read.
            pub fn slice(&self) -> HostSlice<'_> {
                match self { $(Self::$Kind(elements) => HostSlice::new::<$Element>(elements),)* }
            }

            /// The elements, to be written.
            pub fn slice_mut(&mut self) -> HostSliceMut<'_> {
                match self { $(Self::$Kind(elements) => HostSliceMut::new::<$Element>(elements),)* }
            }

            /// One element, widened.
            pub fn get(&self, at: usize) -> f64 {
                match self { $(Self::$Kind(elements) => { let $y = elements[at]; $to })* }
            }
        }
    };
}

data! {
    F64: f64, |x| f64::from(x), |y| y;
    F32: f32, |x| x as f32, |y| f64::from(y);
    F16: F16, |x| F16::from_f32(x as f32), |y| y.to_f64();
    Bf16: Bf16, |x| Bf16::from_f32(x as f32), |y| y.to_f64();
    I8: i8, |x| x as i8, |y| f64::from(y);
    U8: u8, |x| x as u8, |y| f64::from(y);
    I32: i32, |x| x, |y| f64::from(y);
}

/// What D holds before the product: no sum of [`element`]s below reaches it.
const POISON: i32 = 113;

/// Element `at` of a matrix: -5 to 5, or as much of it as sums of up to 112 products leave exact in the narrow types.
fn element(kind: ElementKind, salt: u64, at: usize) -> i32 {
    let mut x = (at as u64 ^ salt << 32).wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let draw = |n: u64| (((x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb) >> 33) % n) as i32;
    match kind {
        ElementKind::U8 => draw(2),
        kind if kind.bits() < 32 => draw(3) - 1,
        _ => draw(11) - 5,
    }
}

/// Runs a program on an m x n x k problem, rows or columns three elements apart. What was wrong: the fault, the refusal, or
/// the first element of D that is not the reference's; nothing, when all is well.
pub fn wrong(program: &Program, mode: Mode, [m, n, k]: [usize; 3]) -> Option<String> {
    let d = &program.desc;
    let user = if d.exchanged { d.exchange() } else { *d };
    let order_c = if d.exchanged { Order::Col } else { Order::Row };
    let matrix = |order: Order, rows, columns| {
        let leading = order.packed(rows, columns) + 3;
        MatrixShape { order, leading, length: order.packed(columns, rows) * leading }
    };
    let (a, b, c) = (matrix(user.layout_a, m, k), matrix(user.layout_b, k, n), matrix(order_c, m, n));
    let [a_data, b_data] = [(user.a, a, 1), (user.b, b, 2)]
        .map(|(kind, shape, salt)| Data::new(kind, (0..shape.length).map(|at| element(kind, salt, at))));
    let poison = if d.c.bits() < 32 { POISON } else { -1_000_003 };
    let mut result = Data::new(d.c, (0..c.length).map(|_| poison));
    let mut scalars = [0.0; 8];
    scalars[0] = 1.0;
    let shapes = Shapes { m, n, k, a, b, c: Source::None, d: c, scalars };
    let matrices = HostMatrices { a: a_data.slice(), b: b_data.slice(), c: Source::None, d: result.slice_mut() };
    if let Err(error) = run_program(program, mode, &shapes, matrices) {
        return Some(error.to_string());
    }
    let mut touched = vec![false; c.length];
    for i in 0..m {
        for j in 0..n {
            let product = |l| a_data.get(a.order.offset(i, l, a.leading)) * b_data.get(b.order.offset(l, j, b.leading));
            let (at, want) = (c.order.offset(i, j, c.leading), (0..k).map(product).sum::<f64>());
            touched[at] = true;
            if result.get(at) != want {
                return Some(format!("D({i}, {j}) is {}, and should be {want}", result.get(at)));
            }
        }
    }
    (0..c.length).find(|&at| !touched[at] && result.get(at) != f64::from(poison)).map(|at| format!("D's gap at {at} is written"))
}

/// A ragged problem of one tile of C that goes around the ring of stages, and two tiles more.
pub fn ragged(d: &GemmDesc) -> [usize; 3] {
    let k = (d.stages as usize + 2) * d.threadblock.k as usize - 3;
    [d.threadblock.m as usize - 5, d.threadblock.n as usize - 3, k.min(112)]
}
