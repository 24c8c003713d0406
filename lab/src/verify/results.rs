//! Verification of the results that an epilogue writes beside D.
//!
//! An element of an auxiliary matrix is compared as an element of D. A maximum of absolute values
//! is compared with the largest interval that contains a value: if each value `x` has an error of
//! at most `e`, the maximum lies between the largest `|x| - e` and the largest `|x| + e`. If only
//! some of its values are known, only the lower end is compared.

use super::{Verdict, bound::Estimate};
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

/// Intervals of the maxima of one GEMM, by operand and by row or column of D.
#[derive(Default)]
pub(super) struct Maxima(BTreeMap<(usize, usize), MaximumInterval>);

impl Maxima {
    /// Adds the values that the epilogue passes to its reductions, for some rows and columns of D.
    pub fn add(
        &mut self,
        values: &EpilogueOperands<Vec<Estimate>>,
        (rows, columns): (&[usize], &[usize]),
    ) {
        for (operand, values) in values.iter().filter(|(operand, _)| operand.is_reduction()) {
            for (at, value) in values.iter().enumerate() {
                let place = line(operand, (rows[at / columns.len()], columns[at % columns.len()]));
                let interval = self.0.entry((operand.index(), place)).or_default();
                *interval = interval.and(MaximumInterval::from_value(*value));
            }
        }
    }

    /// Merges the maxima of other elements.
    pub fn and(mut self, other: Self) -> Self {
        for (place, interval) in other.0 {
            let own = self.0.entry(place).or_default();
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
        for (&(operand, line), interval) in &self.0 {
            let operand = EpilogueOperand::ALL[operand];
            let Some((got, all_rows)) = result(operand, line) else { continue };
            let of_row = operand.side() == Some(OperandKind::A);
            let place = if of_row { (line, 0) } else { (0, line) };
            let known = all_rows || of_row;
            // NaN and larger values may come from rows that are not known.
            if known || got < interval.least {
                verdict.compare(place, got, interval.estimate(), kind);
            }
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
