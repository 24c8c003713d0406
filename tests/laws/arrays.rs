//! Pointer arrays before their launch: records, routes, the parameters of a launch, and the access
//! width. No GPU is needed.

use crate::harness::prelude::*;
use falchion::{layout::Order, refusal::Route, threadblock::ProductRecords};

pub const F32: Combined = element_types(ElementKind::F32, ElementKind::F32, ElementKind::F32);

/// Returns GEMMs of 64 x 48 x 32. Each matrix begins `beyond` bytes after a multiple of 256.
pub fn problems(orders: [Order; 3], beyond: &[[u64; 4]]) -> Vec<Problem> {
    let scalars = [1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    let of_product = |(number, beyond): (usize, &[u64; 4])| {
        let view = |matrix: usize, order, extents| {
            let address = ((number as u64 * 4 + matrix as u64 + 1) << 20) + beyond[matrix];
            View::packed(Elements { address, ..Elements::ALL }, order, extents, None)
        };
        let (a, b) = (view(0, orders[0], (64, 32)), view(1, orders[1], (32, 48)));
        let (c, d) = (Source::Matrix(view(2, orders[2], (64, 48))), view(3, orders[2], (64, 48)));
        Problem { c, scalars, ..problem_of((64, 48, 32), [a, b, d]) }
    };
    beyond.iter().enumerate().map(of_product).collect()
}

/// Addresses are two aligned words, and positions are one word. No two pieces overlap.
#[test]
fn pieces_of_records_do_not_overlap() {
    for (products, positions) in
        [1, 2, 7, 110, 300].into_iter().flat_map(|n| [(n, false), (n, true)])
    {
        let records = ProductRecords { products, positions };
        let pieces = if positions { 8 } else { 4 };
        assert_eq!(laws::injective(&records), Ok(()));
        let bytes = ProductRecords::bytes(products as usize, positions);
        assert_eq!(bytes, 4 * u64::from(records.codomain()));
        let mut taken = vec![false; records.codomain() as usize];
        for (product, piece) in
            (0..products).flat_map(|product| (0..pieces).map(move |piece| (product, piece)))
        {
            let (place, words) = (
                records.at(at(product, piece)).expect("a place") as usize,
                if piece < 4 { 2 } else { 1 },
            );
            assert!(place.is_multiple_of(words), "product {product}, piece {piece}");
            assert!(
                !taken[place..place + words].iter().any(|&taken| taken),
                "product {product}, piece {piece}"
            );
            taken[place..place + words].fill(true);
            // The offset does not depend on the number of GEMMs.
            assert_eq!(
                ProductRecords { products: product + 1, positions }.at(at(product, piece)),
                Some(place as u32)
            );
        }
        assert_eq!((records.at(at(products, 0)), records.at(at(0, pieces))), (None, None));
    }
    assert_eq!(
        [false, true].map(|positions| ProductRecords::bytes(300, positions)),
        [300 * 32, 300 * 48]
    );
}

/// Checks that the workspace size that the selection assumes covers all GEMMs if the workspace has
/// space for the records. It excludes the bytes that the records need.
pub fn check_workspace_for_selection(desc: &GemmDesc, record: u64) {
    let size = ProblemSize::new((64, 48, 32));
    let told = |workspace, products| {
        let ProblemSize { batch, workspace, .. } =
            ProblemSize { workspace, ..size }.for_array(desc, products);
        (batch, workspace)
    };
    assert_eq!(told(0, 6), (1, 0));
    assert_eq!(told(300 * record + 255, 300), (1, 300 * record + 255));
    assert_eq!(told(300 * record + 256, 300), (300, 256));
    assert_eq!(told(u64::MAX, 300), (300, u64::MAX - 300 * record));
    assert_eq!(told(u64::MAX, 1), (1, u64::MAX));
}

#[test]
fn workspace_size_for_selection_excludes_records() {
    let simt = default_of(OpKind::Simt, ArchKind::Sm90, F32, [Row; 3]);
    check_workspace_for_selection(&simt, 32);
}

/// The least aligned address of an operand limits the width of its accesses.
#[test]
fn the_least_aligned_address_limits_access_width() {
    // A K-major A is copied element by element for any address.
    let desc = default_of(OpKind::Simt, ArchKind::Sm90, F32, [Col, Row, Row]).for_array(3);
    assert_eq!((desc.work.mode, desc.alignments()), (GemmMode::Array, [4, 4, 4]));
    let fitting = |beyond: &[[u64; 4]]| {
        let all = Problem::from_array(&problems([Col, Row, Row], beyond), &desc).expect("products");
        falchion::internals::operand::fitting(&desc, &all).alignments()
    };
    assert_eq!(fitting(&[[0; 4]; 3]), [4, 4, 4]);
    assert_eq!(fitting(&[[0; 4], [16, 32, 48, 64], [0; 4]]), [4, 4, 4]);
    assert_eq!(fitting(&[[0; 4], [8, 0, 0, 0], [0, 4, 0, 0]]), [2, 1, 4]);
    assert_eq!(fitting(&[[0; 4], [0; 4], [0, 0, 0, 8]]), [4, 4, 2]);
    // Accesses to C have the width of accesses to D.
    assert_eq!(fitting(&[[0; 4], [0, 0, 4, 0], [0, 0, 0, 8]]), [4, 4, 1]);
}

/// One launch computes the tiles of all GEMMs, and reads their addresses from records.
#[test]
fn a_launch_has_the_tiles_of_all_gemms() {
    let desc = default_of(OpKind::Simt, ArchKind::Sm90, F32, [Row, Row, Row]).for_array(5);
    let all = problems([Row; 3], &[[0; 4], [16; 4], [0, 4, 8, 12], [0; 4], [0; 4]]);
    let plan = desc.plan().expect("a kernel");
    let geometry = Geometry {
        tile: desc.threadblock(),
        cluster: 1,
        work: WorkKind::DataParallel,
        group_step: 1,
        threads: 256,
        shared_bytes: 0,
        reduction: None,
    };
    let routes = Routes::for_array(&desc, &all);
    let together = Problem::from_array(&all, &desc).expect("products");
    let routed = routes[0].problem(&desc, &together, 1 << 30);
    let launch = plan.launch(&routed, &geometry, 1).expect("a launch");
    let tiles = 64usize.div_ceil(desc.threadblock().m as usize)
        * 48usize.div_ceil(desc.threadblock().n as usize);
    assert_eq!(launch.grid.clusters as usize, 5 * tiles);
    let told: GemmParams =
        bytemuck::pod_read_unaligned(&launch.params.0[..size_of::<GemmParams>()]);
    assert_eq!((told.batch, told.lda, told.ldd, told.stride_a, told.stride_d), (5, 32, 48, 0, 0));
    assert_eq!(told.records, routes[0].records(1 << 30));
    // If C is D, it has D's address. A C that is not read has no address.
    let in_place = Problem { c: Source::InPlace, ..all[2] };
    assert_eq!(in_place.matrix_addresses()[2], all[2].d.memory.address);
    assert_eq!(Problem { c: Source::None, ..all[2] }.matrix_addresses()[2], 0);
    let Source::Matrix(c) = all[2].c else { panic!("a C") };
    let wanted = [all[2].a, all[2].b, c, all[2].d].map(|view| view.memory.address);
    assert_eq!(all[2].matrix_addresses(), wanted);
}

/// All GEMMs share one route if the kernel reads every operand in place. Otherwise each GEMM has
/// its own route.
#[test]
fn gemms_share_a_route_if_all_operands_are_direct() {
    let simt = default_of(OpKind::Simt, ArchKind::Sm90, F32, [Row, Row, Row]);
    let routes = |desc: &GemmDesc, orders| {
        Routes::for_array(&desc.for_array(2), &problems(orders, &[[0, 2, 0, 0], [0; 4]]))
    };
    assert_eq!(routes(&simt, [Row; 3]).len(), 1);
    let transposed = routes(&simt, [Col, Row, Row]);
    assert_eq!(
        transposed.iter().map(|routes| routes.a.route).collect::<Vec<_>>(),
        [Route::Transposed; 2]
    );
}
