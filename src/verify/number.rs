//! Elements of a type that is a value, as binary64 numbers.
//!
//! Every number of every element type is a binary64 number, so reading is exact. Writing rounds to nearest, ties to even.

use crate::{
    device::{HostSlice, HostSliceMut},
    error::Error,
    numeric::{Bf16, Element, F16, Narrow},
};

/// A number in memory.
pub(crate) trait Number: bytemuck::Pod + Send + Sync {
    /// What untouched memory holds: NaN, or the integer farthest from those of a [`Fill`](super::Fill).
    const POISON: Self;
    /// The same number.
    fn exact(self) -> f64;
    /// The nearest number; a number beyond the type's range becomes its last, or infinity where there is one.
    fn nearest(x: f64) -> Self;
}

macro_rules! numbers {
    ($($number:ty, $poison:expr, |$x:ident| $exact:expr, |$y:ident| $nearest:expr;)*) => {
        $(impl Number for $number {
            const POISON: Self = $poison;
            #[inline(always)]
            fn exact(self) -> f64 {
                let $x = self;
                $exact
            }
            #[inline(always)]
            fn nearest($y: f64) -> Self {
                $nearest
            }
        })*
    };
}

numbers! {
    f64,  f64::NAN,       |x| x,             |y| y;
    f32,  f32::NAN,       |x| f64::from(x),  |y| y as f32;
    F16,  F16::NAN,       |x| x.to_f64(),    |y| y.narrow();
    Bf16, Bf16::NAN,      |x| x.to_f64(),    |y| y.narrow();
    i8,   i8::MIN,        |x| f64::from(x),  |y| y.round_ties_even() as i8;
    u8,   u8::MAX,        |x| f64::from(x),  |y| y.round_ties_even() as u8;
    i32,  i32::MIN + 1,   |x| f64::from(x),  |y| y.round_ties_even() as i32;
}

/// `$body` with `$E` standing for the element type `$kind`: a `Result` whose error a refusal converts into.
macro_rules! with_element {
    ($kind:expr, $E:ident => $body:expr) => {{
        use $crate::numeric::{Bf16, ElementKind, F16, Tf32};
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
            ElementKind::I8 => arm!(i8),
            ElementKind::U8 => arm!(u8),
            ElementKind::I32 => arm!(i32),
            kind @ (ElementKind::E4m3 | ElementKind::E5m2) => Err($crate::Refusal::NoSuchElement { kind }.into()),
        }
    }};
}
pub(crate) use with_element;

/// Appends the elements at the given places; a place beyond the end reads as NaN.
pub(super) fn read(slice: HostSlice<'_>, places: impl Iterator<Item = usize>, into: &mut Vec<f64>) -> Result<(), Error> {
    fn append<E: Element<Storage: Number>>(
        slice: HostSlice<'_>,
        places: impl Iterator<Item = usize>,
        into: &mut Vec<f64>,
    ) -> Result<(), Error> {
        let elements = slice.of::<E>()?;
        into.extend(places.map(|place| elements.get(place).map_or(f64::NAN, |x| x.exact())));
        Ok(())
    }
    with_element!(slice.kind(), E => append::<E>(slice, places, into))
}

/// Fills memory with what no result is likely to be: NaN, or an integer at the end of the type's range.
///
/// # Errors
///
/// [`Refusal::NoSuchElement`](crate::Refusal::NoSuchElement) for a type that has no form in host memory.
pub fn poison(slice: HostSliceMut<'_>) -> Result<(), Error> {
    fn fill<E: Element<Storage: Number>>(slice: HostSliceMut<'_>) -> Result<(), Error> {
        slice.of::<E>()?.fill(Number::POISON);
        Ok(())
    }
    with_element!(slice.kind(), E => fill::<E>(slice))
}
