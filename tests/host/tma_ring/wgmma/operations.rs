//! Operations whose types only `wgmma` multiplies on Hopper.

use crate::{harness::prelude::*, operations::check_same_descriptions};

#[test]
fn an_fp8_operation_equals_the_gemm_of_its_types() {
    check_same_descriptions! {
        E4m3, ColMajor, E5m2, ColMajor, F16, RowMajor, f32, TensorOp;
    }
}

/// CUDA cores do not support fp8, so the host uses Hopper's description.
#[test]
fn fp8_host_results_equal_those_of_a_typed_gemm() {
    let (m, n, k) = (37, 29, 53);
    let number = |i: usize| ((i * 7919 % 1009) as f32 - 500.0) / 97.0;
    let (a, b): (Vec<E4m3>, Vec<E4m3>) = (
        (0..m * k).map(|i| E4m3::from_f32(number(i))).collect(),
        (0..k * n).map(|i| E4m3::from_f32(number(3 * i + 1))).collect(),
    );
    let bias: Vec<Bf16> = (0..n).map(|i| Bf16::from_f32(number(i))).collect();
    let [mut d, mut wanted] = [(); 2].map(|()| vec![Bf16::from_f32(f32::NAN); m * n]);
    type Biased = Relu<Add<Scaled<Alpha, Acc>, BiasN>>;
    GemmUniversal::<E4m3, RowMajor, E4m3, ColMajor, Bf16, RowMajor>::new()
        .epilogue::<Biased>()
        .run(Arguments::new((m, n, k), &a, &b, &mut d).bias_n(&bias))
        .expect("a product");
    Gemm::<E4m3, RowMajor, E4m3, ColMajor, Bf16, RowMajor, f32, TensorOp>::new()
        .epilogue::<Biased>()
        .run(Arguments::new((m, n, k), &a, &b, &mut wanted).bias_n(&bias))
        .expect("a product");
    let bits = |of: &[Bf16]| of.iter().map(|x| x.to_f32().to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&d), bits(&wanted));
    assert!(d.iter().any(|x| x.to_f32() > 0.0));
}

/// Only tensor cores multiply fp8, from Ada on.
#[test]
fn fp8_operation_needs_tensor_cores_from_ada_on() {
    let of = |text: &str| text.parse().expect("a matrix");
    let fp8 = of("e4m3:row");
    let operation = GemmOperation::new(fp8, fp8, of("bf16:row")).expect("a kernel");
    assert_eq!(operation.desc().op(), OpKind::TensorOp);
    let refused = operation.on(Some(&ArchKind::Sm80.machine())).message();
    let first = first_tensor_cores(ElementKind::E4m3).expect("tensor cores");
    assert_eq!(
        refused,
        format!(
            "no kernel multiplies e4m3 by e4m3 accumulating in f32 into bf16 on tensor cores (sm80); try arch = {first}"
        )
    );
}

/// A knob of tensor cores also selects them on the host. `f32` stays exact.
#[test]
fn request_with_a_knob_of_tensor_cores_selects_them_on_the_host() {
    let matrix = |text: &str| Some(text.parse().expect("a matrix"));
    let bf16 = Request { a: matrix("bf16:row"), b: matrix("bf16:row"), ..Request::default() };
    let knobs = knobs(&[("schedule", "pingpong")]);
    let pinned = Request { knobs: knobs.clone(), ..bf16 };
    assert_eq!(
        GemmOperation::from_request(&pinned).expect("a kernel").desc().op(),
        OpKind::TensorOp
    );
    let f32 = Request { knobs, ..Request::default() };
    GemmOperation::from_request(&f32).expect_err("f32 has no such kernel");
}
