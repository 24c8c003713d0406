//! Mathematical functions of epilogues.
//!
//! A row of the table is a function: the type of its node, and the name of the host function in
//! [`exact`] or [`approximation`]. Expressions and the CUDA function have the same name. Host
//! and device return the same bits. A group of rows states which compute types have the functions.
//!
//! Twin: `kernels/epilogue/math.cuh`.

pub(super) mod approximation;
mod exact;

use super::{
    desc::{EpilogueDesc, Op},
    tree::{Node, binary},
};
use crate::{
    numeric::{Compute, ComputeKind, TypedNumbers},
    shape::words::same_text,
    sys::simd::{Vectorized, dispatch},
};
use approximation::{
    erf, exp, gelu, gelu_grad, gelu_tanh, gelu_tanh_grad, sigmoid, silu, silu_grad, tanh,
};
use core::marker::PhantomData;
use exact::{
    abs, add, divide, hardswish, leaky_relu, max, min, multiply, neg, relu, relu_grad, rsqrt, sqrt,
    subtract,
};

macro_rules! functions {
    ($(
        $types:ident {
            unary { $($(#[doc = $doc1:literal])* $Unary:ident<$Of:ident> = $unary:ident;)* }
            binary { $($(#[doc = $doc2:literal])* $Binary:ident<$X:ident, $Y:ident> = $binary:ident;)* }
        }
    )*) => {
        /// Mathematical function of an epilogue.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub enum MathFunction {
            $($($(#[doc = $doc1])* $Unary,)* $($(#[doc = $doc2])* $Binary,)*)*
        }

        impl MathFunction {
            /// All functions.
            pub const ALL: &'static [Self] = &[$($(Self::$Unary,)* $(Self::$Binary,)*)*];

            /// Returns the name in expressions.
            pub const fn name(self) -> &'static str {
                match self {
                    $($(Self::$Unary => stringify!($unary),)* $(Self::$Binary => stringify!($binary),)*)*
                }
            }

            /// Returns the number of operands.
            pub const fn arity(self) -> usize {
                match self {
                    $($(Self::$Unary => 1,)* $(Self::$Binary => 2,)*)*
                }
            }

            /// Returns the compute types that have the function.
            const fn types(self) -> ComputeTypes {
                match self {
                    $($(Self::$Unary => ComputeTypes::$types,)* $(Self::$Binary => ComputeTypes::$types,)*)*
                }
            }

            /// Replaces each number by its function. Does nothing if the type does not have the
            /// function.
            #[inline(always)]
            fn map(self, numbers: TypedNumbers<'_>) {
                match self {
                    $($(Self::$Unary => map!($types, $unary, numbers),)*)*
                    _ => {}
                }
            }

            /// Replaces each number of `xs` by a function of it and the number of `ys`. Does
            /// nothing if the types differ or do not have the function.
            #[inline(always)]
            fn zip(self, xs: TypedNumbers<'_>, ys: TypedNumbers<'_>) {
                match self {
                    $($(Self::$Binary => zip!($types, $binary, xs, ys),)*)*
                    _ => {}
                }
            }
        }

        $($($(#[doc = $doc1])*
        pub struct $Unary<$Of>(PhantomData<$Of>);

        impl<$Of: Node> Node for $Unary<$Of> {
            const DESC: EpilogueDesc = $Of::DESC.then(Op::Math(MathFunction::$Unary));
            fn register() {
                $Of::register();
            }
        })*

        binary! {
            $($(#[doc = $doc2])* $Binary<$X, $Y> = Op::Math(MathFunction::$Binary);)*
        })*
    };
}

/// Compute types that have a function.
enum ComputeTypes {
    /// `f32`, `f64`, and `i32`.
    Any,
    /// `f32` and `f64`.
    Float,
    /// `f32`, whose approximations have its precision.
    F32,
}

fn each<T: Copy>(numbers: &mut [T], f: impl Fn(T) -> T) {
    numbers.iter_mut().for_each(|x| *x = f(*x));
}

fn both<T: Copy>(xs: &mut [T], ys: &[T], f: impl Fn(T, T) -> T) {
    xs.iter_mut().zip(ys).for_each(|(x, y)| *x = f(*x, *y));
}

macro_rules! map {
    (Any, $f:ident, $numbers:expr) => {
        match $numbers {
            TypedNumbers::F32(numbers) => each(numbers, $f),
            TypedNumbers::F64(numbers) => each(numbers, $f),
            TypedNumbers::I32(numbers) => each(numbers, $f),
        }
    };
    (Float, $f:ident, $numbers:expr) => {
        match $numbers {
            TypedNumbers::F32(numbers) => each(numbers, $f),
            TypedNumbers::F64(numbers) => each(numbers, $f),
            TypedNumbers::I32(_) => {}
        }
    };
    (F32, $f:ident, $numbers:expr) => {
        if let TypedNumbers::F32(numbers) = $numbers {
            each(numbers, $f);
        }
    };
}

macro_rules! zip {
    (Any, $f:ident, $xs:expr, $ys:expr) => {
        match ($xs, $ys) {
            (TypedNumbers::F32(xs), TypedNumbers::F32(ys)) => both(xs, ys, $f),
            (TypedNumbers::F64(xs), TypedNumbers::F64(ys)) => both(xs, ys, $f),
            (TypedNumbers::I32(xs), TypedNumbers::I32(ys)) => both(xs, ys, $f),
            _ => {}
        }
    };
    (Float, $f:ident, $xs:expr, $ys:expr) => {
        match ($xs, $ys) {
            (TypedNumbers::F32(xs), TypedNumbers::F32(ys)) => both(xs, ys, $f),
            (TypedNumbers::F64(xs), TypedNumbers::F64(ys)) => both(xs, ys, $f),
            _ => {}
        }
    };
    (F32, $f:ident, $xs:expr, $ys:expr) => {
        if let (TypedNumbers::F32(xs), TypedNumbers::F32(ys)) = ($xs, $ys) {
            both(xs, ys, $f);
        }
    };
}

functions! {
    Any {
        unary {
            /// `-X`. The least integer stays as it is.
            Negate<X> = neg;
            /// `max(X, 0)`; NaN stays NaN.
            Relu<X> = relu;
            /// Derivative of `relu` at `X`: 1 if `X > 0`, and 0 otherwise.
            ReluGrad<X> = relu_grad;
            /// `|X|`. The least integer has no positive counterpart and stays as it is.
            Absolute<X> = abs;
        }
        binary {
            /// Sum `X + Y`.
            Add<X, Y> = add;
            /// Difference `X - Y`.
            Subtract<X, Y> = subtract;
            /// Product `X * Y`.
            Multiply<X, Y> = multiply;
            /// Smaller of `X` and `Y`: IEEE 754-2019 `minimum`. NaN if one is NaN; -0 is less than
            /// +0.
            Minimum<X, Y> = min;
            /// Larger of `X` and `Y`: IEEE 754-2019 `maximum`. NaN if one is NaN; -0 is less than
            /// +0.
            Maximum<X, Y> = max;
        }
    }
    Float {
        unary {
            /// Square root of `X`, correctly rounded.
            SquareRoot<X> = sqrt;
            /// `1 / sqrt(X)`, as two correctly rounded operations.
            InverseSquareRoot<X> = rsqrt;
            /// `X * clamp(X + 3, 0, 6) / 6`.
            HardSwish<X> = hardswish;
        }
        binary {
            /// Quotient `X / Y`, correctly rounded.
            Divide<X, Y> = divide;
            /// `X`, or `Y * X` if `X < 0`.
            LeakyRelu<X, Y> = leaky_relu;
        }
    }
    F32 {
        unary {
            /// `e^X`, within 0.91 ulp.
            Exp<X> = exp;
            /// Hyperbolic tangent of `X`, within 2 ulp.
            Tanh<X> = tanh;
            /// Error function of `X`, within 1.11 ulp.
            Erf<X> = erf;
            /// `1 / (1 + e^-X)`, within 2.49 ulp. Below -87, it keeps its value at -87.
            Sigmoid<X> = sigmoid;
            /// `X * sigmoid(X)`, also called swish.
            Silu<X> = silu;
            /// `X * (1 + erf(X / sqrt(2))) / 2`.
            Gelu<X> = gelu;
            /// `X * (1 + tanh(sqrt(2 / pi) * (X + 0.044715 * X^3))) / 2`.
            GeluTanh<X> = gelu_tanh;
            /// Derivative of `silu` at `X`.
            SiluGrad<X> = silu_grad;
            /// Derivative of `gelu` at `X`.
            GeluGrad<X> = gelu_grad;
            /// Derivative of `gelu_tanh` at `X`.
            GeluTanhGrad<X> = gelu_tanh_grad;
        }
        binary {}
    }
}

impl MathFunction {
    /// Returns the function of the name in expressions.
    pub const fn from_name(name: &str) -> Option<Self> {
        Self::from_bytes(name.as_bytes())
    }

    pub(super) const fn from_bytes(name: &[u8]) -> Option<Self> {
        let mut i = 0;
        while i < Self::ALL.len() {
            if same_text(Self::ALL[i].name().as_bytes(), name) {
                return Some(Self::ALL[i]);
            }
            i += 1;
        }
        None
    }

    /// Returns the infix operator of the function, if it has one.
    pub const fn operator(self) -> Option<char> {
        match self {
            Self::Add => Some('+'),
            Self::Subtract => Some('-'),
            Self::Multiply => Some('*'),
            Self::Divide => Some('/'),
            _ => None,
        }
    }

    /// Returns whether a compute type has the function.
    pub const fn computes_in(self, compute: ComputeKind) -> bool {
        match self.types() {
            ComputeTypes::Any => true,
            ComputeTypes::Float => !matches!(compute, ComputeKind::I32),
            ComputeTypes::F32 => matches!(compute, ComputeKind::F32),
        }
    }

    /// Returns whether the CUDA function is generated from [`approximation`].
    pub(super) const fn is_approximated(self) -> bool {
        matches!(self.types(), ComputeTypes::F32)
    }

    /// Replaces the numbers by their function.
    pub(super) fn apply<E: Compute>(self, xs: &mut [E]) {
        dispatch(Unary(self, xs));
    }

    /// Replaces the numbers of `xs` by the function of them and the numbers of `ys`.
    pub(super) fn apply_to_both<E: Compute>(self, xs: &mut [E], ys: &mut [E]) {
        dispatch(Binary(self, xs, ys));
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

    /// Returns the function of `x`, or of `x` and `y`.
    fn value<E: Compute>(self, x: E, y: E) -> E {
        let (mut x, mut y) = ([x], [y]);
        if self.arity() == 1 {
            self.apply(&mut x)
        } else {
            self.apply_to_both(&mut x, &mut y)
        }
        x[0]
    }
}

/// Application of a function of one operand.
struct Unary<'n, E>(MathFunction, &'n mut [E]);

impl<E: Compute> Vectorized for Unary<'_, E> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        self.0.map(E::typed(self.1));
    }
}

/// Application of a function of two operands.
struct Binary<'n, E>(MathFunction, &'n mut [E], &'n mut [E]);

impl<E: Compute> Vectorized for Binary<'_, E> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        self.0.zip(E::typed(self.1), E::typed(self.2));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn functions_have_known_values() {
        let of = |name, x, y| {
            let function = MathFunction::from_name(name).expect(name);
            function.in_arithmetic(ComputeKind::F32, x, y)
        };
        for (name, x, y, value) in [
            ("add", 1.5, 2.0, 3.5),
            ("subtract", 1.5, 2.0, -0.5),
            ("multiply", 1.5, 2.0, 3.0),
            ("divide", 1.5, 2.0, 0.75),
            ("neg", 1.5, 0.0, -1.5),
            ("min", 1.5, 2.0, 1.5),
            ("max", 1.5, 2.0, 2.0),
            ("relu", -1.5, 0.0, 0.0),
            ("relu_grad", 1.5, 0.0, 1.0),
            ("relu_grad", 0.0, 0.0, 0.0),
            ("abs", -1.5, 0.0, 1.5),
            ("sqrt", 2.25, 0.0, 1.5),
            ("rsqrt", 0.25, 0.0, 2.0),
            ("hardswish", 1.5, 0.0, 1.125),
            ("hardswish", -4.0, 0.0, -0.0),
            ("leaky_relu", -2.0, 0.25, -0.5),
            ("leaky_relu", 2.0, 0.25, 2.0),
            ("exp", 0.0, 0.0, 1.0),
            ("tanh", 0.0, 0.0, 0.0),
            ("erf", 0.0, 0.0, 0.0),
            ("sigmoid", 0.0, 0.0, 0.5),
            ("silu", 0.0, 0.0, 0.0),
            ("gelu", 0.0, 0.0, 0.0),
            ("gelu_tanh", 0.0, 0.0, 0.0),
            ("silu_grad", 0.0, 0.0, 0.5),
            ("gelu_grad", 0.0, 0.0, 0.5),
            ("gelu_tanh_grad", 0.0, 0.0, 0.5),
        ] {
            assert_eq!(of(name, x, y), value, "{name} of {x} and {y}");
        }
        assert_eq!(MathFunction::from_name("accu"), None);
    }
}
