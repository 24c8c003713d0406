//! The epilogue on estimates: the right value of D, and its largest error.
//!
//! | node | value | error |
//! |---|---|---|
//! | operands known exactly, an operation of IEEE 754 or of integers | the kernel's own operation, in its own arithmetic | 0 |
//! | scaled by a scalar that is 0 | 0, for any operand | 0 |
//! | a [`MathFunction`] | the function in binary64 | [`functions`](super::functions) |
//! | a user's function `f` | `f(x)` as the host computes it | twice the largest `|f(x ± ex) - f(x)|`, and [`USER_ULPS`] ulps |
//!
//! The rounding is `r = u (|result| + error) + h`. A user's function is assumed to be monotone or
//! smooth within the error of its operand. A function that jumps there is verified only with whole
//! numbers, for which the operand is exact.

use super::{
    bound::{Estimate, Rounding},
    functions::estimate,
};
use falchion::{
    epilogue::{
        EpilogueDesc, LOCALS, MathFunction, Op, SCALARS, UserBody, UserFunction, registered,
    },
    internals::shape::EpilogueOperands,
    numeric::{ComputeKind, ElementKind},
};

/// Largest difference between the device's and the host's result of a user's function, in units in
/// the last place of the function's type (binary32 or binary64).
pub const USER_ULPS: f64 = 4.0;

/// An epilogue with its scalars.
pub(super) struct Evaluation<'d> {
    desc: &'d EpilogueDesc,
    scalars: [f64; SCALARS],
    compute: ComputeKind,
    rounding: Rounding,
}

/// A stack entry: an estimate per element, and the scalar if it is one.
struct Entry {
    estimates: Vec<Estimate>,
    scalar: Option<f64>,
}

/// Applies a function to each estimate.
fn each(mut estimates: Vec<Estimate>, f: impl Fn(Estimate) -> Estimate) -> Vec<Estimate> {
    estimates.iter_mut().for_each(|x| *x = f(*x));
    estimates
}

impl<'d> Evaluation<'d> {
    pub fn new(desc: &'d EpilogueDesc, scalars: [f64; SCALARS], compute: ComputeKind) -> Self {
        let kind = match compute {
            ComputeKind::F32 => ElementKind::F32,
            ComputeKind::F64 => ElementKind::F64,
            ComputeKind::I32 => ElementKind::I32,
        };
        let mut rounding = Rounding::for_type(kind);
        // The reference computes in binary64 and rounds as well; integers do not.
        rounding.unit += if compute == ComputeKind::I32 { 0.0 } else { 2f64.powi(-53) };
        Self { desc, scalars, compute, rounding }
    }

    /// Returns whether the epilogue reads C.
    pub fn reads_source(&self) -> bool {
        self.desc.reads(&self.scalars).source()
    }

    /// Returns the estimate of each element of D before it is stored.
    pub fn evaluate(
        &self,
        accumulators: &[Estimate],
        inputs: &EpilogueOperands<Vec<f64>>,
    ) -> Vec<Estimate> {
        let same = |x: f64| vec![Estimate::exactly(x); accumulators.len()];
        let input = |numbers: Option<&Vec<f64>>| {
            let known =
                |numbers: &Vec<f64>| numbers.iter().map(|&x| Estimate::exactly(x)).collect();
            each(numbers.map_or_else(|| same(f64::NAN), known), |x| self.widened(x))
        };
        let mut stack: Vec<Entry> = Vec::new();
        let mut locals: [Vec<Estimate>; LOCALS] = Default::default();
        for op in self.desc.ops() {
            let mut pop =
                || stack.pop().unwrap_or_else(|| Entry { estimates: same(f64::NAN), scalar: None });
            let mut scalar = None;
            let estimates = match *op {
                Op::Nop => continue,
                Op::Accumulator => each(accumulators.to_vec(), |x| self.widened(x)),
                Op::Operand(operand, _) => input(inputs.get(operand)),
                Op::Scalar(slot) => {
                    let given = self.scalars[slot as usize % SCALARS];
                    scalar = Some(given);
                    same(self.held(given))
                }
                Op::Constant(x) => same(self.held(x.value())),
                Op::Local(slot) => locals[slot as usize % LOCALS].clone(),
                Op::Let(slot) => {
                    let value = pop();
                    scalar = value.scalar;
                    locals[slot as usize % LOCALS].clone_from(&value.estimates);
                    value.estimates
                }
                Op::Then => {
                    let last = pop();
                    pop();
                    scalar = last.scalar;
                    last.estimates
                }
                Op::Math(function) => {
                    let mut last = pop().estimates;
                    let first = if function.arity() == 2 { pop().estimates } else { last.clone() };
                    for (x, y) in first.into_iter().zip(&mut last) {
                        *y = self.math(function, x, *y);
                    }
                    last
                }
                Op::User(id) => {
                    let function = registered(id);
                    each(pop().estimates, |x| self.user(x, x, function))
                }
                Op::UserBinary(id) => {
                    let (y, mut x) = (pop().estimates, pop().estimates);
                    let function = registered(id);
                    for (x, y) in x.iter_mut().zip(y) {
                        *x = self.user(*x, y, function);
                    }
                    x
                }
                Op::Scale => {
                    let (y, mut x) = (pop(), pop());
                    for (x, y) in x.estimates.iter_mut().zip(y.estimates) {
                        *x = self.math(MathFunction::Multiply, *x, y);
                    }
                    if x.scalar == Some(0.0) { same(0.0) } else { x.estimates }
                }
            };
            stack.push(Entry { estimates: each(estimates, |x| self.settled(x)), scalar });
        }
        stack.pop().map_or_else(|| same(f64::NAN), |entry| entry.estimates)
    }

    /// Returns the number of the epilogue's arithmetic that is nearest to `x`.
    fn held(&self, x: f64) -> f64 {
        match self.compute {
            ComputeKind::F32 => f64::from(x as f32),
            ComputeKind::F64 => x,
            ComputeKind::I32 => f64::from(x as i32),
        }
    }

    /// Converts an accumulator or an element of C. The conversion is exact except for integers
    /// beyond 2^24 in binary32.
    fn widened(&self, x: Estimate) -> Estimate {
        let known = x.error == 0.0 && !x.overflows;
        if known { Estimate::exactly(self.held(x.value)) } else { x }
    }

    /// Sets the error of infinities and NaN to 0. A number near the largest one may overflow.
    fn settled(&self, x: Estimate) -> Estimate {
        if !x.value.is_finite() {
            return Estimate { error: 0.0, ..x };
        }
        let error = if x.error.is_nan() { f64::INFINITY } else { x.error };
        let overflows = x.overflows
            || error > 0.0
                && error.is_finite()
                && self.compute != ComputeKind::I32
                && x.value.abs() + error >= self.rounding.largest;
        Estimate { error, overflows, ..x }
    }

    fn rounded(&self, value: f64, error: f64) -> Estimate {
        let rounding = self.rounding.unit * (value.abs() + error) + self.rounding.half_least;
        Estimate::within(value, error + rounding)
    }

    /// Applies a mathematical function to `x`, or to `x` and `y`. Operations of IEEE 754 and of
    /// integers on exact operands are exact in the kernel's arithmetic.
    fn math(&self, function: MathFunction, x: Estimate, y: Estimate) -> Estimate {
        let arithmetic =
            matches!(function, MathFunction::Add | MathFunction::Subtract | MathFunction::Multiply);
        let known = function.computes_in(ComputeKind::F64);
        if known && x.error == 0.0 && y.error == 0.0 && (arithmetic || !x.overflows && !y.overflows)
        {
            let value = function.in_arithmetic(self.compute, x.value, y.value);
            let overflows = arithmetic && (x.overflows || y.overflows);
            return Estimate { overflows, ..Estimate::exactly(value) };
        }
        let found = estimate(function, x, y, |value, error| self.rounded(value, error));
        Estimate { overflows: arithmetic && (x.overflows || y.overflows), ..found }
    }

    /// Applies a user's function in the type of the epilogue. A function that the type does not
    /// support returns its first operand.
    fn user(&self, x: Estimate, y: Estimate, function: Option<UserFunction>) -> Estimate {
        let Some(function) = function else { return x };
        let whole = self.compute == ComputeKind::I32;
        let through = |x: f64, y: f64| match (self.compute, function.body) {
            (ComputeKind::F32, UserBody::Unary { host, .. }) => f64::from(host(x as f32)),
            (ComputeKind::F32, UserBody::Binary { host, .. }) => {
                f64::from(host(x as f32, y as f32))
            }
            (_, UserBody::Unary { f64: Some(host), .. }) => host(x),
            (_, UserBody::Binary { f64: Some(host), .. }) => host(x, y),
            _ => x,
        };
        let held = |x: f64| if whole { self.held(x.round_ties_even()) } else { x };
        let value = held(through(x.value, y.value));
        let ends = |x: Estimate| [x.value - x.error, x.value + x.error];
        let of_y = |y: f64| ends(x).map(|x| (held(through(x, y)) - value).abs());
        let spread = ends(y).map(of_y).into_iter().flatten().fold(0.0, f64::max);
        let of = if self.compute == ComputeKind::F32 { ElementKind::F32 } else { ElementKind::F64 };
        let ulps = USER_ULPS * 2.0 * Rounding::for_type(of).unit * value.abs();
        // A result in the middle of two integers may round to either.
        let device = if whole { ulps.ceil() } else { ulps };
        let overflows = x.overflows || y.overflows;
        let error = if overflows { f64::INFINITY } else { 2.0 * spread + device };
        Estimate::within(value, error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use falchion::epilogue::{Apply, F64Function, Function, Node};
    use falchion::internals::shape::EpilogueOperand;

    /// Returns an element of C, and 7 or 0.25 for each other operand.
    fn inputs<T: From<f32>>(source: T) -> EpilogueOperands<T> {
        let mut all = EpilogueOperands::by(|one| Some(T::from([0.25, 7.0][one.index() % 2])));
        *all.slot(EpilogueOperand::Source) = Some(source);
        all
    }

    /// Evaluates one element.
    fn evaluate(
        desc: &EpilogueDesc,
        compute: ComputeKind,
        accumulator: Estimate,
        source: f64,
    ) -> Estimate {
        Evaluation::new(desc, SCALES, compute)
            .evaluate(&[accumulator], &inputs(source).map(|_, x| vec![x]))[0]
    }

    const SCALES: [f64; SCALARS] = [2.0, -0.5, 0.0, 0.1, 0.0, 0.0, 0.0, 0.0];

    fn evaluate_text(text: &str, compute: ComputeKind, of: Estimate, source: f64) -> Estimate {
        evaluate(&text.parse().expect("an expression"), compute, of, source)
    }

    #[test]
    fn exact_operands_use_the_arithmetic_of_the_kernel() {
        let exact = |text, compute| evaluate_text(text, compute, Estimate::exactly(3.0), 5.0);
        assert_eq!(exact("alpha * acc + beta * c", ComputeKind::F32), Estimate::exactly(3.5));
        assert_eq!(exact("s3 * acc", ComputeKind::F32), Estimate::exactly(f64::from(0.1f32 * 3.0)));
        assert_eq!(exact("s3 * acc", ComputeKind::F64), Estimate::exactly(0.1 * 3.0));
        assert_eq!(
            exact("multiply(acc, 2147483647)", ComputeKind::I32),
            Estimate::exactly(2_147_483_645.0)
        );
        assert_eq!(
            exact("acc + 2147483647", ComputeKind::I32),
            Estimate::exactly(-2_147_483_646.0)
        );
        assert_eq!(exact("acc + 2147483647", ComputeKind::F32), Estimate::exactly(2_147_483_648.0));
        assert_eq!(exact("clamp(acc, -1, 2)", ComputeKind::F32), Estimate::exactly(2.0));
        assert_eq!(exact("relu(beta * c)", ComputeKind::F32), Estimate::exactly(0.0));
        assert_eq!(
            exact("multiply(acc, bias_n) + bias_m", ComputeKind::F32),
            Estimate::exactly(7.75)
        );
    }

    #[test]
    fn operands_scaled_by_0_do_not_matter() {
        for lost in [f64::NAN, f64::INFINITY] {
            let scaled = evaluate_text(
                "alpha * acc + s2 * c",
                ComputeKind::F32,
                Estimate::exactly(1.5),
                lost,
            );
            assert_eq!(scaled, Estimate::exactly(3.0));
            let unknown = Estimate::within(1.0, f64::INFINITY);
            assert_eq!(
                evaluate_text("s2 * relu(acc) + c", ComputeKind::F32, unknown, 4.0),
                Estimate::exactly(4.0)
            );
            assert!(
                !evaluate_text(
                    "multiply(s2, source)",
                    ComputeKind::F32,
                    Estimate::exactly(1.0),
                    lost
                )
                .value
                .is_finite()
            );
        }
    }

    /// Checks that any accumulator within its error gives a result within the error of the result.
    #[test]
    fn errors_propagate_to_the_result() {
        let texts = [
            "alpha * acc + beta * c",
            "relu(alpha * acc + s3 * c)",
            "multiply(acc, acc + c)",
            "clamp(alpha * acc, -3, 3) + s3 * c",
            "max(min(acc, source), multiply(s3, acc))",
            "relu(multiply(acc, bias_n) + bias_m)",
        ];
        for (at, text) in texts.into_iter().enumerate() {
            let desc: EpilogueDesc = text.parse().expect("it is an expression");
            for i in 0..20_000u64 {
                let uniform = |j: u64| {
                    (crate::verify::draw(at as u64, 4 * i + j) >> 11) as f64 / 2f64.powi(52) - 1.0
                };
                let (value, error, source) = (
                    8.0 * uniform(0),
                    1e-5 * uniform(1).abs() + 1e-9,
                    f64::from(8.0 * uniform(2) as f32),
                );
                let held = (value + error * uniform(3)) as f32;
                if (f64::from(held) - value).abs() > error {
                    continue;
                }
                let scalars = SCALES;
                let (mut rows, wanted) = (
                    falchion::internals::Rows::default(),
                    evaluate_text(text, ComputeKind::F32, Estimate::within(value, error), source),
                );
                let got = falchion::internals::evaluate(
                    &desc,
                    &scalars,
                    &[held],
                    &inputs(source as f32).as_ref().map(|_, x| std::slice::from_ref(x)),
                    &mut rows,
                )[0];
                assert!(
                    (f64::from(got) - wanted.value).abs() <= wanted.error,
                    "{text} of {held} and {source}: {got}, {wanted:?}"
                );
                assert!(wanted.error < 1e-3, "{wanted:?}");
            }
        }
    }

    /// Checks that any operands within their errors give a result within the error of the result.
    #[test]
    fn the_error_of_each_function_includes_the_result_of_the_host() {
        for (at, function) in MathFunction::ALL.iter().enumerate() {
            let (mut decided, count) = (0, 20_000u64);
            let desc = EpilogueDesc::leaf(Op::Accumulator);
            let evaluation = Evaluation::new(&desc, SCALES, ComputeKind::F32);
            for i in 0..count {
                let uniform = |j: u64| {
                    let bits = crate::verify::draw(0xf0 + at as u64, 8 * i + j) >> 11;
                    bits as f64 / 2f64.powi(52) - 1.0
                };
                // From 2^-10 to 2^7, and some operands without an error.
                let operand = |j: u64| {
                    let value = uniform(j).signum() * 2f64.powf(8.5 * uniform(j + 1) - 1.5);
                    let error = (1e-5 * uniform(j + 2)).max(0.0) * value.abs();
                    let within = if error > 0.0 { value + error * uniform(j + 3) } else { value };
                    let held = within as f32;
                    let value = if error > 0.0 { value } else { f64::from(held) };
                    let known = (f64::from(held) - value).abs() <= error;
                    known.then_some((Estimate::within(value, error), f64::from(held)))
                };
                let (Some((x, of_x)), Some((y, of_y))) = (operand(0), operand(4)) else { continue };
                let wanted = evaluation.settled(evaluation.math(*function, x, y));
                let got = function.in_arithmetic(ComputeKind::F32, of_x, of_y);
                decided += u64::from(wanted.error.is_finite());
                let equal = got.is_nan() && wanted.value.is_nan() || got == wanted.value;
                assert!(
                    equal || wanted.overflows || (got - wanted.value).abs() <= wanted.error,
                    "{function:?} of {of_x} and {of_y}: {got}, {wanted:?}"
                );
                let limit = 5e-3 * (1.0 + wanted.value.abs());
                let tight = wanted.error == 0.0 || wanted.error <= limit;
                assert!(
                    tight || *function == MathFunction::ReluGrad || !wanted.error.is_finite(),
                    "{function:?} of {of_x} and {of_y}: {wanted:?}"
                );
            }
            assert!(decided > count / 2, "{function:?}: {decided} of {count}");
        }
    }

    #[test]
    fn bounds_of_user_functions_include_the_error_of_the_operand() {
        struct Square;
        impl Function for Square {
            const NAME: &'static str = "square";
            const CUDA: &'static str = "x * x";
            fn host(x: f32) -> f32 {
                x * x
            }
            const F64: Option<F64Function> = Some(F64Function { cuda: "x * x", host: |x| x * x });
        }
        type Tree = Apply<Square, falchion::epilogue::Acc>;
        Tree::register();
        let square = |compute, x| evaluate(&Tree::DESC, compute, x, 0.0);
        let of = |value, error| square(ComputeKind::F32, Estimate::within(value, error));
        assert!(of(3.0, 0.0).error < 1e-5 && of(3.0, 0.0).value == 9.0);
        let wide = of(3.0, 0.5).error;
        assert!((3.25..7.0).contains(&wide), "{wide}");
        // In binary64 nothing is rounded to binary32 on its way.
        let third = square(ComputeKind::F64, Estimate::exactly(1.0 / 3.0));
        assert_eq!(third.value, 1.0 / 3.0 * (1.0 / 3.0));
        assert!(third.error < 1e-15);
        // Every integer is a number of binary64.
        let whole = square(ComputeKind::I32, Estimate::exactly(46_339.0));
        assert_eq!(whole.value, 2_147_302_921.0);
    }

    #[test]
    fn overflowing_sums_may_be_infinite() {
        let near = Estimate::within(3e38, 1e30);
        let scaled = evaluate_text("alpha * acc", ComputeKind::F32, near, 0.0);
        assert!(scaled.overflows && scaled.error.is_finite());
        assert!(!evaluate_text("alpha * acc", ComputeKind::F64, near, 0.0).overflows);
        // An infinity may become 0 there.
        let clamped = evaluate_text("relu(alpha * acc)", ComputeKind::F32, near, 0.0);
        assert_eq!((clamped.error, clamped.overflows), (f64::INFINITY, false));
        let exactly = Estimate::not_finite(f64::INFINITY);
        let scaled = evaluate_text("alpha * acc + beta * c", ComputeKind::F32, exactly, 1.0);
        assert_eq!(scaled, exactly);
        assert_eq!(
            evaluate_text("alpha * acc", ComputeKind::F32, Estimate::exactly(3e38), 0.0).value,
            f64::INFINITY
        );
    }
}
