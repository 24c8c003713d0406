//! Which element types go together: the one table, and the one place where code is generated per type.

use super::{Accumulator, Bf16, Compute, Element, ElementKind, F16, Narrow, Widen};
use crate::refusal::Refusal;

/// The element types of one GEMM, as values.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Combined {
    /// Of A.
    pub a: ElementKind,
    /// Of B.
    pub b: ElementKind,
    /// Of the accumulator.
    pub accumulator: ElementKind,
    /// Of C and D.
    pub c: ElementKind,
}

/// The element types of one GEMM, as types: what the host executor is generic over.
pub(crate) trait Combination: 'static {
    type A: Element<Storage: Widen<Self::Accumulator>>;
    type B: Element<Storage: Widen<Self::Accumulator>>;
    type Accumulator: Accumulator + Widen<Self::Epilogue>;
    type C: Element<Storage: Widen<Self::Epilogue>>;
    /// What the epilogue computes in.
    type Epilogue: Compute + Narrow<<Self::C as Element>::Storage>;
}

/// Something to do once the types are known.
pub(crate) trait Visit {
    type Out;
    fn visit<T: Combination>(self) -> Self::Out;
}

macro_rules! combinations {
    ($($name:ident: $a:ty, $b:ty, $accumulator:ty, $c:ty, $epilogue:ty;)*) => {
        $(pub(crate) struct $name;
        impl Combination for $name {
            type A = $a;
            type B = $b;
            type Accumulator = $accumulator;
            type C = $c;
            type Epilogue = $epilogue;
        })*

        /// The element types that a kernel on the CUDA cores can be asked for: (A, B, accumulator, C).
        pub const COMBINATIONS: &[Combined] = &[$(Combined {
            a: <$a as Element>::KIND,
            b: <$b as Element>::KIND,
            accumulator: <$accumulator as Element>::KIND,
            c: <$c as Element>::KIND,
        }),*];

        /// Calls `visitor` with the types of a description.
        pub(crate) fn dispatch<V: Visit>(d: &crate::desc::GemmDesc, visitor: V) -> Result<V::Out, Refusal> {
            $(if d.combined() == (Combined {
                a: <$a as Element>::KIND,
                b: <$b as Element>::KIND,
                accumulator: <$accumulator as Element>::KIND,
                c: <$c as Element>::KIND,
            }) && d.compute == <$epilogue as Compute>::KIND {
                return Ok(visitor.visit::<$name>());
            })*
            Err(Refusal::NoSuchCombination { a: d.a, b: d.b, accumulator: d.accumulator, c: d.c })
        }
    };
}

//                a     b     acc  c     epilogue
combinations! {
    F32:          f32,  f32,  f32, f32,  f32;
    F64:          f64,  f64,  f64, f64,  f64;
    F16F32:       F16,  F16,  f32, F16,  f32;
    F16F32F32:    F16,  F16,  f32, f32,  f32;
    F16F16:       F16,  F16,  F16, F16,  f32;
    Bf16F32:      Bf16, Bf16, f32, Bf16, f32;
    Bf16F32F32:   Bf16, Bf16, f32, f32,  f32;
    I8I32:        i8,   i8,   i32, i32,  i32;
    I8I32Scaled:  i8,   i8,   i32, i32,  f32;
    I8I8:         i8,   i8,   i32, i8,   i32;
    I8I8Scaled:   i8,   i8,   i32, i8,   f32;
    I8F32:        i8,   i8,   i32, f32,  f32;
    U8I32:        u8,   u8,   i32, i32,  i32;
    U8I32Scaled:  u8,   u8,   i32, i32,  f32;
    U8U8:         u8,   u8,   i32, u8,   i32;
    U8U8Scaled:   u8,   u8,   i32, u8,   f32;
    I32I32:       i32,  i32,  i32, i32,  i32;
    I32I32Scaled: i32,  i32,  i32, i32,  f32;
}

/// Whether the table has a row of these types.
pub(crate) const fn combinations_with(wanted: Combined) -> bool {
    let mut i = 0;
    while i < COMBINATIONS.len() {
        let row = COMBINATIONS[i];
        if row.a.is(wanted.a) && row.b.is(wanted.b) && row.accumulator.is(wanted.accumulator) && row.c.is(wanted.c) {
            return true;
        }
        i += 1;
    }
    false
}
