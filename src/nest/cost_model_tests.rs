//! Tests of the tiles that problems select by the cost model.

use crate::{
    arch::{ArchKind, OpKind},
    layout::{MatrixType, Order},
    nest::{GemmDesc, ProblemSize, Request},
    numeric::ElementKind,
    threadblock::Partials,
};

/// Returns the description that a problem selects whose matrices have one element type. D is
/// row-major.
fn choose_for_one_type(
    element: ElementKind,
    op: OpKind,
    orders: [Order; 2],
    size: ProblemSize,
) -> GemmDesc {
    let matrix = |order| Some(MatrixType { element, order });
    let [a, b] = orders.map(matrix);
    let request = Request { a, b, c: matrix(Order::Row), op: Some(op), ..Request::default() };
    request.resolve_for(ArchKind::Sm90, size, None).expect("a row").desc
}

/// The wanted tiles of `f32` measured best for squares, or within 10% of the best
/// (`lab/data/trials.csv`, log `small_tiles_simt`). Split-K slices use tiles of 128 rows.
#[test]
fn small_squares_of_f32_take_measured_tiles_and_slices() {
    let singles = [
        (256, 32, 1),
        (512, 32, 1),
        (768, 128, 3),
        (1024, 128, 2),
        (1536, 128, 1),
        (2048, 256, 1),
        (3000, 128, 1),
    ];
    for (size, rows, slices) in singles {
        let desc = choose_for_one_type(
            ElementKind::F32,
            OpKind::Simt,
            [Order::Row; 2],
            ProblemSize::new((size, size, size)),
        );
        assert_eq!((desc.threadblock().m, desc.split_k()), (rows, slices), "{size}");
    }
}

/// A small M of `f32` selects tiles with as many rows, and split-K. `f64` with few tiles selects
/// small tiles: the fastest, or one within 3% (`lab/data/trials.csv`, log `few_rows_simt`, log
/// `f64_few_tiles`).
#[test]
fn few_rows_and_few_tiles_have_tiles_of_their_own() {
    let taken = |element, op, b, extents| {
        let tile = choose_for_one_type(element, op, [Order::Row, b], ProblemSize::new(extents))
            .threadblock();
        (tile.m, tile.n)
    };
    for (rows, wanted) in [(1, (8, 128)), (8, (8, 128)), (16, (16, 128)), (32, (32, 64))] {
        for (n, k) in [(4096, 4096), (2112, 7168), (7168, 16384), (24576, 1536)] {
            for b in [Order::Row, Order::Col] {
                assert_eq!(
                    taken(ElementKind::F32, OpKind::Simt, b, (rows, n, k)),
                    wanted,
                    "{rows} of {n} x {k}"
                );
            }
        }
    }
    // In a larger tile, each transposed element of B serves more multiply-adds.
    assert_eq!(taken(ElementKind::F32, OpKind::Simt, Order::Col, (333, 127, 30011)), (128, 128));
    for (extents, wanted) in [
        ((128, 128, 16384), (64, 64)),
        ((64, 64, 65536), (32, 32)),
        ((512, 512, 512), (32, 64)),
        ((768, 768, 768), (32, 64)),
        ((1024, 1024, 1024), (128, 64)),
        ((1536, 1536, 1536), (32, 64)),
        ((2048, 2048, 2048), (128, 128)),
        ((1024, 256, 16384), (128, 128)),
    ] {
        assert_eq!(
            taken(ElementKind::F64, OpKind::TensorOp, Order::Col, extents),
            wanted,
            "{extents:?}"
        );
    }
}

/// Two CTAs of a multiprocessor finish at the same time, and new CTAs take both slots. Three tiles
/// of f32 take as long as four (`lab/data/trials.csv`, log `waves_of_two_simt`).
#[test]
fn three_tiles_on_two_places_count_as_four() {
    let of = |batch| ProblemSize { batch, ..ProblemSize::new((333, 511, 255)) };
    let tile = |batch| {
        choose_for_one_type(ElementKind::F32, OpKind::Simt, [Order::Row, Order::Col], of(batch))
            .threadblock()
    };
    assert_eq!([22, 33].map(|batch| (tile(batch).m, tile(batch).n)), [(128, 128), (64, 128)]);
}

/// For f32, a short K or 64 rows select tiles that are eight deep. A deep K, whose split-K slices
/// have a multiprocessor each, does not (`lab/data/trials.csv`, log `short_tiles_simt`).
#[test]
fn singles_take_shallow_tiles_where_that_measured_best() {
    let taken = |orders, size| {
        let tile = choose_for_one_type(ElementKind::F32, OpKind::Simt, orders, size).threadblock();
        (tile.m, tile.n, tile.k)
    };
    for orders in [[Order::Row; 2], [Order::Row, Order::Col]] {
        assert_eq!(
            taken(orders, ProblemSize { batch: 1024, ..ProblemSize::new((64, 64, 64)) }),
            (64, 64, 8),
            "{orders:?}"
        );
        let all = u64::MAX;
        assert_eq!(
            taken(orders, ProblemSize { workspace: all, ..ProblemSize::new((64, 4096, 4096)) }),
            (64, 128, 8),
            "{orders:?}"
        );
        assert_eq!(
            taken(orders, ProblemSize { workspace: all, ..ProblemSize::new((64, 64, 65536)) }),
            (64, 64, 32),
            "{orders:?}"
        );
    }
}

/// Few tiles with a deep K select as many slices as fill the multiprocessors. K is not divided if
/// tiles fill them, if the workspace is too small, or if the number of slices is pinned.
#[test]
fn a_deep_k_is_cut_where_the_workspace_has_room() {
    let matrix = Some(MatrixType { element: ElementKind::F32, order: Order::Row });
    let taken = |knobs: &[(&str, &str)], size: ProblemSize| {
        let knobs =
            knobs.iter().map(|(name, words)| ((*name).to_owned(), (*words).to_owned())).collect();
        let request = Request {
            a: matrix,
            b: matrix,
            c: matrix,
            op: Some(OpKind::Simt),
            knobs,
            ..Request::default()
        };
        request.resolve_for(ArchKind::Sm90, size, None).expect("a row").desc
    };
    let slices = |extents| taken(&[], ProblemSize::new(extents)).split_k();
    assert_eq!([(64, 64, 65536), (512, 512, 32768), (256, 256, 65536)].map(slices), [132, 16, 66]);
    assert_eq!(
        [(4096, 4096, 4096), (4096, 4096, 1), (64, 64, 0), (0, 64, 65536)].map(slices),
        [1; 4]
    );
    for extents in [(64, 64, 65536), (512, 512, 32768), (64, 4096, 4096), (100, 60, 70_000)] {
        let best = taken(&[], ProblemSize::new(extents));
        let bytes = Partials::new(&best, (extents.0, extents.1), 1).workspace_bytes();
        assert!(best.split_k() > 1 && bytes > 0, "{extents:?}");
        let within = |workspace| taken(&[], ProblemSize { workspace, ..ProblemSize::new(extents) });
        assert_eq!((within(bytes), within(0).split_k()), (best, 1));
        let less = within(bytes - 1);
        assert!(
            Partials::new(&less, (extents.0, extents.1), 1).workspace_bytes() < bytes,
            "{extents:?}"
        );
        for pinned in ["1", "3"] {
            assert_eq!(
                taken(&[("split_k", pinned)], ProblemSize::new(extents)).split_k().to_string(),
                pinned
            );
        }
    }
}
