//! A number and its error bound.

/// A number that is not known exactly: what a right kernel holds lies within `error` of `value`.
///
/// An `error` of 0 means that it holds `value` itself; infinity, that nothing is known.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Estimate {
    /// The number.
    pub value: f64,
    /// How far off a right kernel may be.
    pub error: f64,
    /// Whether numbers on the way may overflow. A right kernel may then hold an infinity or NaN
    /// instead.
    pub overflows: bool,
}

impl Estimate {
    /// A number that is known.
    pub const fn exactly(value: f64) -> Self {
        Self::within(value, 0.0)
    }

    /// A number that lies within `error` of `value`.
    pub const fn within(value: f64, error: f64) -> Self {
        Self { value, error, overflows: false }
    }

    /// An infinity or NaN. A right kernel holds one of them, and its order of additions says which.
    pub const fn not_finite(value: f64) -> Self {
        Self { value, error: 0.0, overflows: true }
    }
}
