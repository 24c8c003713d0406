//! Epilogue vectors belong to the user's rows and columns in both frames. A vector that is not read
//! may be absent. A vector that is read needs one element per row or column.

use crate::harness::prelude::*;
use falchion::{
    epilogue::ScaleM,
    layout::Layout,
    prelude::{Sm90, TensorOp},
};

type Both = Add<Add<Acc, BiasM>, Multiply<BiasN, BiasN>>;
pub(super) type All = Add<Multiply<ScaleM, Add<Acc, BiasM>>, Multiply<BiasN, ScaleN>>;

/// scale_m and scale_n.
pub(super) const SCALES: ([f32; M], [f32; N]) = ([1.0, -2.0, 3.0], [2.0, 3.0, 5.0, 7.0, 11.0]);

pub(super) const M: usize = 3;
pub(super) const N: usize = 5;

/// Returns A, B, bias_m, and bias_n with integers. A and B are constant.
pub(super) fn operands() -> ([Bf16; M * 2], [Bf16; 2 * N], [f32; M], [f32; N]) {
    (
        [Bf16::from_f32(2.0); M * 2],
        [Bf16::from_f32(3.0); 2 * N],
        core::array::from_fn(|i| 100.0 * i as f32),
        core::array::from_fn(|j| 1.0 + j as f32),
    )
}

/// Returns `scale_m(i) (12 + 100 i) + (1 + j) scale_n(j)` for D's elements in the order of D.
pub(super) fn wanted(order: Order) -> Vec<f32> {
    let place = |at: usize| if order.is_row() { (at / N, at % N) } else { (at % M, at / M) };
    let value = |(i, j): (usize, usize)| {
        SCALES.0[i] * (12.0 + 100.0 * i as f32) + (1.0 + j as f32) * SCALES.1[j]
    };
    (0..M * N).map(place).map(value).collect()
}

/// Checks D of a GEMM with all vectors.
macro_rules! check_vectors {
    ($gemm:expr, $order:expr, $a:expr, $b:expr) => {{
        let (_, _, of_m, of_n) = operands();
        let mut d = [f32::NAN; M * N];
        let arguments = Arguments::new((M, N, 2), $a, $b, &mut d).bias_m(&of_m).bias_n(&of_n);
        let arguments = arguments.scale_m(&SCALES.0).scale_n(&SCALES.1);
        $gemm.epilogue::<All>().run(arguments).expect("a product");
        assert_eq!(d[..], wanted($order));
    }};
}

/// Checks layouts of A, B, and D: kernels that compute D, and kernels that compute its transpose.
macro_rules! check_user_layouts {
    ($check:ident) => {
        $check::<RowMajor, RowMajor, RowMajor>();
        $check::<ColMajor, ColMajor, RowMajor>();
        $check::<RowMajor, RowMajor, ColMajor>();
        $check::<ColMajor, RowMajor, ColMajor>();
    };
}
pub(super) use {check_user_layouts, check_vectors};

/// Hopper's tensor cores, with A from shared memory and from registers.
fn check_layouts<LA: Layout, LB: Layout, LC: Layout>() {
    let [a, b] = [2.0, 3.0].map(|x| [Bf16::from_f64(x); 2 * N]);
    let gemm = Gemm::<Bf16, LA, Bf16, LB, f32, LC, f32, TensorOp, Sm90>::new();
    check_vectors!(gemm, LC::ORDER, &a[..2 * M], &b);
}

#[test]
fn vectors_apply_to_the_users_rows_and_columns() {
    check_user_layouts!(check_layouts);
}

#[test]
fn a_vector_that_is_read_must_be_long_enough() {
    fn said<LC: Layout>(of_m: Option<&[f32]>, of_n: Option<&[f32]>) -> Option<String> {
        let (a, b, ..) = operands();
        let mut d = [f32::NAN; M * N];
        let gemm = HopperRows::<Bf16, f32, LC>::new().epilogue::<Both>();
        let mut arguments = Arguments::new((M, N, 2), &a, &b, &mut d);
        arguments = if let Some(of_m) = of_m { arguments.bias_m(of_m) } else { arguments };
        arguments = if let Some(of_n) = of_n { arguments.bias_n(of_n) } else { arguments };
        let refusal = gemm.can_implement(&arguments).err();
        let told = gemm.run(arguments).err().map(|error| error.to_string());
        assert_eq!(refusal.map(|refusal| Error::from(refusal).to_string()), told);
        assert_eq!(told.is_some(), d[0].is_nan());
        told
    }
    let (_, _, of_m, of_n) = operands();
    for said in [said::<RowMajor>, said::<ColMajor>] {
        let ends = |told: Option<String>, wanted: &str| {
            assert!(told.as_ref().is_some_and(|told| told.ends_with(wanted)), "{told:?}")
        };
        ends(said(Some(&of_m), None), "bias_n is missing (the kernel reads it)");
        ends(said(None, Some(&of_n)), "bias_m is missing (the kernel reads it)");
        ends(
            said(Some(&of_m), Some(&of_n[..4])),
            "length of bias_n = 4 elements is less than 5 elements",
        );
        ends(said(Some(&[]), Some(&of_n)), "length of bias_m = 0 elements is less than 3 elements");
        // Elements after the end of a vector are not read.
        assert_eq!(said(Some(&[1.0; 9]), Some(&[1.0; 9])), None);
    }
}

#[test]
fn a_vector_that_is_not_read_may_be_absent() {
    type Scaled0 = Add<Scaled<Alpha, Acc>, Scaled<Beta, Multiply<BiasM, BiasN>>>;
    let (a, b, of_m, of_n) = operands();
    let gemm = HopperRows::<Bf16, f32, ColMajor>::new().epilogue::<Scaled0>();
    let mut d = [f32::NAN; M * N];
    gemm.run(Arguments::new((M, N, 2), &a, &b, &mut d)).expect("beta is 0");
    assert_eq!(d, [12.0; M * N]);
    // A vector that is not read may have any length and content.
    gemm.run(Arguments::new((M, N, 2), &a, &b, &mut d).bias_m(&[0.0f32; 0]).bias_n(&[f32::NAN; N]))
        .expect("beta is 0");
    assert_eq!(d, [12.0; M * N]);
    let plain = HopperRows::<Bf16, f32>::new();
    plain
        .run(Arguments::new((M, N, 2), &a, &b, &mut d).bias_n(&of_n))
        .expect_err("the epilogue has no vectors");
    assert_eq!(d, [12.0; M * N]);
    let reads = Scaled0::DESC.reads(&[0.0, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(
        (reads.accumulator, reads.source(), reads.operands.iter().count()),
        (false, false, 2)
    );
    gemm.run(
        Arguments::new((M, N, 2), &[], &[], &mut d)
            .alpha(0.0)
            .scalar::<1>(2.0)
            .bias_m(&of_m)
            .bias_n(&of_n),
    )
    .expect("A is not read");
    assert_eq!((d[0], d[1], d[M * N - 1]), (0.0, 200.0, 2000.0));
}

/// In calls with run-time types, a vector with another type than C is refused.
#[test]
fn vectors_have_the_element_type_of_c() {
    let desc = HopperRows::<Bf16, f32>::new().epilogue::<Both>().desc();
    let (a, b, of_m, _) = operands();
    let mut d = [f32::NAN; M * N];
    let problem = Problem::new(&desc, (M, N, 2), [None; 3], [1.0; 8]);
    let matrices = HostMatrices {
        operands: EpilogueOperands::by(|kind| match kind {
            EpilogueOperand::BiasM => Some(HostSlice::new::<f32>(&of_m)),
            _ => Some(HostSlice::new::<f64>(&[1.0; N])),
        }),
        ..slices::<Bf16, Bf16, f32>(&a, &b, &mut d)
    };
    let refused = run_in_mode(&desc, Mode::Fast, problem.with(matrices));
    assert!(
        matches!(
            refused.as_ref().err().and_then(Error::refusal),
            Some(Refusal { field: Field::ElementTypeOf(_), .. })
        ),
        "{refused:?}"
    );
}
