//! Tests of the selection among completions.

use crate::{
    arch::{ArchKind, OpKind},
    layout::{MatrixType, Order},
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

/// The lower bound skips a candidate only if its cost exceeds the limit.
#[test]
fn skipped_candidates_cost_more() {
    let machine = ArchKind::Sm90.machine();
    for (kind, c, op) in [
        (ElementKind::Bf16, ElementKind::Bf16, OpKind::TensorOp),
        (ElementKind::I8, ElementKind::I32, OpKind::TensorOp),
        (ElementKind::F64, ElementKind::F64, OpKind::TensorOp),
        (ElementKind::F32, ElementKind::F32, OpKind::Simt),
    ] {
        let matrix = |element, order| Some(MatrixType { element, order });
        let (a, b, c) = (matrix(kind, Order::Row), matrix(kind, Order::Col), matrix(c, Order::Row));
        let all = Request { a, b, c, op: Some(op), ..Request::default() }
            .wanted()
            .expect("no knobs")
            .completions(ArchKind::Sm90.into())
            .expect("a row");
        for extents in [
            (1, 1, 1),
            (64, 24576, 1536),
            (128, 128, 16384),
            (1000, 1000, 1000),
            (2047, 2049, 1023),
            (8192, 8192, 8192),
        ] {
            for batch in [1, 33] {
                let size = ProblemSize { batch, ..ProblemSize::new(extents) };
                for (desc, features) in all.all().iter().zip(all.features()) {
                    let cheapest =
                        |most| desc.cheapest_cut(features, all.ways(desc), &size, &machine, most);
                    let ((_, time), _) = cheapest(f64::MAX).expect("no limit");
                    assert!(
                        cheapest(time).is_some(),
                        "{extents:?} {batch}: {:?}",
                        desc.threadblock()
                    );
                }
            }
        }
    }
}
