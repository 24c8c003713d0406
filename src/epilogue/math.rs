//! Mathematical functions of epilogues.
//!
//! A row of the table is a function: the type of its node, and the name of the host function in
//! this file. Expressions and the CUDA function have the same name. Host and device return the same
//! bits.
//!
//! Twin: `kernels/epilogue/math.cuh`.

use super::{
    desc::{EpilogueDesc, Op},
    evaluate::Rows,
    tree::{Node, binary},
};
use crate::numeric::{Compute, ComputeKind};
use core::marker::PhantomData;

macro_rules! functions {
    (
        unary { $($(#[doc = $doc1:literal])* $Unary:ident<$Of:ident> = $unary:ident;)* }
        binary { $($(#[doc = $doc2:literal])* $Binary:ident<$X:ident, $Y:ident> = $binary:ident;)* }
    ) => {
        /// Mathematical function of an epilogue.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum MathFunction {
            $($(#[doc = $doc1])* $Unary,)*
            $($(#[doc = $doc2])* $Binary,)*
        }

        impl MathFunction {
            /// All functions.
            pub const ALL: &'static [Self] = &[$(Self::$Unary,)* $(Self::$Binary,)*];

            /// Returns the name in expressions.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$Unary => stringify!($unary),)*
                    $(Self::$Binary => stringify!($binary),)*
                }
            }

            /// Returns the number of operands.
            pub const fn arity(self) -> usize {
                match self {
                    $(Self::$Unary)|* => 1,
                    $(Self::$Binary)|* => 2,
                }
            }

            /// Replaces the last rows of operands by their function.
            pub(super) fn apply<E: Compute>(self, rows: &mut Rows<E>) {
                match self {
                    $(Self::$Unary => rows.map($unary),)*
                    $(Self::$Binary => rows.zip($binary),)*
                }
            }

            /// Returns the function of `x`, or of `x` and `y`.
            fn value<E: Compute>(self, x: E, y: E) -> E {
                match self {
                    $(Self::$Unary => $unary(x),)*
                    $(Self::$Binary => $binary(x, y),)*
                }
            }
        }

        $($(#[doc = $doc1])*
        pub struct $Unary<$Of>(PhantomData<$Of>);

        impl<$Of: Node> Node for $Unary<$Of> {
            const DESC: EpilogueDesc = $Of::DESC.then(Op::Math(MathFunction::$Unary));
            fn register() {
                $Of::register();
            }
        })*

        binary! {
            $($(#[doc = $doc2])* $Binary<$X, $Y> = Op::Math(MathFunction::$Binary);)*
        }
    };
}

functions! {
    unary {
        /// `X`, or 0 if `X < 0`; NaN stays NaN.
        Relu<X> = relu;
        /// `|X|`. The least integer has no positive counterpart and stays as it is.
        Absolute<X> = abs;
    }
    binary {
        /// `X`, or `Y` if `X > Y`.
        Minimum<X, Y> = min;
        /// `X`, or `Y` if `X < Y`.
        Maximum<X, Y> = max;
    }
}

impl MathFunction {
    /// Returns the function of the name in expressions.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|function| function.name() == name)
    }

    /// Returns the function of `x`, or of `x` and `y`, in the arithmetic of an epilogue. The
    /// operands are numbers of `compute`.
    #[doc(hidden)]
    pub fn in_arithmetic(self, compute: ComputeKind, x: f64, y: f64) -> f64 {
        match compute {
            ComputeKind::F32 => f64::from(self.value(x as f32, y as f32)),
            ComputeKind::F64 => self.value(x, y),
            ComputeKind::I32 => f64::from(self.value(x as i32, y as i32)),
        }
    }
}

// Comparisons instead of `f32::min` and `f32::max`: every executor returns the same NaN and the
// same sign of zero.

fn relu<E: Compute>(x: E) -> E {
    max(x, E::default())
}

fn abs<E: Compute>(x: E) -> E {
    x.absolute()
}

fn min<E: Compute>(x: E, y: E) -> E {
    if x > y { y } else { x }
}

fn max<E: Compute>(x: E, y: E) -> E {
    if x < y { y } else { x }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bound of `falchion gemm --verify` assumes both properties.
    #[test]
    fn functions_do_not_round_and_do_not_amplify_errors() {
        let numbers: Vec<f32> = (-40i16..=40)
            .map(|i| f32::from(i) * 0.3)
            .chain([0.0, -0.0, 1e30, -1e30, f32::INFINITY, f32::NEG_INFINITY])
            .collect();
        let pairs = || numbers.iter().flat_map(|&x| numbers.iter().map(move |&y| (x, y)));
        for &function in MathFunction::ALL {
            for (x, y) in pairs() {
                let exact = function.value(f64::from(x), f64::from(y));
                assert_eq!(f64::from(function.value(x, y)), exact, "{function:?} of {x} and {y}");
                for (dx, dy) in [(1e-3, 0.0), (-1e-3, 1e-3), (0.5, -0.5)] {
                    let (fx, fy) = (f64::from(x) + dx, f64::from(y) + dy);
                    let moved = function.value(fx, fy);
                    let most = f64::max((fx - f64::from(x)).abs(), (fy - f64::from(y)).abs());
                    let amplified = exact.is_finite() && (moved - exact).abs() > most;
                    assert!(!amplified, "{function:?} of {x} and {y}, moved by {dx} and {dy}");
                }
            }
        }
    }

    #[test]
    fn absolute_values_have_no_sign_except_of_the_least_integer() {
        let abs = |compute, x| MathFunction::Absolute.in_arithmetic(compute, x, x);
        let least = f64::from(i32::MIN);
        assert_eq!(abs(ComputeKind::I32, least), least);
        assert_eq!(abs(ComputeKind::I32, -3.0), 3.0);
        for compute in [ComputeKind::F32, ComputeKind::F64] {
            assert!(abs(compute, -0.0).is_sign_positive() && abs(compute, f64::NAN).is_nan());
        }
    }

    #[test]
    fn names_are_the_words_of_expressions() {
        let names: Vec<_> = MathFunction::ALL.iter().map(|function| function.name()).collect();
        assert_eq!(names, ["relu", "abs", "min", "max"]);
        assert_eq!(MathFunction::from_name("accu"), None);
    }
}
