//! Tests of the selection of stream-K, which the multistage main loop of `f32` uses.

use crate::{
    arch::{ArchKind, OpKind},
    layout::MatrixType,
    nest::{ProblemSize, Request},
    numeric::ElementKind,
};

/// Sizes between whole waves select stream-K for one GEMM, but never for a pointer array.
#[test]
fn arrays_never_select_stream_k() {
    let machine = ArchKind::Sm90.machine();
    let mut streamed = 0;
    for (element, op) in [(ElementKind::F32, OpKind::Simt), (ElementKind::Bf16, OpKind::TensorOp)] {
        let row = Some(MatrixType::row(element));
        let request = Request { a: row, b: row, c: row, op: Some(op), ..Request::default() };
        let wanted = request.wanted().expect("no knobs");
        let all = wanted.completions(ArchKind::Sm90.into()).expect("a row");
        for extent in (1000..5000).step_by(200) {
            let one = ProblemSize::new((extent, extent, extent));
            let [selected, of_array] = [one, ProblemSize { array: true, ..one }]
                .map(|size| all.all()[all.choice(&size, &machine).0]);
            streamed += usize::from(selected.streams_k());
            assert!(!of_array.streams_k(), "{extent}: {of_array}");
        }
    }
    assert!(streamed > 0);
}
