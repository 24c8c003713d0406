//! User transforms of operands.

use crate::harness::prelude::*;
use core::marker::PhantomData;

/// Multiplies elements of type `S` by 0.3, which rounds, and rounds the products to `M`.
pub struct Scaled<S, M>(PhantomData<(S, M)>);

impl<S: MathType, M: MathType> Transform for Scaled<S, M> {
    const NAME: &'static str = "scaled";
    type Stored = S;
    type Multiplied = M;
    const CUDA: &'static str = "0.3f * x // a comment";
    fn host(x: f32) -> f32 {
        0.3 * x
    }
}

/// Magnitudes of elements of type `S` as elements of type `M`.
pub struct Magnitude<S, M>(PhantomData<(S, M)>);

impl<S: MathType, M: MathType> Transform for Magnitude<S, M> {
    const NAME: &'static str = "magnitude";
    type Stored = S;
    type Multiplied = M;
    const CUDA: &'static str = "x < 0.0f ? -x : x";
    fn host(x: f32) -> f32 {
        if x < 0.0 { -x } else { x }
    }
}

/// Returns the words of a transform in a request.
pub fn transform_words<T: Transform>() -> String {
    falchion::numeric::register_transform::<T>().to_string()
}
