//! The result of a verification.

use super::bound::{Estimate, Rounding};
use core::fmt;
use falchion::numeric::{ElementKind, F16};

/// A compared element of D.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Element {
    /// Row of D.
    pub row: usize,
    /// Column of D.
    pub column: usize,
    /// The computed value.
    pub got: f64,
    /// The reference value. It is rounded to D's type if the bound is 0.
    pub want: f64,
    /// Largest allowed error; 0 requires equality.
    pub bound: f64,
}

/// The result of a verification.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Verdict {
    /// Compared elements.
    pub elements_checked: usize,
    /// Compared elements that are not in D: results of the epilogue beside D.
    pub results_checked: usize,
    /// Elements that had to be equal, because their sums are exact in any order.
    pub elements_exact: usize,
    /// Undecided elements, because the bound of their sums is infinite. Only whole numbers decide
    /// them.
    pub elements_undecided: usize,
    /// Wrong elements.
    pub elements_wrong: usize,
    /// Largest ratio of an error to its bound. A ratio above 1 is an error. It is infinite if an
    /// exact element differs, or for NaN.
    pub error_over_bound: f64,
    /// The element with that error.
    pub worst: Option<Element>,
    /// The first wrong element, row by row.
    pub first_wrong: Option<Element>,
}

impl Verdict {
    /// Returns whether no element is wrong, and at least one element is decided, unless there are
    /// none.
    pub fn is_right(&self) -> bool {
        self.elements_wrong == 0
            && (self.elements_undecided < self.elements_checked || self.elements_checked == 0)
    }

    /// Returns whether every element was compared for equality.
    pub fn is_exact(&self) -> bool {
        self.elements_exact == self.elements_checked
    }

    /// Compares one element.
    pub(super) fn compare(
        &mut self,
        (row, column): (usize, usize),
        got: f64,
        wanted: Estimate,
        kind: ElementKind,
    ) {
        self.elements_checked += 1;
        let (element, share, wrong) =
            if wanted.overflows && wanted.error.is_finite() && is_overflow(got, kind) {
                (Element { row, column, got, want: wanted.value, bound: wanted.error }, 0.0, false)
            } else if wanted.error == 0.0 {
                self.elements_exact += 1;
                let want = stored(wanted.value, kind);
                let equal = got == want || (got.is_nan() && want.is_nan());
                (
                    Element { row, column, got, want, bound: 0.0 },
                    if equal { 0.0 } else { f64::INFINITY },
                    !equal,
                )
            } else if !wanted.error.is_finite() {
                self.elements_undecided += 1;
                return;
            } else {
                let Estimate { value, error, .. } = wanted;
                let rounding = Rounding::for_type(kind);
                let want = within_range(value, kind);
                let bound = error + rounding.unit * (want.abs() + error) + rounding.half_least;
                // A result that may overflow may be an infinity.
                let overflows =
                    got.is_infinite() && stored(value + bound.copysign(got), kind) == got;
                let error = (got - want).abs();
                let share = match error {
                    _ if overflows || error == 0.0 => 0.0,
                    _ if error.is_finite() => error / bound,
                    _ => f64::INFINITY,
                };
                // The negated comparison counts NaN as wrong.
                #[allow(
                    clippy::neg_cmp_op_on_partial_ord,
                    reason = "an error of NaN exceeds every bound"
                )]
                let wrong = !overflows && !(error <= bound);
                (Element { row, column, got, want, bound }, share, wrong)
            };
        self.record(element, share, wrong);
    }

    /// Records the comparison of the bits of an element. `got` and `want` are its numbers.
    pub(super) fn compare_bits(
        &mut self,
        (row, column): (usize, usize),
        [got, want]: [f64; 2],
        equal: bool,
    ) {
        self.elements_checked += 1;
        self.elements_exact += 1;
        let share = if equal { 0.0 } else { f64::INFINITY };
        self.record(Element { row, column, got, want, bound: 0.0 }, share, !equal);
    }

    fn record(&mut self, element: Element, share: f64, wrong: bool) {
        if self.worst.is_none() || share > self.error_over_bound {
            (self.worst, self.error_over_bound) = (Some(element), share);
        }
        if wrong {
            self.elements_wrong += 1;
            self.first_wrong = self.first_wrong.or(Some(element));
        }
    }

    /// Returns the verdict with all row numbers increased by `rows`.
    #[must_use]
    pub(crate) fn below(self, rows: usize) -> Self {
        let below = |element: Element| Element { row: element.row.saturating_add(rows), ..element };
        Self { worst: self.worst.map(below), first_wrong: self.first_wrong.map(below), ..self }
    }

    /// Returns the verdict of elements that are not in D.
    #[must_use]
    pub(super) fn of_results(self) -> Self {
        Self { results_checked: self.elements_checked, ..self }
    }

    /// Merges two verdicts. `other` is for later rows or columns.
    pub(crate) fn and(self, other: Self) -> Self {
        let first = |x: Option<Element>, y: Option<Element>| match (x, y) {
            (Some(x), Some(y)) => Some(if (y.row, y.column) < (x.row, x.column) { y } else { x }),
            (x, y) => x.or(y),
        };
        let ours = other.worst.is_none()
            || (self.worst.is_some() && self.error_over_bound >= other.error_over_bound);
        let worse = if ours { &self } else { &other };
        Self {
            elements_checked: self.elements_checked + other.elements_checked,
            results_checked: self.results_checked + other.results_checked,
            elements_exact: self.elements_exact + other.elements_exact,
            elements_undecided: self.elements_undecided + other.elements_undecided,
            elements_wrong: self.elements_wrong + other.elements_wrong,
            error_over_bound: worse.error_over_bound,
            worst: worse.worst,
            first_wrong: first(self.first_wrong, other.first_wrong),
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            elements_checked: checked,
            elements_exact: exact,
            elements_undecided: undecided,
            ..
        } = *self;
        match self.first_wrong {
            Some(Element { row, column, got, want, bound }) => {
                let wrong = self.elements_wrong;
                write!(
                    f,
                    "{wrong} of {checked} elements are wrong: the first, ({row}, {column}), is {got:e} where {want:e}"
                )?;
                if bound == 0.0 {
                    write!(f, " was wanted")
                } else {
                    write!(f, " was wanted, give or take {bound:e}")
                }
            }
            None if checked > 0 && undecided == checked => {
                write!(
                    f,
                    "nothing is known of {checked} elements: their sums are too long for the precision of their accumulator, or they may overflow before a function such as min or relu; use small whole numbers"
                )
            }
            None => {
                write!(
                    f,
                    "{checked} elements are right, {exact} of them exactly; the largest error is {} of its bound",
                    self.error_over_bound
                )?;
                if undecided > 0 { write!(f, "; nothing is known of {undecided}") } else { Ok(()) }
            }
        }
    }
}

/// Returns whether D can have this value after an overflow before the store.
fn is_overflow(got: f64, kind: ElementKind) -> bool {
    !got.is_finite()
        || match kind {
            ElementKind::E4m3 | ElementKind::E5m2 => got.abs() == Rounding::for_type(kind).largest,
            kind if kind.is_integer() => [f64::NEG_INFINITY, f64::NAN, f64::INFINITY]
                .map(|x| within_range(x, kind))
                .contains(&got),
            _ => false,
        }
}

/// Returns a number of the epilogue's arithmetic as stored in D, see
/// [`Narrow`](falchion::numeric::Narrow).
fn stored(x: f64, kind: ElementKind) -> f64 {
    match kind {
        ElementKind::F64 => x,
        ElementKind::F16 => F16::from_f32(x as f32).to_f64(),
        ElementKind::Bf16 => half::bf16::from_f32(x as f32).to_f64(),
        ElementKind::E4m3 | ElementKind::E5m2 => super::number::nearest(x, kind),
        ElementKind::I8 | ElementKind::U8 | ElementKind::I32 => {
            within_range(x.round_ties_even(), kind)
        }
        ElementKind::F32 | ElementKind::Tf32 => f64::from(x as f32),
    }
}

/// Clamps a number to the range of a saturating type. For integer types, NaN becomes 0.
fn within_range(x: f64, kind: ElementKind) -> f64 {
    let (least, largest) = match kind {
        ElementKind::I8 => (i8::MIN.into(), i8::MAX.into()),
        ElementKind::U8 => (u8::MIN.into(), u8::MAX.into()),
        ElementKind::I32 => (i32::MIN.into(), i32::MAX.into()),
        ElementKind::E4m3 | ElementKind::E5m2 => {
            let largest = Rounding::for_type(kind).largest;
            (-largest, largest)
        }
        _ => return x,
    };
    if x.is_nan() && kind.is_integer() { 0.0 } else { x.clamp(least, largest) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(got: f64, value: f64, error: f64, kind: ElementKind) -> Verdict {
        let mut verdict = Verdict::default();
        verdict.compare((1, 2), got, Estimate::within(value, error), kind);
        verdict
    }

    #[test]
    fn nan_fails_if_a_number_is_expected() {
        for error in [0.0, 0.5] {
            assert!(!one(f64::NAN, 1.0, error, ElementKind::F32).is_right());
            assert!(!one(f64::INFINITY, 1.0, error, ElementKind::F32).is_right());
        }
        assert!(one(f64::NAN, f64::NAN, 0.0, ElementKind::F32).is_right());
        assert!(one(0.0, f64::NAN, 0.0, ElementKind::I8).is_right());
        assert!(!one(1.0, f64::NAN, 0.0, ElementKind::F32).is_right());
    }

    #[test]
    fn results_are_rounded_and_clamped_as_stores_do() {
        assert!(one(1.0, 1.0 + 2f64.powi(-11), 0.0, ElementKind::F16).is_right());
        assert!(!one(1.0, 1.0 + 2f64.powi(-10), 0.0, ElementKind::F16).is_right());
        assert!(one(127.0, 1e6, 0.0, ElementKind::I8).is_right());
        assert!(one(0.0, -3.0, 0.0, ElementKind::U8).is_right());
        assert!(one(f64::INFINITY, 70_000.0, 0.0, ElementKind::F16).is_right());
        assert!(one(f64::INFINITY, 65_500.0, 100.0, ElementKind::F16).is_right());
        assert!(!one(f64::NEG_INFINITY, 65_500.0, 100.0, ElementKind::F16).is_right());
        assert!(!one(f64::INFINITY, 60_000.0, 100.0, ElementKind::F16).is_right());
    }

    #[test]
    fn fp8_saturates_and_never_holds_infinity() {
        for (kind, largest) in [(ElementKind::E4m3, 448.0), (ElementKind::E5m2, 57_344.0)] {
            for error in [0.0, 1.0] {
                assert!(one(largest, 1e6, error, kind).is_right());
                assert!(one(-largest, f64::NEG_INFINITY, error, kind).is_right() || error > 0.0);
                assert!(!one(f64::INFINITY, 1e6, error, kind).is_right());
                assert!(!one(largest / 2.0, 1e6, error, kind).is_right());
            }
            assert!(one(f64::NAN, f64::NAN, 0.0, kind).is_right());
            assert!(!one(largest, f64::NAN, 0.0, kind).is_right());
        }
        assert!(one(1.125, 1.0625 + 1e-9, 0.0, ElementKind::E4m3).is_right());
        assert!(!one(1.0, 1.0625 + 1e-9, 0.0, ElementKind::E4m3).is_right());
    }

    #[test]
    fn undecided_elements_are_not_correct() {
        let verdict = one(f64::NAN, 1.0, f64::INFINITY, ElementKind::F16);
        assert_eq!(
            (verdict.elements_undecided, verdict.elements_wrong, verdict.is_right()),
            (1, 0, false)
        );
        assert!(verdict.to_string().contains("use small whole numbers"));
    }

    #[test]
    fn a_number_that_may_overflow_is_within_its_bound_or_not_finite() {
        let one = |got, wanted, kind| {
            let mut verdict = Verdict::default();
            verdict.compare((0, 0), got, wanted, kind);
            verdict.is_right()
        };
        let near = Estimate { value: 3e38, error: 1e30, overflows: true };
        for right in [3e38, f64::INFINITY, f64::NAN, f64::NEG_INFINITY] {
            assert!(one(right, near, ElementKind::F32));
        }
        assert!(!one(2e38, near, ElementKind::F32) && !one(0.0, near, ElementKind::F32));
        let beyond = Estimate::not_finite(f64::INFINITY);
        assert!(one(f64::NAN, beyond, ElementKind::F32) && !one(3e38, beyond, ElementKind::F32));
        assert!(one(448.0, beyond, ElementKind::E4m3) && !one(416.0, beyond, ElementKind::E4m3));
        assert!(one(127.0, beyond, ElementKind::I8) && !one(126.0, beyond, ElementKind::I8));
    }

    #[test]
    fn the_worst_and_the_first_error_are_stated() {
        let both = one(1.5, 1.0, 0.1, ElementKind::F64).and(one(9.0, 1.0, 0.1, ElementKind::F64));
        assert_eq!((both.elements_checked, both.elements_wrong), (2, 2));
        assert!(both.error_over_bound > 79.0 && both.worst.is_some_and(|e| e.got == 9.0));
        let text = both.to_string();
        assert!(text.contains("(1, 2)") && text.contains("2 of 2"), "{text}");
    }
}
