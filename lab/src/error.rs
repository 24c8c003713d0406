//! The error type of measurements.

use falchion::Refusal;

/// The error of a measurement, an exploration, or a suite.
///
/// Modules in which only the library fails, such as [`owned`](crate::owned) and
/// [`verify`](crate::verify), return [`falchion::Error`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The library refused a request, or the environment failed.
    #[error(transparent)]
    Falchion(#[from] falchion::Error),
    /// A line of a suite is not a valid problem.
    #[error("suite {suite}, line {line}: {because}")]
    Suite {
        /// The suite's name.
        suite: String,
        /// The line, from 1.
        line: usize,
        /// The reason.
        because: String,
    },
    /// A measurement, an exploration, or a count of accesses failed.
    #[error("the measurement failed: {because}")]
    Measurement {
        /// The reason.
        because: String,
    },
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        falchion::Error::from(refusal).into()
    }
}
