//! A user's function computes in the math type of the epilogue, or is refused by name.

use crate::harness::prelude::*;

/// [`HalvedInBoth`] for `f32` only.
struct Halved;

impl Function for Halved {
    const NAME: &'static str = HalvedInBoth::NAME;
    const CUDA: &'static str = HalvedInBoth::CUDA;
    fn host(x: f32) -> f32 {
        HalvedInBoth::host(x)
    }
}

type F64<F> = Gemm<
    f64,
    RowMajor,
    f64,
    RowMajor,
    f64,
    RowMajor,
    f64,
    falchion::arch::Simt,
    falchion::arch::Sm80,
    Of<F>,
>;
type I32<F> = Gemm<
    i32,
    RowMajor,
    i32,
    RowMajor,
    i32,
    RowMajor,
    i32,
    falchion::arch::Simt,
    falchion::arch::Sm80,
    Of<F>,
>;
type Of<F> = With<Auto, EpilogueTree<Apply<F, LinearCombination>>>;

#[test]
fn a_function_of_f64_computes_in_f64() {
    let x = 1.0 + 2f64.powi(-40);
    let wanted = x * x + 1e-12;
    let mut d = [0.0];
    F64::<NearSquare>::new()
        .run(Arguments::new((1, 1, 1), &[x], &[1.0], &mut d))
        .expect("a product");
    assert_eq!(d[0].to_bits(), wanted.to_bits(), "{:e} is off by {:e}", d[0], d[0] - wanted);
    assert!(d[0] != f64::from(d[0] as f32), "a number that f32 cannot represent");
    // The checked mode gives the same result, and f32 epilogues compute in f32.
    let desc = F64::<NearSquare>::DESC;
    let (a, b, mut checked) = ([x], [1.0], [0.0]);
    let (a, b) = (HostSlice::new::<f64>(&a), HostSlice::new::<f64>(&b));
    let d = HostSliceMut::new::<f64>(&mut checked);
    let matrices = matrices(a, b, d);
    let problem =
        Problem::new(&desc, (1, 1, 1), [None; 3], [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    run_in_mode(&desc, Mode::Checked { seed: 1 }, problem.with(matrices)).expect("a product");
    assert_eq!(checked[0].to_bits(), wanted.to_bits());
    let narrow = Gemm::<f32, RowMajor, f32, RowMajor, f32, RowMajor>::new()
        .epilogue::<Apply<NearSquare, Acc>>();
    let mut d = [0.0f32];
    narrow.run(Arguments::new((1, 1, 1), &[1e-6], &[1.0], &mut d)).expect("a product");
    assert_eq!(d, [1e-6f32 * 1e-6 + 1e-12]);
}

#[test]
fn an_integer_gemm_applies_an_f64_function() {
    let mut d = [0; 2];
    // f32 rounds a digit of the first number away. Ties round to the even integer.
    I32::<HalvedInBoth>::new()
        .run(Arguments::new((2, 1, 1), &[33_554_434, 5], &[1], &mut d))
        .expect("a product");
    assert_eq!(d, [16_777_217, 2]);
}

#[test]
fn an_f32_function_is_refused_for_other_math_types() {
    let sentence = |number: &str| {
        format!(
            "epilogue node = halved is not supported by {number} (the node is a function of f32); define the constant F64 of its Function"
        )
    };
    let (mut of_f64, mut of_i32) = ([7.0], [7]);
    let arguments = Arguments::new((1, 1, 1), &[1.0], &[1.0], &mut of_f64);
    assert_eq!(
        F64::<Halved>::new().can_implement(&arguments).map_err(|refusal| refusal.to_string()),
        Err(sentence("f64"))
    );
    let refused = |answer: Result<(), Error>| answer.message();
    assert_eq!(refused(F64::<Halved>::new().run(arguments)), sentence("f64"));
    assert_eq!(
        refused(I32::<Halved>::new().run(Arguments::new((1, 1, 1), &[6], &[1], &mut of_i32))),
        sentence("i32")
    );
    assert_eq!((of_f64, of_i32), ([7.0], [7]), "a refused call wrote to D");
    // With a scalar that is not an integer, an epilogue of integers computes in f32.
    I32::<Halved>::new()
        .run(Arguments::new((1, 1, 1), &[6], &[1], &mut of_i32).alpha(1.5))
        .expect("a product");
    assert_eq!(of_i32, [4], "half of 9 rounds to even");
}

/// The refusal of an unregistered node spells the node as expressions do. The texts for both math
/// types are part of the node's id.
#[test]
fn a_node_has_one_spelling_and_its_texts_determine_its_id() {
    let id = NodeId::for_function::<Halved>();
    assert_eq!(
        Refusal::unknown_node(id.0).to_string(),
        format!("epilogue node = user_{id} is not registered; call epilogue::register first")
    );
    assert_eq!(<Apply<Halved, Acc> as Node>::DESC.to_string(), format!("user_{id}(acc)"));
    assert_ne!(id, NodeId::for_function::<HalvedInBoth>());
}

#[test]
fn a_description_with_functions_round_trips_through_json() {
    type Both = Add<Apply<NearSquare, Acc>, Apply<HalvedInBoth, Acc>>;
    let desc = Gemm::<f64, RowMajor, f64, RowMajor, f64, RowMajor>::new().epilogue::<Both>().desc();
    let text = desc.to_json().expect("an expression");
    assert!(
        text.contains(&format!("user_{}(acc)", NodeId::for_function::<NearSquare>())),
        "{text}"
    );
    assert_eq!(GemmDesc::from_json(&text).expect("a written description"), desc);
}
