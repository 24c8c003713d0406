//! Tests of the selection of TMA-fed SIMT kernels by the cost model.

use crate::{
    arch::{ArchKind, OpKind},
    layout::{MatrixType, Order},
    nest::{GemmDesc, ProblemSize, Request},
    numeric::ElementKind,
};

/// Returns the description that a problem of `f32` selects. D is row-major.
fn singles(orders: [Order; 2], size: ProblemSize) -> GemmDesc {
    let matrix = |order| Some(MatrixType { element: ElementKind::F32, order });
    let ([a, b], op) = (orders.map(matrix), Some(OpKind::Simt));
    let request = Request { a, b, c: matrix(Order::Row), op, ..Request::default() };
    request.resolve_for(ArchKind::Sm90, size, None).expect("a row").desc
}

/// For `f32` on the CUDA cores, the wanted kernels measured best, or within 5% of the best
/// (`lab/data/trials.csv`, log `streams_f32`). Without a workspace, no kernel uses stream-K or a
/// transpose.
#[test]
fn singles_stream_or_are_fed_by_tma_where_that_measured_best() {
    let taken = |orders: [Order; 2], size: usize, workspace: u64| {
        let desc = singles(
            orders,
            ProblemSize {
                workspace,
                for_passes: workspace,
                ..ProblemSize::new((size, size, size))
            },
        );
        (desc.streams_k(), desc.has_producer())
    };
    let (rows, direct) = ([Order::Row; 2], [Order::Col, Order::Row]);
    for size in [2304, 2560, 3000, 3072, 5000] {
        assert_eq!(
            [rows, direct].map(|orders| taken(orders, size, u64::MAX)),
            [(true, false); 2],
            "{size}"
        );
        assert!(!taken(rows, size, 0).0, "{size}");
    }
    for size in [2048, 4096, 7000, 8192] {
        assert_eq!(
            [rows, direct].map(|orders| taken(orders, size, u64::MAX)),
            [(false, true); 2],
            "{size}"
        );
        assert_eq!(
            [rows, direct].map(|orders| taken(orders, size, 0)),
            [(false, false), (false, true)],
            "{size}"
        );
    }
    for size in [256, 512, 1024, 1280] {
        assert_eq!(taken(rows, size, u64::MAX), (false, false), "{size}");
    }
    // A batch of sixteen GEMMs uses a TMA kernel after a transpose. In an array, each GEMM would
    // need its own launch, and groups are not transposed.
    let by_tma = |size| singles(rows, size).has_producer();
    let batch = ProblemSize { batch: 16, ..ProblemSize::new((1024, 1024, 1024)) };
    let first = singles(
        rows,
        ProblemSize { workspace: 0, for_passes: 0, ..ProblemSize::new((4096, 4096, 4096)) },
    );
    let groups = ProblemSize::for_groups((8192, 4096, 4096), 2);
    assert_eq!([batch, batch.for_array(&first, 16), groups].map(by_tma), [true, false, false]);
}

/// The tile measured best, or within 10% of the best.
#[test]
fn large_squares_take_tiles_of_256_rows() {
    let desc = singles([Order::Row; 2], ProblemSize::new((4096, 4096, 4096)));
    assert_eq!((desc.threadblock().m, desc.split_k()), (256, 1));
}
