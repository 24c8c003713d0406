//! Transposes on the host equal their definition, `D[i][j] = alpha A[j][i] + beta C[i][j]`, in
//! every bit and nowhere else.

use crate::harness::{
    prelude::*,
    transposes::{OnHost, named},
};

const CHECKED: OnHost = OnHost(Mode::Checked { seed: 3 });
const FAST: OnHost = OnHost(Mode::Fast);

/// Checks some problems of each description.
fn check(
    by: &dyn Transposer,
    descs: &[falchion::internals::pass::transpose::TransposeDesc],
    problems: u64,
) {
    let mut cases = 0;
    for (number, desc) in (0..).zip(descs) {
        for problem in 0..problems {
            let case = TransposeCase::random(desc, number * 1000 + problem);
            if let Err(why) = case.check(by, any_extents(*desc)) {
                panic!("{desc} {:?}: {why}\n{desc:?}\n{case:?}", desc.combine);
            }
            cases += 1;
        }
    }
    println!("{cases} transposes of {} descriptions", descs.len());
}

#[test]
fn the_checked_mode_is_the_definition_for_random_descriptions() {
    check(&CHECKED, &random_descriptions(250, 1), 2);
}

#[test]
fn the_fast_mode_is_the_definition_for_random_descriptions() {
    check(&FAST, &random_descriptions(250, 2), 8);
}

#[test]
fn both_modes_are_the_definition_for_every_description_that_the_resolver_and_the_ladder_give() {
    check(&CHECKED, &named(), 3);
    check(&FAST, &named(), 12);
}

#[test]
fn selected_transposes_equal_the_definition() {
    let mut cases = 0;
    for desc in named() {
        for seed in 0..12 {
            let case = TransposeCase::random(&desc, 77_000 + seed);
            case.check(&FAST, Choice::Auto).unwrap_or_else(|why| panic!("{why}\n{case:?}"));
            cases += 1;
        }
    }
    println!("{cases} transposes");
}
