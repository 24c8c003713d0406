//! Pointer arrays of SIMT kernels before their launch.

use super::super::arrays::{F32, bytes, check_modes, check_workspace_for_selection, problems};
use crate::harness::prelude::*;
use falchion::refusal::Route;

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

#[test]
fn records_are_in_the_workspace() {
    let simt = default_of(OpKind::Simt, ArchKind::Sm90, F32, [Row; 3]);
    check_modes(simt);
    for products in [2, 7, 300] {
        assert_eq!(bytes(simt, products, 4), (products as u64 * 32 + 256, 1));
    }
}
