//! Emulation of `f32` GEMMs on tensor cores with narrower types. Each factor is a sum of terms, and
//! each product is a sum of products of terms.
//!
//! ```text
//! a = a1 + a2 (+ a3) + rest        a1 = rn(a)    a2 = rn(a - a1)    a3 = rn(a - a1 - a2)        rn: to the term's type, nearest even
//! a b = sum over products (p, q) of a_p b_q  +  what is left out
//! ```
//!
//! The differences are exact in `f32`. Products are added from the smallest to the largest:
//!
//! | mode | terms | products (p, q) | range |
//! |---|---|---|---|
//! | [`Bf16x6`](EmulationKind::Bf16x6) | three of bf16 | (3, 1) (2, 2) (1, 3) (2, 1) (1, 2) (1, 1) | all of `f32` |
//! | [`Bf16x3`](EmulationKind::Bf16x3) | the first two of these | (2, 1) (1, 2) (1, 1) | all of `f32` |
//! | [`Tf32x3`](EmulationKind::Tf32x3) | two of tf32, the first truncated | (2, 1) (1, 2) (1, 1) | all of `f32` |
//! | [`Bf16x1`](EmulationKind::Bf16x1) | one of bf16 | (1, 1) | all of `f32` that does not round to infinity |
//! | [`F16x3`](EmulationKind::F16x3) | two of f16 | (2, 1) (1, 2) (1, 1) | rows of A and columns of B, scaled, within a [window](EmulationKind::WINDOW) |
//!
//! **Bf16x6.** Three terms of 8 bits hold the 24 bits of an `f32`. `a1 + a2 + a3 = a` if the last
//! bit of `a` is at least 2^-133, the smallest bf16. If a finite number would round to infinity,
//! its first term is the largest bf16. The first term of an infinity or NaN is the number itself,
//! and the others are 0. Infinity times 0 is NaN, so a sum with an infinite factor may be NaN
//! although the `f32` sum is infinite.
//!
//! **Bf16x3.** The third term is omitted, and with it the bits of a factor below the first 16. It
//! needs half as many products.
//!
//! **Tf32x3.** Warps compute the terms from fragments in registers, between shared memory and the
//! instruction. The first term is the number without its low 13 bits, truncated as in CUTLASS, so
//! it never overflows. The second term is the rest, rounded to nearest, ties away from 0. An
//! infinity or NaN is its own first term, and sums with it are not finite. The products of a k-tile
//! are summed from 0, and the result is added to a sum in f32, because tensor cores truncate their
//! sums.
//!
//! **Bf16x1.** Warps round the numbers of a fragment to bf16, to nearest even, and multiply them
//! with one instruction. Its error bound assumes factors with a relative error of 2^-8.
//!
//! **F16x3.** Row i of A and column j of B are scaled by powers of two, so that the largest
//! magnitude of each lies in [2^14, 2^15). If the row's largest magnitude is in [2^E, 2^(E+1)), the
//! row is multiplied by 2^(14-E). Before any other operation, the sum is scaled back in binary64
//! and rounded once.
//!
//! # Error bound
//!
//! If `|a|` is in [2^e, 2^(e+1)), the first rest is at most half a unit in the last place, so
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
//! In the bf16 modes, the first term of a number that would round to infinity is truncated, so
//! `|a2| < 2^-7.99 |a|`. Let `g` be the accumulation's own error for sums of the terms' products.
//! Let `alpha_i` and `beta_j` be the scales of the terms. Then
//!
//! ```text
//! |D - A B|_ij <= c (|A||B|)_ij + r (alpha_i sum_k |b_kj| + beta_j sum_k |a_ik|) + K r^2 alpha_i beta_j
//!                 + g (w (|A||B|)_ij + p l (alpha_i sum_k |b_kj| + beta_j sum_k |a_ik|) + ..)
//! ```
//!
//! [`EmulationBound`] holds the constants; `falchion_lab::verify::bound` adds `g`.
//!
//! Source: Ootomo, Yokota, *Recovering single precision accuracy from Tensor Cores while surpassing
//! the FP32 theoretical peak performance* (IJHPCA 36:4, 2022), for two terms of f16; Henry, Tang,
//! Heinecke, *Leveraging the bfloat16 Artificial Intelligence Datatype For Higher-Precision
//! Computations* (ARITH 2019), for three terms of bf16; CUTLASS's `OpMultiplyAddFastF32` and
//! `OpMultiplyAddFastBF16`, for the modes in registers.

mod blocks;
mod bound;
mod terms;
mod window;

pub use blocks::EmulationBlocks;
pub use bound::EmulationBound;
pub use terms::{RegisterTerms, shift_of, unscaled};
pub use window::LineFacts;

use super::ElementKind;
use crate::shape::words::words;

words! {
    /// Emulation of `f32` on tensor cores, as a value.
    #[derive(Default)]
    pub enum EmulationKind {
        /// No emulation: the elements are multiplied unchanged.
        #[default]
        None = "none",
        /// Three terms of bf16, six products: all of `f32`'s range.
        Bf16x6 = "bf16x6",
        /// Two terms of bf16, three products: all of `f32`'s range, 16 of its 24 bits.
        Bf16x3 = "bf16x3",
        /// Two terms of f16, three products, with scaled rows and columns.
        F16x3 = "f16x3",
        /// Two terms of tf32 in registers, three products: all of `f32`'s range, 22 of its 24 bits.
        Tf32x3 = "tf32x3",
        /// One term of bf16 in registers: all of `f32`'s range, 8 of its 24 bits.
        Bf16x1 = "bf16x1",
    }
}

impl EmulationKind {
    /// Modes whose terms a pass writes to memory.
    pub const MODES: [Self; 3] = [Self::Bf16x6, Self::Bf16x3, Self::F16x3];

    /// Exponent of the largest magnitude of a scaled row or column: the largest that cannot round
    /// to infinity in f16.
    pub const TOP: i32 = 14;

    /// Window in binades below the largest magnitude of a row or column. A number within the window
    /// keeps at least 21 bits: its rest is at most 2^-21 of it. Numbers below the window keep fewer
    /// bits; at most one in [`FEW`](Self::FEW) nonzero numbers of a row may lie there.
    pub const WINDOW: u32 = 18;

    /// Reciprocal of the fraction of numbers that may lie outside the [`WINDOW`](Self::WINDOW).
    pub const FEW: u32 = 64;

    /// Returns whether a pass decomposes factors in memory.
    pub const fn decomposes(self) -> bool {
        self.is_among(&Self::MODES)
    }

    /// Returns whether a warp computes the terms from its own fragments.
    pub const fn in_registers(self) -> bool {
        matches!(self, Self::Tf32x3 | Self::Bf16x1)
    }

    /// Returns whether such a warp sums the products of each tile from 0 and adds the result in
    /// f32, because tensor cores truncate sums.
    pub const fn promotes_in_registers(self) -> bool {
        matches!(self, Self::Tf32x3)
    }

    /// Returns whether rows and columns are scaled.
    pub const fn scales(self) -> bool {
        matches!(self, Self::F16x3)
    }

    /// Returns the type of a term, or `None` without emulation.
    pub const fn term_type(self) -> Option<ElementKind> {
        match self {
            Self::None => None,
            Self::Bf16x6 | Self::Bf16x3 | Self::Bf16x1 => Some(ElementKind::Bf16),
            Self::F16x3 => Some(ElementKind::F16),
            Self::Tf32x3 => Some(ElementKind::Tf32),
        }
    }

    /// Returns the number of terms per factor.
    pub const fn terms(self) -> u32 {
        match self {
            Self::None | Self::Bf16x1 => 1,
            Self::Bf16x6 => 3,
            Self::Bf16x3 | Self::F16x3 | Self::Tf32x3 => 2,
        }
    }

    /// Returns the products to sum, in order, as indices of the terms of A and of B, from 0.
    pub const fn products(self) -> &'static [[u32; 2]] {
        match self {
            Self::None | Self::Bf16x1 => &[[0, 0]],
            Self::Bf16x6 => &[[2, 0], [1, 1], [0, 2], [1, 0], [0, 1], [0, 0]],
            Self::Bf16x3 | Self::F16x3 | Self::Tf32x3 => &[[1, 0], [0, 1], [0, 0]],
        }
    }
}
