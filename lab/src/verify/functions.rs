//! Mathematical functions of epilogues on estimates: the value in binary64, and its largest error.
//!
//! `e` is the error of the operand, `u` the unit roundoff, and `L` a bound of the derivative. The
//! own error of an approximation is a documented number of ulps, or follows from its formula. The
//! references for exp, tanh, and erf are the standard library and `libm`, not the functions under
//! test.

use super::bound::Estimate;
use falchion::epilogue::MathFunction;

/// Relative error of one ulp of binary32, and the largest absolute error of functions that keep
/// their value beyond an operand of -87, -100, or -10.
const ULP: f64 = 1.0 / (1u32 << 23) as f64;
const FLOOR: f64 = 4e-36;

/// Returns the function of estimates. `rounding` rounds a value with an error once, to the nearest
/// number of the epilogue's arithmetic.
pub(super) fn estimate(
    function: MathFunction,
    x: Estimate,
    y: Estimate,
    rounding: impl Fn(f64, f64) -> Estimate,
) -> Estimate {
    let (ex, ey) = (decided(x), decided(y));
    let (vx, vy) = (x.value, y.value);
    match function {
        MathFunction::Add => rounding(vx + vy, x.error + y.error),
        MathFunction::Subtract => rounding(vx - vy, x.error + y.error),
        MathFunction::Multiply if vx.is_infinite() && may_be_zero(y) => unknown(),
        MathFunction::Multiply if vy.is_infinite() && may_be_zero(x) => unknown(),
        MathFunction::Multiply => {
            rounding(vx * vy, vx.abs() * y.error + vy.abs() * x.error + x.error * y.error)
        }
        MathFunction::Divide if may_be_zero(y) || vy == 0.0 && may_be_zero(x) => unknown(),
        MathFunction::Divide => {
            let quotient = vx / vy;
            let exact = ex == 0.0 && ey == 0.0;
            let spread = (ex + quotient.abs() * ey) / (vy.abs() - ey);
            rounding(quotient, if exact { 0.0 } else { spread })
        }
        MathFunction::Negate => Estimate::within(-vx, ex),
        MathFunction::Relu => Estimate::within(larger(vx, 0.0), ex),
        MathFunction::Absolute => Estimate::within(vx.abs(), ex),
        MathFunction::Minimum => Estimate::within(-larger(-vx, -vy), ex.max(ey)),
        MathFunction::Maximum => Estimate::within(larger(vx, vy), ex.max(ey)),
        MathFunction::ReluGrad => {
            let value = if vx > 0.0 { 1.0 } else { 0.0 };
            Estimate::within(value, if vx.abs() <= ex && ex > 0.0 { 1.0 } else { 0.0 })
        }
        MathFunction::SquareRoot if ex > 0.0 && vx - ex < 0.0 && vx + ex >= 0.0 => unknown(),
        MathFunction::SquareRoot => rounding(vx.sqrt(), vx.sqrt() - (vx - ex).sqrt()),
        MathFunction::InverseSquareRoot if ex > 0.0 && vx - ex <= 0.0 && vx + ex >= 0.0 => {
            unknown()
        }
        MathFunction::InverseSquareRoot => {
            let value = 1.0 / vx.sqrt();
            // The root is rounded, too.
            let once = rounding(value, 1.0 / (vx - ex).sqrt() - value);
            rounding(value, once.error)
        }
        MathFunction::HardSwish => {
            let ramp = -larger(-larger(vx + 3.0, 0.0), -6.0);
            let once = rounding(vx * ramp / 6.0, 1.5 * ex);
            // The sum and three products are rounded; in [-3, 3], the sum's rounding scales x.
            let own = 4.0 * (once.error - 1.5 * ex) + rounding(vx, 0.0).error;
            Estimate::within(once.value, 1.5 * ex + own)
        }
        MathFunction::LeakyRelu => {
            let value = if vx < 0.0 { vy * vx } else { vx };
            let error = larger(1.0, vy.abs() + ey) * ex + (vx.abs() + ex) * ey;
            rounding(value, if vx - ex >= 0.0 { ex } else { error })
        }
        MathFunction::Exp => {
            let value = vx.exp();
            Estimate::within(value, value * ex.exp_m1() + ulps(1.0, value * ex.exp()))
        }
        MathFunction::Tanh => smooth(vx.tanh(), ex, 1.0, ulps(2.0, vx.tanh())),
        MathFunction::Erf => smooth(libm::erf(vx), ex, 1.13, ulps(1.2, libm::erf(vx))),
        MathFunction::Sigmoid => smooth(sigmoid(vx), ex, 0.25, ulps(2.5, sigmoid(vx)) + FLOOR),
        MathFunction::Silu => {
            let value = product(vx, sigmoid(vx));
            smooth(value, ex, 1.1, ulps(4.0, value) + FLOOR)
        }
        MathFunction::Gelu => {
            let value = product(vx, cumulative(vx));
            let own = if vx < 0.0 { vx.abs().min(6.0) } else { vx };
            smooth(value, ex, 1.13, 2.0 * ULP * own + FLOOR)
        }
        MathFunction::GeluTanh => {
            let value = product(vx, sigmoid(gelu_argument(vx)));
            let own = 4.0 + 3.0 * gelu_argument(vx).abs().min(90.0);
            smooth(value, ex, 1.13, ulps(own, value) + FLOOR)
        }
        MathFunction::SiluGrad => {
            let s = sigmoid(vx);
            let value = s + product(vx, s * (1.0 - s));
            smooth(
                value,
                ex,
                0.5,
                ulps(4.0, value) + ULP * s * vx.abs().min(20.0) * (3.0 * s + 1.0) + FLOOR,
            )
        }
        MathFunction::GeluGrad => {
            let density = (-0.5 * vx * vx).exp() * 0.398_942_280_401_432_7;
            smooth(cumulative(vx) + product(vx, density), ex, 0.8, 8.0 * ULP)
        }
        MathFunction::GeluTanhGrad => {
            let s = sigmoid(gelu_argument(vx));
            let slope = 1.595_769_121_605_73 + 3.0 * 0.071_354_816_272_600_25 * vx * vx;
            smooth(s + product(vx * slope, s * (1.0 - s)), ex, 0.9, 16.0 * ULP)
        }
    }
}

/// Returns whether a number with an error may be 0 or have the other sign.
fn may_be_zero(x: Estimate) -> bool {
    x.error > 0.0 && x.value.abs() <= x.error
}

/// Returns the estimate of a value that may be any number or NaN.
fn unknown() -> Estimate {
    Estimate::within(0.0, f64::INFINITY)
}

/// Returns the error of an operand. Some functions turn infinities into finite numbers, so an
/// operand that may overflow has an infinite error.
fn decided(x: Estimate) -> f64 {
    if x.overflows { f64::INFINITY } else { x.error }
}

/// Returns the value of a function with a bounded derivative, for an operand with an error.
fn smooth(value: f64, error: f64, derivative: f64, own: f64) -> Estimate {
    Estimate::within(value, derivative * error + own)
}

/// Returns the error of `count` ulps of binary32.
fn ulps(count: f64, value: f64) -> f64 {
    count * (ULP * value.abs() + 2f64.powi(-149))
}

/// Returns the larger number, or NaN if one is NaN.
fn larger(x: f64, y: f64) -> f64 {
    if x.is_nan() || y.is_nan() { f64::NAN } else { x.max(y) }
}

/// Returns the product, where 0 times infinity is 0: the limit of the functions that use it.
fn product(x: f64, y: f64) -> f64 {
    if y == 0.0 && !x.is_nan() { 0.0 } else { x * y }
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

fn cumulative(x: f64) -> f64 {
    0.5 * libm::erfc(-x * core::f64::consts::FRAC_1_SQRT_2)
}

/// Returns the argument y for which x * sigmoid(y) is the approximation of GELU with tanh.
fn gelu_argument(x: f64) -> f64 {
    x * (1.595_769_121_605_73 + 0.071_354_816_272_600_25 * x * x)
}
