//! Bank conflicts of the accesses in published sources, and of every access of the default kernels.

use crate::harness::random_cases;
use falchion::{
    arch::ArchKind,
    internals::shape::OperandKind,
    layout::Order,
    nest::GemmDesc,
    numeric::ElementKind,
    refusal::Operand,
    shape::Mnk,
    threadblock::{Along, SmemLayout},
    warp::thread_maps::FragmentMap,
};
use falchion_lab::{
    banks::{Direction, SharedStep, WarpAccess, cases, description_steps, wavefronts},
    counters::Purpose,
    ladder,
};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn access(name: &str) -> WarpAccess {
    let of_name = |case: &cases::Case| case.name == name;
    cases::cases()
        .expect("cases")
        .into_iter()
        .find(of_name)
        .unwrap_or_else(|| panic!("no case is called {name}"))
        .access
}

fn count(name: &str) -> u32 {
    wavefronts(&access(name)).wavefronts
}

/// Returns the number of words that an access reads, and of banks that hold them.
fn words_and_banks(name: &str) -> (usize, usize) {
    let access = access(name);
    let words: BTreeSet<u64> = (0..32).flat_map(|lane| access.words(lane)).collect();
    (words.len(), words.iter().map(|word| word % 32).collect::<BTreeSet<_>>().len())
}

#[test]
fn tuning_notes_a_column_of_32_takes_32_and_of_33_one() {
    assert_eq!(count("tuning notes: column of [32][32]"), 32);
    assert_eq!(count("tuning notes: column of [32][33]"), 1);
    assert_eq!(count("tuning notes: row of [32][33]"), 1);
}

/// The tuning notes say that `shared_A[ty][k]` is a broadcast without conflicts. It is a broadcast
/// to each half of the warp. But a 16 x 16 CTA has two rows `ty` per warp, 64 words apart: two
/// words in one bank.
#[test]
fn tuning_notes_the_broadcast_of_a_is_two_words_on_one_bank() {
    let name = "tuning notes: shared_A[ty][k] of [64][64]";
    assert_eq!(words_and_banks(name), (2, 1));
    assert_eq!(count(name), 2);
    assert_eq!(count("tuning notes: shared_B[k][tx] of [64][64]"), 1);
}

/// The padding to `[64][65]` of the tuning notes forbids `float4` stores, which take four
/// wavefronts. Stores word by word take two wavefronts instead of four, which is eight for four
/// words.
#[test]
fn tuning_notes_padding_splits_the_vectors() {
    assert_eq!(count("tuning notes: shared_A[ty][4 tx] of [64][64], as float4"), 4);
    assert_eq!(count("tuning notes: shared_A[ty][4 tx] of [64][64], word by word"), 4);
    assert_eq!(count("tuning notes: shared_A[ty][4 tx] of [64][65], word by word"), 2);
}

/// The SGEMM ladder pads rows of 16 and 32 by one element. This removes the conflicts of its loads
/// of A and of its stores of B. Its loads of B had none. Its stores of A gain nothing: two rows of
/// 16 words share 14 banks instead of all.
#[test]
fn sgemm_ladder_padding_removes_some_conflicts() {
    for (case, unpadded, padded) in [
        ("sA[tidy][k]", 2, 1),
        ("sB[k][tidx]", 1, 1),
        ("sA[tidy][threadIdx.x]", 2, 2),
        ("sB[threadIdx.y][tidx]", 2, 1),
    ] {
        assert_eq!(count(&format!("SGEMM ladder, unpadded: {case}")), unpadded, "{case}");
        assert_eq!(count(&format!("SGEMM ladder, padded: {case}")), padded, "{case}");
    }
    assert_eq!(count("SGEMM ladder: sB[k][tidx] of [16][32] as float2"), 2);
}

/// The CuTe walk-through calls its reads of A a 4-way conflict, because eight threads access each
/// of four banks. But threads with a distance of eight read the same word: there are eight words,
/// two in each of four banks.
#[test]
fn cute_walk_through_a_by_its_formula_takes_two() {
    let name = "CuTe walk-through: A by its formula, 8 (tid mod 8)";
    assert_eq!(words_and_banks(name), (8, 4));
    assert_eq!(count(name), 2);
}

/// In the layout that the CuTe walk-through prints, `(_8,_16):(_8,_64)` from element `tid mod 8`
/// on, adjacent threads access adjacent words.
#[test]
fn cute_walk_through_by_its_printed_layout_takes_one() {
    assert_eq!(words_and_banks("CuTe walk-through: A by its printed layout, tid mod 8"), (8, 8));
    assert_eq!(count("CuTe walk-through: A by its printed layout, tid mod 8"), 1);
}

#[test]
fn cute_walk_through_b_is_a_broadcast() {
    assert_eq!(words_and_banks("CuTe walk-through: B by its formula, 8 (tid / 8)"), (4, 4));
    assert_eq!(count("CuTe walk-through: B by its formula, 8 (tid / 8)"), 1);
    assert_eq!(count("CuTe walk-through: B by its printed layout, tid / 8"), 1);
}

fn line(step: &SharedStep) -> String {
    format!(
        "{:8}{:2} {:2} bytes: {:5} accesses, {:6} wavefronts, ideal {:6}, worst {:2}",
        step.purpose.name(),
        step.operand.map_or(" ", Operand::name),
        step.worst.bytes(),
        step.accesses,
        step.wavefronts,
        step.ideal,
        wavefronts(&step.worst).wavefronts
    )
}

/// Returns the steps of a description that take more wavefronts than the ideal, with the ratio.
fn conflicts(desc: &GemmDesc) -> Vec<(&'static str, &'static str, f64)> {
    let steps = description_steps(desc).unwrap_or_else(|error| panic!("{error}: {desc:?}"));
    let name = |step: &SharedStep| step.operand.map_or("", Operand::name);
    steps
        .iter()
        .filter(|step| step.conflicts() > 0)
        .map(|step| (step.purpose.name(), name(step), step.ratio()))
        .collect()
}

/// Prints all shared-memory accesses of the ladder's rungs, and checks which of them have
/// conflicts. The padding of `V6` removes the conflicts of its loads, and adds some to stores that
/// had none.
#[test]
fn the_rungs_have_exactly_these_conflicts() {
    let mut found = Vec::new();
    for rung in ladder::rungs().expect("the ladder") {
        let ladder::Program::Gemm(desc) = rung.program else { continue };
        println!("{}", rung.name);
        for step in description_steps(&desc).expect("a rung") {
            println!("    {}", line(&step));
        }
        found.extend(
            conflicts(&desc)
                .into_iter()
                .map(|(step, operand, ratio)| (rung.name, step, operand, ratio)),
        );
    }
    let expected = [
        ("V3 2x2 per thread", "load", "A", 4.0),
        ("V4 4x4, vectors", "load", "A", 4.0),
        ("V5 double buffer", "load", "A", 4.0),
        ("V6 no conflicts", "store", "A", 2.0),
        ("V6 larger tile", "store", "A", 2.0),
        ("V6 larger tile", "store", "B", 2.0),
        ("64x64x64", "load", "A", 2.0),
        ("64x64x64, padded", "store", "A", 2.0),
        ("64x64x64, padded", "store", "B", 2.0),
        ("64x64x64, rolled", "load", "A", 2.0),
        ("128x128x8", "load", "A", 2.0),
        ("128x128x8", "load", "B", 2.0),
    ];
    assert_eq!(found, expected);
}

/// Returns whether one of the user's operands has `f64` elements and is transposed on its way to
/// shared memory.
fn turns_f64(desc: &GemmDesc, user: OperandKind) -> bool {
    let operand = desc.base().operand(user.enter(desc.frame));
    operand.element == ElementKind::F64 && operand.transposes()
}

/// Shipped kernels need the least possible number of wavefronts. For transposed stores of `f64`, a
/// padding of 16 bytes is too little: 16 lanes store four k indices at once, 32 bytes for each.
#[test]
fn only_transposed_f64_with_less_padding_has_bank_conflicts() {
    let mut colliding = 0;
    for desc in random_cases::shipped() {
        assert_eq!(conflicts(&desc), [], "{desc:?}");
        let of_user: Vec<_> =
            OperandKind::BOTH.into_iter().filter(|&user| turns_f64(&desc, user)).collect();
        if !of_user.is_empty() {
            let narrow = SmemLayout::Padded { along: Along::Mn, padding: 2 };
            let expected: Vec<_> = of_user.iter().map(|user| ("store", user.name(), 2.0)).collect();
            assert_eq!(
                conflicts(&but!(desc, smem_a: narrow, smem_b: narrow)),
                expected,
                "{desc:?}"
            );
            colliding += expected.len();
        }
    }
    assert!(colliding > 0);
}

/// Warp slices store their partials side by side in the order of threads, so each wavefront moves
/// 128 bytes.
#[test]
fn partials_have_no_conflicts() {
    let classic = random_cases::default_f32(ArchKind::Sm70, [Order::Row; 3]);
    let desc = but!(classic, threadblock: Mnk::new(64, 64, 24), warp: Mnk::new(32, 32, 8)).expect();
    let steps = description_steps(&desc).expect("steps");
    for purpose in [Purpose::EpilogueStore, Purpose::EpilogueLoad] {
        let step = steps.iter().find(|step| step.purpose == purpose).expect("K is sliced");
        // Two warp slices of four warps, with 32 partials per thread.
        assert_eq!(
            (step.operand, step.accesses, step.wavefronts, step.ideal),
            (None, 2 * 4 * 32, 2 * 4 * 32, 2 * 4 * 32)
        );
    }
}

/// Returns the wavefronts of a description's loads from the formulas of its maps, over every warp,
/// k-block, and vector.
fn loads(desc: &GemmDesc, operand: OperandKind) -> u64 {
    let (facts, fragment) =
        (desc.base().operand(operand), FragmentMap::new(desc.base().tiles, operand));
    let (width, bytes) = (facts.fragment_access(), facts.element.bytes_of(1));
    let mut sum = 0;
    for warp in 0..desc.threads() / 32 {
        let warp_slice = warp / (desc.base().tiles.threads_per_warp_slice() / 32);
        for group in 0..desc.warp().k {
            for element in (0..facts.thread_mn()).step_by(width as usize) {
                let lanes = (warp * 32..warp * 32 + 32).map(|thread| {
                    let offset = facts
                        .smem
                        .offset(fragment.mn(thread, element), warp_slice * desc.warp().k + group);
                    Some(u64::from(offset) * u64::from(bytes))
                });
                let access =
                    WarpAccess::new(Direction::Load, bytes * width, lanes).expect("aligned");
                sum += u64::from(wavefronts(&access).wavefronts);
            }
        }
    }
    sum
}

proptest! {
    #![proptest_config(random_cases::cases(64))]

    /// The wavefronts of a transposed store are the minimum for its words, for elements of at least
    /// 32 bits and for `f16` accumulators. This holds for any tile, access width, and number of
    /// threads, in the layout that the resolver selects.
    #[test]
    fn transposed_stores_have_no_conflicts(desc in random_cases::legal()) {
        let desc = but!(desc, smem_a: SmemLayout::Auto, smem_b: SmemLayout::Auto);
        prop_assume!(desc.check().is_ok() && (desc.operands[0].stored.bytes_of(1) >= 4 || desc.output.accumulator == ElementKind::F16));
        for (step, operand, ratio) in conflicts(&desc) {
            prop_assert!(step != "store", "{operand}: {ratio} times the wavefronts");
        }
    }

    /// The executor accesses the addresses of the maps: the wavefronts of loads are the sum over
    /// warps, k-blocks, and vectors.
    #[test]
    fn loads_equal_those_of_the_maps(desc in random_cases::legal()) {
        let steps = description_steps(&desc).unwrap();
        for operand in OperandKind::BOTH {
            let user = operand.leave(desc.frame);
            let step = steps.iter().find(|step| (step.purpose, step.operand) == (Purpose::Load, Some(Operand::from_kind(user)))).unwrap();
            prop_assert_eq!(step.wavefronts, loads(&desc, operand));
        }
    }
}
