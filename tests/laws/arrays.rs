//! Arrays on their way to a device: where addresses lie, what a launch is told, and which accesses
//! the least aligned address leaves. No GPU is needed.

use crate::harness::prelude::*;
use falchion::{
    internals::{
        codegen::{ArrayParams, GemmParams, TensorGemmParams, TensorMap},
        plan::Geometry,
    },
    layout::Order::{self, Col, Row},
    refusal::Route,
    threadblock::{MOST_PRODUCTS_AT_ALL, ProductAddresses, ProductRecords},
};

const F32: Combined = element_types(ElementKind::F32, ElementKind::F32, ElementKind::F32);

/// Products of 64 x 48 x 32 whose matrices begin so many bytes behind multiples of 256.
fn problems(orders: [Order; 3], beyond: &[[u64; 4]]) -> Vec<Problem> {
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

#[test]
fn each_matrix_has_an_address_of_its_own() {
    for products in [MOST_PRODUCTS, MOST_PRODUCTS_AT_ALL] {
        assert_eq!(laws::bijective(&ProductAddresses { products }), Ok(()));
    }
    // What parameters of 4096 bytes hold, and of 32764.
    let bytes = |most: u32| size_of::<GemmParams>() + 32 * most as usize;
    assert_eq!([MOST_PRODUCTS, MOST_PRODUCTS_AT_ALL].map(bytes), [4072, 32744]);
    assert_eq!(size_of::<TensorGemmParams>() + (4 * 128 + 32) * MOST_MAPPED as usize, 4032);
}

/// Maps begin at lines of 128 bytes, which no map shares with another nor with addresses; addresses
/// are words of their own.
#[test]
fn each_map_has_lines_of_its_own_and_each_address_a_word() {
    for products in [1, 2, 7, 110, 300] {
        let records = ProductRecords { products };
        assert_eq!(laws::injective(&records), Ok(()));
        assert_eq!(ProductRecords::bytes(products as usize), 8 * u64::from(records.codomain()));
        let mut taken = vec![false; records.codomain() as usize];
        for (product, piece) in
            (0..products).flat_map(|product| (0..8).map(move |piece| (product, piece)))
        {
            let (place, words) = (
                records.at(at(product, piece)).expect("a place") as usize,
                if piece < 4 { 16 } else { 1 },
            );
            assert!(piece >= 4 || place.is_multiple_of(16), "product {product}, map {piece}");
            assert!(
                !taken[place..place + words].iter().any(|&taken| taken),
                "product {product}, piece {piece}"
            );
            taken[place..place + words].fill(true);
            // Where it lies does not depend on how many there are.
            assert_eq!(
                ProductRecords { products: product + 1 }.at(at(product, piece)),
                Some(place as u32)
            );
        }
        assert_eq!((records.at(at(products, 0)), records.at(at(0, 8))), (None, None));
    }
    // A record is five lines.
    assert_eq!(ProductRecords::bytes(300), 300 * 640);
}

fn hopper() -> GemmDesc {
    let bf16 = Combined { a: ElementKind::Bf16, b: ElementKind::Bf16, ..F32 };
    default_of(OpKind::TensorOp, ArchKind::Sm90, bf16, [Row, Col, Row])
}

/// Of as many products as parameters have maps of, those ride there; of more they lie in the
/// workspace, which is as much larger, but of a kernel whose maps are parameters.
#[test]
fn maps_of_many_products_lie_in_the_workspace() {
    let (desc, simt) = (hopper(), default_of(OpKind::Simt, ArchKind::Sm90, F32, [Row; 3]));
    let modes =
        |desc: GemmDesc| [0, 1, 2, 6, 7, 300].map(|products| desc.for_array(products).class.mode);
    let (one, some, many) = (GemmMode::Gemm, GemmMode::Array, GemmMode::MappedArray);
    assert_eq!(modes(desc), [one, one, some, some, many, many]);
    assert_eq!(modes(desc.for_array(7)), [one, one, some, some, many, many]);
    assert_eq!(modes(desc.for_array(2)), [one, one, some, some, some, some]);
    assert_eq!(modes(simt), [one, one, some, some, some, GemmMode::LongArray]);
    assert_eq!(modes(simt.for_array(2)), [one, one, some, some, some, some]);
    let most = |products: usize| simt.for_array(products).products_of_launch();
    assert_eq!([2, 119, 120, 1015, 3000].map(most), [119, 119, 1015, 1015, 1015]);
    let mut of_roles = desc;
    of_roles.class.mode = GemmMode::LongArray;
    let refused = of_roles.check().message();
    assert_eq!(
        refused,
        "mode = long-array is not supported by kernels with TMA; try array, or mapped-array"
    );
    let emulated = but!(desc_of_f32(), emulation: EmulationKind::Bf16x6);
    assert_eq!(modes(emulated), [one; 6]);
    let bytes = |desc: GemmDesc, products: usize, beyond: u64| {
        let all = problems([Row, Col, Row], &vec![[beyond; 4]; products]);
        let bytes = desc.workspace_of(&all).expect("a size");
        let routes = Routes::for_array(&desc.for_array(products), &all);
        assert_eq!(bytes, routes.iter().map(Routes::workspace_bytes).max().unwrap_or(0));
        (bytes, routes.len())
    };
    assert_eq!(
        [2, 6, 7, 300].map(|products| bytes(desc, products, 0)),
        [(0, 1), (0, 1), (7 * 640 + 256, 1), (300 * 640 + 256, 1)]
    );
    assert_eq!(bytes(desc.for_array(2), 300, 0), (0, 1));
    // Each is a launch of its own behind passes, and their workspace has no maps.
    let (repacked, launches) = bytes(desc, 7, 2);
    assert!(launches == 7 && repacked > 0 && repacked == bytes(desc, 2, 2).0);
    // Parts of K of all products lie before their maps.
    let cut = desc.cut(2);
    let of_parts = |products: usize| {
        let mut all = problems([Row, Col, Row], &vec![[0; 4]; products]);
        for problem in &mut all {
            problem.k = 256;
            problem.a = View::packed(problem.a.memory, Row, (64, 256), None);
            problem.b = View::packed(problem.b.memory, Col, (256, 48), None);
        }
        let routes = Routes::for_array(&cut.for_array(products), &all);
        let [one] = routes[..] else { panic!("{} routes", routes.len()) };
        assert_eq!(cut.workspace_of(&all), Ok(one.workspace_bytes()));
        one
    };
    let (few, twice) = (of_parts(6), of_parts(12));
    assert_eq!((few.record_bytes, twice.record_bytes), (0, 12 * 640));
    assert_eq!(few.workspace_bytes(), few.partials.bytes() + 256);
    assert_eq!(twice.workspace_bytes(), twice.partials.bytes() + 12 * 640 + 256);
    assert!(
        twice.partials.bytes() > few.partials.bytes()
            && twice.records(4096) == 4096 + twice.partials.bytes()
    );
    assert!(twice.records(0).is_multiple_of(256));
    let said = {
        let mut simt = simt;
        simt.class.mode = many;
        simt.check().message()
    };
    assert_eq!(said, "mode = mapped-array is not supported by kernels without TMA; try array");
}

/// f32 by way of parts.
fn desc_of_f32() -> GemmDesc {
    default_of(OpKind::TensorOp, ArchKind::Sm90, F32, [Row, Col, Row])
}

/// A choice is told of as many products as a launch has, and of the workspace that maps leave.
#[test]
fn a_choice_knows_what_maps_take() {
    let (desc, size) = (hopper(), ProblemSize::new((64, 48, 32)));
    let told = |workspace, products| {
        let ProblemSize { batch, workspace, .. } =
            ProblemSize { workspace, ..size }.for_array(&desc, products);
        (batch, workspace)
    };
    assert_eq!(
        [told(0, 6), told(5000, 6), told(0, 300), told(300 * 640 + 255, 300)],
        [(6, 0), (6, 5000), (6, 0), (6, 300 * 640 + 255)]
    );
    assert_eq!(
        [told(300 * 640 + 256, 300), told(u64::MAX, 300)],
        [(300, 256), (300, u64::MAX - 300 * 640)]
    );
}

/// No launch has more products than a grid has blocks for their tiles.
#[test]
fn a_launch_has_as_many_products_as_a_grid_has_tiles_for() {
    let (desc, tile) = (hopper().for_array(300), hopper().threadblock());
    let cluster = desc.cluster();
    // So many rectangles of a cluster's tiles.
    let of = |down: usize, across: usize| {
        let mut all = problems([Row, Col, Row], &[[0; 4]; 300]);
        for problem in &mut all {
            (problem.m, problem.n) =
                (down * (tile.m * cluster.m) as usize, across * (tile.n * cluster.n) as usize);
        }
        Problem::from_array(&all, &desc).expect("products").batch
    };
    assert_eq!([of(1, 1), of(1 << 13, 1 << 13), of(1 << 20, 1 << 20)], [300, 31, 1]);
    let records = Routes::for_array(&desc, &problems([Row, Col, Row], &[[0; 4]; 300]));
    assert_eq!(records[0].record_bytes, 300 * 640);
}

/// The least aligned address of each operand decides how wide accesses to it are.
#[test]
fn the_least_aligned_address_decides() {
    // An A along K is copied element by element, whatever its address.
    let desc = default_of(OpKind::Simt, ArchKind::Sm90, F32, [Col, Row, Row]).for_array(3);
    assert_eq!((desc.class.mode, desc.alignments()), (GemmMode::Array, [4, 4, 4]));
    let fitting = |beyond: &[[u64; 4]]| {
        let all = Problem::from_array(&problems([Col, Row, Row], beyond), &desc).expect("products");
        falchion::internals::call::fitting(&desc, &all).alignments()
    };
    assert_eq!(fitting(&[[0; 4]; 3]), [4, 4, 4]);
    assert_eq!(fitting(&[[0; 4], [16, 32, 48, 64], [0; 4]]), [4, 4, 4]);
    assert_eq!(fitting(&[[0; 4], [8, 0, 0, 0], [0, 4, 0, 0]]), [2, 1, 4]);
    assert_eq!(fitting(&[[0; 4], [0; 4], [0, 0, 0, 8]]), [4, 4, 2]);
    // C is read in D's accesses.
    assert_eq!(fitting(&[[0; 4], [0, 0, 4, 0], [0, 0, 0, 8]]), [4, 4, 1]);
}

/// One launch computes the tiles of all products, and behind what every kernel takes are each one's
/// A, B, C and D.
#[test]
fn a_launch_is_told_of_every_product() {
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
    let launch = plan
        .launch(&Problem::from_array(&all, &desc).expect("products"), &geometry, 1)
        .expect("a launch");
    let tiles = 64usize.div_ceil(desc.threadblock().m as usize)
        * 48usize.div_ceil(desc.threadblock().n as usize);
    assert_eq!(launch.grid.clusters as usize, 5 * tiles);
    let addresses: Vec<_> = all.iter().map(Problem::matrix_addresses).collect();
    // Of a kernel of few products, and of many.
    let [params, many] = [5, 300].map(|products| {
        let most = desc.for_array(1).for_array(products).products_of_launch();
        ArrayParams::with_addresses(&launch.params, &addresses, most).0
    });
    assert_eq!((params.len(), many.len(), &many[..params.len()]), (4072, 32744, &params[..]));
    let told: GemmParams = bytemuck::pod_read_unaligned(&params[..size_of::<GemmParams>()]);
    assert_eq!((told.batch, told.lda, told.ldd, told.stride_a, told.stride_d), (5, 32, 48, 0, 0));
    for (number, problem) in all.iter().enumerate() {
        let at = size_of::<GemmParams>() + 32 * number;
        let told: [u64; 4] = bytemuck::pod_read_unaligned(&params[at..at + 32]);
        let Source::Matrix(c) = problem.c else { panic!("a C") };
        assert_eq!(told, [problem.a, problem.b, c, problem.d].map(|view| view.memory.address));
    }
    assert!(many[size_of::<GemmParams>() + 32 * 5..].iter().all(|&byte| byte == 0));
    // C that is D is read at D's address, and one that is not read has none.
    let in_place = Problem { c: Source::InPlace, ..all[2] };
    assert_eq!(in_place.matrix_addresses()[2], all[2].d.memory.address);
    assert_eq!(Problem { c: Source::None, ..all[2] }.matrix_addresses()[2], 0);
}

/// A kernel that TMA feeds is told of a map for each matrix, which are of one product's extents,
/// and of addresses for what threads read and store.
#[test]
fn a_launch_by_tma_is_told_of_maps() {
    let bf16 = Combined { a: ElementKind::Bf16, b: ElementKind::Bf16, ..F32 };
    let desc = default_of(OpKind::TensorOp, ArchKind::Sm90, bf16, [Row, Col, Row]).for_array(3);
    assert_eq!((desc.class.mode, desc.products_of_launch()), (GemmMode::Array, MOST_MAPPED));
    let all = problems([Row, Col, Row], &[[0; 4], [16; 4], [0, 32, 48, 64]]);
    let geometry = Geometry {
        tile: desc.threadblock(),
        cluster: 1,
        work: WorkKind::Persistent,
        group_step: 1,
        threads: 384,
        shared_bytes: 0,
        reduction: None,
    };
    let together = Problem::from_array(&all, &desc).expect("products");
    let launch =
        desc.plan().expect("a kernel").launch(&together, &geometry, 132).expect("a launch");
    assert_eq!(launch.tensors.map(|tensor| tensor.expect("a tensor").desc.rank), [2; 4]);
    let products: Vec<_> = (0..)
        .zip(&all)
        .map(|(number, problem)| {
            (
                [0, 1, 2, 3].map(|matrix| TensorMap { word: [number * 4 + matrix; 16] }),
                problem.matrix_addresses(),
            )
        })
        .collect();
    // Or of where they lie.
    let records = ArrayParams::with_records(&launch.params, 0x1234_5600);
    let behind = size_of::<TensorGemmParams>();
    assert_eq!(records.0[..behind], launch.params.0[..behind]);
    assert_eq!(bytemuck::pod_read_unaligned::<u64>(&records.0[behind..behind + 8]), 0x1234_5600);
    let params = ArrayParams::with_maps(&launch.params, &products);
    let (first, maps) = (
        size_of::<TensorGemmParams>(),
        size_of::<TensorGemmParams>() + 4 * 128 * MOST_MAPPED as usize,
    );
    let told: TensorGemmParams = bytemuck::pod_read_unaligned(&params.0[..first]);
    assert_eq!((told.batch, told.own, told.stride_d), (3, 0, 0));
    for (number, (_, addresses)) in products.iter().enumerate() {
        for (matrix, wanted) in addresses.iter().enumerate() {
            let place = number * 4 + matrix;
            let map: TensorMap =
                bytemuck::pod_read_unaligned(&params.0[first + 128 * place..][..128]);
            let address: u64 = bytemuck::pod_read_unaligned(&params.0[maps + 8 * place..][..8]);
            assert_eq!((map.word, address), ([place as u64; 16], *wanted));
        }
    }
}

/// Where every operand is read where it lies, all products take one route; else each takes its own.
#[test]
fn products_have_one_route_or_one_each() {
    let simt = default_of(OpKind::Simt, ArchKind::Sm90, F32, [Row, Row, Row]);
    let routes = |desc: &falchion::desc::GemmDesc, orders| {
        Routes::for_array(desc, &problems(orders, &[[0, 2, 0, 0], [0; 4]]))
    };
    assert_eq!(routes(&simt, [Row; 3]).len(), 1);
    let turned = routes(&simt, [Col, Row, Row]);
    assert_eq!(
        turned.iter().map(|routes| routes.a.route).collect::<Vec<_>>(),
        [Route::Transposed; 2]
    );
    let bf16 = Combined { a: ElementKind::Bf16, b: ElementKind::Bf16, ..F32 };
    let hopper = default_of(OpKind::TensorOp, ArchKind::Sm90, bf16, [Row, Col, Row]);
    let aligned = Routes::for_array(&hopper, &problems([Row, Col, Row], &[[16; 4], [0; 4]]));
    assert_eq!(aligned.len(), 1);
    // TMA reads the second B, and not the first.
    let by_tma = routes(&hopper, [Row, Col, Row]);
    assert_eq!(
        by_tma.iter().map(|routes| routes.b.route).collect::<Vec<_>>(),
        [Route::Repacked, Route::Direct]
    );
}
