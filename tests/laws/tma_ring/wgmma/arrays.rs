//! Pointer arrays of kernels with `wgmma`: records, routes, and tensors.

use crate::{
    arrays::{F32, bytes, check_modes, check_workspace_for_selection, problems},
    harness::prelude::*,
};
use falchion::{internals::nest::TmaTensor, refusal::Route};

fn hopper() -> GemmDesc {
    let bf16 = Combined { a: ElementKind::Bf16, b: ElementKind::Bf16, ..F32 };
    default_of(OpKind::TensorOp, ArchKind::Sm90, bf16, [Row, Col, Row])
}

/// One launch computes an array whose records are in the workspace. Each GEMM is a separate launch
/// if its operands need passes.
#[test]
fn records_are_in_the_workspace() {
    let desc = hopper();
    check_modes(desc);
    let modes = |desc: GemmDesc| [0, 1, 2, 300].map(|products| desc.for_array(products).work.mode);
    let one = GemmMode::Gemm;
    let emulated = but!(desc_of_f32(), emulation: EmulationKind::Bf16x6);
    assert_eq!(modes(emulated), [one; 4]);
    for products in [2, 7, 300] {
        let records = |bytes: u64| (products as u64 * bytes + 256, 1);
        assert_eq!(bytes(desc, products, 0), records(48));
    }
    // If passes repack operands, the workspace has no records.
    let (repacked, launches) = bytes(desc, 7, 2);
    assert!(launches == 7 && repacked > 0 && repacked == bytes(desc, 2, 2).0);
    // The records follow the split-K partials of all GEMMs.
    let cut = desc.cut(2);
    let partials_bytes = |products: usize| {
        let mut all = problems([Row, Col, Row], &vec![[0; 4]; products]);
        for problem in &mut all {
            problem.k = 256;
            problem.a = View::packed(problem.a.memory, Row, (64, 256), None);
            problem.b = View::packed(problem.b.memory, Col, (256, 48), None);
        }
        let routes = Routes::for_array(&cut.for_array(products), &all);
        let [one] = routes[..] else { panic!("{} routes", routes.len()) };
        assert_eq!(cut.workspace_of(&all), Ok(one.workspace_bytes()));
        assert_eq!(one.record_bytes, products as u64 * 48);
        assert_eq!(one.workspace_bytes(), one.partials.bytes() + one.record_bytes + 256);
        assert_eq!(one.records(4096), 4096 + one.partials.bytes());
        assert!(one.records(0).is_multiple_of(256));
        // The kernel reads the records where the pass writes them.
        let all = Problem::from_array(&all, &cut.for_array(products)).expect("products");
        let routed = one.problem(&cut, &all, 4096);
        let partials = routed.workspace.expect("partials");
        assert_eq!(partials.address + partials.length as u64, one.records(4096));
        one.partials.bytes()
    };
    assert!(partials_bytes(6) < partials_bytes(12));
}

/// Returns a description that emulates f32.
fn desc_of_f32() -> GemmDesc {
    default_of(OpKind::TensorOp, ArchKind::Sm90, F32, [Row, Col, Row])
}

/// A launch has at most as many GEMMs as the grid has CTAs for their tiles.
#[test]
fn the_grid_limits_the_gemms_of_a_launch() {
    let (desc, tile) = (hopper().for_array(300), hopper().threadblock());
    let cluster = desc.cluster();
    // D has `down` x `across` rectangles of a cluster's tiles.
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
    assert_eq!(records[0].record_bytes, 300 * 48);
}

/// The tensors of a TMA-fed kernel have the extents of one GEMM, and begin at the lowest address of
/// each operand. Their third dimension leads to the matrix of each GEMM.
#[test]
fn a_tma_launch_has_one_tensor_per_operand() {
    let bf16 = Combined { a: ElementKind::Bf16, b: ElementKind::Bf16, ..F32 };
    let desc = default_of(OpKind::TensorOp, ArchKind::Sm90, bf16, [Row, Col, Row]).for_array(3);
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
    let routes = Routes::for_array(&desc, &all);
    let routed = routes[0].problem(&desc, &together, 1 << 30);
    let launch = desc.plan().expect("a kernel").launch(&routed, &geometry, 132).expect("a launch");
    for (number, (tensor, extents)) in
        launch.tensors.into_iter().zip([[32, 64], [32, 48], [48, 64], [48, 64]]).enumerate()
    {
        let TmaTensor { desc, address } = tensor.expect("a tensor");
        assert_eq!((desc.rank, desc.dims), (3, [extents[0], extents[1], 1 << 31, 1, 1]));
        for problem in &all {
            let distance = problem.matrix_addresses()[number] - address;
            assert!(distance.is_multiple_of(desc.strides_bytes[1]), "{distance}");
        }
    }
    let told: GemmParams =
        bytemuck::pod_read_unaligned(&launch.params.0[..size_of::<GemmParams>()]);
    assert_eq!((told.batch, told.own), (3, 0b111));
    assert_eq!(told.records, routes[0].records(1 << 30));
}

#[test]
fn workspace_size_for_selection_excludes_records_with_positions() {
    check_workspace_for_selection(&hopper(), 48);
}

/// GEMMs share a route if TMA can read every operand in place.
#[test]
fn gemms_share_a_route_if_tma_reads_all_operands() {
    let hopper = hopper();
    let aligned =
        Routes::for_array(&hopper.for_array(2), &problems([Row, Col, Row], &[[16; 4], [0; 4]]));
    assert_eq!(aligned.len(), 1);
    // TMA reads the second B, and not the first.
    let unaligned = problems([Row, Col, Row], &[[0, 2, 0, 0], [0; 4]]);
    let by_tma = Routes::for_array(&hopper.for_array(2), &unaligned);
    assert_eq!(
        by_tma.iter().map(|routes| routes.b.route).collect::<Vec<_>>(),
        [Route::Repacked, Route::Direct]
    );
}
