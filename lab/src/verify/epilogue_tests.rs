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
        .evaluate(&[accumulator], &inputs(source).map(|_, x| vec![x]))
        .0[0]
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
    assert_eq!(exact("acc + 2147483647", ComputeKind::I32), Estimate::exactly(-2_147_483_646.0));
    assert_eq!(exact("acc + 2147483647", ComputeKind::F32), Estimate::exactly(2_147_483_648.0));
    assert_eq!(exact("clamp(acc, -1, 2)", ComputeKind::F32), Estimate::exactly(2.0));
    assert_eq!(exact("relu(beta * c)", ComputeKind::F32), Estimate::exactly(0.0));
    assert_eq!(exact("multiply(acc, bias_n) + bias_m", ComputeKind::F32), Estimate::exactly(7.75));
}

#[test]
fn operands_scaled_by_0_do_not_matter() {
    for lost in [f64::NAN, f64::INFINITY] {
        let scaled =
            evaluate_text("alpha * acc + s2 * c", ComputeKind::F32, Estimate::exactly(1.5), lost);
        assert_eq!(scaled, Estimate::exactly(3.0));
        let unknown = Estimate::within(1.0, f64::INFINITY);
        assert_eq!(
            evaluate_text("s2 * relu(acc) + c", ComputeKind::F32, unknown, 4.0),
            Estimate::exactly(4.0)
        );
        assert!(
            !evaluate_text("multiply(s2, source)", ComputeKind::F32, Estimate::exactly(1.0), lost)
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
