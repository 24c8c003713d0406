//! Epilogues as trees, expressions, and JSON: printed epilogues parse, errors state their position,
//! operands scaled by 0 are not read, and a user's function is an ordinary node.

use crate::harness::{
    prelude::*,
    random_cases::{self, any_nodes, cases},
};
use falchion::epilogue::{
    CAPACITY, Clamp, Constant, Maximum, Minimum, ParseEpilogueError, Scalar, UserBody, register,
    registered,
};
use proptest::prelude::*;

/// Strategy for the mathematical functions of `arity` operands.
fn math(arity: usize) -> impl Strategy<Value = Op> {
    let functions = MathFunction::ALL.iter().filter(|function| function.arity() == arity);
    prop::sample::select(functions.copied().map(Op::Math).collect::<Vec<_>>())
}

/// Random trees of at most 12 nodes: a leaf, or a node with smaller trees.
fn tree() -> impl Strategy<Value = EpilogueDesc> {
    let scalar = || (0u8..8).prop_map(Op::Scalar);
    // Trees with at most 12 nodes may read an operand with two types; one type each avoids that.
    let operand = prop::sample::select(EpilogueOperand::ALL[1..6].to_vec()).prop_map(|operand| {
        let typed = operand.index() % 2 == 0;
        Op::Operand(operand, typed.then_some(ElementKind::F32))
    });
    let leaf = prop_oneof![
        Just(Op::Accumulator),
        Just(Op::SOURCE),
        operand,
        scalar(),
        random_cases::constant()
    ];
    let leaf = leaf.prop_map(EpilogueDesc::leaf);
    let trees = leaf.prop_recursive(5, 12, 2, move |inner| {
        let user = |op: fn(NodeId) -> Op| any::<u64>().prop_map(move |id| op(NodeId(id)));
        let binary = prop_oneof![4 => math(2), 1 => user(Op::UserBinary)];
        let unary = prop_oneof![4 => math(1), 1 => user(Op::User)];
        prop_oneof![
            3 => (inner.clone(), inner.clone(), binary).prop_map(|(x, y, op)| x.join(y, op)),
            2 => (scalar(), inner.clone()).prop_map(|(s, x)| EpilogueDesc::leaf(s).join(x, Op::Scale)),
            1 => (inner, unary).prop_map(|(x, op)| x.then(op)),
        ]
    });
    trees.prop_filter("at most 12 nodes", |desc| desc.ops().len() <= 12)
}

proptest! {
    #![proptest_config(cases(10_000))]

    #[test]
    fn a_printed_tree_parses_to_the_same_tree(desc in tree()) {
        prop_assert_eq!(desc.check(), Ok(()));
        let text = desc.to_string();
        prop_assert_eq!(text.parse::<EpilogueDesc>().map_err(|fault| fault.to_string()), Ok(desc), "{}", text);
        // White space has no meaning.
        prop_assert_eq!(text.replace(' ', "").parse(), Ok(desc), "{}", text);
        prop_assert_eq!(format!(" ( {} ) ", text.replace('(', " ( ").replace(',', " , ")).parse(), Ok(desc), "{}", text);
    }

    #[test]
    fn any_nodes_round_trip_through_text_or_are_refused(desc in any_nodes()) {
        let text = desc.to_string();
        if desc.check().is_ok() {
            prop_assert_eq!(text.parse(), Ok(desc), "{}", text);
        }
    }

    #[test]
    fn any_text_parses_or_has_an_error_position_inside(text in "[ a-z0-9_+*(),é∑-]{0,60}") {
        if let Err(fault) = text.parse::<EpilogueDesc>() {
            prop_assert!(fault.at <= text.len() && text.is_char_boundary(fault.at));
            prop_assert!(fault.to_string().ends_with('^'));
        }
    }
}

#[test]
fn a_sum_on_the_right_and_a_scaled_product_keep_their_parentheses() {
    for text in [
        "acc + c + 1",
        "acc + (c + 1)",
        "alpha * (beta * acc)",
        "alpha * (acc + c) + beta * c",
        "clamp(acc, -2147483648, 2147483647)",
        "multiply(alpha, acc)",
        "alpha * acc * (s2 + -3)",
        "alpha * (acc + bias_m) + bias_n * c",
    ] {
        let desc: EpilogueDesc = text.parse().expect(text);
        let printed = desc.to_string();
        assert_eq!(printed.parse(), Ok(desc), "{text} printed as {printed}");
        assert!(text == printed || text.starts_with("clamp"), "{text} printed as {printed}");
    }
    assert_eq!("acc * c".parse(), Ok(<Multiply<Acc, falchion::epilogue::Source> as Node>::DESC));
    assert_eq!("s7*acc".parse(), Ok(<Scaled<Scalar<7>, Acc> as Node>::DESC));
    for (text, same) in [
        ("multiply(acc, source)", "acc * c"),
        ("leaky_relu(acc)", "leaky_relu(acc, 0.01)"),
        ("x = acc; y = x + c; x / y", "v0 = acc; v1 = v0 + c; v0 / v1"),
        ("silu(pre = acc + c)", "silu(v0 = acc + c)"),
        ("acc + .5e1", "acc + 5"),
        ("add(acc, subtract(c, neg(acc)))", "acc + (c - -acc)"),
    ] {
        assert_eq!(text.parse::<EpilogueDesc>().expect(text).to_string(), same);
    }
    assert_eq!(
        "clamp(acc, 0, 6)".parse(),
        Ok(<Clamp<Acc, Constant<0>, Constant<6>> as Node>::DESC)
    );
}

#[test]
fn a_parse_error_states_its_column() {
    let deep = format!("{}acc", "(".repeat(70));
    let wide = vec!["acc"; 17].join("+");
    let table: [(&str, usize, &str); 21] = [
        ("alpha * accu + 1", 8, "`accu` is not known"),
        ("relu(acc", 8, "`)` was expected"),
        ("relu acc", 5, "`(` was expected"),
        ("min(acc)", 7, "`,` was expected"),
        ("min(acc, 1, 2)", 10, "`)` was expected"),
        ("acc +", 5, "the expression ends"),
        ("", 0, "the expression ends"),
        ("acc acc", 4, "nothing was expected"),
        ("acc + 3e20", 6, "from 1e-20 to 1e20"),
        ("acc + 12345678901234567890", 6, "at most 19 digits"),
        ("acc = 1; acc", 0, "the name of a value"),
        ("x = acc; x = c; x", 9, "the name of a value"),
        ("x = acc; y", 9, "`y` is not known"),
        ("acc; c", 3, "nothing was expected"),
        ("acc - * 1", 6, "a name, a number"),
        ("acc acc", 4, "nothing was expected"),
        ("acc + ∑", 6, "a name, a number or `(`"),
        ("acc + bias_k", 6, "`bias_k` is not known; names are acc, c, bias_m, bias_n"),
        ("acc + s8", 6, "`s8` is not known"),
        (&deep, 64, "nested too deeply"),
        (&wide, 67, "more than 32 nodes"),
    ];
    for (text, at, why) in table {
        let fault: ParseEpilogueError = text.parse::<EpilogueDesc>().expect_err(text);
        println!("{fault}");
        assert!(fault.why.contains(why), "{fault}");
        assert_eq!(fault.at, at, "{fault}");
        let lines: Vec<_> = fault.to_string().lines().map(str::to_owned).collect();
        assert_eq!((lines[1].trim_start(), lines[2].chars().count()), (text, 3 + at), "{fault}");
    }
    let fault = "∑ + acc".parse::<EpilogueDesc>().expect_err("no name");
    assert!(fault.to_string().ends_with("\n  ^"), "{fault}");
    let fault = "acc + relu(é)".parse::<EpilogueDesc>().expect_err("no name");
    assert_eq!(
        fault.to_string().lines().next_back().map(|line| line.chars().count()),
        Some(2 + 12),
        "columns are characters"
    );
}

/// Returns D of 1 x 1 x 1 GEMMs: D = epilogue(a * b, c) for each (a, b, c), where `bf16` represents
/// a and b. Scalars that the epilogue does not read are not passed.
fn each<E: Node>(inputs: &[(f32, f32, f32)], scalars: [f64; 3]) -> Vec<f32> {
    let reads = |op| E::DESC.ops().contains(&op);
    let scalar = |slot: u8, neutral| {
        if reads(Op::Scalar(slot)) { scalars[slot as usize] } else { neutral }
    };
    let neutral_beta = if reads(Op::SOURCE) { 1.0 } else { 0.0 };
    let (alpha, beta, s2) = (scalar(0, 1.0), scalar(1, neutral_beta), scalar(2, 0.0));
    let gemm = HopperRows::<Bf16, f32>::new().epilogue::<E>();
    let run = |&(a, b, c): &(f32, f32, f32)| {
        let mut d = [f32::NAN];
        let [a, b] = [a, b].map(|x| [Bf16::from_f32(x)]);
        let arguments = Arguments::new((1, 1, 1), &a, &b, &mut d);
        gemm.run(arguments.alpha(alpha).source(beta, &[c]).scalar::<2>(s2)).expect("a product");
        d[0]
    };
    inputs.iter().map(run).collect()
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|x| if x.is_nan() { f32::NAN.to_bits() } else { x.to_bits() }).collect()
}

#[test]
fn operands_scaled_by_zero_are_not_read() {
    use falchion::epilogue::Source as C;
    const NAN: f32 = f32::NAN;
    type Deep = Add<Scaled<Scalar<2>, Add<Acc, C>>, Constant<3>>;
    // With beta = 0, NaN in C does not reach D. With alpha = 0, NaN in A and B does not. If a
    // scalar scales the whole expression, no NaN does.
    assert_eq!(
        each::<LinearCombination>(&[(2.0, 3.0, NAN), (2.0, 3.0, f32::INFINITY)], [1.0, 0.0, 0.0]),
        [6.0, 6.0]
    );
    assert_eq!(
        each::<LinearCombination>(&[(NAN, 3.0, 5.0), (f32::INFINITY, 0.0, 5.0)], [0.0, 2.0, 0.0]),
        [10.0, 10.0]
    );
    assert_eq!(each::<LinearCombination>(&[(NAN, NAN, NAN)], [0.0, 0.0, 0.0]), [0.0]);
    assert_eq!(each::<Deep>(&[(NAN, 1.0, NAN)], [0.0, 0.0, 0.0]), [3.0]);
    assert_eq!(
        each::<LinearCombination>(&[(NAN, 3.0, 5.0)], [-0.0, 2.0, 0.0]),
        [10.0],
        "minus 0 is 0"
    );
    // All other epilogues propagate NaN, and a plain GEMM reads both operands.
    assert!(each::<LinearCombination>(&[(2.0, 3.0, NAN)], [1.0, 1e-30, 0.0])[0].is_nan());
    assert!(each::<Add<Acc, Multiply<Beta, C>>>(&[(2.0, 3.0, NAN)], [1.0, 0.0, 0.0])[0].is_nan());
    let reads = LinearCombination::DESC.reads(&[1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    assert!(reads.accumulator && !reads.source());
    let reads = Deep::DESC.reads(&[0.0; 8]);
    assert!(!reads.accumulator && !reads.source());
}

#[test]
fn operands_that_are_not_read_may_be_absent() {
    let gemm = HopperRows::<Bf16, f32>::new();
    let mut d = [7.0f32; 4];
    gemm.run(Arguments::new((2, 2, 2), &[], &[], &mut d).alpha(0.0).in_place(3.0))
        .expect("A and B are not read");
    assert_eq!(d, [21.0; 4]);
    gemm.run(Arguments::new((2, 2, 2), &[Bf16::ONE; 4], &[Bf16::ONE; 4], &mut d).source(0.0, &[]))
        .expect("C is not read");
    assert_eq!(d, [2.0; 4]);
    assert!(
        gemm.can_implement(
            &Arguments::new((2, 2, 2), &[Bf16::ONE; 4], &[Bf16::ONE; 4], &mut d).source(1.0, &[])
        )
        .is_err()
    );
}

/// Scalars are rounded to the type of the epilogue before they select what is read.
#[test]
fn a_scalar_that_rounds_to_0_reads_nothing() {
    let gemm = HopperRows::<Bf16, f32>::new();
    let mut d = [7.0f32; 4];
    let operands = [Bf16::ONE; 4];
    gemm.run(Arguments::new((2, 2, 2), &operands, &operands, &mut d).source(1e-60, &[]))
        .expect("C is not read");
    assert_eq!(d, [2.0; 4]);
}

#[test]
fn min_and_max_do_not_depend_on_the_order_of_operands() {
    use falchion::epilogue::Source as C;
    const NAN: f32 = f32::NAN;
    let inputs =
        [(NAN, 1.0, 2.0), (2.0, 1.0, NAN), (0.0, 1.0, -0.0), (-3.0, 1.0, 2.0), (9.0, 1.0, 2.0)];
    // IEEE 754-2019: NaN if an operand is NaN, and -0 is less than +0. An accumulator begins at 0
    // and is never -0.
    let one = [1.0, 1.0, 0.0];
    type Six<X> = Clamp<X, Constant<0>, Constant<6>>;
    assert_eq!(bits(&each::<Relu<Acc>>(&inputs, one)), bits(&[NAN, 2.0, 0.0, 0.0, 9.0]));
    assert_eq!(bits(&each::<Relu<C>>(&inputs, one)), bits(&[2.0, NAN, 0.0, 2.0, 2.0]));
    let larger = bits(&[NAN, NAN, 0.0, 2.0, 9.0]);
    assert_eq!(bits(&each::<Maximum<Acc, C>>(&inputs, one)), larger);
    assert_eq!(bits(&each::<Maximum<C, Acc>>(&inputs, one)), larger);
    let smaller = bits(&[NAN, NAN, -0.0, -3.0, 2.0]);
    assert_eq!(bits(&each::<Minimum<Acc, C>>(&inputs, one)), smaller);
    assert_eq!(bits(&each::<Minimum<C, Acc>>(&inputs, one)), smaller);
    assert_eq!(bits(&each::<Six<Acc>>(&inputs, one)), bits(&[NAN, 2.0, 0.0, 0.0, 6.0]));
    assert_eq!(bits(&each::<Six<C>>(&inputs, one)), bits(&[2.0, NAN, 0.0, 2.0, 2.0]));
    assert_eq!(
        bits(&each::<LinearCombinationRelu>(&inputs[3..], [2.0, 0.5, 0.0])),
        bits(&[0.0, 19.0])
    );
}

/// A function that this crate defines, not the library.
struct Cubed;

impl Function for Cubed {
    const NAME: &'static str = "cubed";
    const CUDA: &'static str = "x * x * x";
    fn host(x: f32) -> f32 {
        x * x * x
    }
    const F64: Option<F64Function> = Some(F64Function { cuda: "x * x * x", host: |x| x * x * x });
}

#[test]
fn a_function_of_another_crate_is_a_node() {
    type Tree = Add<Scaled<Alpha, Apply<Cubed, Acc>>, Constant<1>>;
    assert_eq!(each::<Tree>(&[(2.0, 1.0, 0.0), (-3.0, 1.0, 0.0)], [2.0, 0.0, 0.0]), [17.0, -53.0]);
    let known =
        registered(NodeId::for_function::<Cubed>()).expect("types register their functions");
    let UserBody::Unary { host, .. } = known.body else { panic!("it has one operand") };
    assert_eq!((known.name, known.cuda, host(3.0)), ("cubed", "x * x * x", 27.0));
    assert_eq!(Tree::DESC.to_string().parse(), Ok(Tree::DESC));
    // An integer GEMM, and a column-major D.
    let gemm =
        Gemm::<i8, ColMajor, i8, ColMajor, i32, ColMajor>::new().epilogue::<Apply<Cubed, Acc>>();
    let mut d = [0i32; 2];
    gemm.run(Arguments::new((2, 1, 1), &[3, -4], &[1], &mut d)).expect("a product");
    assert_eq!(d, [27, -64]);
}

/// Runs a 1 x 1 x 1 GEMM with an epilogue.
fn run(epilogue: EpilogueDesc) -> Result<f32, Error> {
    let matrix = View::new(Elements::new(1), Order::Row, 1);
    let problem = Problem { scalars: [1.0; 8], ..problem_of((1, 1, 1), [matrix, matrix, matrix]) };
    let mut d = [0.0f32];
    let five = [Bf16::from_f32(5.0)];
    let one = HostSlice::new::<Bf16>(&five);
    let matrices = matrices(one, one, HostSliceMut::new::<f32>(&mut d));
    let desc = but!(HopperRows::<Bf16, f32>::DESC, epilogue);
    run_in_mode(&desc, Mode::Fast, problem.with(matrices)).map(|()| d[0])
}

#[test]
fn an_unregistered_function_is_refused_until_it_is_registered() {
    struct Late;
    impl Function for Late {
        const NAME: &'static str = "late";
        const CUDA: &'static str = "x - 1";
        fn host(x: f32) -> f32 {
            x - 1.0
        }
    }
    let id = NodeId::for_function::<Late>();
    let epilogue = EpilogueDesc::leaf(Op::Accumulator).then(Op::User(id));
    assert!(matches!(
        run(epilogue),
        Err(Error::Refused(refusal)) if *refusal == Refusal::unknown_node(id.0)
    ));
    assert_eq!(register::<Late>(), id);
    assert!(matches!(run(epilogue), Ok(24.0)));
}

#[test]
fn a_tree_of_33_nodes_is_refused_and_one_of_31_is_accepted() {
    let sum = |terms: usize| {
        (1..terms).fold(EpilogueDesc::leaf(Op::Accumulator), |sum, _| {
            sum.join(EpilogueDesc::leaf(Op::Accumulator), Op::ADD)
        })
    };
    assert_eq!(sum(16).ops().len(), CAPACITY - 1);
    assert!(matches!(run(sum(16)), Ok(400.0)));
    let refused = run(sum(17)).message();
    assert!(refused.contains("more than 32 nodes"), "{refused}");
}
mod json {
    use super::*;
    use random_cases::legal;

    proptest! {
        #![proptest_config(cases(1_000))]

        #[test]
        fn descriptions_round_trip_through_json(d in legal(), epilogue in tree()) {
            let d = but!(d, epilogue);
            let text = d.to_json().expect("an expression");
            prop_assert_eq!(GemmDesc::from_json(&text).expect("a written description"), d);
            prop_assert!(!text.contains('\n'));
        }
    }
}
