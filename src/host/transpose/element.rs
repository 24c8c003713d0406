//! The elements of a transpose on the host: bits of a given width, or numbers that are scaled and
//! added.

use crate::operand::{Problem, transpose::Combine};

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

/// Returns the rule for one element, on the bits of an element of A and the bits of an element of
/// C.
pub fn combined(combine: Combine, problem: &Problem) -> Box<dyn Fn(u64, u64) -> u64> {
    match combine {
        Combine::Move => Box::new(|x, _| x),
        Combine::F32 => {
            let (linear, of) =
                (Linear::<f32>::new(problem), |word: u64| f32::from_bits(word as u32));
            Box::new(move |x, y| linear.apply(|| of(x), || of(y)).to_bits().into())
        }
        Combine::F64 => {
            let linear = Linear::<f64>::new(problem);
            Box::new(move |x, y| linear.apply(|| f64::from_bits(x), || f64::from_bits(y)).to_bits())
        }
    }
}
