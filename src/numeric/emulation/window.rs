//! Check whether a row or column can be scaled to f16.

use super::{
    EmulationKind,
    terms::{INFINITE, MAGNITUDE, exponent_of},
};

/// Facts of a row of A, or a column of B, before it is scaled.
///
/// Twin: `numeric::outside` and `numeric::refused` of `kernels/numeric/emulation.cuh`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LineFacts {
    /// Bits of the largest magnitude; at least those of infinity if a number is not finite.
    pub largest: u32,
    /// Number of nonzero numbers.
    pub nonzero: u32,
    /// Number of nonzero numbers more than [`EmulationKind::WINDOW`] binades below the largest.
    pub outside: u32,
}

impl LineFacts {
    /// Returns the facts of a row or column; iterates twice.
    pub fn new(numbers: impl Iterator<Item = f32> + Clone) -> Self {
        let magnitudes = numbers.map(|x| x.to_bits() & MAGNITUDE);
        let largest = magnitudes.clone().max().unwrap_or(0);
        magnitudes.fold(Self { largest, ..Self::default() }, |facts, x| Self {
            nonzero: facts.nonzero + u32::from(x != 0),
            outside: facts.outside + u32::from(Self::is_outside(x, largest)),
            ..facts
        })
    }

    /// Returns whether a number, given by the bits of its magnitude, lies below the window.
    pub const fn is_outside(magnitude: u32, largest: u32) -> bool {
        magnitude != 0
            && exponent_of(magnitude) + (EmulationKind::WINDOW as i32) < exponent_of(largest)
    }

    /// Returns whether every number is finite.
    pub const fn is_finite(&self) -> bool {
        self.largest < INFINITE
    }

    /// Returns whether the row cannot be scaled: a number is not finite, or more than one in
    /// [`EmulationKind::FEW`] lies outside the window.
    pub const fn is_refused(&self) -> bool {
        !self.is_finite() || self.outside as u64 * EmulationKind::FEW as u64 > self.nonzero as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row is refused exactly if `64 outside > nonzero`. Numbers 18 binades below the largest are
    /// inside, and those 19 below are outside. Zeros do not count.
    #[test]
    fn one_in_sixty_four_may_lie_outside() {
        let line = |ones: usize, below: usize, exponent: i32| {
            let numbers = vec![1.5; ones]
                .into_iter()
                .chain(vec![2f32.powi(exponent); below])
                .chain([0.0; 100]);
            LineFacts::new(numbers.collect::<Vec<_>>().into_iter())
        };
        assert_eq!(line(63, 1, -19), LineFacts { largest: 0x3fc0_0000, nonzero: 64, outside: 1 });
        assert!(!line(63, 1, -19).is_refused() && line(62, 1, -19).is_refused());
        assert!(
            line(126, 2, -19).nonzero == 128
                && !line(126, 2, -19).is_refused()
                && line(125, 2, -19).is_refused()
        );
        assert_eq!((line(9, 9, -18).outside, line(9, 9, -126).outside), (0, 9));
        assert!(!line(0, 0, 0).is_refused() && line(0, 0, 0).nonzero == 0);
    }

    #[test]
    fn nonfinite_numbers_are_refused() {
        for x in [f32::INFINITY, f32::NEG_INFINITY, f32::NAN] {
            assert!(LineFacts::new([1.0, x, 2.0].into_iter()).is_refused());
        }
        assert!(LineFacts::new([1.0, f32::MAX].into_iter()).is_refused());
        assert!(!LineFacts::new([f32::MIN, f32::MAX].into_iter()).is_refused());
    }
}
