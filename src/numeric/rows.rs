//! Conversion of rows of elements whose type is a run-time value, to and from compute types.
//!
//! Each conversion is one vectorized loop over a row. Rows are bytes, and their elements need not
//! be aligned.

use super::{Bf16, Compute, E4m3, E5m2, ElementKind, F16, Narrow, Saturating, Widen};
use crate::sys::simd::{Vectorized, dispatch};
use bytemuck::{NoUninit, Pod, pod_read_unaligned};
use core::marker::PhantomData;

/// Conversion from elements of one type.
#[derive(Clone, Copy)]
pub struct Widening<T> {
    /// Converts the first element of the bytes; returns zero if there are too few bytes.
    pub one: fn(&[u8]) -> T,
    /// Converts as many elements as both slices hold.
    pub row: fn(&[u8], &mut [T]),
}

/// Conversion to elements; it converts as many numbers as both slices hold.
pub(crate) type Narrowing<T> = fn(&[T], &mut [u8]);

/// Type to which elements are widened: an accumulator, or the compute type of an epilogue.
pub trait Number: Pod + Default + Send + Sync {
    /// Returns the conversion from an element type, or `None` if its elements widen to another
    /// type.
    fn widening(from: ElementKind) -> Option<Widening<Self>>;
}

/// Compute type of an epilogue.
pub(crate) trait Computed: Number + Compute {
    /// Returns the conversion to an element type, or `None` if its elements narrow from another
    /// type.
    fn narrowing(to: ElementKind) -> Option<Narrowing<Self>>;
}

struct Widened<'r, S, T>(&'r [u8], &'r mut [T], PhantomData<S>);

impl<S: Pod + Widen<T>, T> Vectorized for Widened<'_, S, T> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        for (from, to) in self.0.chunks_exact(size_of::<S>()).zip(self.1) {
            *to = pod_read_unaligned::<S>(from).widen();
        }
    }
}

struct Narrowed<'r, T, S>(&'r [T], &'r mut [u8], PhantomData<S>);

impl<T: Copy + Narrow<S>, S: NoUninit> Vectorized for Narrowed<'_, T, S> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        for (from, to) in self.0.iter().zip(self.1.chunks_exact_mut(size_of::<S>())) {
            to.copy_from_slice(bytemuck::bytes_of(&from.narrow()));
        }
    }
}

fn one<S: Pod + Widen<T>, T: Default>(bytes: &[u8]) -> T {
    bytes
        .get(..size_of::<S>())
        .map_or_else(T::default, |bytes| pod_read_unaligned::<S>(bytes).widen())
}

fn widened<S: Pod + Widen<T>, T>(from: &[u8], to: &mut [T]) {
    dispatch(Widened::<S, T>(from, to, PhantomData));
}

fn narrowed<T: Copy + Narrow<S>, S: NoUninit>(from: &[T], to: &mut [u8]) {
    dispatch(Narrowed::<T, S>(from, to, PhantomData));
}

macro_rules! numbers {
    ($($number:ty: $($kind:ident of $from:ty),*;)*) => {
        $(impl Number for $number {
            fn widening(from: ElementKind) -> Option<Widening<Self>> {
                match from {
                    $(ElementKind::$kind => Some(Widening { one: one::<$from, Self>, row: widened::<$from, Self> }),)*
                    _ => None,
                }
            }
        })*
    };
}

numbers! {
    f32: F32 of f32, Tf32 of f32, F16 of F16, Bf16 of Bf16, E4m3 of E4m3, E5m2 of E5m2, I8 of i8, U8 of u8, I32 of i32;
    f64: F64 of f64;
    i32: I8 of i8, U8 of u8, I32 of i32;
    Saturating: I8 of i8, U8 of u8;
    F16: F16 of F16;
}

macro_rules! results {
    ($($number:ty: $($kind:ident as $to:ty),*;)*) => {
        $(impl Computed for $number {
            fn narrowing(to: ElementKind) -> Option<Narrowing<Self>> {
                match to {
                    $(ElementKind::$kind => Some(narrowed::<Self, $to>),)*
                    _ => None,
                }
            }
        })*
    };
}

results! {
    f32: F32 as f32, F16 as F16, Bf16 as Bf16, E4m3 as E4m3, E5m2 as E5m2, I8 as i8, U8 as u8, I32 as i32;
    f64: F64 as f64;
    i32: I8 as i8, U8 as u8, I32 as i32;
}

#[cfg(test)]
mod tests {
    use super::Number;
    use crate::numeric::{ComputeKind, ElementKind};

    /// An epilogue reads exactly the element types that convert to its compute type.
    #[test]
    fn an_epilogue_reads_what_converts_to_its_type() {
        for element in ElementKind::ALL {
            for compute in ComputeKind::ALL {
                let converts = match compute {
                    ComputeKind::F32 => f32::widening(element).is_some(),
                    ComputeKind::F64 => f64::widening(element).is_some(),
                    ComputeKind::I32 => i32::widening(element).is_some(),
                };
                assert_eq!(compute.reads(element), converts, "{compute} {element}");
            }
        }
    }
}
