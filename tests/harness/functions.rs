//! User functions that also have an f64 version.

use crate::harness::prelude::*;

/// Adds a term to x² that an f32 sum loses if x is near 1.
pub struct NearSquare;

impl Function for NearSquare {
    const NAME: &'static str = "near_square";
    const CUDA: &'static str = "x * x + 1e-12f";
    fn host(x: f32) -> f32 {
        x * x + 1e-12
    }
    const F64: Option<F64Function> =
        Some(F64Function { cuda: "x * x + 1e-12", host: |x| x * x + 1e-12 });
}

/// Halves x. Conversion to an integer rounds ties to even.
pub struct HalvedInBoth;

impl Function for HalvedInBoth {
    const NAME: &'static str = "halved";
    const CUDA: &'static str = "0.5f * x";
    fn host(x: f32) -> f32 {
        0.5 * x
    }
    const F64: Option<F64Function> = Some(F64Function { cuda: "0.5 * x", host: |x| 0.5 * x });
}
