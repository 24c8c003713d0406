//! Products of `f32` on tensor cores that multiply narrower numbers: each factor is a sum of parts,
//! each product a sum of parts' products.
//!
//! ```text
//! a = a1 + a2 (+ a3) + rest        a1 = rn(a)    a2 = rn(a - a1)    a3 = rn(a - a1 - a2)        rn: to the part's type, nearest even
//! a b = sum over products (p, q) of a_p b_q  +  what is left out
//! ```
//!
//! The differences are exact in `f32`. Products are made from the smallest to the largest:
//!
//! | mode | parts | products (p, q) | range |
//! |---|---|---|---|
//! | [`Bf16x6`](EmulationKind::Bf16x6) | three of bf16 | (3, 1) (2, 2) (1, 3) (2, 1) (1, 2) (1, 1) | all of `f32` |
//! | [`Bf16x3`](EmulationKind::Bf16x3) | the first two of those | (2, 1) (1, 2) (1, 1) | all of `f32` |
//! | [`Tf32x3`](EmulationKind::Tf32x3) | two of tf32, the first cut off | (2, 1) (1, 2) (1, 1) | all of `f32` |
//! | [`Bf16x1`](EmulationKind::Bf16x1) | one of bf16 | (1, 1) | all of `f32` that does not round to infinity |
//! | [`F16x3`](EmulationKind::F16x3) | two of f16 | (2, 1) (1, 2) (1, 1) | rows of A and columns of B, scaled, within a [window](EmulationKind::WINDOW) |
//!
//! **Bf16x6.** Three parts of 8 bits hold the 24 bits of an `f32`: `a1 + a2 + a3 = a` where the
//! last bit of `a` is 2^-133 or more, which is the least bf16. A number that would round to
//! infinity takes the largest bf16 as its first part. Of what is not finite the first part is the
//! number and the others are 0; since infinity times 0 is no number, a sum with an infinite factor
//! may be no number where that of `f32` is infinite.
//!
//! **Bf16x3.** The third part is left out, and with it what is below 16 bits of a factor; half as
//! many products are made.
//!
//! **Tf32x3.** Parts are made of fragments, in registers, between shared memory and the
//! instruction: the first is the number without its low 13 bits, as CUTLASS cuts it off, so that it
//! overflows nowhere; the second is the rest to nearest, ties away from 0. What is not finite is
//! its own first part, and sums that it is a factor of are not finite. The products of a tile of
//! k's are summed from 0, and that is added to a sum in f32: tensor cores cut theirs off.
//!
//! **Bf16x1.** A fragment's numbers are rounded to bf16, to nearest even, and multiplied by one
//! instruction. The error bound is that of factors that are off by 2^-8 of themselves.
//!
//! **F16x3.** Row i of A and column j of B are scaled by powers of two, so that the largest
//! magnitude of each lies in [2^14, 2^15), and the sum is scaled back before anything else is done
//! with it: in binary64, rounded once. With the row's largest magnitude in [2^E, 2^(E+1)) the row
//! is multiplied by 2^(14-E).
//!
//! # What is left out
//!
//! With `|a|` in [2^e, 2^(e+1)) the first rest is at most half a unit in the last place, so
//!
//! ```text
//! Bf16x6   |a2| <= 2^-8 |a|,  |a3| <= 2^-17 |a|,  rest <= 2^-134
//!          |a2 b3| + |a3 b2| + |a3 b3| <= (2^-24 + 2^-34) |a b|
//! Bf16x3   |a2| <= 2^-8 |a|,  rest <= max(2^-17 |a|, 2^-134)
//!          |a2 b2| <= 2^-16 |a b|,  rests:  2^-16 |a b|
//! Tf32x3   |a2| <= 2^-10 |a|,  rest <= max(2^-22 |a|, 2^-137)
//!          |a2 b2| <= 2^-20 |a b|,  rests:  2^-21 |a b|
//! F16x3    |a2| <= 2^-11 |a|,  rest <= max(2^-23 |a|, 2^-25)            of scaled numbers: 2^-25 is 2^-39 of 2^E
//!          |a2 b2| <= 2^-22 |a b|,  rests:  2^-22 |a b|
//! ```
//!
//! where the first part of a number of bf16's modes that would round to infinity is cut off, `|a2|
//! < 2^-7.99 |a|`. With the accumulation's own error `g`, of sums of the parts' products, and
//! `alpha_i`, `beta_j` what a part is scaled by,
//!
//! ```text
//! |D - A B|_ij <= c (|A||B|)_ij + r (alpha_i sum_k |b_kj| + beta_j sum_k |a_ik|) + K r^2 alpha_i beta_j
//!                 + g (w (|A||B|)_ij + p l (alpha_i sum_k |b_kj| + beta_j sum_k |a_ik|) + ..)
//! ```
//!
//! The numbers are those of [`EmulationBound`]; `falchion_lab::verify::bound` adds `g`.
//!
//! Source: Ootomo, Yokota, *Recovering single precision accuracy from Tensor Cores while surpassing
//! the FP32 theoretical peak performance* (IJHPCA 36:4, 2022), for two parts of f16; Henry, Tang,
//! Heinecke, *Leveraging the bfloat16 Artificial Intelligence Datatype For Higher-Precision
//! Computations* (ARITH 2019), for three of bf16; CUTLASS's `OpMultiplyAddFastF32` and
//! `OpMultiplyAddFastBF16`, for what is made in registers.

mod blocks;
mod bound;
mod parts;
mod window;

pub use blocks::EmulationBlocks;
pub use bound::EmulationBound;
pub use parts::{RegisterParts, shift_of, unscaled};
pub use window::LineFacts;

use super::ElementKind;
use crate::words::words;

words! {
    /// How `f32` is emulated on tensor cores, as a value.
    #[derive(Default)]
    pub enum EmulationKind {
        /// Not at all: the elements are multiplied as they are.
        #[default]
        None = "none",
        /// Into three parts of bf16, of whose products six are summed: all of `f32`'s range.
        Bf16x6 = "bf16x6",
        /// Into two parts of bf16, of whose products three are summed: all of `f32`'s range, 16 of
        /// its 24 bits.
        Bf16x3 = "bf16x3",
        /// Into two parts of f16, rows and columns scaled, of whose products three are summed.
        F16x3 = "f16x3",
        /// Into two parts of tf32, in registers, of whose products three are summed: all of `f32`'s
        /// range, 22 of its 24 bits.
        Tf32x3 = "tf32x3",
        /// Into one part of bf16, in registers: all of `f32`'s range, 8 of its 24 bits.
        Bf16x1 = "bf16x1",
    }
}

impl EmulationKind {
    /// Those of which a pass writes the parts to memory.
    pub const MODES: [Self; 3] = [Self::Bf16x6, Self::Bf16x3, Self::F16x3];

    /// The exponent that the largest magnitude of a scaled row or column has: the greatest that
    /// cannot round to infinity in f16.
    pub const TOP: i32 = 14;

    /// A number so many binades below the largest of its row or column keeps 21 bits at least: its
    /// rest is at most 2^-21 of it. Fewer are kept of a number further below; no more than one in
    /// [`FEW`](Self::FEW) of a row's may be.
    pub const WINDOW: u32 = 18;

    /// See [`WINDOW`](Self::WINDOW).
    pub const FEW: u32 = 64;

    /// Whether a pass decomposes factors in memory.
    pub const fn decomposes(self) -> bool {
        self.is_among(&Self::MODES)
    }

    /// Whether a warp makes the parts of its own fragments.
    pub const fn in_registers(self) -> bool {
        matches!(self, Self::Tf32x3 | Self::Bf16x1)
    }

    /// Whether such a warp sums products of each tile from 0, and adds that in f32: tensor cores
    /// cut sums off.
    pub const fn promotes_in_registers(self) -> bool {
        matches!(self, Self::Tf32x3)
    }

    pub(crate) const fn is_among(self, kinds: &[Self]) -> bool {
        let mut i = 0;
        while i < kinds.len() && kinds[i] as u8 != self as u8 {
            i += 1;
        }
        i < kinds.len()
    }

    /// Whether rows and columns are scaled.
    pub const fn scales(self) -> bool {
        matches!(self, Self::F16x3)
    }

    /// The type of a part.
    pub const fn part(self) -> Option<ElementKind> {
        match self {
            Self::None => None,
            Self::Bf16x6 | Self::Bf16x3 | Self::Bf16x1 => Some(ElementKind::Bf16),
            Self::F16x3 => Some(ElementKind::F16),
            Self::Tf32x3 => Some(ElementKind::Tf32),
        }
    }

    /// Parts of a factor.
    pub const fn parts(self) -> u32 {
        match self {
            Self::None | Self::Bf16x1 => 1,
            Self::Bf16x6 => 3,
            Self::Bf16x3 | Self::F16x3 | Self::Tf32x3 => 2,
        }
    }

    /// The products that are summed, in order: the numbers of the parts of A and of B, from 0 on.
    pub const fn products(self) -> &'static [[u32; 2]] {
        match self {
            Self::None | Self::Bf16x1 => &[[0, 0]],
            Self::Bf16x6 => &[[2, 0], [1, 1], [0, 2], [1, 0], [0, 1], [0, 0]],
            Self::Bf16x3 | Self::F16x3 | Self::Tf32x3 => &[[1, 0], [0, 1], [0, 0]],
        }
    }
}
