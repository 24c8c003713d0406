//! How far a right result may be from the exact one: an a-priori bound for each element.
//!
//! Let `u` be the unit roundoff of the accumulator and `n` the longest chain of roundings behind
//! one sum. Then, for any order of the additions (Higham, *Accuracy and Stability of Numerical
//! Algorithms*, 2nd edition, section 3.1),
//!
//! ```text
//! |sum - exact| <= gamma_n (|A||B|)_ij + n h        gamma_n = n u / (1 - n u)
//! ```
//!
//! `h` is half the least positive number, for products that underflow. On the CUDA cores each
//! product is one fused multiply-add, so `n` is the number of products, and one more for each slice
//! of K that is added; a tile that is filled up with zeros adds exact zeros, which round nothing.
//!
//! **Tensor cores** add many products at once, by an [`Instruction`]'s row. Let `T` be the number
//! of steps, `u` the row's [`unit`](Instruction::unit), and `s_t` the accumulator after step t,
//! with the error `D_t` and the sum of magnitudes `S_t`. A step is off by less than `u
//! max(|s_(t-1)|, |s_t|, the largest product) <= u (S_T + D_T)`, so `D_T <= T u (S_T + D_T)`, and
//!
//! ```text
//! |sum - exact| <= gamma_T(u) (|A||B|)_ij + T h
//! ```
//!
//! with `h` what a step loses near the least numbers. Two more things add to it. A subnormal factor
//! is aligned by its type's least exponent, so it counts in `|A||B|` as the least normal number.
//! And tf32 reads 19 bits of an `f32`: a factor that has more is off by up to 2^-10 of itself,
//! whether it is cut off, as tensor cores do, or rounded before. With promotion, the sums of a part
//! are bounded so, and their addition in f32 as on the CUDA cores.
//!
//! **Decomposed factors** ([`numeric::emulation`](falchion::numeric::emulation)) are summed part by
//! part; what is left out is added, and the sum's own bound is of the parts' magnitudes.
//!
//! The epilogue adds its own roundings, see [`Estimate`].
//!
//! **Exactness is found, not assumed.** Where all factors are whole numbers and `(|A||B|)_ij` is at
//! most the number up to which the accumulator has every whole number, the sum is exact, and the
//! bound is 0. From there on an epilogue whose operands are exact is evaluated in its own
//! arithmetic, and the result rounded as the kernel rounds it: the element is compared with `==`.
//! Integer accumulators that wrap are always so, and those that saturate where the sum of
//! magnitudes fits or all products have one sign.
//!
//! **Where `n u >= 1/2`**, the bound says next to nothing (an f16 accumulator, from 1024 products
//! on): such an element counts as undecided, and only whole numbers can decide it.

pub use super::estimate::Estimate;
use super::reference::{Arithmetic, Sum};
use falchion::{
    arch::OpKind,
    desc::{GemmDesc, SaturateKind},
    numeric::{
        Combined, ElementKind, EmulationKind, Instruction, SumRounding, emulation::EmulationBound,
    },
};

/// How numbers of a type round.
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
    /// How an element type rounds, to nearest.
    pub fn of(kind: ElementKind) -> Self {
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

/// `n u / (1 - n u)`, or infinity where that says nothing: from `n u = 1/2` on.
pub fn gamma(n: f64, u: f64) -> f64 {
    if n * u < 0.5 { n * u / (1.0 - n * u) } else { f64::INFINITY }
}

/// What the sums of a kernel may be off by.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Accumulation {
    kind: ElementKind,
    rounding: Rounding,
    /// Products of a sum.
    products: f64,
    /// Sums of whole numbers up to here are exact.
    largest_whole: f64,
    /// The error of a sum as a share of the sum of its magnitudes: infinite where it says nothing.
    pub relative: f64,
    /// What is lost near the least numbers.
    pub absolute: f64,
    /// How factors are decomposed before they are multiplied.
    emulation: EmulationKind,
    /// Whether sums of integers stop at the ends of their range.
    saturates: bool,
    /// Whether each step is one multiply-add that rounds to nearest.
    by_fma: bool,
}

/// How far a factor that tf32 cannot hold is off, as a share of itself: cut off below 10 bits of
/// fraction.
const TF32_READ: f64 = 1.0 / 1024.0;

/// K of a kernel's instruction, where one is chosen.
fn instruction_k(d: &GemmDesc) -> u32 {
    d.pins().instruction.map_or(u32::MAX, |shape| shape.k.max(1))
}

impl Accumulation {
    /// The accumulation of `k` products by a kernel, promoted where its description says so.
    pub fn of(d: &GemmDesc, k: usize) -> Self {
        let accumulator = d.class.accumulator;
        // A slice of K takes its share of every tile; slice 0 adds the others to its own, one after
        // the other.
        let (slices, longest) = match d.warp_specialized() {
            None => {
                let [tile, warp] = [d.threadblock().k.max(1) as usize, d.warp().k.max(1) as usize];
                (tile.div_ceil(warp), k.min(k.div_ceil(tile).saturating_mul(warp)))
            }
            Some(_) => (1, k),
        };
        let chained = Self::chained(accumulator, longest + slices - 1);
        let emulation = d.pins().emulation.unwrap_or_default();
        let instruction = match d.warp_specialized() {
            Some(d) => d.matrix_instruction(),
            None => {
                let types = d.class.combined();
                let [a, b] = [types.a, types.b].map(|element| emulation.part().unwrap_or(element));
                Instruction::of(Combined { a, b, ..types }, d.class.arch)
                    .map(|one| one.of_parts(emulation, instruction_k(d), d.warp().k))
            }
        };
        let own = match (d.class.op, instruction) {
            (OpKind::TensorOp, Some(instruction)) if emulation.decomposes() => {
                let whole = k.next_multiple_of(d.threadblock().k.max(1) as usize);
                Self {
                    emulation,
                    ..Self::by(&instruction, whole.saturating_mul(emulation.products().len()))
                }
            }
            (OpKind::TensorOp, Some(instruction)) => {
                // One product of parts after the other, each of whole instructions.
                let taken = match emulation.products().len() {
                    1 => longest,
                    products => {
                        longest.next_multiple_of(instruction_k(d) as usize).saturating_mul(products)
                    }
                };
                Self {
                    emulation,
                    ..Self::by(&instruction, taken).then(&Self::chained(accumulator, slices - 1))
                }
            }
            // Of f64, they are chains of multiply-adds.
            (OpKind::TensorOp, None)
                if !accumulator.is_integer() && accumulator != ElementKind::F64 =>
            {
                Self { relative: f64::INFINITY, ..chained }
            }
            _ => chained,
        };
        Self { products: k as f64, saturates: d.pins().saturate == Some(SaturateKind::On), ..own }
    }

    /// The accumulation of `k` products by steps of a matrix instruction, and its promotions.
    pub fn by(instruction: &Instruction, k: usize) -> Self {
        let Some(every) = instruction.promotion() else { return Self::stepped(instruction, k) };
        let every = every.max(1) as usize;
        let part = Self::stepped(instruction, k.min(every));
        let parts = k.div_ceil(every);
        // The first part is added to zero.
        let sum = part.then(&Self::chained(ElementKind::F32, parts.saturating_sub(1)));
        Self { products: k as f64, absolute: part.absolute * parts as f64 + sum.absolute, ..sum }
    }

    /// A chain of so many roundings to nearest.
    fn chained(kind: ElementKind, chain: usize) -> Self {
        let (rounding, n) = (Rounding::of(kind), chain as f64);
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

    /// Steps of a matrix instruction, one after the other.
    fn stepped(instruction: &Instruction, k: usize) -> Self {
        let kind = match instruction.sum_rounding() {
            SumRounding::NearestF16 => ElementKind::F16,
            SumRounding::Truncated { .. } => ElementKind::F32,
        };
        let (rounding, steps) =
            (Rounding::of(kind), k.div_ceil(instruction.products().max(1) as usize) as f64);
        // Twice half the least number is cut off; and addends, where the least normal number is the
        // largest of them.
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

    /// Sums of these sums.
    fn then(self, sums: &Self) -> Self {
        Self {
            largest_whole: self.largest_whole.min(sums.largest_whole),
            // Where nothing is added, infinity times 0 would be no number.
            relative: if sums.relative == 0.0 {
                self.relative
            } else {
                self.relative + sums.relative + self.relative * sums.relative
            },
            absolute: self.absolute * (1.0 + sums.relative) + sums.absolute,
            ..self
        }
    }

    /// The largest error of a sum whose magnitudes add up to `magnitude`.
    pub fn error(&self, magnitude: f64) -> f64 {
        self.relative * magnitude + self.absolute
    }

    /// How far a sum may be off whose factors were decomposed: see
    /// [`numeric::emulation`](falchion::numeric::emulation).
    fn emulation_error(&self, emulation: &EmulationBound, sum: &Sum) -> f64 {
        let [alpha, beta] = sum.lines.map(|line| self.emulation.scale(line.largest));
        let crossed = alpha * sum.lines[1].total + beta * sum.lines[0].total;
        let (scale, products) = (alpha * beta, self.products);
        let left_out = emulation.relative * sum.magnitude
            + emulation.rest * crossed
            + products * emulation.rest * emulation.rest * scale;
        let parts = emulation.growth * sum.magnitude
            + emulation.beside * emulation.least * crossed
            + products * (emulation.beside * emulation.least).powi(2) * scale;
        // Scaled back, a sum is rounded once more where it is small.
        left_out
            + self.relative * parts
            + self.absolute * scale
            + if self.emulation.scales() { self.rounding.half_least } else { 0.0 }
    }

    /// What is known of a sum.
    pub(super) fn estimate(&self, sum: Sum, arithmetic: Arithmetic) -> Estimate {
        let Sum { value, magnitude, scale, whole, read, .. } = sum;
        if self.saturates {
            // Magnitudes that fit make sums that fit, whatever their order; and sums of one sign
            // stop at the end once, where they stay.
            let same_sign = value.abs() == magnitude;
            let value = value.clamp(i32::MIN.into(), i32::MAX.into());
            let known = same_sign || magnitude <= i32::MAX.into();
            return Estimate::within(value, if known { 0.0 } else { f64::INFINITY });
        }
        if self.kind.is_integer() {
            return Estimate::exactly(f64::from(value as i64 as i32));
        }
        // The finite products alone may overflow.
        let overflows = |growth: f64| {
            (1.0 + self.relative) * growth * magnitude * scale >= self.rounding.largest
        };
        // Not a number, or infinite, because factors are: so it is in any precision. Two exceptions
        // make an infinity NaN: decomposed, its other parts are 0; and finite products may overflow
        // to the other infinity.
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
        // Of products whose factors are not what was multiplied.
        let off = match self.emulation {
            EmulationKind::Bf16x1 => Rounding::of(ElementKind::Bf16).unit,
            _ => TF32_READ,
        };
        let other = if read { 0.0 } else { (2.0 + off) * off };
        // A factor may round to infinity.
        let most = if self.emulation == EmulationKind::Bf16x1 {
            Rounding::of(ElementKind::Bf16).largest
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
            // Accumulators of products of one sign grow step by step.
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
        let f32s = Rounding::of(ElementKind::F32);
        assert_eq!((f32s.unit, f32s.largest), (f64::from(f32::EPSILON) / 2.0, f64::from(f32::MAX)));
        assert_eq!(f32s.half_least, f64::from(f32::from_bits(1)) / 2.0);
        let f64s = Rounding::of(ElementKind::F64);
        assert_eq!((f64s.unit, f64s.largest), (f64::EPSILON / 2.0, f64::MAX));
        let f16s = Rounding::of(ElementKind::F16);
        assert_eq!((f16s.unit, f16s.largest), (2f64.powi(-11), half::f16::MAX.to_f64()));
        assert_eq!(f16s.half_least, half::f16::from_bits(1).to_f64() / 2.0);
        let bf16s = Rounding::of(ElementKind::Bf16);
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
