//! Elements as binary64 numbers, for types that are run-time values.
//!
//! Every number of every element type is a binary64 number, so reading is exact. Writing rounds to
//! nearest, ties to even.

use falchion::{
    Error,
    internals::{
        operand::{HostSlice, HostSliceMut},
        round_to_odd,
    },
    numeric::{Bf16, E4m3, E5m2, ElementKind, F16, MathType, Narrow, Tf32},
};

/// An element type whose numbers are binary64 numbers.
pub(crate) trait Number: MathType {
    /// The poison of untouched memory: NaN, or the integer farthest from the integers of a
    /// [`Fill`](super::Fill).
    const POISON: Self::Storage;
    /// Returns the number of an element.
    fn exact(stored: Self::Storage) -> f64;
    /// Returns the nearest element, rounded as [`Narrow`] rounds. Tf32 keeps 10 fraction bits.
    fn nearest(x: f64) -> Self::Storage;
    /// Returns the infinity of this sign, if the type has one that [`nearest`](Self::nearest) never
    /// returns.
    fn infinity(_negative: bool) -> Option<Self::Storage> {
        None
    }
    /// Returns the element for a number from the user. An infinity stays an infinity.
    fn given(x: f64) -> Self::Storage {
        Self::infinity(x < 0.0).filter(|_| x.is_infinite()).unwrap_or_else(|| Self::nearest(x))
    }
}

macro_rules! numbers {
    ($($number:ty, $poison:expr, |$x:ident| $exact:expr, |$y:ident| $nearest:expr $(, infinity $infinity:expr)?;)*) => {
        $(impl Number for $number {
            const POISON: Self::Storage = $poison;
            #[inline(always)]
            fn exact($x: Self::Storage) -> f64 {
                $exact
            }
            #[inline(always)]
            fn nearest($y: f64) -> Self::Storage {
                $nearest
            }
            $(fn infinity(negative: bool) -> Option<Self::Storage> {
                Some($infinity(negative))
            })?
        })*
    };
}

numbers! {
    f64,  f64::NAN,              |x| x,             |y| y;
    f32,  f32::NAN,              |x| f64::from(x),  |y| y.narrow();
    Tf32, f32::NAN,              |x| f64::from(x),  |y| Tf32::nearest(round_to_odd(y));
    F16,  F16::NAN,              |x| x.to_f64(),    |y| y.narrow();
    Bf16, Bf16::NAN,             |x| x.to_f64(),    |y| y.narrow();
    E4m3, E4m3::from_bits(0x7f), |x| x.to_f64(),    |y| y.narrow();
    E5m2, E5m2::from_bits(0x7f), |x| x.to_f64(),    |y| y.narrow(), infinity |negative| E5m2::from_bits(if negative { 0xfc } else { 0x7c });
    i8,   i8::MIN,               |x| f64::from(x),  |y| y.narrow();
    u8,   u8::MAX,               |x| f64::from(x),  |y| y.narrow();
    i32,  i32::MIN + 1,          |x| f64::from(x),  |y| y.narrow();
}

/// Expands to `$body`, in which `$E` is the element type `$kind`.
macro_rules! with_element {
    ($kind:expr, $E:ident => $body:expr) => {{
        use falchion::numeric::{Bf16, E4m3, E5m2, ElementKind, F16, Tf32};
        macro_rules! arm {
            ($type:ty) => {{
                type $E = $type;
                $body
            }};
        }
        match $kind {
            ElementKind::F64 => arm!(f64),
            ElementKind::F32 => arm!(f32),
            ElementKind::Tf32 => arm!(Tf32),
            ElementKind::F16 => arm!(F16),
            ElementKind::Bf16 => arm!(Bf16),
            ElementKind::E4m3 => arm!(E4m3),
            ElementKind::E5m2 => arm!(E5m2),
            ElementKind::I8 => arm!(i8),
            ElementKind::U8 => arm!(u8),
            ElementKind::I32 => arm!(i32),
        }
    }};
}
pub(crate) use with_element;

/// Returns the number of a type that is nearest to `x`.
pub(super) fn nearest(x: f64, kind: ElementKind) -> f64 {
    with_element!(kind, E => <E as Number>::exact(<E as Number>::nearest(x)))
}

/// Appends the elements at some places. A place beyond the end reads as NaN.
pub(super) fn read(
    slice: HostSlice<'_>,
    places: impl Iterator<Item = usize>,
    into: &mut Vec<f64>,
) -> Result<(), Error> {
    fn append<E: Number>(
        slice: HostSlice<'_>,
        places: impl Iterator<Item = usize>,
        into: &mut Vec<f64>,
    ) -> Result<(), Error> {
        let elements = slice.elements::<E>()?;
        into.extend(places.map(|place| elements.get(place).map_or(f64::NAN, |&x| E::exact(x))));
        Ok(())
    }
    with_element!(slice.kind(), E => append::<E>(slice, places, into))
}

/// Fills memory with an unlikely result: NaN, or an integer at the end of the type's range.
///
/// # Errors
/// None, because a slice has its own type.
pub fn poison(slice: HostSliceMut<'_>) -> Result<(), Error> {
    fn fill<E: Number>(slice: HostSliceMut<'_>) -> Result<(), Error> {
        slice.elements::<E>()?.fill(E::POISON);
        Ok(())
    }
    with_element!(slice.kind(), E => fill::<E>(slice))
}
