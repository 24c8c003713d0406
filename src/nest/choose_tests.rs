//! Tests of the selection among completions.

use crate::{
    arch::{ArchKind, OpKind},
    layout::{MatrixType, Order},
    nest::{ProblemSize, Request},
    numeric::ElementKind,
    threadblock::MainloopKind,
    warp::WarpMmaKind,
};

#[path = "choose_tests/mma_sync.rs"]
mod mma_sync;
#[path = "choose_tests/multistage"]
mod multistage {
    mod mma_sync;
    mod simt;
}

/// The lower bound skips a candidate only if its cost exceeds the limit.
#[test]
fn skipped_candidates_cost_more() {
    let machine = ArchKind::Sm90.machine();
    for (kind, c, op, mma) in [
        (ElementKind::Bf16, ElementKind::Bf16, OpKind::TensorOp, WarpMmaKind::Wgmma),
        (ElementKind::I8, ElementKind::I32, OpKind::TensorOp, WarpMmaKind::Wgmma),
        (ElementKind::F64, ElementKind::F64, OpKind::TensorOp, WarpMmaKind::MmaSync),
        (ElementKind::F32, ElementKind::F32, OpKind::Simt, WarpMmaKind::Simt),
    ] {
        let matrix = |element, order| Some(MatrixType { element, order });
        let (a, b, c) = (matrix(kind, Order::Row), matrix(kind, Order::Col), matrix(c, Order::Row));
        let all = Request { a, b, c, op: Some(op), ..Request::default() }
            .wanted()
            .expect("no knobs")
            .completions(ArchKind::Sm90.into())
            .expect("a row");
        assert_eq!(all.first().mma.kind(), mma);
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

/// Returns the main loop of the kernel that a problem selects.
fn main_loop(kind: ElementKind, orders: [Order; 2], size: ProblemSize) -> MainloopKind {
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
    request.resolve_for(ArchKind::Sm90, size, None).expect("a row").desc.mainloop.kind()
}

/// Returns whether TMA feeds the kernel that a problem selects.
fn by_tma(kind: ElementKind, orders: [Order; 2], size: ProblemSize) -> bool {
    main_loop(kind, orders, size).has_producer()
}

/// Rows that TMA can read are never read in place, and neither are the others of large problems.
#[test]
fn rows_of_large_problems_are_copied_for_tma() {
    let (along_k, square) = ([Order::Row, Order::Col], |size| ProblemSize::new((size, size, size)));
    for (kind, copied) in [
        (ElementKind::Bf16, &[511, 765, 1004, 1023, 4095][..]),
        (ElementKind::I8, &[511, 1004, 1023, 4095]),
        (ElementKind::Tf32, &[767, 1023, 2047]),
        (ElementKind::E4m3, &[511, 1000]),
    ] {
        for &size in copied {
            assert!(by_tma(kind, along_k, square(size)), "{kind} {size}");
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
