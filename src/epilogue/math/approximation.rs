//! Functions of f32 without a correctly rounded instruction: exp, tanh, erf, and functions of them.
//!
//! Each function is one text. The macro compiles the text as Rust for the host, and spells it as
//! C++ for generated headers. The text uses multiplications, additions, fused multiply-adds,
//! correctly rounded reciprocals, and integer operations only, so host and device return the same
//! bits. The polynomials are minimax
//! fits of relative error.
//!
//! | function | largest error, in ulp of f32 |
//! |---|--:|
//! | `exp` | 0.91 |
//! | `erf` | 1.11 |
//! | `tanh` | 2.00 |
//! | `sigmoid` | 2.49 |
//!
//! The figures are of all inputs, relative to f64 functions (`all_inputs_are_within_the_errors`).
//! Below -87, `sigmoid` keeps its value at -87, about 1.6e-38.

#![allow(
    clippy::excessive_precision,
    clippy::approx_constant,
    reason = "the digits of the fits, which are also C++"
)]

use crate::numeric::Compute;
use core::num::Wrapping;

/// Bits of an f32 in integer arithmetic, which wraps.
type Word = Wrapping<u32>;

/// Returns an integer constant.
#[inline(always)]
const fn word(x: u32) -> Word {
    Wrapping(x)
}

/// Returns the bits of a number.
#[inline(always)]
const fn bits(x: f32) -> Word {
    Wrapping(x.to_bits())
}

/// Returns the number with these bits.
#[inline(always)]
const fn from_bits(x: Word) -> f32 {
    f32::from_bits(x.0)
}

/// Returns `x * y + z`, rounded once.
#[inline(always)]
fn fused(x: f32, y: f32, z: f32) -> f32 {
    x.mul_add(y, z)
}

/// Returns `1 / x`, correctly rounded, for x from 1 to 2^126.
#[inline(always)]
fn inverse(x: f32) -> f32 {
    1.0 / x
}

#[inline(always)]
fn select(condition: bool, x: f32, y: f32) -> f32 {
    if condition { x } else { y }
}

#[inline(always)]
fn abs(x: f32) -> f32 {
    x.abs()
}

#[inline(always)]
fn min(x: f32, y: f32) -> f32 {
    x.smaller(y)
}

#[inline(always)]
fn max(x: f32, y: f32) -> f32 {
    x.larger(y)
}

/// Returns the number, or the NaN that a GPU's arithmetic returns.
#[inline(always)]
fn with_device_nan(x: f32) -> f32 {
    if x.is_nan() { f32::from_bits(0x7fff_ffff) } else { x }
}

macro_rules! shared {
    ($($(#[doc = $doc:literal])* $visibility:vis fn $name:ident($($x:ident),+) { $(let $local:ident = $value:expr;)* $result:expr })*) => {
        $($(#[doc = $doc])*
        #[inline(always)]
        $visibility fn $name($($x: f32),+) -> f32 {
            $(let $local = $value;)*
            with_device_nan($result)
        })*

        /// Returns the functions as C++, in namespace `math`. They use functions of
        /// `kernels/epilogue/math.cuh`.
        pub(in crate::epilogue) fn cuda() -> String {
            let functions = [$(spell(
                stringify!($name),
                &[$(stringify!($x)),+],
                &[$((stringify!($local), stringify!($value))),*],
                stringify!($result),
            )),*];
            format!("namespace math {{\n{}}}\n", functions.concat())
        }
    };
}

/// Returns a function as C++: its name, parameters, local values, and result.
fn spell(name: &str, parameters: &[&str], locals: &[(&str, &str)], result: &str) -> String {
    let declared: Vec<_> = parameters.iter().map(|x| format!("float {x}")).collect();
    let mut text = format!("__device__ __forceinline__ float {name}({}) {{\n", declared.join(", "));
    let mut known = parameters.to_vec();
    for (local, value) in locals {
        // A name of Rust may be declared again; C++ assigns to it.
        let declaration = if known.contains(local) { "" } else { "auto " };
        text.push_str(&format!("  {declaration}{local} = {};\n", suffixed(value)));
        known.push(local);
    }
    text + &format!("  return {};\n}}\n", suffixed(result))
}

/// Returns a C++ expression with the suffix of `float` after each number that has a decimal point.
fn suffixed(expression: &str) -> String {
    let mut text = String::new();
    let mut number = String::new();
    for c in expression.chars().chain([' ']) {
        let in_exponent = number.ends_with('e') && c == '-';
        if c.is_ascii_digit()
            || !number.is_empty() && (c.is_alphanumeric() || c == '.' || in_exponent)
        {
            number.push(c);
            continue;
        }
        let is_real = number.contains('.') || number.contains("e-");
        text.push_str(&number);
        text.push_str(if is_real { "f" } else { "" });
        text.push(c);
        number.clear();
    }
    text.trim_end().to_owned()
}

shared! {
    /// Returns `x * log2(e)`, rounded to an integer, in the low bits: the sum is 1.5 * 2^23 plus
    /// the integer.
    fn shifted_exponent(x) {
        fused(x, 1.44269504, 12582912.0)
    }

    /// Returns `x - n * ln(2)`, where `shifted` is 1.5 * 2^23 + n.
    fn reduced(x, shifted) {
        let n = shifted - 12582912.0;
        let high = fused(n, -0.693147182, x);
        fused(n, 1.90465421e-9, high)
    }

    /// Returns e^r for |r| of at most ln(2) / 2.
    fn exp_of_reduced(r) {
        let q = fused(0.00138144886, r, 0.00836875402);
        let q = fused(q, r, 0.041668392);
        let q = fused(q, r, 0.166665203);
        let q = fused(q, r, 0.499999934);
        let q = fused(q, r, 1.0);
        fused(q, r, 1.0)
    }

    /// Returns 2^n for n from -126 to 127, where `shifted` is 1.5 * 2^23 + n.
    fn power(shifted) {
        from_bits((bits(shifted) << 23) + word(0x3f800000))
    }

    /// Returns e^x.
    pub(super) fn exp(x) {
        let x = min(max(x, -105.0), 89.0);
        let shifted = shifted_exponent(x);
        let r = exp_of_reduced(reduced(x, shifted));
        let n = bits(shifted) - word(0x4b3fff00);
        let half = n >> 1;
        let low = from_bits((half - word(1)) << 23);
        let high = from_bits((n - half - word(1)) << 23);
        r * low * high
    }

    /// Returns 1 / (1 + e^-x).
    pub(super) fn sigmoid(x) {
        let x = min(max(x, -87.0), 87.0);
        let shifted = shifted_exponent(-x);
        let r = exp_of_reduced(reduced(-x, shifted));
        inverse(fused(r, power(shifted), 1.0))
    }

    /// Returns the hyperbolic tangent of x: with E = e^|2x| - 1, it is E / (E + 2).
    pub(super) fn tanh(x) {
        let half = min(abs(x), 9.2);
        let y = half + half;
        let shifted = shifted_exponent(y);
        let r = reduced(y, shifted);
        let q = fused(0.0013946424, r, 0.00836662008);
        let q = fused(q, r, 0.0416662824);
        let q = fused(q, r, 0.166665427);
        let q = fused(q, r, 0.500000006);
        let p = fused(q, r * r, r);
        let scale = power(shifted);
        let e = fused(scale, p, scale - 1.0);
        let divisor = e + 2.0;
        let reciprocal = inverse(divisor);
        let quotient = e * reciprocal;
        let rest = fused(quotient, -2.0, fused(-quotient, e, e));
        let sign = from_bits(word(0x3f800000) | (bits(x) & word(0x80000000)));
        sign * fused(rest, reciprocal, quotient)
    }

    /// Returns the error function of x.
    pub(super) fn erf(x) {
        let s = x * x;
        let p = fused(0.0000785386374, s, -0.000801019542);
        let p = fused(p, s, 0.00518832804);
        let p = fused(p, s, -0.0268538122);
        let p = fused(p, s, 0.112835852);
        let p = fused(p, s, -0.376126258);
        let p = fused(p, s, 0.128379166);
        let small = fused(x, p, x);
        let a = min(abs(x), 3.95);
        let q = fused(0.0000216975317, a, -0.000441471712);
        let q = fused(q, a, 0.00420528024);
        let q = fused(q, a, -0.025210328);
        let q = fused(q, a, 0.108422082);
        let q = fused(q, a, 0.633216412);
        let q = fused(q, a, 1.1295803);
        let q = fused(q, a, -0.000188466376);
        let shifted = shifted_exponent(-q);
        let r = exp_of_reduced(reduced(-q, shifted));
        let large = fused(-r, power(shifted), 1.0);
        let large = from_bits(bits(large) | (bits(x) & word(0x80000000)));
        select(abs(x) > 1.0, large, small)
    }

    /// Returns x * sigmoid(x), also called swish. Below -100, it keeps its value at -100, about
    /// -1.6e-36.
    pub(super) fn silu(x) {
        max(x, -100.0) * sigmoid(x)
    }

    /// Returns x * (1 + erf(x / sqrt(2))) / 2.
    pub(super) fn gelu(x) {
        let half = 0.5 * max(x, -100.0);
        fused(half, erf(x * 0.707106781), half)
    }

    /// Returns the argument y of the approximation of GELU by x * sigmoid(y).
    fn gelu_argument(x) {
        x * fused(0.071354816, x * x, 1.59576912)
    }

    /// Returns x * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 x^3))) / 2, as x / (1 + 2^t). Below -9.9,
    /// it keeps its value at -9.9, about -1.2e-36, and from 9.9 on, it is x.
    pub(super) fn gelu_tanh(x) {
        let x = max(x, -9.9);
        let y = min(x, 9.9);
        let p = fused(-0.10294324, y * y, -2.3022082);
        let shifted = fused(y, p, 12582912.0);
        let n = shifted - 12582912.0;
        let f = fused(y, p, -n);
        let q = fused(0.00132764836, f, 0.00967561338);
        let q = fused(q, f, 0.055507137);
        let q = fused(q, f, 0.240221184);
        let q = fused(q, f, 0.693146967);
        let q = fused(q, f, 1.00000007);
        x * inverse(fused(q, power(shifted), 1.0))
    }

    /// Returns the derivative of `silu` at x.
    pub(super) fn silu_grad(x) {
        let s = sigmoid(x);
        s * fused(min(max(x, -100.0), 100.0), 1.0 - s, 1.0)
    }

    /// Returns the derivative of `gelu` at x.
    pub(super) fn gelu_grad(x) {
        let x = min(max(x, -14.0), 14.0);
        let cumulative = fused(0.5, erf(x * 0.707106781), 0.5);
        fused(x * 0.39894228, exp(-0.5 * x * x), cumulative)
    }

    /// Returns the derivative of `gelu_tanh` at x.
    pub(super) fn gelu_tanh_grad(x) {
        let x = min(max(x, -10.0), 10.0);
        let s = sigmoid(gelu_argument(x));
        s * fused(x * fused(0.214064448, x * x, 1.59576912), 1.0 - s, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::prelude::*;

    type Function = (&'static str, fn(f32) -> f32, fn(f64) -> f64, f64);

    /// Functions, their references in f64, and their largest errors in ulp of f32.
    const FUNCTIONS: [Function; 4] = [
        ("exp", exp, f64::exp, 0.91),
        ("tanh", tanh, f64::tanh, 2.0),
        ("erf", erf, libm::erf, 1.11),
        ("sigmoid", sigmoid, |x| 1.0 / (1.0 + (-x.max(-87.0)).exp()), 2.49),
    ];

    /// Returns the largest error over every `step`-th input, in ulp of the reference.
    fn largest_error(f: fn(f32) -> f32, reference: fn(f64) -> f64, step: usize) -> f64 {
        let error = |bits: u32| {
            let x = f32::from_bits(bits);
            let (value, wanted) = (f(x), reference(f64::from(x)));
            if x.is_nan() {
                assert_eq!(value.to_bits(), 0x7fff_ffff, "of NaN {bits:#x}");
                return 0.0;
            }
            // Halfway between the largest number and 2^128.
            if wanted.abs() >= 3.402_823_567_797_336_6e38 {
                assert_eq!(f64::from(value), f64::INFINITY.copysign(wanted), "{x:e}");
                return 0.0;
            }
            let binade = wanted.abs().max(2f64.powi(-126)).to_bits() & (0x7ff << 52);
            (f64::from(value) - wanted).abs() / (f64::from_bits(binade) * 2f64.powi(-23))
        };
        let inputs = (0..(1usize << 32).div_ceil(step)).into_par_iter();
        inputs.map(|i| error((i * step) as u32)).reduce(|| 0.0, f64::max)
    }

    #[test]
    fn errors_of_some_inputs_are_as_documented() {
        for (name, f, reference, limit) in FUNCTIONS {
            let error = largest_error(f, reference, 65_537);
            assert!(error <= limit && error > 0.5 * limit, "{name}: {error} ulp");
        }
    }

    #[test]
    #[ignore = "takes minutes; run it after a change of a polynomial, in release mode"]
    fn all_inputs_are_within_the_errors() {
        for (name, f, reference, limit) in FUNCTIONS {
            let error = largest_error(f, reference, 1);
            println!("{name}: {error:.4} ulp");
            assert!(error <= limit && error > limit - 0.01, "{name}: {error} ulp");
        }
    }

    #[test]
    fn limits_of_functions_are_right() {
        let (inf, max) = (f32::INFINITY, f32::MAX);
        for (name, f, below, above) in [
            ("exp", exp as fn(f32) -> f32, 0.0, inf),
            ("tanh", tanh, -1.0, 1.0),
            ("erf", erf, -1.0, 1.0),
            ("sigmoid", sigmoid, 0.0, 1.0),
            ("silu", silu, 0.0, inf),
            ("gelu", gelu, 0.0, inf),
            ("gelu_tanh", gelu_tanh, 0.0, inf),
            ("silu_grad", silu_grad, 0.0, 1.0),
            ("gelu_grad", gelu_grad, 0.0, 1.0),
            ("gelu_tanh_grad", gelu_tanh_grad, 0.0, 1.0),
        ] {
            for x in [inf, max, 1e20] {
                assert!((f(-x) - below).abs() < 1e-35, "{name}({}) = {}", -x, f(-x));
                let wanted = if above == inf && name != "exp" { x } else { above };
                assert_eq!(f(x), wanted, "{name}({x})");
            }
            assert!(f(f32::NAN).is_nan(), "{name}");
        }
    }

    #[test]
    fn numbers_of_shared_functions_have_the_suffix_of_float() {
        assert_eq!(
            suffixed("fused(x, -0.5, 1.9e-9) - word(0x1fe)"),
            "fused(x, -0.5f, 1.9e-9f) - word(0x1fe)"
        );
        assert!(cuda().contains("float power(float shifted) {\n  return from_bits("));
        assert!(cuda().contains("  q = fused(q, r, 0.041668392f);\n"), "{}", cuda());
    }
}
