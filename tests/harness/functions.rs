//! Functions of a user's that have one of f64, too.

use falchion::epilogue::{F64Function, Function};

/// A sum whose second term no `f32` beside 1 has room for.
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

/// A half: of an integer the even one, where two are as near.
pub struct HalvedInBoth;

impl Function for HalvedInBoth {
    const NAME: &'static str = "halved";
    const CUDA: &'static str = "0.5f * x";
    fn host(x: f32) -> f32 {
        0.5 * x
    }
    const F64: Option<F64Function> = Some(F64Function { cuda: "0.5 * x", host: |x| 0.5 * x });
}
