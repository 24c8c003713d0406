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
        let mut rounding = Rounding::for_type(compute.element());
        // The reference computes in binary64 and rounds as well; integers do not.
        rounding.unit += if compute == ComputeKind::I32 { 0.0 } else { 2f64.powi(-53) };
        Self { desc, scalars, compute, rounding }
    }

    /// Returns whether the epilogue reads C.
    pub fn reads_source(&self) -> bool {
        self.desc.reads(&self.scalars).source()
    }

    /// Returns the estimate of each element of D before it is stored, and those of the values that
    /// the epilogue writes to other operands. An epilogue with a gate reads pairs of accumulators.
    pub fn evaluate(
        &self,
        accumulators: &[Estimate],
        inputs: &EpilogueOperands<Vec<f64>>,
    ) -> (Vec<Estimate>, EpilogueOperands<Vec<Estimate>>) {
        let mut written = EpilogueOperands::NONE;
        let each_of = self.desc.columns_per_output();
        let of_pairs = |first: usize| {
            let all = accumulators.iter().skip(first).step_by(each_of);
            all.map(|&x| self.widened(x)).collect::<Vec<_>>()
        };
        let same = |x: f64| vec![Estimate::exactly(x); accumulators.len() / each_of];
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
                Op::Accumulator | Op::Gate => of_pairs(0),
                Op::Up => of_pairs(1),
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
                Op::Write(operand, _) => {
                    let value = pop();
                    scalar = value.scalar;
                    *written.slot(operand) = Some(value.estimates.clone());
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
                        // A scalar in memory may be 0, too.
                        let zero = x.error == 0.0 && x.value == 0.0;
                        *x = match zero {
                            true => Estimate::exactly(0.0),
                            false => self.math(MathFunction::Multiply, *x, y),
                        };
                    }
                    if x.scalar == Some(0.0) { same(0.0) } else { x.estimates }
                }
            };
            stack.push(Entry { estimates: each(estimates, |x| self.settled(x)), scalar });
        }
        (stack.pop().map_or_else(|| same(f64::NAN), |entry| entry.estimates), written)
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
#[path = "epilogue_tests.rs"]
mod tests;
