//! Arrays on their way to a device: where addresses lie, what a launch is told, and which accesses the least aligned address leaves. No GPU is needed.

use falchion::{
    arch::{ArchKind, OpKind},
    desc::GemmMode,
    internals::{
        call::{Elements, Problem, Routes, Source, View},
        codegen::{ArrayParams, GemmParams, TensorGemmParams, TensorMap},
        family::default_gemm_configuration::default_description,
        index::laws,
        plan::Geometry,
    },
    layout::Order::{self, Col, Row},
    numeric::{Combined, ElementKind},
    refusal::Route,
    threadblock::{MOST_MAPPED, MOST_PRODUCTS, ProductAddresses, WorkKind},
};

const F32: Combined = Combined { a: ElementKind::F32, b: ElementKind::F32, accumulator: ElementKind::F32, c: ElementKind::F32 };

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
        Problem { m: 64, n: 48, k: 32, batch: 1, groups: None, a, b, c, d, vectors: Default::default(), scalars, workspace: None }
    };
    beyond.iter().enumerate().map(of_product).collect()
}

#[test]
fn each_matrix_has_an_address_of_its_own() {
    assert_eq!(laws::bijective(&ProductAddresses), Ok(()));
    // What parameters of 4096 bytes hold.
    assert_eq!(size_of::<GemmParams>() + 32 * MOST_PRODUCTS as usize, 4072);
    assert_eq!(size_of::<TensorGemmParams>() + (4 * 128 + 32) * MOST_MAPPED as usize, 4032);
    assert_eq!(size_of::<ArrayParams>(), 4096);
}

/// The least aligned address of each operand decides how wide accesses to it are.
#[test]
fn the_least_aligned_address_decides() {
    // An A along K is copied element by element, whatever its address.
    let desc = default_description(OpKind::Simt, ArchKind::Sm90, F32, [Col, Row, Row]).expect("a row").for_array(3);
    assert_eq!((desc.class.mode, desc.alignments()), (GemmMode::Array, [4, 4, 4]));
    let plan = desc.plan().expect("a kernel");
    let fitting = |beyond: &[[u64; 4]]| {
        let all = Problem::of_array(&problems([Col, Row, Row], beyond), MOST_PRODUCTS).expect("products");
        falchion::internals::call::fitting((&desc, plan.needs()), &all).alignments()
    };
    assert_eq!(fitting(&[[0; 4]; 3]), [4, 4, 4]);
    assert_eq!(fitting(&[[0; 4], [16, 32, 48, 64], [0; 4]]), [4, 4, 4]);
    assert_eq!(fitting(&[[0; 4], [8, 0, 0, 0], [0, 4, 0, 0]]), [2, 1, 4]);
    assert_eq!(fitting(&[[0; 4], [0; 4], [0, 0, 0, 8]]), [4, 4, 2]);
    // C is read in D's accesses.
    assert_eq!(fitting(&[[0; 4], [0, 0, 4, 0], [0, 0, 0, 8]]), [4, 4, 1]);
}

/// One launch computes the tiles of all products, and behind what every kernel takes are each one's A, B, C and D.
#[test]
fn a_launch_is_told_of_every_product() {
    let desc = default_description(OpKind::Simt, ArchKind::Sm90, F32, [Row, Row, Row]).expect("a row").for_array(5);
    let all = problems([Row; 3], &[[0; 4], [16; 4], [0, 4, 8, 12], [0; 4], [0; 4]]);
    let plan = desc.plan().expect("a kernel");
    let geometry = Geometry {
        tile: desc.threadblock(),
        cluster: 1,
        work: WorkKind::DataParallel,
        group_step: 1,
        threads: 256,
        shared_bytes: 0,
    };
    let launch = plan.launch(&Problem::of_array(&all, MOST_PRODUCTS).expect("products"), &geometry, 1).expect("a launch");
    let tiles = 64usize.div_ceil(desc.threadblock().m as usize) * 48usize.div_ceil(desc.threadblock().n as usize);
    assert_eq!(launch.grid.clusters as usize, 5 * tiles);
    let addresses: Vec<_> = all.iter().map(Problem::matrix_addresses).collect();
    let params = ArrayParams::of(&launch.params, &addresses);
    let told: GemmParams = bytemuck::pod_read_unaligned(&params.0[..size_of::<GemmParams>()]);
    assert_eq!((told.batch, told.lda, told.ldd, told.stride_a, told.stride_d), (5, 32, 48, 0, 0));
    for (number, problem) in all.iter().enumerate() {
        let at = size_of::<GemmParams>() + 32 * number;
        let told: [u64; 4] = bytemuck::pod_read_unaligned(&params.0[at..at + 32]);
        let Source::Matrix(c) = problem.c else { panic!("a C") };
        assert_eq!(told, [problem.a, problem.b, c, problem.d].map(|view| view.memory.address));
    }
    assert!(params.0[size_of::<GemmParams>() + 32 * 5..].iter().all(|&byte| byte == 0));
    // C that is D is read at D's address, and one that is not read has none.
    let in_place = Problem { c: Source::InPlace, ..all[2] };
    assert_eq!(in_place.matrix_addresses()[2], all[2].d.memory.address);
    assert_eq!(Problem { c: Source::None, ..all[2] }.matrix_addresses()[2], 0);
}

/// A kernel that TMA feeds is told of a map for each matrix, which are of one product's extents, and of addresses for what threads read and store.
#[test]
fn a_launch_by_tma_is_told_of_maps() {
    let bf16 = Combined { a: ElementKind::Bf16, b: ElementKind::Bf16, ..F32 };
    let desc = default_description(OpKind::TensorOp, ArchKind::Sm90, bf16, [Row, Col, Row]).expect("a row").for_array(3);
    assert_eq!((desc.class.mode, desc.products_of_launch()), (GemmMode::Array, MOST_MAPPED));
    let all = problems([Row, Col, Row], &[[0; 4], [16; 4], [0, 32, 48, 64]]);
    let geometry = Geometry {
        tile: desc.threadblock(),
        cluster: 1,
        work: WorkKind::Persistent,
        group_step: 1,
        threads: 384,
        shared_bytes: 0,
    };
    let together = Problem::of_array(&all, MOST_MAPPED).expect("products");
    let launch = desc.plan().expect("a kernel").launch(&together, &geometry, 132).expect("a launch");
    assert_eq!(launch.tensors.map(|tensor| tensor.expect("a tensor").desc.rank), [2; 4]);
    let products: Vec<_> = (0..)
        .zip(&all)
        .map(|(number, problem)| {
            ([0, 1, 2, 3].map(|matrix| TensorMap { word: [number * 4 + matrix; 16] }), problem.matrix_addresses())
        })
        .collect();
    let params = ArrayParams::of_mapped(&launch.params, &products);
    let (first, maps) = (size_of::<TensorGemmParams>(), size_of::<TensorGemmParams>() + 4 * 128 * MOST_MAPPED as usize);
    let told: TensorGemmParams = bytemuck::pod_read_unaligned(&params.0[..first]);
    assert_eq!((told.batch, told.own, told.stride_d), (3, 0, 0));
    for (number, (_, addresses)) in products.iter().enumerate() {
        for (matrix, wanted) in addresses.iter().enumerate() {
            let place = number * 4 + matrix;
            let map: TensorMap = bytemuck::pod_read_unaligned(&params.0[first + 128 * place..][..128]);
            let address: u64 = bytemuck::pod_read_unaligned(&params.0[maps + 8 * place..][..8]);
            assert_eq!((map.word, address), ([place as u64; 16], *wanted));
        }
    }
}

/// Where every operand is read where it lies, all products take one route; else each takes its own.
#[test]
fn products_have_one_route_or_one_each() {
    let simt = default_description(OpKind::Simt, ArchKind::Sm90, F32, [Row, Row, Row]).expect("a row");
    let routes = |desc: &falchion::desc::GemmDesc, orders| {
        let needs = desc.plan().expect("a kernel").needs();
        Routes::of_each(desc, needs, &problems(orders, &[[0, 2, 0, 0], [0; 4]]))
    };
    assert_eq!(routes(&simt, [Row; 3]).len(), 1);
    let turned = routes(&simt, [Col, Row, Row]);
    assert_eq!(turned.iter().map(|routes| routes.a.route).collect::<Vec<_>>(), [Route::Transposed; 2]);
    let bf16 = Combined { a: ElementKind::Bf16, b: ElementKind::Bf16, ..F32 };
    let hopper = default_description(OpKind::TensorOp, ArchKind::Sm90, bf16, [Row, Col, Row]).expect("a row");
    let aligned =
        Routes::of_each(&hopper, hopper.plan().expect("a kernel").needs(), &problems([Row, Col, Row], &[[16; 4], [0; 4]]));
    assert_eq!(aligned.len(), 1);
    // TMA reads the second B, and not the first.
    let by_tma = routes(&hopper, [Row, Col, Row]);
    assert_eq!(by_tma.iter().map(|routes| routes.b.route).collect::<Vec<_>>(), [Route::Repacked, Route::Direct]);
}
