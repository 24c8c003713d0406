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

/// Returns whether TMA feeds the kernel that a problem selects.
fn by_tma(kind: ElementKind, orders: [Order; 2], size: ProblemSize) -> bool {
    let matrix = |element, order| Some(MatrixType { element, order });
    let c = match kind {
        ElementKind::I8 => ElementKind::I32,
        ElementKind::Tf32 => ElementKind::F32,
        _ => ElementKind::Bf16,
    };
    let [a, b] = orders.map(|order| matrix(kind, order));
    let request = Request {
        a,
        b,
        c: matrix(c, Order::Row),
        op: Some(OpKind::TensorOp),
        ..Request::default()
    };
    request.resolve_for(ArchKind::Sm90, size, None).expect("a row").desc.has_producer()
}

/// In-place kernels are chosen where they measured less time than passes and a kernel
/// (`lab/data/trials.csv`, log `odd_in_graphs`). Rows that TMA can read are never read in
/// place.
#[test]
fn rows_that_lie_anywhere_are_read_in_place_where_that_takes_less_time() {
    let (along_k, square) = ([Order::Row, Order::Col], |size| ProblemSize::new((size, size, size)));
    for (kind, in_place, copied) in [
        (ElementKind::Bf16, &[255, 260, 516][..], &[511, 765, 1004, 1023, 4095][..]),
        (ElementKind::I8, &[255], &[511, 1004, 1023, 4095]),
        (ElementKind::Tf32, &[255], &[767, 1023, 2047]),
        (ElementKind::E4m3, &[], &[511, 1000]),
    ] {
        for (sizes, copies) in [(in_place, false), (copied, true)] {
            sizes.iter().for_each(|&size| {
                assert_eq!(by_tma(kind, along_k, square(size)), copies, "{kind} {size}")
            });
        }
        for size in [768, 1024, 4096] {
            assert!(
                by_tma(kind, along_k, ProblemSize { for_passes: 0, ..square(size) }),
                "{kind} {size}"
            );
        }
    }
    let batch = ProblemSize { batch: 16, ..square(300) };
    assert!(by_tma(ElementKind::Bf16, along_k, batch));
    let pitched = ProblemSize { leading: [Some(1008); 2], ..square(1002) };
    assert!(by_tma(ElementKind::Bf16, along_k, pitched));
    // Rows of 2^30 + 1 elements do not overflow.
    assert!(by_tma(ElementKind::Bf16, along_k, square((1 << 30) + 1)));
}

/// If TMA can read the operands, a TMA kernel is always chosen: in graph replays, it is faster
/// even for the smallest problems (`lab/data/trials.csv`, log `in_graphs`).
#[test]
fn operands_that_tma_reads_need_no_pass() {
    for kind in
        [ElementKind::Bf16, ElementKind::F16, ElementKind::I8, ElementKind::Tf32, ElementKind::E4m3]
    {
        for size in [16, 64, 256, 512, 1024] {
            for of in [
                ProblemSize::new((size, size, size)),
                ProblemSize { batch: 64, ..ProblemSize::new((size, size, size)) },
            ] {
                assert!(by_tma(kind, [Order::Row, Order::Col], of), "{kind} {size}");
            }
        }
    }
}

/// Copies that exceed the workspace are not made. The same comparison applies to transposes.
#[test]
fn without_a_workspace_rows_are_read_in_place() {
    let (along_k, along_n) = ([Order::Row, Order::Col], [Order::Row; 2]);
    let odd = ProblemSize::new((2044, 2044, 2044));
    let bytes = 2 * 2044 * 2048 * 2;
    for (for_passes, copies) in [(0, false), (bytes - 1, false), (bytes, true)] {
        assert_eq!(
            by_tma(ElementKind::Bf16, along_k, ProblemSize { for_passes, ..odd }),
            copies,
            "{for_passes}"
        );
    }
    let whole = ProblemSize::new((8192, 8192, 8192));
    assert!(by_tma(ElementKind::Tf32, along_n, ProblemSize { for_passes: 0, ..whole }));
    let transposed = [Order::Col, Order::Row];
    for (size, by_copy) in [(256, false), (512, false), (1000, true), (1024, true)] {
        assert_eq!(
            by_tma(ElementKind::Tf32, transposed, ProblemSize::new((size, size, size))),
            by_copy,
            "{size}"
        );
    }
    assert!(by_tma(ElementKind::Tf32, transposed, whole));
    assert!(!by_tma(ElementKind::Tf32, transposed, ProblemSize { for_passes: 0, ..whole }));
}
