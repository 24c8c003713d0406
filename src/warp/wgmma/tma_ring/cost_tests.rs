//! Tests of the tiles that problems select by the cost model with `wgmma`.

use crate::{
    arch::{ArchKind, OpKind},
    layout::{MatrixType, Order},
    nest::{GemmDesc, ProblemSize, PromotionKind, Request},
    numeric::ElementKind,
    threadblock::Partials,
};

/// Returns the tile that a problem selects, for A and B in these orders and a row-major D.
fn tile(
    kind: ElementKind,
    orders: [Order; 2],
    promoted: bool,
    extents: (usize, usize, usize),
) -> (u32, u32) {
    let tile = taken(kind, orders, promoted, extents).threadblock();
    (tile.m, tile.n)
}

/// Returns the description that a problem selects.
fn taken(
    kind: ElementKind,
    orders: [Order; 2],
    promoted: bool,
    extents: (usize, usize, usize),
) -> GemmDesc {
    sized(kind, orders, promoted, ProblemSize::new(extents))
}

fn sized(kind: ElementKind, orders: [Order; 2], promoted: bool, size: ProblemSize) -> GemmDesc {
    let [a, b] = orders.map(|order| Some(MatrixType { element: kind, order }));
    let c = match kind {
        ElementKind::I8 => ElementKind::I32,
        ElementKind::Tf32 => ElementKind::F32,
        _ => ElementKind::Bf16,
    };
    let c = Some(MatrixType { element: c, order: Order::Row });
    let knobs = promoted.then(|| ("promotion".to_owned(), PromotionKind::Stage.name().to_owned()));
    let (op, knobs) = (Some(OpKind::TensorOp), knobs.into_iter().collect());
    let request = Request { a, b, c, op, knobs, ..Request::default() };
    request.resolve_for(ArchKind::Sm90, size, None).expect("a row").desc
}

fn from_registers(desc: &GemmDesc) -> bool {
    desc.a_from_registers()
}

/// The wanted tiles measured best of three on 132 multiprocessors, or within 1% of the best
/// (`lab/data/trials.csv`, log `hopper_tiles_*`, log `hopper_promoted`).
#[test]
fn problems_take_the_tiles_that_measured_best() {
    let along_k = [Order::Row, Order::Col];
    for (extents, wanted) in [
        ((2048, 2048, 2048), (128, 128)),
        ((4096, 4096, 4096), (128, 128)),
        ((8192, 8192, 8192), (128, 192)),
        ((4096, 2112, 7168), (128, 176)),
        ((4096, 4096, 7168), (128, 128)),
    ] {
        for kind in [ElementKind::Bf16, ElementKind::E4m3, ElementKind::I8, ElementKind::Tf32] {
            assert_eq!(tile(kind, along_k, false, extents), wanted, "{kind} {extents:?}");
        }
    }
    // If much of D goes to device memory, tiles with fewer bytes per multiply-add win (log
    // `short_k`, log `tiles_in_graphs`).
    for (kind, of_24576, of_7168) in [
        (ElementKind::Bf16, (128, 176), (128, 128)),
        (ElementKind::E4m3, (128, 192), (128, 128)),
        (ElementKind::I8, (128, 192), (128, 176)),
        (ElementKind::Tf32, (128, 176), (128, 176)),
    ] {
        for (extents, wanted) in [((4096, 24576, 1536), of_24576), ((4096, 7168, 2048), of_7168)] {
            assert_eq!(tile(kind, along_k, false, extents), wanted, "{kind} {extents:?}");
        }
    }
    for (extents, wanted) in [
        ((4096, 4096, 4096), (256, 128)),
        ((8192, 8192, 8192), (128, 192)),
        ((4096, 2112, 7168), (128, 192)),
        ((16384, 16384, 16384), (128, 192)),
        ((4096, 24576, 1536), (128, 192)),
        ((2048, 2048, 2048), (256, 128)),
        ((4096, 7168, 2048), (256, 128)),
        ((4096, 4096, 7168), (256, 128)),
    ] {
        assert_eq!(tile(ElementKind::E4m3, along_k, true, extents), wanted, "promoted {extents:?}");
    }
}

/// The wanted tiles measured best for small squares, or within 10% of the best
/// (`lab/data/trials.csv`, log `small_tiles_*`, log `squares_tensor_op`, log `in_graphs`).
#[test]
fn small_problems_take_small_tiles() {
    let wanted = [(64, 16), (64, 32), (64, 128), (128, 144), (128, 128), (128, 192)];
    for (size, wanted) in [256, 512, 1024, 1536, 2048, 3072].into_iter().zip(wanted) {
        assert_eq!(
            tile(ElementKind::Bf16, [Order::Row, Order::Col], false, (size, size, size)),
            wanted,
            "{size}"
        );
    }
}

/// Idle multiprocessors of the last wave count if memory limits. Clusters of the small tile pay
/// only if rows begin within sectors (`lab/data/trials.csv`, log `few_rows_of_weights`, log
/// `small_clusters`).
#[test]
fn idle_and_shared_resources_count() {
    let along_k = [Order::Row, Order::Col];
    for kind in [ElementKind::Bf16, ElementKind::E4m3] {
        assert_eq!(tile(kind, along_k, false, (64, 24576, 1536)), (64, 64), "{kind}");
    }
    let cluster = |size: usize| {
        taken(ElementKind::Bf16, along_k, false, (size, size, size)).cluster().count()
    };
    assert_eq!([1000, 1008, 1664, 1800, 2304].map(cluster), [2, 1, 1, 2, 1]);
}

/// The wanted numbers of slices measured best with the reduction kernel (`lab/data/trials.csv`, log
/// `parallel_tensor_op`).
#[test]
fn a_deep_k_on_tensor_cores_is_cut_into_few_parts_of_small_tiles() {
    let (deep, long) = ((512, 512, 32768), (1024, 256, 16384));
    for (kind, extents) in [
        (ElementKind::Bf16, deep),
        (ElementKind::Bf16, long),
        (ElementKind::E4m3, deep),
        (ElementKind::E4m3, long),
    ] {
        let desc = taken(kind, [Order::Row, Order::Col], false, extents);
        let tile = desc.threadblock();
        let wanted = if (kind, extents) == (ElementKind::Bf16, deep) {
            (128, 128, 8, true)
        } else {
            (64, 128, 4, true)
        };
        assert_eq!(
            (tile.m, tile.n, desc.split_k(), desc.reduces_in_parallel()),
            wanted,
            "{kind} {extents:?}"
        );
    }
}

/// Split-K in a cluster is selected where it measured less time than all others, with or without a
/// workspace. It is not selected where it measured more (`lab/data/trials.csv`, log
/// `split_k_cluster`, log `few_tiles_tensor_op`, log `deep_parts`).
#[test]
fn few_tiles_of_a_deep_k_are_cut_by_clusters() {
    let along_k = [Order::Row, Order::Col];
    for (extents, wanted) in [
        ((16, 2112, 7168), (64, 16, 2)),
        ((32, 2112, 7168), (64, 32, 2)),
        ((64, 2112, 7168), (64, 64, 2)),
        ((16, 1024, 4096), (64, 16, 4)),
    ] {
        for (kind, workspace) in [(ElementKind::Bf16, u64::MAX), (ElementKind::F16, 0)] {
            let desc =
                sized(kind, along_k, false, ProblemSize { workspace, ..ProblemSize::new(extents) });
            let tile = desc.threadblock();
            assert_eq!((tile.m, tile.n, desc.split_k()), wanted, "{kind} {extents:?}");
            assert!(
                desc.cuts_by_cluster()
                    && Partials::new(&desc, (extents.0, extents.1), 1).bytes() == 0,
                "{desc:?}"
            );
        }
    }
    let whole = [(4096, 4096), (4096, 7168), (24576, 1536), (7168, 16384), (16384, 7168)];
    let few = [1, 16, 32, 64].into_iter().flat_map(|m| whole.map(|(n, k)| (m, n, k)));
    let squares = [256, 512, 768, 1000, 1024].map(|size| (size, size, size));
    for extents in few.chain(squares).chain([
        (512, 512, 32768),
        (64, 64, 65536),
        (1024, 256, 16384),
        (512, 512, 4096),
    ]) {
        assert!(
            !taken(ElementKind::Bf16, along_k, false, extents).cuts_by_cluster(),
            "{extents:?}"
        );
    }
    for extents in [(16, 2112, 7168), (64, 2112, 7168), (16, 4096, 4096)] {
        assert!(
            !taken(ElementKind::E4m3, along_k, false, extents).cuts_by_cluster(),
            "{extents:?}"
        );
    }
}

/// If rows begin within sectors of memory, CTAs of a cluster share the loads of TMA
/// (`lab/data/trials.csv`, log `pitches_tensor_op`).
#[test]
fn rows_within_sectors_take_clusters() {
    let cluster = |kind, orders, size: ProblemSize| {
        let desc = sized(kind, orders, false, size);
        (desc.threadblock().m, desc.threadblock().n, desc.cluster().m * desc.cluster().n)
    };
    let (along_k, along_n) = ([Order::Row, Order::Col], [Order::Row; 2]);
    let square = |size| ProblemSize::new((size, size, size));
    for (kind, squares) in [
        (ElementKind::Bf16, [5000, 4104]),
        (ElementKind::E4m3, [5008, 4112]),
        (ElementKind::I8, [5008, 4112]),
    ] {
        assert_eq!(
            squares.map(|size| cluster(kind, along_k, square(size))),
            [(256, 160, 2), (256, 192, 2)],
            "{kind}"
        );
    }
    // With a column-major D, the kernel's B is K-major if the user's A is.
    for (orders, wanted) in [(along_n, (256, 160, 2)), ([Order::Col, Order::Row], (128, 256, 2))] {
        assert_eq!(cluster(ElementKind::Bf16, orders, square(5000)), wanted, "{orders:?}");
    }
    assert_eq!(cluster(ElementKind::Bf16, [Order::Col, Order::Row], square(4104)), (256, 192, 2));
    let pitched = ProblemSize { leading: [Some(4104); 2], ..square(4096) };
    assert!(cluster(ElementKind::Bf16, along_k, pitched).2 > 1);
    assert_eq!(
        [4096, 4112, 5008].map(|size| cluster(ElementKind::Bf16, along_k, square(size)).2),
        [1; 3]
    );
}

/// Waves count the tiles of all GEMMs of a batch. One GEMM fits one wave with any tile and selects
/// the smallest tile. 22 GEMMs fit one wave only with 128x176, which makes 132 tiles.
#[test]
fn a_batch_takes_the_tile_of_its_waves() {
    let chosen = |batch| {
        let [a, b, c] = [Order::Row, Order::Col, Order::Row]
            .map(|order| Some(MatrixType { element: ElementKind::Bf16, order }));
        let (op, size) =
            (Some(OpKind::TensorOp), ProblemSize { batch, ..ProblemSize::new((128, 1056, 4096)) });
        let knobs = vec![("decomposition".to_owned(), "splitk".to_owned())];
        let request = Request { a, b, c, op, knobs, ..Request::default() };
        request.resolve_for(ArchKind::Sm90, size, None).expect("a row").desc.threadblock().n
    };
    assert_eq!([1, 22].map(chosen), [16, 176]);
}

/// N-major columns of B arrive in boxes of 64, so 176 columns are invalid and the next best tile
/// wins.
#[test]
fn invalid_kernels_are_not_selected() {
    assert_eq!(
        tile(ElementKind::Bf16, [Order::Row, Order::Row], false, (4096, 2112, 7168)),
        (128, 192)
    );
}

/// An MN-major operand comes from registers if possible. If both operands are MN-major, only one
/// does; other operands never do.
#[test]
fn mn_major_operands_come_from_registers() {
    let (row, col, square) = (Order::Row, Order::Col, (4096, 4096, 4096));
    for (kind, wanted) in [
        (ElementKind::E4m3, (128, 256)),
        (ElementKind::I8, (128, 256)),
        (ElementKind::Tf32, (64, 256)),
    ] {
        for (orders, transposed) in [([col, col], 0), ([row, row], 0), ([col, row], 1)] {
            let desc = taken(kind, orders, false, square);
            assert_eq!((desc.threadblock().m, desc.threadblock().n), wanted, "{kind} {orders:?}");
            assert!(
                from_registers(&desc) && desc.features().transposed == transposed,
                "{kind} {orders:?}"
            );
        }
    }
    assert_eq!(tile(ElementKind::E4m3, [col, col], false, (8192, 8192, 8192)), (128, 192));
    for (kind, orders, promoted) in [
        (ElementKind::E4m3, [row, col], false),
        (ElementKind::Bf16, [col, col], false),
        (ElementKind::E4m3, [col, col], true),
    ] {
        assert!(!from_registers(&taken(kind, orders, promoted, square)), "{kind} {orders:?}");
    }
}
