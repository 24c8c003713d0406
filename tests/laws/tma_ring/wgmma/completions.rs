//! Completions of kernels with `wgmma`.

use crate::{completions::check_selection_time, harness::prelude::*};

/// Host time of a selection for fp8, which only `wgmma` multiplies on Hopper.
#[test]
#[ignore = "measures time: run by name, in release"]
fn choosing_fp8_costs_less_than_a_microsecond() {
    let e4m3 = HopperK::<E4m3, Bf16>::new();
    check_selection_time("e4m3", &|size, machine| e4m3.desc_for(size, machine));
}
