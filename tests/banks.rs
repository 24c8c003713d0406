//! The seeds' accesses at their true counts, and every access of the shipped kernels.

use falchion::banks::{
    WarpAccess,
    cases::{Case, cases},
    wavefronts,
};
use std::collections::BTreeSet;

fn access(name: &str) -> WarpAccess {
    let of_name = |case: &Case| case.name == name;
    cases().expect("cases").into_iter().find(of_name).unwrap_or_else(|| panic!("no case is called {name}")).access
}

fn count(name: &str) -> u32 {
    wavefronts(&access(name)).wavefronts
}

/// Words that an access touches, and banks that they lie on.
fn words_and_banks(name: &str) -> (usize, usize) {
    let access = access(name);
    let words: BTreeSet<u64> = (0..32).flat_map(|lane| access.words(lane)).collect();
    (words.len(), words.iter().map(|word| word % 32).collect::<BTreeSet<_>>().len())
}

#[test]
fn seed_3_a_column_of_32_takes_32_and_of_33_one() {
    assert_eq!(count("seed 3: column of [32][32]"), 32);
    assert_eq!(count("seed 3: column of [32][33]"), 1);
    assert_eq!(count("seed 3: row of [32][33]"), 1);
}

/// The seed says that `shared_A[ty][k]` is a broadcast and free of conflicts. It is a broadcast to each half of the warp; but a
/// block of 16 x 16 has two rows `ty` in a warp, 64 words apart: two words on one bank.
#[test]
fn seed_3_the_broadcast_of_a_is_two_words_on_one_bank() {
    let name = "seed 3: shared_A[ty][k] of [64][64]";
    assert_eq!(words_and_banks(name), (2, 1));
    assert_eq!(count(name), 2);
    assert_eq!(count("seed 3: shared_B[k][tx] of [64][64]"), 1);
}

/// What the padding to `[64][65]` does to seed 3's stores: word by word they take two wavefronts instead of four, which is eight
/// for four words; as one `float4`, which padding forbids, four.
#[test]
fn seed_3_padding_takes_the_vectors_apart() {
    assert_eq!(count("seed 3: shared_A[ty][4 tx] of [64][64], as float4"), 4);
    assert_eq!(count("seed 3: shared_A[ty][4 tx] of [64][64], word by word"), 4);
    assert_eq!(count("seed 3: shared_A[ty][4 tx] of [64][65], word by word"), 2);
}

/// Seed 1 pads rows of 16 and 32 by one element. Its loads of A become free, its stores of B too; its loads of B were free, and
/// its stores of A, two rows of 16 that overlap by a bank, gain nothing.
#[test]
fn seed_1_what_padding_changes() {
    for (case, unpadded, padded) in
        [("sA[tidy][k]", 2, 1), ("sB[k][tidx]", 1, 1), ("sA[tidy][threadIdx.x]", 2, 2), ("sB[threadIdx.y][tidx]", 2, 1)]
    {
        assert_eq!(count(&format!("seed 1, unpadded: {case}")), unpadded, "{case}");
        assert_eq!(count(&format!("seed 1, padded: {case}")), padded, "{case}");
    }
    assert_eq!(count("seed 1: sB[k][tidx] of [16][32] as float2"), 2);
}

/// Seed 4 calls its reads of A a 4-way conflict, for eight threads fall on each of four banks. But threads eight apart read the
/// same word: there are eight words, two on each of four banks.
#[test]
fn seed_4_a_by_its_formula_takes_two() {
    let name = "seed 4: A by its formula, 8 (tid mod 8)";
    assert_eq!(words_and_banks(name), (8, 4));
    assert_eq!(count(name), 2);
}

/// The layout that seed 4 prints, `(_8,_16):(_8,_64)` from element `tid mod 8` on, has neighbouring threads on neighbouring words.
#[test]
fn seed_4_by_its_printed_layout_takes_one() {
    assert_eq!(words_and_banks("seed 4: A by its printed layout, tid mod 8"), (8, 8));
    assert_eq!(count("seed 4: A by its printed layout, tid mod 8"), 1);
}

#[test]
fn seed_4_b_is_a_broadcast() {
    assert_eq!(words_and_banks("seed 4: B by its formula, 8 (tid / 8)"), (4, 4));
    assert_eq!(count("seed 4: B by its formula, 8 (tid / 8)"), 1);
    assert_eq!(count("seed 4: B by its printed layout, tid / 8"), 1);
}
