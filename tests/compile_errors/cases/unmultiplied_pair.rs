//! A pair of element types that no kernel multiplies fails in `cargo check`, also in a generic
//! function.

use falchion::prelude::*;

fn multiply<A: Element, B: Element>(a: MatRef<'_, A>, b: MatRef<'_, B>, d: MatMut<'_, f32>) {
    falchion::gemm(a, b, d).unwrap();
}

fn main() {
    let _ = Gemm::<f32, RowMajor, F16>::new();
    let _ = multiply::<f32, f32>;
}
