//! Transposes on the host equal their definition, `D[i][j] = alpha A[j][i] + beta C[i][j]`, bit by
//! bit, and write nothing else.

use crate::harness::{
    prelude::*,
    transposes::{OnHost, check_each, named},
};

const CHECKED: OnHost = OnHost(Mode::Checked { seed: 3 });
const FAST: OnHost = OnHost(Mode::Fast);

#[test]
fn the_checked_mode_equals_the_definition_for_random_descriptions() {
    check_each(&CHECKED, &random_descriptions(250, 1), 2, any_extents);
}

#[test]
fn the_fast_mode_equals_the_definition_for_random_descriptions() {
    check_each(&FAST, &random_descriptions(250, 2), 8, any_extents);
}

#[test]
fn both_modes_equal_the_definition_for_resolved_and_ladder_descriptions() {
    check_each(&CHECKED, &named(), 3, any_extents);
    check_each(&FAST, &named(), 12, any_extents);
}

#[test]
fn selected_transposes_equal_the_definition() {
    check_each(&FAST, &named(), 12, |_| Choice::Auto);
}
