//! `GemmUniversal` on CUDA cores: its machines, and results on the host that equal those of a
//! `Gemm` with the same types.

use super::super::universal::{ARCHS, Universal, is_on_tensor_cores, machine, on_each};
use crate::harness::prelude::*;

/// True f32, and types that no tensor core multiplies, use CUDA cores everywhere.
#[test]
fn each_machine_selects_its_units_and_instructions() {
    use OpKind::*;
    let [f32, f64, f16, i32] =
        on_each![Universal<f32>, Universal<f64>, Universal<F16>, Universal<i32>];
    assert_eq!(f32, ARCHS.map(|arch| Ok((Simt, arch))));
    assert_eq!(i32, ARCHS.map(|arch| Ok((Simt, arch))));
    for (units, element) in [(f16, ElementKind::F16), (f64, ElementKind::F64)] {
        let op = |arch| if is_on_tensor_cores(element, arch) { TensorOp } else { Simt };
        assert_eq!(units, ARCHS.map(|arch| Ok((op(arch), arch))));
    }
}

/// On the host, bits equal those of the `Gemm` of the same types, with the SIMT description.
#[test]
fn host_results_equal_those_of_a_typed_gemm() {
    let (m, n, k) = (37, 29, 53);
    let number = |i: usize| ((i * 7919 % 1009) as f32 - 500.0) / 97.0;
    let (a, b): (Vec<f32>, Vec<f32>) =
        ((0..m * k).map(number).collect(), (0..k * n).map(|i| number(3 * i + 1)).collect());
    let [mut one, mut other, mut wanted] =
        [const { Vec::new() }; 3].map(|_: Vec<f32>| vec![f32::NAN; m * n]);
    let (x, y) = (MatRef::new(&a, (m, k)), MatRef::new(&b, (k, n)));
    falchion::gemm(x, y, MatMut::new(&mut one, (m, n))).expect("a product");
    GemmUniversal::<f32, RowMajor, f32, RowMajor, f32, RowMajor>::new()
        .run(Arguments::new((m, n, k), &a, &b, &mut other))
        .expect("a product");
    Gemm::<f32, RowMajor, f32, RowMajor, f32, RowMajor>::new()
        .run(Arguments::new((m, n, k), &a, &b, &mut wanted))
        .expect("a product");
    assert!(one == wanted && other == wanted && wanted.iter().all(|x| x.is_finite()));
}

/// Batches, groups, and refusals: a slice that is too short is named.
#[test]
fn native_operators_support_batches_and_groups() {
    let gemm = GemmUniversal::<f32, RowMajor, f32, RowMajor, f32, RowMajor>::new();
    let (a, b, mut d) = (vec![1.0f32; 24], vec![2.0f32; 40], vec![f32::NAN; 30]);
    gemm.batched(Arguments::new((3, 5, 4), &a, &b, &mut d), 2).expect("a batch");
    assert_eq!(d, [8.0; 30]);
    d.fill(f32::NAN);
    gemm.grouped(Arguments::new((6, 5, 4), &a, &b, &mut d), &[0u32, 2, 6]).expect("groups");
    assert_eq!(d, [8.0; 30]);
    let mut short = vec![0.0f32; 29];
    let (x, y) = (MatRef::new(&a, (6, 4)), MatRef::new(&b[..20], (4, 5)));
    let said = falchion::gemm(x, y, MatMut::new(&mut short, (6, 5))).message();
    assert_eq!(
        said,
        "length of D = 29 elements is less than 30 elements (6 x 5, leading dimension 5)"
    );
    assert_eq!(gemm.workspace_size(&Arguments::new((6, 5, 4), &a, &b, &mut d)).expect("bytes"), 0);
}

#[test]
fn an_operator_converts_only_to_its_element_types() {
    let f32 = MatrixType::row(ElementKind::F32);
    let operation = GemmOperation::new(f32, f32, f32).expect("a kernel");
    assert!(operation.typed::<f32, f32, f32>().is_ok());
    let refused = operation.typed::<f32, f64, f32>().expect_err("B has f32 elements");
    let (given, wanted) = (ElementKind::F64, ElementKind::F32);
    assert_eq!(refused, Refusal::element_type(Operand::B, given, wanted));
}
