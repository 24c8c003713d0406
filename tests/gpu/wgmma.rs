//! One stage of a warpgroup's product on Hopper. Integer operands are stored by the tile maps, and
//! the result must be exact. A map, descriptor, or fragment that differs from the hardware's gives
//! another result.

use crate::harness::{
    prelude::*,
    wgmma::{self, bits, *},
};
use falchion::warp::wgmma::FragmentMap;

/// Runs a product for one and for two rounds, and returns the fault. The first round does not read
/// the accumulators, which are NaN. The second round adds to them.
fn fault(context: &Arc<CudaContext>, mma: &MmaWarpgroup) -> Option<String> {
    let probe = WarpgroupProbe::prepare(context, mma)
        .unwrap_or_else(|error| panic!("{}: {error}", words(mma)));
    assert!(probe.report().is_clean(), "{}: {:?}", words(mma), probe.report());
    let (input_a, input_b) = (mma.instruction().a(), mma.instruction().b());
    let element_a = |m, k| bits(input_a, whole(input_a, 1, m, k));
    let a = match mma.a() {
        OperandA::Shared(tile) => tile_bytes(&tile, element_a),
        OperandA::Registers(input) => fragment_bytes(&FragmentMap { input }, element_a),
    };
    let b = tile_bytes(&mma.b(), |n, k| bits(input_b, whole(input_b, 2, n, k)));
    let wanted = wanted(mma);
    // f16 does not represent every integer above 2048.
    let is_f16 = mma.instruction().accumulator() == ElementKind::F16;
    assert!(!is_f16 || wanted.iter().all(|x| x.unsigned_abs() <= 1024), "{}", words(mma));
    for rounds in [1, 2] {
        let got =
            probe.run(&a, &b, rounds).unwrap_or_else(|error| panic!("{}: {error}", words(mma)));
        assert_eq!(got.len(), wanted.len());
        let is_wrong =
            |(got, wanted): &(&f64, &i32)| **got != f64::from(**wanted) * f64::from(rounds);
        let wrong = got.iter().zip(&wanted).filter(is_wrong).count();
        if wrong > 0 {
            return Some(format!(
                "{}, {rounds} rounds: {wrong} of {} wrong",
                words(mma),
                wanted.len()
            ));
        }
    }
    None
}

fn all_right(what: &str, stages: &[MmaWarpgroup]) {
    let context = open(0).expect("this test runs on an NVIDIA GPU");
    let faults: Vec<_> = stages.iter().filter_map(|mma| fault(&context, mma)).collect();
    println!("{what}: {} stages", stages.len());
    assert!(faults.is_empty(), "{} of {}:\n{}", faults.len(), stages.len(), faults.join("\n"));
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn every_type_width_and_layout_is_exact() {
    let stages: Vec<_> = types()
        .into_iter()
        .flat_map(|types| {
            [8, 64, 192, 256]
                .into_iter()
                .flat_map(move |n| products(types, n, SwizzleMode::Bytes128))
        })
        .collect();
    all_right("types, widths, and layouts", &stages);
}

#[test]
#[ignore = "needs an NVIDIA GPU"]
fn every_swizzle_is_exact() {
    let types = INPUTS.map(|input| (input, input, input.accumulator()));
    let stages: Vec<_> = SwizzleMode::ALL
        .iter()
        .flat_map(|&swizzle| types.into_iter().flat_map(move |types| products(types, 96, swizzle)))
        .collect();
    all_right("swizzles", &stages);
}

/// Tiles with more rows than the instruction reads, whose strides differ from those of small tiles.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn large_tiles_are_exact() {
    let mut stages = Vec::new();
    for input in [ElementKind::Bf16, ElementKind::Tf32, ElementKind::I8] {
        for swizzle in SwizzleMode::ALL {
            for &along_a in wgmma::ways(input) {
                for &along_b in wgmma::ways(input) {
                    let a = OperandA::Shared(wgmma::tile(input, along_a, swizzle, 256));
                    let b = wgmma::tile(input, along_b, swizzle, 384);
                    stages
                        .push(MmaWarpgroup::new(a, b, input.accumulator(), 128).expect("a stage"));
                }
            }
        }
    }
    all_right("large tiles", &stages);
}

/// The instruction reads a tile without its swizzle as another matrix.
#[test]
#[ignore = "needs an NVIDIA GPU"]
fn a_tile_without_its_swizzle_is_another_matrix() {
    let context = open(0).expect("this test runs on an NVIDIA GPU");
    let mma = products(
        (ElementKind::Bf16, ElementKind::Bf16, ElementKind::Bf16.accumulator()),
        64,
        SwizzleMode::Bytes128,
    )[0];
    let probe = WarpgroupProbe::prepare(&context, &mma).expect("a kernel");
    let OperandA::Shared(tile) = mma.a() else {
        panic!("the first product reads A from shared memory")
    };
    let element =
        |seed| move |mn, k| bits(ElementKind::Bf16, whole(ElementKind::Bf16, seed, mn, k));
    let plain: Vec<u8> = (0..64)
        .flat_map(|m| (0..64).flat_map(move |k| (element(1)(m, k) as u16).to_le_bytes()))
        .collect();
    let b = tile_bytes(&mma.b(), element(2));
    let wanted: Vec<f64> = wanted(&mma).into_iter().map(f64::from).collect();
    assert_eq!(probe.run(&tile_bytes(&tile, element(1)), &b, 1).expect("it runs"), wanted);
    assert_ne!(probe.run(&plain, &b, 1).expect("it runs"), wanted);
}
