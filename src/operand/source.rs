//! Source of C: a matrix, or D itself.

use crate::operand::View;

/// Source of C.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Source<R> {
    /// No C. A call refuses an epilogue that reads C.
    None,
    /// A separate matrix.
    Matrix(R),
    /// D itself: `D = alpha * A*B + beta * D`, as in BLAS.
    InPlace,
}

impl<R> Source<R> {
    /// Returns C if it is a separate matrix.
    pub fn matrix(&self) -> Option<&R> {
        match self {
            Self::Matrix(matrix) => Some(matrix),
            _ => None,
        }
    }

    /// Returns the matrix that the epilogue reads as C, given D.
    pub fn or(self, d: R) -> Option<R> {
        match self {
            Self::None => None,
            Self::Matrix(matrix) => Some(matrix),
            Self::InPlace => Some(d),
        }
    }

    /// Returns the source by reference.
    pub fn as_ref(&self) -> Source<&R> {
        match self {
            Self::None => Source::None,
            Self::Matrix(matrix) => Source::Matrix(matrix),
            Self::InPlace => Source::InPlace,
        }
    }

    /// Applies `f` to a separate matrix.
    pub fn map<S>(self, f: impl FnOnce(R) -> S) -> Source<S> {
        match self {
            Self::None => Source::None,
            Self::Matrix(matrix) => Source::Matrix(f(matrix)),
            Self::InPlace => Source::InPlace,
        }
    }

    /// Applies a fallible `f` to a separate matrix.
    ///
    /// # Errors
    /// The error of `f`.
    pub fn try_map<S, E>(self, f: impl FnOnce(R) -> Result<S, E>) -> Result<Source<S>, E> {
        Ok(match self {
            Self::None => Source::None,
            Self::Matrix(matrix) => Source::Matrix(f(matrix)?),
            Self::InPlace => Source::InPlace,
        })
    }
}

impl<M> Source<View<M>> {
    /// Returns the source with the memory of another source.
    pub fn with<R>(&self, memory: Source<R>) -> Source<View<R>> {
        match (self, memory) {
            (Self::Matrix(view), Source::Matrix(memory)) => Source::Matrix(view.with(memory)),
            (Self::InPlace, _) => Source::InPlace,
            _ => Source::None,
        }
    }
}
