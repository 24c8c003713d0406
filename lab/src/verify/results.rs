//! Verification of the results that an epilogue writes beside D.
//!
//! An element of an auxiliary matrix is compared as an element of D. A maximum of absolute values
//! is compared with the largest interval that contains a value: if each value `x` has an error of
//! at most `e`, the maximum lies between the largest `|x| - e` and the largest `|x| + e`. If only
//! some of its values are known, only the lower end is compared. A sum of `n` values is compared
//! with the sum of the values, whose error is at most the sum of their errors and `(n + 8) u` times
//! the sum of their absolute values, for every order of the additions. A sum of some values is not
//! compared.

use super::{
    Verdict,
    bound::{Estimate, Rounding},
};
use falchion::{
    internals::shape::{EpilogueOperand, EpilogueOperands, OperandKind},
    numeric::ElementKind,
};
use std::collections::BTreeMap;

/// Interval that contains a maximum of absolute values.
#[derive(Clone, Copy, Debug, Default)]
struct MaximumInterval {
    least: f64,
    most: f64,
    /// Whether a value is NaN.
    nan: bool,
    /// Whether a value may be any number, or NaN.
    undecided: bool,
}

impl MaximumInterval {
    fn and(self, other: Self) -> Self {
        Self {
            least: self.least.max(other.least),
            most: self.most.max(other.most),
            nan: self.nan || other.nan,
            undecided: self.undecided || other.undecided,
        }
    }

    fn from_value(x: Estimate) -> Self {
        let value = x.value.abs();
        if value.is_nan() {
            return Self { nan: true, ..Self::default() };
        }
        if x.overflows || !x.error.is_finite() {
            return Self { undecided: true, ..Self::default() };
        }
        Self { least: (value - x.error).max(0.0), most: value + x.error, ..Self::default() }
    }

    /// Returns the maximum with its largest error.
    fn estimate(self) -> Estimate {
        if self.nan {
            return Estimate::exactly(f64::NAN);
        }
        if self.undecided {
            return Estimate::within(self.least, f64::INFINITY);
        }
        if self.least == self.most {
            return Estimate::exactly(self.least);
        }
        Estimate::within((self.least + self.most) / 2.0, (self.most - self.least) / 2.0)
    }
}

/// Sum of values, with the sums of their errors and of their absolute values.
#[derive(Clone, Copy, Debug, Default)]
struct SumInterval {
    value: f64,
    error: f64,
    magnitude: f64,
    count: f64,
    /// Whether a value is infinite or NaN.
    special: bool,
    /// Whether a value may be any number, or NaN.
    undecided: bool,
    /// Whether a value is not an exact integer.
    rounds: bool,
}

impl SumInterval {
    fn and(self, other: Self) -> Self {
        Self {
            value: self.value + other.value,
            error: self.error + other.error,
            magnitude: self.magnitude + other.magnitude,
            count: self.count + other.count,
            special: self.special || other.special,
            undecided: self.undecided || other.undecided,
            rounds: self.rounds || other.rounds,
        }
    }

    fn from_value(x: Estimate, squares: bool) -> Self {
        let special = !x.value.is_finite();
        let undecided = x.overflows || !x.error.is_finite();
        let rounds = x.error != 0.0 || x.value.fract() != 0.0;
        let (value, error) = if squares {
            (x.value * x.value, (2.0 * x.value.abs() + x.error) * x.error)
        } else {
            (x.value, x.error)
        };
        let magnitude = value.abs() + error;
        Self { value, error, magnitude, count: 1.0, special, undecided, rounds }
    }

    /// Returns the sum in a type, with its largest error.
    fn estimate(self, Rounding { unit, half_least, largest }: Rounding) -> Estimate {
        if self.undecided || self.magnitude > largest / 2.0 && !self.special {
            return Estimate::within(0.0, f64::INFINITY);
        }
        if self.special {
            return Estimate::exactly(self.value);
        }
        if !self.rounds && self.magnitude <= unit.recip() {
            return Estimate::exactly(self.value);
        }
        let underflow = self.count * half_least;
        let rounding = (self.count + 8.0) * unit * self.magnitude;
        Estimate::within(self.value, self.error + rounding + underflow)
    }
}

/// Intervals of the reductions of one GEMM, by operand and by row or column of D.
#[derive(Default)]
pub(super) struct Reductions {
    maxima: BTreeMap<(usize, usize), MaximumInterval>,
    sums: BTreeMap<(usize, usize), SumInterval>,
}

impl Reductions {
    /// Adds the values that the epilogue passes to its reductions, for some rows and columns of D.
    pub fn add(
        &mut self,
        values: &EpilogueOperands<Vec<Estimate>>,
        (rows, columns): (&[usize], &[usize]),
    ) {
        for (operand, values) in values.iter().filter(|(operand, _)| operand.is_reduction()) {
            for (at, value) in values.iter().enumerate() {
                let line = line(operand, (rows[at / columns.len()], columns[at % columns.len()]));
                let place = (operand.index(), line);
                if operand.is_sum() {
                    let interval = self.sums.entry(place).or_default();
                    let value = SumInterval::from_value(*value, operand.sums_squares());
                    *interval = interval.and(value);
                } else {
                    let interval = self.maxima.entry(place).or_default();
                    *interval = interval.and(MaximumInterval::from_value(*value));
                }
            }
        }
    }

    /// Merges the reductions of other elements.
    pub fn and(mut self, other: Self) -> Self {
        for (place, interval) in other.maxima {
            let own = self.maxima.entry(place).or_default();
            *own = own.and(interval);
        }
        for (place, interval) in other.sums {
            let own = self.sums.entry(place).or_default();
            *own = own.and(interval);
        }
        self
    }

    /// Compares the results. `result` returns an operand's result for a row or a column, and
    /// whether the values of all rows are known.
    pub fn compare(
        &self,
        kind: ElementKind,
        result: impl Fn(EpilogueOperand, usize) -> Option<(f64, bool)>,
    ) -> Verdict {
        let mut verdict = Verdict::default();
        let mut each = |(operand, line): (usize, usize), least: Option<f64>, wanted: Estimate| {
            let operand = EpilogueOperand::ALL[operand];
            let Some((got, all_rows)) = result(operand, line) else { return };
            let of_row = operand.side() == Some(OperandKind::A);
            let place = if of_row { (line, 0) } else { (0, line) };
            let known = all_rows || of_row;
            // NaN and larger values may come from rows that are not known.
            if known || least.is_some_and(|least| got < least) {
                verdict.compare(place, got, wanted, kind);
            }
        };
        for (&place, interval) in &self.maxima {
            each(place, Some(interval.least), interval.estimate());
        }
        for (&place, interval) in &self.sums {
            each(place, None, interval.estimate(Rounding::for_type(kind)));
        }
        verdict.of_results()
    }
}

/// Returns the number of the result of a reduction for an element of D.
fn line(operand: EpilogueOperand, (row, column): (usize, usize)) -> usize {
    match operand.side() {
        Some(OperandKind::A) => row,
        Some(OperandKind::B) => column,
        None => 0,
    }
}
