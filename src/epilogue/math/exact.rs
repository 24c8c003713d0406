//! Functions whose operations are exact or correctly rounded: host functions for every compute
//! type, and for f32 and f64.

use crate::numeric::Compute;

/// Numbers with division and square roots.
pub(super) trait Float: Compute + core::ops::Div<Output = Self> + From<f32> {
    fn root(self) -> Self;
}

impl Float for f32 {
    #[inline(always)]
    fn root(self) -> Self {
        self.sqrt()
    }
}

impl Float for f64 {
    #[inline(always)]
    fn root(self) -> Self {
        self.sqrt()
    }
}

#[inline(always)]
pub(super) fn neg<E: Compute>(x: E) -> E {
    x.negated()
}

#[inline(always)]
pub(super) fn relu<E: Compute>(x: E) -> E {
    x.larger(E::default())
}

#[inline(always)]
pub(super) fn relu_grad<E: Compute>(x: E) -> E {
    E::from_scalar(if x > E::default() { 1.0 } else { 0.0 })
}

#[inline(always)]
pub(super) fn abs<E: Compute>(x: E) -> E {
    x.absolute()
}

#[inline(always)]
pub(super) fn add<E: Compute>(x: E, y: E) -> E {
    x.plus(y)
}

#[inline(always)]
pub(super) fn subtract<E: Compute>(x: E, y: E) -> E {
    x.minus(y)
}

#[inline(always)]
pub(super) fn multiply<E: Compute>(x: E, y: E) -> E {
    x.times(y)
}

#[inline(always)]
pub(super) fn min<E: Compute>(x: E, y: E) -> E {
    x.smaller(y)
}

#[inline(always)]
pub(super) fn max<E: Compute>(x: E, y: E) -> E {
    x.larger(y)
}

#[inline(always)]
pub(super) fn sqrt<E: Float>(x: E) -> E {
    x.root()
}

#[inline(always)]
pub(super) fn rsqrt<E: Float>(x: E) -> E {
    E::from(1.0) / x.root()
}

#[inline(always)]
pub(super) fn divide<E: Float>(x: E, y: E) -> E {
    x / y
}

#[inline(always)]
pub(super) fn hardswish<E: Float>(x: E) -> E {
    let ramp = x.plus(E::from(3.0)).larger(E::default()).smaller(E::from(6.0));
    // The ramp is scaled first, so that no large x overflows.
    x.times(ramp.times(E::from(1.0) / E::from(6.0)))
}

#[inline(always)]
pub(super) fn leaky_relu<E: Float>(x: E, slope: E) -> E {
    if x < E::default() { slope.times(x) } else { x }
}
