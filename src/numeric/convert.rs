//! Conversions between storage, accumulator, and epilogue types, with the rounding of the device.
//!
//! Twin: the overloads `widen` and `narrow` of `kernels/numeric.cuh`.

use super::{Bf16, E4m3, E5m2, F16, Saturating};

/// Exact conversion from storage to a wider type.
pub trait Widen<To> {
    /// Returns the number in the wider type.
    fn widen(self) -> To;
}

/// Conversion from an epilogue's compute type to storage: to nearest, ties to even.
///
/// | type | beyond the largest number | NaN |
/// |---|---|---|
/// | f64, f32, f16, bf16 | infinity | NaN |
/// | e4m3, e5m2 | the largest number of that sign, also for infinity | `0x7f`, whatever its sign |
/// | integers | the end of the range | 0 |
///
/// The fp8 conversion matches PTX's `cvt.rn.satfinite` (PTX ISA, section "cvt").
pub trait Narrow<To> {
    /// Returns the nearest number of the narrower type.
    fn narrow(self) -> To;
}

macro_rules! widen {
    ($($from:ty => $to:ty, |$x:ident| $how:expr;)*) => {
        $(impl Widen<$to> for $from {
            #[inline(always)]
            fn widen(self) -> $to {
                let $x = self;
                $how
            }
        })*
    };
}

widen! {
    f64 => f64, |x| x;
    f32 => f32, |x| x;
    F16 => F16, |x| x;
    F16 => f32, |x| x.to_f32();
    Bf16 => f32, |x| x.to_f32();
    E4m3 => f32, |x| x.to_f32();
    E5m2 => f32, |x| x.to_f32();
    i8 => i32, |x| i32::from(x);
    u8 => i32, |x| i32::from(x);
    i32 => i32, |x| x;
    i8 => Saturating, |x| Saturating(i32::from(x));
    u8 => Saturating, |x| Saturating(i32::from(x));
    // Conversion for epilogues in binary32: the only widening that rounds (to nearest).
    i32 => f32, |x| x as f32;
    i8 => f32, |x| f32::from(x);
    u8 => f32, |x| f32::from(x);
}

macro_rules! narrow {
    ($($from:ty => $to:ty, |$x:ident| $how:expr;)*) => {
        $(impl Narrow<$to> for $from {
            #[inline(always)]
            fn narrow(self) -> $to {
                let $x = self;
                $how
            }
        })*
    };
}

narrow! {
    f64 => f64, |x| x;
    f32 => f32, |x| x;
    f32 => F16, |x| F16::from_f32(x);
    f32 => Bf16, |x| Bf16::from_f32(x);
    f32 => E4m3, |x| f64::from(x).narrow();
    f32 => E5m2, |x| f64::from(x).narrow();
    f32 => i32, |x| x.round_ties_even() as i32;
    f32 => i8, |x| x.round_ties_even() as i8;
    f32 => u8, |x| x.round_ties_even() as u8;
    i32 => i32, |x| x;
    i32 => i8, |x| x.clamp(-128, 127) as i8;
    i32 => u8, |x| x.clamp(0, 255) as u8;
    // Conversions for files and references. They round to odd first, because a number near a tie of
    // the narrower type would otherwise round twice.
    f64 => f32, |x| x as f32;
    f64 => F16, |x| F16::from_f32(round_to_odd(x));
    f64 => Bf16, |x| Bf16::from_f32(round_to_odd(x));
    f64 => E4m3, |x| if x.is_nan() { E4m3::from_bits(FP8_NAN) } else { E4m3::from_f64(x) };
    f64 => E5m2, |x| if x.is_nan() { E5m2::from_bits(FP8_NAN) } else { E5m2::from_f64(x) };
    f64 => i32, |x| x.round_ties_even() as i32;
    f64 => i8, |x| x.round_ties_even() as i8;
    f64 => u8, |x| x.round_ties_even() as u8;
}

/// NaN of both 8-bit types.
const FP8_NAN: u8 = 0x7f;

/// Converts to binary32 and sets the last bit if any bit was cut off (round to odd). A second
/// rounding to a narrower type then rounds correctly.
#[inline(always)]
pub fn round_to_odd(x: f64) -> f32 {
    let near = x as f32;
    let back = f64::from(near);
    if back == x || !near.is_finite() || near.to_bits() & 1 == 1 {
        return near;
    }
    // Rounding to nearest returned an even neighbor; the other neighbor of x is odd.
    let bits = near.to_bits();
    let away = (back.abs() < x.abs()) as u32;
    f32::from_bits(if away == 1 { bits + 1 } else { bits - 1 })
}
