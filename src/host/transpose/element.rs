//! The elements of a transpose on the host: bits of a given width, or numbers that are scaled and
//! added.

use crate::pass::transpose::TransposeProblem;

/// The rule that computes an element of D from the elements of A and B.
pub(super) trait Elementwise<T>: Sync {
    /// Returns the new element of D. `x` reads the element of A, and `y` reads the element of B.
    fn of(&self, x: impl FnOnce() -> T, y: impl FnOnce() -> T) -> T;
}

/// `D = Aᵀ`.
pub(super) struct Move;

impl<T> Elementwise<T> for Move {
    fn of(&self, x: impl FnOnce() -> T, _: impl FnOnce() -> T) -> T {
        x()
    }
}

/// `D = alpha Aᵀ + beta B`. A matrix whose scalar is zero is not read.
pub(super) struct Linear<T> {
    alpha: Option<T>,
    beta: Option<T>,
}

macro_rules! linear {
    ($($T:ty),*) => {
        $(impl Linear<$T> {
            pub(super) fn new(problem: &TransposeProblem) -> Self {
                // The kernel rounds its scalars to the element type in the same way.
                let scalar = |reads: bool, x: f64| reads.then_some(x as $T);
                let [alpha, beta] = problem.scalars;
                Self { alpha: scalar(problem.reads_a(), alpha), beta: scalar(problem.reads_b(), beta) }
            }
        }

        impl Elementwise<$T> for Linear<$T> {
            fn of(&self, x: impl FnOnce() -> $T, y: impl FnOnce() -> $T) -> $T {
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
