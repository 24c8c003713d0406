//! Users' orders of tiles: D has the bits of the default order. An order that the process does not
//! have, or that misses a tile, is refused.

use crate::harness::{
    prelude::*,
    product::{computed, try_compute},
    swizzles::{FirstRow, Snake, kernels, swizzle_words},
    transposes,
};
use falchion::{
    nest::UserSwizzle,
    threadblock::{ThreadblockSwizzle, register_swizzle},
};

const EXTENTS: (usize, usize, usize) = (300, 200, 70);

/// Returns the bits of D for matrices whose products round.
fn d(desc: &GemmDesc, mode: Mode) -> Vec<u32> {
    match desc.operands[0].stored {
        ElementKind::F32 => {
            let (a, b) = rounding_operands(EXTENTS, |x| x);
            bits(&computed::<f32, f32>(desc, desc, mode, EXTENTS, ([&a, &b], f32::NAN)))
        }
        _ => {
            let (a, b) = rounding_operands(EXTENTS, Bf16::from_f32);
            bits(&computed::<Bf16, f32>(desc, desc, mode, EXTENTS, ([&a, &b], f32::NAN)))
        }
    }
}

#[test]
fn d_has_the_bits_of_the_default_order() {
    let order = swizzle_words::<Snake>();
    for (user, plain) in kernels(Some(&order)).iter().zip(kernels(None)) {
        assert_eq!(user.swizzle().to_string(), order, "{user}");
        let wanted = d(&plain, Mode::Fast);
        // Stream-K divides tiles in the order, so that other tiles are sums of several spans.
        if !user.streams_k() {
            assert!(d(user, Mode::Fast) == wanted, "{user}");
        }
        assert!(d(user, Mode::Fast) == d(user, Mode::Checked { seed: 5 }), "{user}");
    }
}

/// The units of a kernel follow the user's order.
#[test]
fn units_follow_the_order() {
    let order = SwizzleKind::User(register_swizzle::<Snake>());
    let tiles: Vec<_> =
        (0..6).map(|block| TileOrder { kind: order, rows: 3, columns: 2 }.tile(block)).collect();
    assert_eq!(tiles, [(0, 0), (1, 0), (2, 0), (2, 1), (1, 1), (0, 1)]);
    let work = Work {
        kind: WorkKind::DataParallel,
        order,
        cluster: Mn::ONE,
        rows: 3,
        columns: 2,
        batch: 1,
        tiles_k: 1,
        split_k: 1,
        clusters: 6,
    };
    let unit = work.unit(4, 0, 0).expect("a unit");
    assert_eq!((unit.row, unit.column), (1, 1));
}

#[test]
fn a_type_pins_and_registers_an_order() {
    struct Reversed;
    impl ThreadblockSwizzle for Reversed {
        const NAME: &'static str = "reversed";
        const CUDA: &'static str =
            "unsigned const i = rows * columns - 1 - block; return {i / columns, i % columns};";
        fn host(block: u32, (rows, columns): (u32, u32)) -> (u32, u32) {
            let i = rows * columns - 1 - block;
            (i / columns, i % columns)
        }
    }
    let gemm = HopperRows::<Bf16, f32>::new().with::<UserSwizzle<Reversed>>();
    let (m, n, k) = EXTENTS;
    let (a, b) = rounding_operands(EXTENTS, Bf16::from_f32);
    let (mut one, mut other) = (vec![f32::NAN; m * n], vec![f32::NAN; m * n]);
    gemm.run(Arguments::new((m, n, k), &a, &b, &mut one)).expect("a product");
    let plain = HopperRows::<Bf16, f32>::new();
    plain.run(Arguments::new((m, n, k), &a, &b, &mut other)).expect("a product");
    assert!(bits(&one) == bits(&other));
    assert_eq!(gemm.desc().swizzle(), SwizzleKind::User(register_swizzle::<Reversed>()));
}

#[test]
fn an_order_that_is_not_registered_is_refused() {
    let sentence = "swizzle = swizzle_00000000000000aa is not registered; call threadblock::register_swizzle first";
    for desc in kernels(Some("swizzle_00000000000000aa")) {
        assert_eq!(desc.check(), Ok(()), "the compiler cannot know what a process registers");
        assert_eq!(
            desc.plan().map(drop).map_err(|refusal| refusal.to_string()),
            Err(sentence.to_owned())
        );
        for mode in [Mode::Fast, Mode::Checked { seed: 1 }] {
            let (one, size) = ([1.0; 96], (1, 1, 96));
            let result = match desc.operands[0].stored {
                ElementKind::F32 => {
                    try_compute::<f32, f32>(&desc, &desc, mode, size, ([&one, &one], 7.0))
                }
                _ => {
                    let one = one.map(Bf16::from_f32);
                    try_compute::<Bf16, f32>(&desc, &desc, mode, size, ([&one, &one], 7.0))
                }
            };
            assert_eq!(result.map(drop).message(), sentence);
        }
    }
}

#[test]
fn an_order_that_misses_a_tile_is_refused() {
    let gemm = HopperRows::<Bf16, f32>::new().with::<UserSwizzle<FirstRow>>();
    let mut d = [7.0];
    assert_eq!(
        gemm.run(Arguments::new((1, 1, 1), &[Bf16::ONE], &[Bf16::ONE], &mut d)).message(),
        "swizzle = first row is not supported by 5 x 3 (the order misses a tile of this grid); use an order that visits each tile once"
    );
    assert_eq!(d, [7.0], "a refused call does not write D");
}

#[test]
fn a_transpose_refuses_a_users_order() {
    let desc = TransposeDesc {
        order: SwizzleKind::User(register_swizzle::<Snake>()),
        ..transposes::named()[0]
    };
    let refusal = desc.check().expect_err("transposes have built-in orders").to_string();
    let id = register_swizzle::<Snake>();
    assert_eq!(refusal, format!("swizzle = {id} is not supported by transposes; try horizontal"));
}
