//! Tests of the selection among completions.

use crate::{
    arch::{ArchKind, OpKind},
    layout::{MatrixType, Order},
    nest::{ProblemSize, Request},
    numeric::ElementKind,
    threadblock::MainloopKind,
    warp::WarpMmaKind,
};

#[path = "choose_tests/multistage"]
mod multistage {
    mod simt;
}
#[path = "choose_tests/tma_ring"]
mod tma_ring {
    mod wgmma {
        mod mma_sync;
        mod multistage {
            mod mma_sync;
        }
    }
}

/// The lower bound skips a candidate only if its cost exceeds the limit.
#[test]
fn skipped_candidates_cost_more() {
    let machine = ArchKind::Sm90.machine();
    for (kind, c, mainloop, mma) in [
        (ElementKind::Bf16, ElementKind::Bf16, Some(MainloopKind::TmaRing), WarpMmaKind::Wgmma),
        (ElementKind::I8, ElementKind::I32, Some(MainloopKind::TmaRing), WarpMmaKind::Wgmma),
        (ElementKind::F64, ElementKind::F64, None, WarpMmaKind::MmaSync),
        (ElementKind::F32, ElementKind::F32, None, WarpMmaKind::Simt),
    ] {
        let op = if kind == ElementKind::F32 { OpKind::Simt } else { OpKind::TensorOp };
        let matrix = |element, order| Some(MatrixType { element, order });
        let (a, b, c) = (matrix(kind, Order::Row), matrix(kind, Order::Col), matrix(c, Order::Row));
        let all = Request { a, b, c, op: Some(op), ..Request::default() }
            .wanted()
            .expect("no knobs")
            .completions(ArchKind::Sm90.into())
            .expect("a row");
        let first = all.first();
        assert_eq!(first.mma.kind(), mma);
        assert!(mainloop.is_none_or(|mainloop| first.mainloop.kind() == mainloop), "{first}");
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
pub(crate) fn main_loop(kind: ElementKind, orders: [Order; 2], size: ProblemSize) -> MainloopKind {
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
pub(crate) fn by_tma(kind: ElementKind, orders: [Order; 2], size: ProblemSize) -> bool {
    main_loop(kind, orders, size).has_producer()
}
