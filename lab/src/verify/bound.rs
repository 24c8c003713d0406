//! An a-priori error bound for each element: the largest distance between a right result and the
//! exact one.
//!
//! Let `u` be the unit roundoff of the accumulator, and `n` the length of the longest chain of
//! roundings in a sum. Then, for any order of the additions (Higham, *Accuracy and Stability of
//! Numerical Algorithms*, 2nd edition, section 3.1),
//!
//! ```text
//! |sum - exact| <= gamma_n (|A||B|)_ij + n h        gamma_n = n u / (1 - n u)
//! ```
//!
//! `h` is half the least positive number, for products that underflow. On CUDA cores, each product
//! is one fused multiply-add. `n` is therefore the number of products, plus one for each warp slice
//! that is added. The zeros that pad a tile do not count, because additions of zero do not round.
//!
//! **Tensor cores** add several products at once, as described by an [`Instruction`]. Let `T` be
//! the number of steps, `u` the [`unit`](Instruction::unit) of the instruction, and `s_t` the
//! accumulator after step t. Let `D_t` be its error, and `S_t` its sum of magnitudes. The error of
//! a step is below `u max(|s_(t-1)|, |s_t|, the largest product) <= u (S_T + D_T)`, so `D_T <= T u
//! (S_T + D_T)`, and
//!
//! ```text
//! |sum - exact| <= gamma_T(u) (|A||B|)_ij + T h
//! ```
//!
//! Here, `h` is the loss of a step near the least numbers. Two more errors are added. An
//! instruction aligns a subnormal factor with the least exponent of its type, so the factor counts
//! in `|A||B|` as the least normal number. The tf32 type has 19 bits of an `f32`, so a factor with
//! more bits is off by up to 2^-10 of its value. This holds whether tensor cores truncate the
//! factor or it is rounded before. With promotion, this bound holds for the sums between
//! promotions, and the bound for CUDA cores holds for their addition in f32.
//!
//! **Decomposed factors** ([`numeric::emulation`](falchion::numeric::emulation)) are summed term by
//! term. The bound adds the omitted terms, and the bound of the sum uses the magnitudes of the
//! terms.
//!
//! The epilogue adds its own roundings, see [`Estimate`].
//!
//! **Exactness depends on the data.** Assume that all factors are whole numbers. Assume also that
//! `(|A||B|)_ij` is at most the limit up to which the accumulator represents every whole number.
//! Then the sum is exact, and the bound is 0. An epilogue with exact operands is then evaluated in
//! its own arithmetic, its result is rounded as the kernel rounds it, and the element is compared
//! with `==`. Integer accumulators that wrap are always exact. Saturating ones are exact if the sum
//! of magnitudes fits, or if all products have one sign.
//!
//! **If `n u >= 1/2`**, the bound is useless (for an f16 accumulator from 1024 products on). Such
//! an element counts as undecided, and only whole numbers can decide it.

pub use super::estimate::Estimate;
use super::reference::{Arithmetic, Sum};
use falchion::{
    arch::OpKind,
    nest::{GemmDesc, SaturateKind},
    numeric::{
        Combined, ElementKind, EmulationKind, Instruction, SumRounding, emulation::EmulationBound,
    },
};

/// The rounding of a number type.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rounding {
    /// The unit roundoff: half the distance from 1 to the next number. 0 for integers.
    pub unit: f64,
    /// Half the least positive number.
    pub half_least: f64,
    /// The largest finite number.
    pub largest: f64,
}

impl Rounding {
    /// Returns the rounding of an element type to nearest.
    pub fn for_type(kind: ElementKind) -> Self {
        let power = |exponent: i32| 2f64.powi(exponent);
        // Fraction bits, exponent of the least positive number, exponent beyond the largest.
        let floating = |fraction: i32, least: i32, beyond: i32| Self {
            unit: power(-fraction - 1),
            half_least: power(least - 1),
            largest: power(beyond - 1) * (2.0 - power(-fraction)),
        };
        match kind {
            ElementKind::F64 => {
                Self { half_least: f64::from_bits(1), ..floating(52, -1000, 1023 + 1) }
            }
            ElementKind::F32 => floating(23, -149, 128),
            ElementKind::Tf32 => floating(10, -136, 128),
            ElementKind::F16 => floating(10, -24, 16),
            ElementKind::Bf16 => floating(7, -133, 128),
            ElementKind::E4m3 => Self { largest: 448.0, ..floating(3, -9, 9) },
            ElementKind::E5m2 => floating(2, -16, 16),
            ElementKind::I8 | ElementKind::U8 | ElementKind::I32 => {
                Self { unit: 0.0, half_least: 0.5, largest: super::fill::largest_whole(kind) }
            }
        }
    }
}

/// Returns `n u / (1 - n u)`, or infinity if `n u >= 1/2`.
pub fn gamma(n: f64, u: f64) -> f64 {
    if n * u < 0.5 { n * u / (1.0 - n * u) } else { f64::INFINITY }
}

/// The error of a kernel's sums.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Accumulation {
    kind: ElementKind,
    rounding: Rounding,
    /// Number of products per sum.
    products: f64,
    /// Sums of whole numbers up to this magnitude are exact.
    largest_whole: f64,
    /// Error of a sum relative to its sum of magnitudes. It is infinite if there is no bound.
    pub relative: f64,
    /// Absolute error near the least numbers.
    pub absolute: f64,
    /// The decomposition of factors before they are multiplied.
    emulation: EmulationKind,
    /// Whether sums of integers saturate.
    saturates: bool,
    /// Whether each step is one multiply-add that rounds to nearest.
    by_fma: bool,
}

/// Relative error of a factor that tf32 cannot represent: truncation below 10 fraction bits.
const TF32_READ: f64 = 1.0 / 1024.0;

/// Returns the K of a kernel's instruction, or `u32::MAX` without one.
fn instruction_k(d: &GemmDesc) -> u32 {
    d.pins().instruction.map_or(u32::MAX, |shape| shape.k.max(1))
}

impl Accumulation {
    /// Returns the accumulation of `k` products by a kernel, with promotion if its description has
    /// it.
    pub fn for_description(d: &GemmDesc, k: usize) -> Self {
        let accumulator = d.output.accumulator;
        // A warp slice has its share of every k-tile. Warp slice 0 adds the others to its own sum,
        // one after another.
        let (warp_slices, longest) = match d.has_producer() {
            false => {
                let [tile, warp] = [d.threadblock().k.max(1) as usize, d.warp().k.max(1) as usize];
                (tile.div_ceil(warp), k.min(k.div_ceil(tile).saturating_mul(warp)))
            }
            true => (1, k),
        };
        let chained = Self::chained(accumulator, longest + warp_slices - 1);
        let emulation = d.emulation();
        let instruction = match d.has_producer() {
            true => d.matrix_instruction(),
            false => {
                let [a, b] = d.operands.map(|one| one.multiplied.element(one.stored));
                Instruction::for_types(Combined { a, b, ..d.types() }, d.arch)
                    .map(|one| one.with_terms(emulation, instruction_k(d), d.warp().k))
            }
        };
        let own = match (d.op(), instruction) {
            (OpKind::TensorOp, Some(instruction)) if emulation.decomposes() => {
                let whole = k.next_multiple_of(d.threadblock().k.max(1) as usize);
                Self {
                    emulation,
                    ..Self::by(&instruction, whole.saturating_mul(emulation.products().len()))
                }
            }
            (OpKind::TensorOp, Some(instruction)) => {
                // The products of terms are added one after another, each padded to whole
                // instructions.
                let taken = match emulation.products().len() {
                    1 => longest,
                    products => {
                        longest.next_multiple_of(instruction_k(d) as usize).saturating_mul(products)
                    }
                };
                Self {
                    emulation,
                    ..Self::by(&instruction, taken)
                        .then(&Self::chained(accumulator, warp_slices - 1))
                }
            }
            // For f64, tensor cores compute chains of multiply-adds.
            (OpKind::TensorOp, None)
                if !accumulator.is_integer() && accumulator != ElementKind::F64 =>
            {
                Self { relative: f64::INFINITY, ..chained }
            }
            _ => chained,
        };
        Self { products: k as f64, saturates: d.pins().saturate == Some(SaturateKind::On), ..own }
    }

    /// Returns the accumulation of `k` products by a matrix instruction, with its promotions.
    pub fn by(instruction: &Instruction, k: usize) -> Self {
        let Some(every) = instruction.promotion() else { return Self::stepped(instruction, k) };
        let every = every.max(1) as usize;
        let interval = Self::stepped(instruction, k.min(every));
        let intervals = k.div_ceil(every);
        // The first promotion adds to zero.
        let sum = interval.then(&Self::chained(ElementKind::F32, intervals.saturating_sub(1)));
        let absolute = interval.absolute * intervals as f64 + sum.absolute;
        Self { products: k as f64, absolute, ..sum }
    }

    /// Returns a chain of `chain` roundings to nearest.
    fn chained(kind: ElementKind, chain: usize) -> Self {
        let (rounding, n) = (Rounding::for_type(kind), chain as f64);
        Self {
            kind,
            rounding,
            products: n,
            largest_whole: super::fill::largest_whole(kind),
            relative: gamma(n, rounding.unit),
            absolute: n * rounding.half_least,
            emulation: EmulationKind::None,
            saturates: false,
            by_fma: true,
        }
    }

    /// Returns a sequence of steps of a matrix instruction.
    fn stepped(instruction: &Instruction, k: usize) -> Self {
        let kind = match instruction.sum_rounding() {
            SumRounding::NearestF16 => ElementKind::F16,
            SumRounding::Truncated { .. } => ElementKind::F32,
        };
        let (rounding, steps) =
            (Rounding::for_type(kind), k.div_ceil(instruction.products().max(1) as usize) as f64);
        // Truncation loses up to twice half the least number. It also loses addends if the least
        // normal number is the largest of them.
        let (least_normal, unit) =
            (2f64.powi(if kind == ElementKind::F16 { -14 } else { -126 }), instruction.unit());
        Self {
            kind,
            rounding,
            products: k as f64,
            largest_whole: instruction.largest_whole(),
            relative: gamma(steps, unit),
            absolute: steps * (2.0 * rounding.half_least + unit * least_normal),
            emulation: EmulationKind::None,
            saturates: false,
            by_fma: false,
        }
    }

    /// Returns the accumulation of sums of these sums.
    fn then(self, sums: &Self) -> Self {
        Self {
            largest_whole: self.largest_whole.min(sums.largest_whole),
            // Without additions, infinity times 0 would be NaN.
            relative: if sums.relative == 0.0 {
                self.relative
            } else {
                self.relative + sums.relative + self.relative * sums.relative
            },
            absolute: self.absolute * (1.0 + sums.relative) + sums.absolute,
            ..self
        }
    }

    /// Returns the largest error of a sum whose factors were decomposed: see
    /// [`numeric::emulation`](falchion::numeric::emulation).
    fn emulation_error(&self, emulation: &EmulationBound, sum: &Sum) -> f64 {
        let [alpha, beta] = sum.lines.map(|line| self.emulation.scale(line.largest));
        let crossed = alpha * sum.lines[1].total + beta * sum.lines[0].total;
        let (scale, products) = (alpha * beta, self.products);
        let left_out = emulation.relative * sum.magnitude
            + emulation.rest * crossed
            + products * emulation.rest * emulation.rest * scale;
        let terms = emulation.growth * sum.magnitude
            + emulation.beside * emulation.least * crossed
            + products * (emulation.beside * emulation.least).powi(2) * scale;
        // The removal of the scale rounds a small sum once more.
        left_out
            + self.relative * terms
            + self.absolute * scale
            + if self.emulation.scales() { self.rounding.half_least } else { 0.0 }
    }

    /// Returns the estimate of a kernel's sum from the reference sum.
    pub(super) fn estimate(&self, sum: Sum, arithmetic: Arithmetic) -> Estimate {
        let Sum { value, magnitude, scale, whole, read, .. } = sum;
        if self.saturates {
            // If the magnitudes fit, the sums fit in any order. Sums of one sign reach the limit
            // once and stay there.
            let same_sign = value.abs() == magnitude;
            let value = value.clamp(i32::MIN.into(), i32::MAX.into());
            let known = same_sign || magnitude <= i32::MAX.into();
            return Estimate::within(value, if known { 0.0 } else { f64::INFINITY });
        }
        if self.kind.is_integer() {
            return Estimate::exactly(f64::from(value as i64 as i32));
        }
        // Even the finite products may overflow.
        let overflows = |growth: f64| {
            (1.0 + self.relative) * growth * magnitude * scale >= self.rounding.largest
        };
        // A NaN or an infinity that comes from the factors is the same in any precision, with two
        // exceptions that turn an infinity into NaN. The other terms of a decomposed infinity are
        // 0, and finite products may overflow to the infinity of opposite sign.
        if !value.is_finite() {
            let exact =
                self.emulation == EmulationKind::None && (value.is_nan() || !overflows(1.0));
            return if exact { Estimate::exactly(value) } else { Estimate::not_finite(value) };
        }
        let emulation = self.emulation.bound();
        let largest_whole = emulation.map_or(self.largest_whole, |emulation| {
            emulation.largest_whole.min(self.largest_whole)
        });
        if magnitude == 0.0 || whole && read && magnitude * scale <= largest_whole {
            return Estimate::exactly(value * scale);
        }
        let n = self.products;
        let ours = match arithmetic {
            Arithmetic::Plain => gamma(n, 2f64.powi(-53)) * magnitude,
            Arithmetic::Compensated => {
                2f64.powi(-53) * value.abs() + gamma(n, 2f64.powi(-53)).powi(2) * magnitude
            }
            Arithmetic::Wrapping => 0.0,
        };
        if let Some(emulation) = emulation {
            let error = self.emulation_error(&emulation, &sum);
            let overflows = emulation.growth * magnitude + error >= self.rounding.largest;
            return Estimate { value, error: error + ours, overflows };
        }
        // The error of products whose factors are rounded before the multiplication.
        let off = match self.emulation {
            EmulationKind::Bf16x1 => Rounding::for_type(ElementKind::Bf16).unit,
            _ => TF32_READ,
        };
        let other = if read { 0.0 } else { (2.0 + off) * off };
        // A factor may round to infinity.
        let most = if self.emulation == EmulationKind::Bf16x1 {
            Rounding::for_type(ElementKind::Bf16).largest
        } else {
            f64::INFINITY
        };
        let rounds_to_infinity =
            most.is_finite() && sum.lines.iter().any(|line| line.largest >= most);
        let overflows = overflows(1.0 + other) || rounds_to_infinity;
        let error = other * magnitude + self.relative * (1.0 + other) * magnitude + ours;
        let largest = self.rounding.largest * (1.0 + self.rounding.unit) / scale;
        if overflows && value.abs() - error > largest {
            let infinity = f64::INFINITY.copysign(value);
            // Accumulators of products of one sign grow monotonically.
            let same_sign = value.abs() + ours >= magnitude;
            return if self.by_fma && read && same_sign {
                Estimate::exactly(infinity)
            } else {
                Estimate::not_finite(infinity)
            };
        }
        Estimate { value: value * scale, error: error * scale + self.absolute, overflows }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_round_as_ieee_754_says() {
        let f32s = Rounding::for_type(ElementKind::F32);
        assert_eq!((f32s.unit, f32s.largest), (f64::from(f32::EPSILON) / 2.0, f64::from(f32::MAX)));
        assert_eq!(f32s.half_least, f64::from(f32::from_bits(1)) / 2.0);
        let f64s = Rounding::for_type(ElementKind::F64);
        assert_eq!((f64s.unit, f64s.largest), (f64::EPSILON / 2.0, f64::MAX));
        let f16s = Rounding::for_type(ElementKind::F16);
        assert_eq!((f16s.unit, f16s.largest), (2f64.powi(-11), half::f16::MAX.to_f64()));
        assert_eq!(f16s.half_least, half::f16::from_bits(1).to_f64() / 2.0);
        let bf16s = Rounding::for_type(ElementKind::Bf16);
        assert_eq!((bf16s.unit, bf16s.largest), (2f64.powi(-8), half::bf16::MAX.to_f64()));
        assert_eq!(bf16s.half_least, half::bf16::from_bits(1).to_f64() / 2.0);
    }

    #[test]
    fn gamma_gives_up_at_one_half() {
        assert_eq!(gamma(1.0, 0.25), 1.0 / 3.0);
        assert_eq!(gamma(1024.0, 2f64.powi(-11)), f64::INFINITY);
        assert!(gamma(1023.0, 2f64.powi(-11)) < 1.0);
    }
}
