//! Distributions of `f32` operands for accuracy measurements.

use crate::{
    Error,
    verify::{HostBuffer, draw, order_of},
};
use falchion::{
    internals::operand::{Elements, Problem, View},
    numeric::ElementKind,
};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// A distribution of operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Data {
    /// The standard normal distribution.
    Normal,
    /// Magnitudes in [2^e, 2^(e+1)), e uniform from -20 to 19, of either sign.
    Wide,
    /// Normal, but the second half of A's columns repeats the first half. The second half of B's
    /// rows is the negated first half, changed by up to a thousandth. Sums are therefore small
    /// relative to their magnitudes.
    Cancelling,
}

/// The names in suites.
impl Data {
    /// Returns the name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Wide => "wide",
            Self::Cancelling => "cancelling",
        }
    }

    /// Returns element `k` of row `line` of A, or of column `line` of B.
    fn number(self, seed: u64, (line, k): (usize, usize), length: usize, is_b: bool) -> f32 {
        let bits = |salt: u64, k: usize| draw(seed ^ salt, (line * length + k) as u64);
        // In (0, 1].
        let uniform = |bits: u64| ((bits >> 11) + 1) as f64 / (1u64 << 53) as f64;
        let normal = |k: usize| {
            let (radius, angle) = (uniform(bits(0, k)), uniform(bits(0x5eed, k)));
            (-2.0 * radius.ln()).sqrt() * (core::f64::consts::TAU * angle).cos()
        };
        let x = match self {
            Self::Normal => normal(k),
            Self::Wide => {
                let (random, exponent) = (bits(0, k), (bits(0x5eed, k) % 40) as i32 - 20);
                let magnitude = (1.0 + uniform(random) / 2.0) * 2f64.powi(exponent);
                if random & 1 == 1 { -magnitude } else { magnitude }
            }
            Self::Cancelling if k >= length / 2 && length > 1 => {
                let again = normal(k - length / 2);
                if is_b { -again * (1.0 + uniform(bits(0xca5e, k)) / 1024.0) } else { again }
            }
            Self::Cancelling => normal(k),
        };
        x as f32
    }

    /// Returns A, B, and the previous content of D, which is poison.
    pub(super) fn operands(self, problem: &Problem, seed: u64) -> Result<[HostBuffer; 3], Error> {
        let filled = |view: &View<Elements>, mn: usize, is_b: bool| -> Result<HostBuffer, Error> {
            let mut buffer = HostBuffer::poisoned(ElementKind::F32, view.memory.length)?;
            let (seed, k) = (if is_b { seed.wrapping_add(1) } else { seed }, problem.k);
            let order = order_of(view, if is_b { (k, mn) } else { (mn, k) });
            let along_k = order.is_row() != is_b;
            let (lines, along) = if along_k { (mn, k) } else { (k, mn) };
            buffer
                .slice_mut(0..view.memory.length)?
                .elements::<f32>()?
                .par_chunks_mut(view.leading(order).max(1))
                .take(lines)
                .enumerate()
                .for_each(|(line, elements)| {
                    for (step, element) in elements.iter_mut().take(along).enumerate() {
                        let place = if along_k { (line, step) } else { (step, line) };
                        *element = self.number(seed, place, k, is_b);
                    }
                });
            Ok(buffer)
        };
        Ok([
            filled(&problem.a, problem.m, false)?,
            filled(&problem.b, problem.n, true)?,
            HostBuffer::poisoned(ElementKind::F32, problem.d.memory.length)?,
        ])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use falchion::numeric::emulation::LineFacts;

    fn line(data: Data, is_b: bool) -> Vec<f32> {
        (0..4096).map(|k| data.number(3, (5, k), 4096, is_b)).collect()
    }

    /// Checks that normal and cancelling data fit the window of f16x3, that wide data do not, and
    /// the moments of normal data.
    #[test]
    fn distributions_have_their_documented_properties() {
        for (data, fits) in [(Data::Normal, true), (Data::Cancelling, true), (Data::Wide, false)] {
            let x = line(data, false);
            assert_eq!(!LineFacts::new(x.iter().copied()).is_refused(), fits, "{data:?}");
            assert!(x.iter().all(|x| x.is_finite() && *x != 0.0));
        }
        let x = line(Data::Normal, false);
        let mean = |f: fn(f64) -> f64| x.iter().map(|&x| f(f64::from(x))).sum::<f64>() / 4096.0;
        assert!(
            mean(|x| x).abs() < 0.06
                && (mean(|x| x * x) - 1.0).abs() < 0.09
                && (mean(|x| x.powi(4)) - 3.0).abs() < 0.6
        );
        let (a, b) = (line(Data::Cancelling, false), line(Data::Cancelling, true));
        let sums = |f: fn(f64) -> f64| {
            a.iter().zip(&b).map(|(&a, &b)| f(f64::from(a) * f64::from(b))).sum::<f64>()
        };
        assert!(sums(|x| x).abs() < 1e-3 * sums(f64::abs), "{} of {}", sums(|x| x), sums(f64::abs));
    }
}
