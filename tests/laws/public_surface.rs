//! Traits that users expect of the public types.

use crate::harness::prelude::*;

#[derive(Clone, Debug, Default)]
#[allow(dead_code, reason = "the fields are printed")]
struct Layer {
    gemm: HopperK<Bf16, f32>,
    universal: GemmUniversal<Bf16, RowMajor, Bf16, ColMajor, f32, RowMajor>,
    transpose: Transpose<f32>,
}

/// One bound suffices for a function that multiplies slices.
pub(super) fn product<T: Element>((m, n, k): (usize, usize, usize), a: &[T], b: &[T]) -> Vec<T> {
    let mut d = vec![T::ZERO; m * n];
    let (a, b) = (MatRef::new(a, (m, k)), MatRef::new(b, (k, n)));
    falchion::gemm(a, b, MatMut::new(&mut d, (m, n))).expect("a product");
    d
}

#[test]
fn one_bound_suffices_for_generic_code() {
    assert_eq!(product((1, 1, 2), &[2.0f64, 3.0], &[4.0, 5.0]), [23.0]);
    assert_eq!(product((1, 1, 2), &[F16::ONE; 2], &[F16::ONE; 2]), [F16::from_f32(2.0)]);
}

#[test]
fn operators_and_arguments_print_their_configuration() {
    let layer = Layer::default();
    let text = format!("{layer:?}");
    let name = layer.gemm.desc().to_string();
    for part in ["Gemm(GemmOperation(", name.as_str(), "Bf16", "Transpose(F32)"] {
        assert!(text.contains(part), "{text}");
    }
    let operation = GemmOperation::new(
        MatrixType::row(ElementKind::Bf16),
        MatrixType::row(ElementKind::Bf16),
        MatrixType::row(ElementKind::Bf16),
    );
    let text = format!("{:?}", operation.expect("a kernel"));
    assert!(text.starts_with("GemmOperation(") && text.len() < 300, "{text}");
    let (a, b, mut d) = ([1.0f32; 6], [1.0f32; 6], [0.0f32; 4]);
    let arguments = Arguments::<_, f32, f32, f32>::new((2, 2, 3), &a, &b, &mut d);
    let text = format!("{:?}", arguments.bias_n(&b[..2]).alpha(0.5).lda(3));
    for part in ["(2, 2, 3)", "6 x f32", "0.5", "bias_n", "Some(3)"] {
        assert!(text.contains(part), "{text}");
    }
}

#[cfg(feature = "cuda")]
const _: fn() = || {
    fn converts<T: From<falchion::cudarc::driver::DriverError>>() {}
    converts::<falchion::Error>();
};
