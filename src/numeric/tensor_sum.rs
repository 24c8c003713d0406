//! Many sums as a tensor core makes them: each number is taken apart once, and then aligned, cut off and added in whole steps.
//!
//! The bits are those of [`Instruction::step`], which is the definition; here it is arranged for vectors. A number is
//! `significand * 2^(exponent - fraction bits)`, so that a product's significand has at most 22 bits and eight of them, aligned,
//! add up in 32.

use super::{
    Accumulator, ElementKind, F16, Tf32,
    fused_sum::{LEAST, LEAST_ALIGNED, Parts, least_exponent, power},
    instruction::{Instruction, SumRounding},
};
use crate::{
    desc::OperandKind,
    sys::simd::{Vectorized, dispatch},
};

/// What tensor cores accumulate in. Integers, and what no tensor core here adds, are summed one product after the other. An
/// instruction's [`promotion`](Instruction::promotion) is made: parts of so many products are summed from 0, each added to the sum.
pub(crate) trait TensorSum: Accumulator {
    /// Rows of one operand along K.
    type Panel: Send + Sync;
    /// `numbers` are rows of `depth`, a whole number of the instruction's steps.
    fn panel(instruction: Option<&Instruction>, operand: OperandKind, depth: usize, numbers: &[Self]) -> Self::Panel;
    /// `sums[i, j] += sum over k of a[i, k] b[j, k]`, row by row of A.
    fn accumulate(instruction: Option<&Instruction>, a: &Self::Panel, b: &Self::Panel, sums: &mut [Self]);
    /// A sum of `f32` without its scales, as `how` takes them back; others have none.
    fn scaled_back(self, _shift: i32, _how: fn(f32, i32) -> f32) -> Self {
        self
    }
}

/// Numbers in rows, as they are.
pub(crate) struct Plain<T> {
    depth: usize,
    numbers: Vec<T>,
}

struct PlainSums<'s, T> {
    a: &'s Plain<T>,
    b: &'s Plain<T>,
    sums: &'s mut [T],
}

impl<T: Accumulator> Vectorized for PlainSums<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let depth = self.a.depth.max(1);
        let columns = self.b.numbers.len() / depth;
        for (a, sums) in self.a.numbers.chunks_exact(depth).zip(self.sums.chunks_exact_mut(columns.max(1))) {
            for (b, sum) in self.b.numbers.chunks_exact(depth).zip(sums) {
                *sum = a.iter().zip(b).fold(*sum, |sum, (&a, &b)| sum.mul_add(a, b));
            }
        }
    }
}

macro_rules! one_after_the_other {
    ($($number:ty),*) => {
        $(impl TensorSum for $number {
            type Panel = Plain<Self>;
            fn panel(_: Option<&Instruction>, _: OperandKind, depth: usize, numbers: &[Self]) -> Self::Panel {
                Plain { depth, numbers: numbers.to_vec() }
            }
            fn accumulate(_: Option<&Instruction>, a: &Self::Panel, b: &Self::Panel, sums: &mut [Self]) {
                dispatch(PlainSums { a, b, sums });
            }
        })*
    };
}

one_after_the_other!(i32, f64);

/// Numbers in rows, taken apart.
pub(crate) struct TakenApart {
    depth: usize,
    values: Vec<f32>,
    significands: Vec<i16>,
    exponents: Vec<i16>,
    /// Of each row and step: whether all its numbers are finite.
    finite: Vec<bool>,
}

/// The exponent of a zero: with any other's, below all others.
const OF_ZERO: i16 = -8192;

/// Bits of fraction of a type that tensor cores multiply.
const fn fraction_bits(kind: ElementKind) -> u32 {
    match kind {
        ElementKind::F16 | ElementKind::Tf32 => 10,
        ElementKind::E4m3 => 3,
        ElementKind::E5m2 => 2,
        _ => 7,
    }
}

impl TakenApart {
    fn of(instruction: &Instruction, operand: OperandKind, depth: usize, values: Vec<f32>) -> Self {
        let kind = instruction.operands()[operand.index()];
        let (least, dropped) = (least_exponent(kind), 23 - fraction_bits(kind));
        let apart = |&x: &f32| {
            let x = if matches!(kind, ElementKind::Tf32) { Tf32::as_read(x) } else { x };
            let parts = Parts::of(x, least);
            // Eleven bits at most.
            let significand = (parts.significand >> dropped) as i16;
            let exponent = if significand == 0 { OF_ZERO } else { parts.exponent as i16 };
            (if parts.negative { -significand } else { significand }, exponent)
        };
        let finite = values.chunks(instruction.products() as usize).map(|step| step.iter().all(|x| x.is_finite())).collect();
        let (significands, exponents) = values.iter().map(apart).unzip();
        Self { depth, values, significands, exponents, finite }
    }
}

struct FusedSums<'s, T> {
    instruction: &'s Instruction,
    a: &'s TakenApart,
    b: &'s TakenApart,
    sums: &'s mut [T],
}

impl<T: Accumulator + Into<f32> + FromStep> Vectorized for FusedSums<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        match self.instruction.products() {
            4 => self.steps_of::<4>(),
            8 => self.steps_of::<8>(),
            16 => self.steps_of::<16>(),
            _ => self.steps_of::<32>(),
        }
    }
}

/// What the sum of a step, which it holds exactly, becomes.
trait FromStep {
    fn from_step(x: f32) -> Self;
}

impl FromStep for f32 {
    #[inline(always)]
    fn from_step(x: f32) -> Self {
        x
    }
}

impl FromStep for F16 {
    #[inline(always)]
    fn from_step(x: f32) -> Self {
        F16::from_f32(x)
    }
}

impl<T: Accumulator + Into<f32> + FromStep> FusedSums<'_, T> {
    #[inline(always)]
    fn steps_of<const PRODUCTS: usize>(self) {
        let depth = self.a.depth.max(1);
        let (columns, steps) = (self.b.values.len() / depth, depth / PRODUCTS);
        let part_steps = self.instruction.promotion().map(|every| (every as usize / PRODUCTS).max(1));
        for (i, sums) in self.sums.chunks_exact_mut(columns.max(1)).enumerate() {
            for (j, sum) in sums.iter_mut().enumerate() {
                // What is promoted is summed from 0, part by part.
                let mut x = if part_steps.is_some() { 0.0 } else { (*sum).into() };
                for step in 0..steps {
                    let (at_a, at_b) = (i * depth + step * PRODUCTS, j * depth + step * PRODUCTS);
                    let finite = self.a.finite[i * steps + step] && self.b.finite[j * steps + step] && x.is_finite();
                    let part = |panel: &TakenApart, at: usize| -> Option<([i16; PRODUCTS], [i16; PRODUCTS])> {
                        let (significands, exponents) = (panel.significands.get(at..)?, panel.exponents.get(at..)?);
                        Some((*significands.first_chunk()?, *exponents.first_chunk()?))
                    };
                    x = match (part(self.a, at_a), part(self.b, at_b)) {
                        (Some(a), Some(b)) if finite => self.instruction.fused_apart(x, a, b),
                        _ => {
                            let [a, b] = [&self.a.values[at_a..][..PRODUCTS], &self.b.values[at_b..][..PRODUCTS]];
                            self.instruction.step(x, a, b)
                        }
                    };
                    if let Some(part_steps) = part_steps
                        && ((step + 1).is_multiple_of(part_steps) || step + 1 == steps)
                    {
                        *sum = sum.plus(T::from_step(x));
                        x = 0.0;
                    }
                }
                if part_steps.is_none() {
                    *sum = T::from_step(x);
                }
            }
        }
    }
}

impl Instruction {
    /// One step of finite numbers.
    #[inline(always)]
    fn fused_apart<const PRODUCTS: usize>(
        &self,
        accumulator: f32,
        (a, exponents_a): ([i16; PRODUCTS], [i16; PRODUCTS]),
        (b, exponents_b): ([i16; PRODUCTS], [i16; PRODUCTS]),
    ) -> f32 {
        let own = match self.sum_rounding() {
            SumRounding::NearestF16 => least_exponent(ElementKind::F16),
            SumRounding::Truncated { .. } => LEAST,
        };
        let first = Parts::of(accumulator, own);
        let (mut products, mut exponents) = ([0i32; PRODUCTS], [0i32; PRODUCTS]);
        for i in 0..PRODUCTS {
            products[i] = i32::from(a[i]) * i32::from(b[i]);
            exponents[i] = i32::from(exponents_a[i]) + i32::from(exponents_b[i]);
        }
        let own_exponent = if first.significand == 0 { i32::from(OF_ZERO) } else { first.exponent };
        let top = match exponents.iter().fold(own_exponent, |x, &y| x.max(y)) {
            // Nothing but zeros.
            top if top < i32::from(OF_ZERO) / 2 => LEAST,
            top => top.max(LEAST_ALIGNED),
        };
        let [kind_a, kind_b] = self.operands();
        // An instruction keeps more bits than a product of its types has.
        let up = self.aligned_bits() - fraction_bits(kind_a) - fraction_bits(kind_b);
        for i in 0..PRODUCTS {
            let down = (top - exponents[i]).min(31) as u32;
            let kept = ((products[i].unsigned_abs() << up) >> down) as i32;
            products[i] = if products[i] < 0 { -kept } else { kept };
        }
        let sum: i64 = products.chunks(8).map(|eight| i64::from(eight.iter().sum::<i32>())).sum();
        let down = 23 + 23 - self.aligned_bits() + (top - first.exponent).max(0) as u32;
        let kept = if down < u64::BITS { ((first.significand << 23) >> down) as i64 } else { 0 };
        let sum = sum + if first.negative { -kept } else { kept };
        self.rounded(sum as f64 * power(top - self.aligned_bits() as i32))
    }
}

macro_rules! in_steps {
    ($($number:ty, |$sum:ident, $shift:ident, $how:ident| $scaled:expr;)*) => {
        $(impl TensorSum for $number {
            fn scaled_back(self, $shift: i32, $how: fn(f32, i32) -> f32) -> Self {
                let $sum = self;
                $scaled
            }
            type Panel = Option<TakenApart>;
            fn panel(instruction: Option<&Instruction>, operand: OperandKind, depth: usize, numbers: &[Self]) -> Self::Panel {
                let values = numbers.iter().map(|&x| x.into()).collect();
                instruction.map(|instruction| TakenApart::of(instruction, operand, depth, values))
            }
            fn accumulate(instruction: Option<&Instruction>, a: &Self::Panel, b: &Self::Panel, sums: &mut [Self]) {
                if let (Some(instruction), Some(a), Some(b)) = (instruction, a, b) {
                    dispatch(FusedSums { instruction, a, b, sums });
                }
            }
        })*
    };
}

in_steps! {
    f32, |sum, shift, how| how(sum, shift);
    F16, |sum, _shift, _how| sum;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{arch::ArchKind, numeric::Combined};

    /// For every instruction and finite or infinite numbers of its types: the vectorized sum has the bits of `Instruction::step`,
    /// promoted parts of it added in order.
    #[test]
    fn sums_have_the_bits_of_steps() {
        use ElementKind::{Bf16, E4m3, E5m2, F16 as Half, F32, Tf32};
        let mut state = 1u64;
        let mut draw = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as u32
        };
        let mut number = |kind: ElementKind, wild: bool| {
            let (bits, scale) = (draw(), [0, 3, 30][draw() as usize % 3]);
            let plain = (bits % 4001) as f32 / 1000.0 - 2.0;
            let x = if bits.is_multiple_of(11) { 0.0 } else { plain * 2f32.powi(draw() as i32 % (2 * scale + 1) - scale) };
            match kind {
                _ if wild && bits % 97 == 1 => [f32::INFINITY, f32::NAN, f32::NEG_INFINITY][draw() as usize % 3],
                Half => super::super::F16::from_f32(x).to_f32(),
                Bf16 => super::super::Bf16::from_f32(x).to_f32(),
                E4m3 => super::super::E4m3::from_f64(f64::from(x).clamp(-400.0, 400.0)).to_f32(),
                E5m2 => super::super::E5m2::from_f64(f64::from(x).clamp(-4e4, 4e4)).to_f32(),
                _ => x,
            }
        };
        let mut compared = 0;
        for (a, b, accumulator) in
            [(Half, Half, F32), (Half, Half, Half), (Bf16, Bf16, F32), (Tf32, Tf32, F32), (E4m3, E5m2, F32), (E5m2, E5m2, F32)]
        {
            let c = if accumulator == Half { Half } else { F32 };
            for arch in ArchKind::ALL {
                let Some(own) = Instruction::of(Combined { a, b, accumulator, c }, arch) else { continue };
                for round in 0..40 {
                    // Two steps, and the one that is left.
                    let promoted = accumulator == F32 && round % 2 == 1;
                    let instruction = if promoted { own.promoted_every(2 * own.products()) } else { own };
                    let depth = 3 * instruction.products() as usize;
                    let [of_a, of_b] =
                        [a, b].map(|kind| (0..8 * depth).map(|_| number(kind, round % 4 == 0)).collect::<Vec<_>>());
                    let (pa, pb) = (
                        f32::panel(Some(&instruction), OperandKind::A, depth, &of_a),
                        f32::panel(Some(&instruction), OperandKind::B, depth, &of_b),
                    );
                    let before: Vec<f32> = (0..64).map(|_| number(accumulator, false)).collect();
                    let mut sums = before.clone();
                    f32::accumulate(Some(&instruction), &pa, &pb, &mut sums);
                    for (at, sum) in sums.iter().enumerate() {
                        let row = |of: &[f32], i: usize| of[i * depth..][..depth].to_vec();
                        let (x, y) = (row(&of_a, at / 8), row(&of_b, at % 8));
                        let wanted = match instruction.promotion() {
                            None => instruction.step(before[at], &x, &y),
                            Some(every) => {
                                let parts = x.chunks(every as usize).zip(y.chunks(every as usize));
                                parts.fold(before[at], |sum, (x, y)| sum + instruction.step(0.0, x, y))
                            }
                        };
                        assert_eq!(sum.to_bits(), wanted.to_bits(), "{instruction:?}: {sum} and {wanted}");
                        compared += 1;
                    }
                }
            }
        }
        assert!(compared > 30_000, "{compared}");
    }
}
