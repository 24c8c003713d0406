//! Tests of the tiles and the split-K slices that `f32` selects on the CUDA cores. Nearly all of
//! its configurations have the multistage main loop.

use super::super::choose_for_one_type;
use crate::{
    arch::{ArchKind, OpKind},
    layout::{MatrixType, Order},
    nest::{ProblemSize, Request},
    numeric::ElementKind,
    threadblock::Partials,
};

/// The wanted tiles measured best for small squares, or within 10% of the best
/// (`lab/data/trials.csv`, log `small_tiles_*`, log `in_graphs`).
#[test]
fn small_problems_take_small_tiles() {
    // Split-K slices use tiles of 128 rows.
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

/// A small M selects tiles with as many rows, and split-K (`lab/data/trials.csv`, log
/// `few_rows_simt`).
#[test]
fn few_rows_have_tiles_of_their_own() {
    let taken = |b, extents| {
        let (op, size) = (OpKind::Simt, ProblemSize::new(extents));
        let tile = choose_for_one_type(ElementKind::F32, op, [Order::Row, b], size).threadblock();
        (tile.m, tile.n)
    };
    for (rows, wanted) in [(1, (8, 128)), (8, (8, 128)), (16, (16, 128)), (32, (32, 64))] {
        for (n, k) in [(4096, 4096), (2112, 7168), (7168, 16384), (24576, 1536)] {
            for b in [Order::Row, Order::Col] {
                assert_eq!(taken(b, (rows, n, k)), wanted, "{rows} of {n} x {k}");
            }
        }
    }
    // In a larger tile, each transposed element of B serves more multiply-adds.
    assert_eq!(taken(Order::Col, (333, 127, 30011)), (128, 128));
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
