//! Which element types go together: a table for each operation class, and the one place where code is generated per type.

use super::{Accumulator, Bf16, Compute, E4m3, E5m2, Element, ElementKind, F16, Narrow, TensorSum, Tf32, Widen};
use crate::{arch::OpKind, refusal::Refusal};
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
    type Accumulator: Accumulator + TensorSum + Widen<Self::Epilogue>;
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
    Acc: Accumulator + TensorSum + Widen<Epilogue>,
    C: Element<Storage: Widen<Epilogue>>,
    Epilogue: Compute + Narrow<C::Storage>,
{
    type A = A;
    type B = B;
    type Accumulator = Acc;
    type C = C;
    type Epilogue = Epilogue;
}

/// Asserts that types go together.
const fn go_together<T: Combination>() {}

macro_rules! combinations {
    ($(#[$doc:meta])* $table:ident $rows:tt $(by $dispatch:ident)?) => {
        combinations! { @table [$(#[$doc])*] $table $rows }
        $(combinations! { @dispatch $dispatch $table $rows })?
    };
    (@table [$(#[$doc:meta])*] $table:ident { $($a:ty, $b:ty, $accumulator:ty, $c:ty: $($epilogue:ty)|+;)* }) => {
        $(#[$doc])*
        pub const $table: &[Combined] = &[$(Combined {
            a: <$a as Element>::KIND,
            b: <$b as Element>::KIND,
            accumulator: <$accumulator as Element>::KIND,
            c: <$c as Element>::KIND,
        }),*];

        $($(const _: () = go_together::<Types<$a, $b, $accumulator, $c, $epilogue>>();)+)*
    };
    (@dispatch $dispatch:ident $table:ident { $($a:ty, $b:ty, $accumulator:ty, $c:ty: $($epilogue:ty)|+;)* }) => {
        /// Calls `visitor` with the types of a description.
        fn $dispatch<V: Visit>(d: &crate::desc::GemmDesc, visitor: V) -> Result<V::Out, Refusal> {
            let mut rows = $table.iter();
            $(if rows.next() == Some(&d.combined()) {
                $(if d.compute == <$epilogue as Compute>::KIND {
                    return Ok(visitor.visit::<Types<$a, $b, $accumulator, $c, $epilogue>>());
                })+
            })*
            Err(d.combined().refused_by(d.op))
        }
    };
}

// a    b     acc  c     what the epilogue computes in: with integers where all scalars are whole
combinations! {
    /// The element types that a kernel on the CUDA cores can be asked for: (A, B, accumulator, C).
    COMBINATIONS {
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
    } by dispatch_simt
}

combinations! {
    /// The element types that tensor cores multiply: (A, B, accumulator, C). How they add is an
    /// [`Instruction`](super::Instruction) for each.
    TENSOR_OP_COMBINATIONS {
        F16,  F16,  f32, F16:  f32;
        F16,  F16,  f32, Bf16: f32;
        F16,  F16,  f32, f32:  f32;
        F16,  F16,  F16, F16:  f32;
        Bf16, Bf16, f32, Bf16: f32;
        Bf16, Bf16, f32, F16:  f32;
        Bf16, Bf16, f32, f32:  f32;
        Tf32, Tf32, f32, f32:  f32;
        // Split into parts of bf16 or f16, which instructions multiply.
        f32,  f32,  f32, f32:  f32;
        E4m3, E4m3, f32, Bf16: f32;
        E4m3, E4m3, f32, F16:  f32;
        E4m3, E4m3, f32, f32:  f32;
        E4m3, E5m2, f32, Bf16: f32;
        E4m3, E5m2, f32, F16:  f32;
        E4m3, E5m2, f32, f32:  f32;
        E5m2, E4m3, f32, Bf16: f32;
        E5m2, E4m3, f32, F16:  f32;
        E5m2, E4m3, f32, f32:  f32;
        E5m2, E5m2, f32, Bf16: f32;
        E5m2, E5m2, f32, F16:  f32;
        E5m2, E5m2, f32, f32:  f32;
        i8,   i8,   i32, i32:  i32 | f32;
        u8,   u8,   i32, i32:  i32 | f32;
    } by dispatch_tensor_op
}

/// Calls `visitor` with the types of a description.
pub(crate) fn dispatch<V: Visit>(d: &crate::desc::GemmDesc, visitor: V) -> Result<V::Out, Refusal> {
    match d.op {
        OpKind::Simt => dispatch_simt(d, visitor),
        OpKind::TensorOp => dispatch_tensor_op(d, visitor),
    }
}

impl Combined {
    /// The rows of an operation class.
    pub const fn all_of(op: OpKind) -> &'static [Self] {
        match op {
            OpKind::Simt => COMBINATIONS,
            OpKind::TensorOp => TENSOR_OP_COMBINATIONS,
        }
    }

    /// Whether the table of an operation class has a row of these types.
    pub const fn is_of(self, op: OpKind) -> bool {
        let rows = Self::all_of(op);
        let mut i = 0;
        while i < rows.len() {
            let row = rows[i];
            if row.a.is(self.a) && row.b.is(self.b) && row.accumulator.is(self.accumulator) && row.c.is(self.c) {
                return true;
            }
            i += 1;
        }
        false
    }

    /// Why an operation class has no kernel of these types.
    pub(crate) const fn refused_by(self, op: OpKind) -> Refusal {
        let Self { a, b, accumulator, c } = self;
        let other = match op {
            OpKind::Simt => OpKind::TensorOp,
            OpKind::TensorOp => OpKind::Simt,
        };
        if self.is_of(other) {
            Refusal::OfOtherUnits { a, b, accumulator, c, op, other }
        } else {
            Refusal::NoSuchCombination { a, b, accumulator, c }
        }
    }
}
