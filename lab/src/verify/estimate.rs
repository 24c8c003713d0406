//! A number and its error bound.

/// A number with an error bound: the value of a right kernel is within `error` of `value`.
///
/// An `error` of 0 means that the kernel has exactly `value`. An infinite error means that there is
/// no bound.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Estimate {
    /// The number.
    pub value: f64,
    /// Largest error of a right kernel.
    pub error: f64,
    /// Whether intermediate numbers may overflow. A right kernel may then have an infinity or NaN
    /// instead.
    pub overflows: bool,
}

impl Estimate {
    /// Returns an exact number.
    pub const fn exactly(value: f64) -> Self {
        Self::within(value, 0.0)
    }

    /// Returns a number within `error` of `value`.
    pub const fn within(value: f64, error: f64) -> Self {
        Self { value, error, overflows: false }
    }

    /// Returns an infinity or NaN. The order of additions decides which of them a right kernel has.
    pub const fn not_finite(value: f64) -> Self {
        Self { value, error: 0.0, overflows: true }
    }
}
