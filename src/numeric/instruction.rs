//! How tensor cores add: one row for each pair of operand types and architecture.
//!
//! One step of a matrix instruction computes `acc' = round(acc + sum of a_i b_i)`, the sum over a
//! fixed number of products that are added at once. The addends are exact. They are aligned to the
//! largest exponent among them, what lies more than `aligned_bits` below it is cut off, and only
//! the sum is rounded. See [`Instruction::step`].
//!
//! NVIDIA documents none of this. The rows are those of Xie, Wang, Yang, Yang, *MMA-Sim:
//! Bit-Accurate Reference Model of Tensor Cores and Matrix Cores* (arXiv 2511.10909), who compared
//! their model with the machines bit by bit on random operands. How such things are found out:
//! Fasi, Higham, Mikaitis, Pranesh, *Numerical behavior of NVIDIA tensor cores* (PeerJ Computer
//! Science 7:e330, 2021), and Khattak, Mikaitis, *Accurate Models of NVIDIA Tensor Cores* (arXiv
//! 2512.07004).
//!
//! | machine | types | products of a step | bits kept below the largest exponent | the sum is |
//! |---|---|---|---|---|
//! | sm70 | f16 | 4 | 23 | cut to f32 |
//! | sm75 | f16 | 8 | 24 | cut to f32 |
//! | sm80, sm86, sm89 | f16, bf16 | 8 | 24 | cut to f32 |
//! | sm80, sm86, sm89 | tf32 | 4 | 24 | cut to f32 |
//! | sm89 | fp8 | 16 | 13 | cut to 13 bits of fraction |
//! | sm90 | f16, bf16 | 16 | 25 | cut to f32 |
//! | sm90 | tf32 | 8 | 25 | cut to f32 |
//! | sm90 | fp8, `wgmma` | 32 | 13 | cut to 13 bits of fraction |
//!
//! With an f16 accumulator the sum is rounded to f16, to nearest even.

use super::{Combined, ElementKind, EmulationKind};
use crate::arch::{ArchKind, OpKind};

/// How the sum of a step is rounded.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SumRounding {
    /// Towards zero, to so many bits of fraction with the exponents of binary32.
    Truncated {
        /// 23 for all of a binary32; 13 for fp8.
        fraction_bits: u32,
    },
    /// To binary16, to nearest even.
    NearestF16,
}

/// The arithmetic of one matrix instruction with a floating-point accumulator.
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
    /// The instruction that multiplies such types in a kernel for `arch`, without promotion.
    ///
    /// `None` where the architecture has none, and for integers: their sums are exact modulo 2^32,
    /// as those of `i32`'s [`Accumulator`](super::Accumulator).
    ///
    /// On a machine newer than `arch` the same instruction adds more products at once and keeps
    /// more bits of them, so that other bits may come out. The error bound made of this row holds
    /// there too: [`unit`](Self::unit) only shrinks; and the `mma.sync` of sm89 for fp8 keeps 25
    /// bits on sm90.
    pub const fn of(types: Combined, arch: ArchKind) -> Option<Self> {
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

    /// The element types of A and of B.
    pub const fn operands(&self) -> [ElementKind; 2] {
        [self.a, self.b]
    }

    /// Products along K that are added at once. The instruction's own K is this, or twice as much
    /// on sm80 to sm89.
    pub const fn products(&self) -> u32 {
        self.products
    }

    /// Bits of each addend that are kept below the largest exponent among them.
    pub const fn aligned_bits(&self) -> u32 {
        self.aligned_bits
    }

    /// How the sum of a step is rounded.
    pub const fn sum_rounding(&self) -> SumRounding {
        self.sum
    }

    /// Products along K after which the sum is added to one in f32 and begun anew; `None` where the
    /// tensor core's own sum is kept to the end, which cuBLASLt calls fast accumulation.
    pub const fn promotion(&self) -> Option<u32> {
        self.promotion
    }

    /// How far one step may be off, as a share of the largest sum of magnitudes: each of
    /// `products + 1` addends loses less than `2^-aligned_bits` of the largest one, and the sum
    /// less than its rounding.
    ///
    /// `u = (products + 1) 2^-aligned_bits + r`, with `r = 2^-fraction_bits` where the sum is cut
    /// and 2^-11 for f16.
    pub fn unit(&self) -> f64 {
        let rounding = match self.sum {
            SumRounding::Truncated { fraction_bits } => 2f64.powi(-(fraction_bits as i32)),
            SumRounding::NearestF16 => 2f64.powi(-11),
        };
        f64::from(self.products + 1) * 2f64.powi(-(self.aligned_bits as i32)) + rounding
    }

    /// The same of an instruction whose K is so much: it adds no more products at once.
    pub const fn within(self, k: u32) -> Self {
        Self { products: if k < self.products { k } else { self.products }, ..self }
    }

    /// The same of a warp's instruction that is `k` deep: where parts of f32 are multiplied it
    /// promotes what the warp's tile of so many k's makes.
    pub const fn of_parts(self, emulation: EmulationKind, k: u32, tile_k: u32) -> Self {
        let each = emulation.products().len() as u32;
        if emulation.promotes_in_registers() {
            self.within(k).promoted_every(tile_k.saturating_mul(each))
        } else {
            self.within(k)
        }
    }

    /// The same instruction, its sums promoted to f32 after every `k` products: at least one
    /// step's, and whole steps.
    ///
    /// CUTLASS and DeepGEMM promote fp8 after every 128: four `wgmma`.
    pub const fn promoted_every(self, k: u32) -> Self {
        let steps = if k < self.products { 1 } else { k / self.products };
        Self { promotion: Some(steps * self.products), ..self }
    }

    /// The whole number up to which sums of whole products are exact, whatever their order: so far
    /// every whole number survives both the alignment and the rounding of a step.
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
