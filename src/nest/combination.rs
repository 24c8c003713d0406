//! Tables of the valid combinations of element types, one per operation class.

use crate::{
    arch::OpKind,
    numeric::{Bf16, Combined, E4m3, E5m2, F16, MathType, MultipliedBy, Tf32},
    refusal::Refusal,
};

macro_rules! combinations {
    ($(#[$doc:meta])* $table:ident { $($a:ty, $b:ty, $accumulator:ty, $c:ty;)* }) => {
        $(#[$doc])*
        pub const $table: &[Combined] = &[$(Combined {
            a: <$a as MathType>::KIND,
            b: <$b as MathType>::KIND,
            accumulator: <$accumulator as MathType>::KIND,
            c: <$c as MathType>::KIND,
        }),*];

        // Every pair of A and B in the table passes `cargo check`.
        const _: fn() = || {
            fn multiplies<A: MultipliedBy<B>, B>() {}
            $(multiplies::<$a, $b>();)*
        };
    };
}

// a    b     acc  c
combinations! {
    /// The element types that kernels on the CUDA cores support: (A, B, accumulator, C).
    COMBINATIONS {
        f32,  f32,  f32, f32;
        f64,  f64,  f64, f64;
        F16,  F16,  f32, F16;
        F16,  F16,  f32, f32;
        F16,  F16,  F16, F16;
        Bf16, Bf16, f32, Bf16;
        Bf16, Bf16, f32, f32;
        i8,   i8,   i32, i32;
        i8,   i8,   i32, i8;
        i8,   i8,   i32, f32;
        u8,   u8,   i32, i32;
        u8,   u8,   i32, u8;
        i32,  i32,  i32, i32;
    }
}

combinations! {
    /// The element types that tensor-core kernels support: (A, B, accumulator, C). An
    /// [`Instruction`](crate::numeric::Instruction) describes how each adds.
    TENSOR_OP_COMBINATIONS {
        F16,  F16,  f32, F16;
        F16,  F16,  f32, Bf16;
        F16,  F16,  f32, f32;
        F16,  F16,  f32, E4m3;
        F16,  F16,  F16, F16;
        Bf16, Bf16, f32, Bf16;
        Bf16, Bf16, f32, F16;
        Bf16, Bf16, f32, f32;
        Bf16, Bf16, f32, E4m3;
        Tf32, Tf32, f32, f32;
        // Emulated: terms of bf16, f16, or tf32 are multiplied.
        f32,  f32,  f32, f32;
        E4m3, E4m3, f32, Bf16;
        E4m3, E4m3, f32, F16;
        E4m3, E4m3, f32, f32;
        E4m3, E4m3, f32, E4m3;
        E4m3, E4m3, f32, E5m2;
        E4m3, E5m2, f32, Bf16;
        E4m3, E5m2, f32, F16;
        E4m3, E5m2, f32, f32;
        E4m3, E5m2, f32, E4m3;
        E4m3, E5m2, f32, E5m2;
        E5m2, E4m3, f32, Bf16;
        E5m2, E4m3, f32, F16;
        E5m2, E4m3, f32, f32;
        E5m2, E4m3, f32, E4m3;
        E5m2, E4m3, f32, E5m2;
        E5m2, E5m2, f32, Bf16;
        E5m2, E5m2, f32, F16;
        E5m2, E5m2, f32, f32;
        E5m2, E5m2, f32, E4m3;
        E5m2, E5m2, f32, E5m2;
        i8,   i8,   i32, i32;
        i8,   i8,   i32, i8;
        i8,   i8,   i32, F16;
        i8,   i8,   i32, f32;
        u8,   u8,   i32, i32;
        u8,   u8,   i32, u8;
        f64,  f64,  f64, f64;
    }
}

impl Combined {
    /// Returns the table of an operation class.
    pub const fn all_of(op: OpKind) -> &'static [Self] {
        match op {
            OpKind::Simt => COMBINATIONS,
            OpKind::TensorOp => TENSOR_OP_COMBINATIONS,
        }
    }

    /// Returns whether the table of an operation class contains these types.
    pub const fn is_of(self, op: OpKind) -> bool {
        self.is_among(Self::all_of(op))
    }

    /// Returns whether `rows` contains these types.
    pub(crate) const fn is_among(self, rows: &[Self]) -> bool {
        let mut i = 0;
        while i < rows.len() {
            // Without calls, because the compiler interprets each of them.
            let row = &rows[i];
            if row.a as u8 == self.a as u8
                && row.b as u8 == self.b as u8
                && row.accumulator as u8 == self.accumulator as u8
                && row.c as u8 == self.c as u8
            {
                return true;
            }
            i += 1;
        }
        false
    }

    /// Returns the first combination of the class with the highest [`likeness`](Self::likeness) to
    /// these types.
    pub(crate) const fn nearest(self, op: OpKind) -> Self {
        let rows = Self::all_of(op);
        let (mut best, mut i) = (rows[0], 0);
        while i < rows.len() {
            if self.likeness(rows[i]) > self.likeness(best) {
                best = rows[i];
            }
            i += 1;
        }
        best
    }

    /// Returns the number of types that both combinations share. A and B count three times.
    const fn likeness(self, row: Self) -> u32 {
        3 * (row.a.is(self.a) as u32 + row.b.is(self.b) as u32)
            + row.accumulator.is(self.accumulator) as u32
            + row.c.is(self.c) as u32
    }

    /// Returns the [`likeness`](Self::likeness) to the most similar combination of the class.
    pub(crate) const fn likeness_to(self, op: OpKind) -> u32 {
        self.likeness(self.nearest(op))
    }

    /// Returns the refusal of these types for an operation class. The proposed combination keeps A
    /// and B if any units multiply them.
    pub(crate) const fn refused_by(self, op: OpKind) -> Refusal {
        let other = op.other();
        if self.is_of(other) {
            return Refusal::other_units(self, op, other);
        }
        let of = if self.likeness_to(other) > self.likeness_to(op) { other } else { op };
        Refusal::no_such_combination(self, self.nearest(of))
    }
}
