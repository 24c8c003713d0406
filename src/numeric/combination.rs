//! Which element types go together: the one table, and the one place where code is generated per type.

use super::{Accumulator, Bf16, Compute, Element, ElementKind, F16, Narrow, Widen};
use crate::refusal::Refusal;
use core::marker::PhantomData;

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

/// The one [`Combination`].
pub(crate) struct Types<A, B, Accumulator, C, Epilogue>(PhantomData<(A, B, Accumulator, C, Epilogue)>);

impl<A, B, Acc, C, Epilogue> Combination for Types<A, B, Acc, C, Epilogue>
where
    A: Element<Storage: Widen<Acc>>,
    B: Element<Storage: Widen<Acc>>,
    Acc: Accumulator + Widen<Epilogue>,
    C: Element<Storage: Widen<Epilogue>>,
    Epilogue: Compute + Narrow<C::Storage>,
{
    type A = A;
    type B = B;
    type Accumulator = Acc;
    type C = C;
    type Epilogue = Epilogue;
}

macro_rules! combinations {
    ($($a:ty, $b:ty, $accumulator:ty, $c:ty: $($epilogue:ty)|+;)*) => {
        /// The element types that a kernel on the CUDA cores can be asked for: (A, B, accumulator, C).
        pub const COMBINATIONS: &[Combined] = &[$(Combined {
            a: <$a as Element>::KIND,
            b: <$b as Element>::KIND,
            accumulator: <$accumulator as Element>::KIND,
            c: <$c as Element>::KIND,
        }),*];

        /// Calls `visitor` with the types of a description.
        pub(crate) fn dispatch<V: Visit>(d: &crate::desc::GemmDesc, visitor: V) -> Result<V::Out, Refusal> {
            let mut rows = COMBINATIONS.iter();
            $(if rows.next() == Some(&d.combined()) {
                $(if d.compute == <$epilogue as Compute>::KIND {
                    return Ok(visitor.visit::<Types<$a, $b, $accumulator, $c, $epilogue>>());
                })+
            })*
            Err(Refusal::NoSuchCombination { a: d.a, b: d.b, accumulator: d.accumulator, c: d.c })
        }
    };
}

// a    b     acc  c     what the epilogue computes in: with integers where all scalars are whole
combinations! {
    f32,  f32,  f32, f32:  f32;
    f64,  f64,  f64, f64:  f64;
    F16,  F16,  f32, F16:  f32;
    F16,  F16,  f32, f32:  f32;
    F16,  F16,  F16, F16:  f32;
    Bf16, Bf16, f32, Bf16: f32;
    Bf16, Bf16, f32, f32:  f32;
    i8,   i8,   i32, i32:  i32 | f32;
    i8,   i8,   i32, i8:   i32 | f32;
    i8,   i8,   i32, f32:  f32;
    u8,   u8,   i32, i32:  i32 | f32;
    u8,   u8,   i32, u8:   i32 | f32;
    i32,  i32,  i32, i32:  i32 | f32;
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
