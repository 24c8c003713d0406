//! The elements of a transpose on the host: bits of a given width, or numbers that are scaled and
//! added.

use crate::call::Problem;

/// The rule that computes an element of D from the elements of A and C.
pub(super) trait Elementwise<T>: Sync {
    /// Returns the new element of D. `x` reads the element of A, and `y` reads the element of C.
    fn apply(&self, x: impl FnOnce() -> T, y: impl FnOnce() -> T) -> T;
}

/// `D = Aᵀ`.
pub(super) struct Move;

impl<T> Elementwise<T> for Move {
    fn apply(&self, x: impl FnOnce() -> T, _: impl FnOnce() -> T) -> T {
        x()
    }
}

/// `D = alpha Aᵀ + beta C`. A matrix whose scalar is zero is not read.
pub(super) struct Linear<T> {
    alpha: Option<T>,
    beta: Option<T>,
}

macro_rules! linear {
    ($($T:ty),*) => {
        $(impl Linear<$T> {
            pub(super) fn new(problem: &Problem) -> Self {
                // The kernel rounds its scalars to the element type in the same way.
                let [alpha, beta, ..] = problem.scalars.map(|x| (x != 0.0).then_some(x as $T));
                Self { alpha, beta }
            }
        }

        impl Elementwise<$T> for Linear<$T> {
            fn apply(&self, x: impl FnOnce() -> $T, y: impl FnOnce() -> $T) -> $T {
                match (self.alpha, self.beta) {
                    (Some(alpha), Some(beta)) => alpha * x() + beta * y(),
                    (Some(alpha), None) => alpha * x(),
                    (None, Some(beta)) => beta * y(),
                    (None, None) => 0.0,
                }
            }
        })*
    };
}

linear!(f32, f64);
