//! Additions of tensor cores: one row for each combination of operand types and architecture.
//!
//! One step of a matrix instruction computes `acc' = round(acc + sum of a_i b_i)`, for a fixed
//! number of products that are added at once. The addends are exact. They are aligned to the
//! largest exponent among them, bits more than `aligned_bits` below it are truncated, and only the
//! sum is rounded. See [`Instruction::step`].
//!
//! NVIDIA does not document this arithmetic. The rows are those of Xie, Wang, Yang, Yang, *MMA-Sim:
//! Bit-Accurate Reference Model of Tensor Cores and Matrix Cores* (arXiv 2511.10909), who compared
//! their model with the machines bit by bit on random operands. These papers describe the method:
//! Fasi, Higham, Mikaitis, Pranesh, *Numerical behavior of NVIDIA tensor cores* (PeerJ Computer
//! Science 7:e330, 2021), and Khattak, Mikaitis, *Accurate Models of NVIDIA Tensor Cores* (arXiv
//! 2512.07004).
//!
//! | machine | types | products per step | bits kept below the largest exponent | rounding of the sum |
//! |---|---|---|---|---|
//! | sm70 | f16 | 4 | 23 | truncated to f32 |
//! | sm75 | f16 | 8 | 24 | truncated to f32 |
//! | sm80, sm86, sm89 | f16, bf16 | 8 | 24 | truncated to f32 |
//! | sm80, sm86, sm89 | tf32 | 4 | 24 | truncated to f32 |
//! | sm89 | fp8 | 16 | 13 | truncated to 13 fraction bits |
//! | sm90 | f16, bf16 | 16 | 25 | truncated to f32 |
//! | sm90 | tf32 | 8 | 25 | truncated to f32 |
//! | sm90 | fp8, `wgmma` | 32 | 13 | truncated to 13 fraction bits |
//!
//! If the accumulator is f16, the sum is rounded to f16, to nearest even.

use super::{Combined, ElementKind, EmulationKind};
use crate::arch::{ArchKind, OpKind};

/// Rounding of the sum of a step.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SumRounding {
    /// Toward zero, to `fraction_bits` bits with the exponents of binary32.
    Truncated {
        /// Fraction bits: 23 for a whole binary32, 13 for fp8.
        fraction_bits: u32,
    },
    /// To binary16, to nearest even.
    NearestF16,
}

/// Arithmetic of one matrix instruction with a floating-point accumulator.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Instruction {
    pub(super) a: ElementKind,
    pub(super) b: ElementKind,
    pub(super) products: u32,
    pub(super) aligned_bits: u32,
    pub(super) sum: SumRounding,
    pub(super) promotion: Option<u32>,
}

impl Instruction {
    /// Returns the instruction that multiplies these types in a kernel for `arch`, without
    /// promotion.
    ///
    /// `None` if the architecture has no such instruction, and for integers. Integer sums are exact
    /// modulo 2^32, as in `i32`'s [`Accumulator`](super::Accumulator).
    ///
    /// On a machine newer than `arch`, the same instruction adds more products at once and keeps
    /// more of their bits, so the results may differ. The error bound of this row still holds
    /// there, because [`unit`](Self::unit) only shrinks. On sm90, the `mma.sync` instruction of
    /// sm89 for fp8 keeps 25 bits.
    pub const fn for_types(types: Combined, arch: ArchKind) -> Option<Self> {
        use ElementKind::{Bf16, E4m3, E5m2, F16, Tf32};
        if !types.is_of(OpKind::TensorOp) {
            return None;
        }
        let (sm, f32_sum) = (arch.machine().sm, SumRounding::Truncated { fraction_bits: 23 });
        let fp8_sum = SumRounding::Truncated { fraction_bits: 13 };
        let (products, aligned_bits, sum) = match types.a {
            F16 if sm == 70 => (4, 23, f32_sum),
            F16 if sm == 75 => (8, 24, f32_sum),
            F16 | Bf16 if sm >= 90 => (16, 25, f32_sum),
            F16 | Bf16 if sm >= 80 => (8, 24, f32_sum),
            Tf32 if sm >= 90 => (8, 25, f32_sum),
            Tf32 if sm >= 80 => (4, 24, f32_sum),
            E4m3 | E5m2 if sm >= 90 => (32, 13, fp8_sum),
            E4m3 | E5m2 if sm >= 89 => (16, 13, fp8_sum),
            _ => return None,
        };
        let sum = if types.accumulator.is(F16) { SumRounding::NearestF16 } else { sum };
        Some(Self { a: types.a, b: types.b, products, aligned_bits, sum, promotion: None })
    }

    /// Returns the element types of A and B.
    pub const fn operands(&self) -> [ElementKind; 2] {
        [self.a, self.b]
    }

    /// Returns the number of products along K that are added at once. The instruction's own K is
    /// this number, or twice this number on sm80 to sm89.
    pub const fn products(&self) -> u32 {
        self.products
    }

    /// Returns the number of bits of each addend that are kept below the largest exponent.
    pub const fn aligned_bits(&self) -> u32 {
        self.aligned_bits
    }

    /// Returns the rounding of a step's sum.
    pub const fn sum_rounding(&self) -> SumRounding {
        self.sum
    }

    /// Returns the number of products along K after which the sum is added to a sum in f32 and
    /// restarted. `None` if the tensor core's own sum is kept to the end, which cuBLASLt calls fast
    /// accumulation.
    pub const fn promotion(&self) -> Option<u32> {
        self.promotion
    }

    /// Returns the error bound of one step relative to the largest sum of magnitudes. Each of the
    /// `products + 1` addends loses less than `2^-aligned_bits` of the largest one, and the sum
    /// loses less than its rounding.
    ///
    /// `u = (products + 1) 2^-aligned_bits + r`, where `r` is `2^-fraction_bits` for a truncated
    /// sum, and 2^-11 for f16.
    pub fn unit(&self) -> f64 {
        let rounding = match self.sum {
            SumRounding::Truncated { fraction_bits } => 2f64.powi(-(fraction_bits as i32)),
            SumRounding::NearestF16 => 2f64.powi(-11),
        };
        f64::from(self.products + 1) * 2f64.powi(-(self.aligned_bits as i32)) + rounding
    }

    /// Returns this arithmetic for an instruction with K = `k`, which adds at most `k` products at
    /// once.
    pub const fn within(self, k: u32) -> Self {
        Self { products: if k < self.products { k } else { self.products }, ..self }
    }

    /// Returns this arithmetic for a warp-level instruction with K = `k`. If the emulation promotes
    /// in registers, it promotes the products of each warp tile of `tile_k` k's.
    pub const fn with_terms(self, emulation: EmulationKind, k: u32, tile_k: u32) -> Self {
        let each = emulation.products().len() as u32;
        if emulation.promotes_in_registers() {
            self.within(k).promoted_every(tile_k.saturating_mul(each))
        } else {
            self.within(k)
        }
    }

    /// Returns this arithmetic with promotion to f32 after every `k` products, rounded down to
    /// whole steps, but at least one.
    ///
    /// CUTLASS and DeepGEMM promote fp8 after every 128 products, which are four `wgmma`.
    pub const fn promoted_every(self, k: u32) -> Self {
        let steps = if k < self.products { 1 } else { k / self.products };
        Self { promotion: Some(steps * self.products), ..self }
    }

    /// Returns the largest integer up to which sums of integer products are exact in any order. Up
    /// to this limit, every integer survives both the alignment and the rounding of a step.
    pub const fn largest_whole(&self) -> f64 {
        let fraction_bits = match self.sum {
            SumRounding::Truncated { fraction_bits } => fraction_bits,
            SumRounding::NearestF16 => 10,
        };
        let kept =
            if fraction_bits < self.aligned_bits { fraction_bits } else { self.aligned_bits };
        (1u64 << (kept + 1)) as f64
    }
}
