//! Grouped GEMM along K on the host: each group has its own D, empty groups write D, and elements
//! outside a group do not change its D.

use super::groups::run;
use crate::harness::{
    groups::{largest, whole},
    groups_k::{IntegersAlongK, groups_along_k},
    integers::Data,
    prelude::*,
};

/// Returns random descriptions that compute groups along K.
fn random_descriptions(
    seed: u64,
    kernel_kind: KernelKind,
    plain: bool,
) -> impl Iterator<Item = (GemmDesc, u64)> {
    let largest_tile = largest(kernel_kind);
    let wanted = Wanted { kernel_kind, largest_tile, plain, ..Wanted::default() };
    let all = (0..).map(move |i| (whole(description(draw(seed, i), wanted)), draw(seed + 1, i)));
    all.filter(|(desc, _)| groups_along_k(desc))
}

/// Compares groups with exact sums in one mode.
fn compare_integers(desc: &GemmDesc, seed: u64, mode: Mode) {
    let mut case = IntegersAlongK::random(desc, seed);
    let mut d = std::mem::replace(&mut case.d, Data::new(desc.output.element, [].into_iter()));
    let call = || -> Result<(), Error> {
        let matrices = HostMatrices {
            a: case.a.slice(),
            b: case.b.slice(),
            c: case.problem.c.map(|_| case.c.slice()),
            d: d.slice_mut(),
            operands: EpilogueOperands::NONE,
        };
        let offsets = HostSlice::new::<i32>(bytemuck::cast_slice(&case.offsets));
        let groups = Some(Groups::new(Axis::K, offsets));
        run_in_mode(desc, mode, HostCall { groups, ..case.problem.with(matrices) })
    };
    let mut call = call;
    call().unwrap_or_else(|error| panic!("{error}\n{desc:?}"));
    if let Some(wrong) = case.wrong(&d) {
        panic!("{seed}: {wrong}: {:?} {:?}\n{desc:?}", case.offsets, case.problem);
    }
}

#[test]
fn groups_along_k_have_exact_sums() {
    for &kernel_kind in KernelKind::ALL {
        for (desc, seed) in random_descriptions(91, kernel_kind, true).take(40) {
            compare_integers(&desc, seed, Mode::Fast);
        }
        for (desc, seed) in random_descriptions(93, kernel_kind, true).take(3) {
            compare_integers(&desc, seed, Mode::Checked { seed });
        }
    }
}

/// Compares grouped GEMM along K with separate GEMMs in one mode.
fn compare_bits(desc: &GemmDesc, seed: u64, mode: Mode) {
    let case = Grouped::random_along_k(desc, seed);
    let (mut together, mut alone) = (case.d.clone(), case.d.clone());
    run(desc, mode, &case, (&case.problem, [0; 4], 0), &mut together)
        .unwrap_or_else(|error| panic!("{error}\n{desc:?}"));
    for SeparateGemm { problem, first, row } in case.separate_gemms_along_k() {
        run(desc, mode, &case, (&problem, first, row), &mut alone)
            .unwrap_or_else(|error| panic!("{error}\n{desc:?}"));
    }
    assert!(together == alone && together != case.d, "{seed}: {desc:?}");
}

#[test]
fn groups_along_k_equal_separate_gemms() {
    for &kernel_kind in KernelKind::ALL {
        for (desc, seed) in random_descriptions(95, kernel_kind, false).take(12) {
            compare_bits(&desc, seed, Mode::Fast);
        }
        for (desc, seed) in random_descriptions(97, kernel_kind, false).take(2) {
            compare_bits(&desc, seed, Mode::Checked { seed });
        }
    }
}
