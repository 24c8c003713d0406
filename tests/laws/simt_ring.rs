//! TMA-fed SIMT kernels: their refusals, and the routes of their operands.

use super::{completions::each, routes::routes, tma_ring::refusals::check_refusals};
use crate::harness::{completions::classes, descriptions::tma_ring::simt::plain, prelude::*};
use falchion::refusal::Route::{Direct, Repacked, Transposed};

const K_MAJOR: [Order; 3] = [Order::Row, Order::Col, Order::Row];

/// Returns a changed TMA-fed SIMT description: two consumers of four warps on a tile of 128 x 256,
/// with 8 x 16 per thread.
fn threads(change: impl FnOnce(&mut Changed)) -> Changed {
    let mut d = Changed::new(plain(K_MAJOR, (128, 256, 16), (32, 128), (8, 16)));
    change(&mut d);
    d
}

#[test]
fn tma_fed_simt_refusals_name_field_value_limit_and_a_valid_value() {
    use ElementKind::F64;
    #[rustfmt::skip]
    let of_threads: Vec<(Changed, &str, bool)> = vec![
        (threads(|d| d.desc.arch = ArchKind::Sm80), "mainloop = warpspecialized is not supported by sm80; try arch = sm90", true),
        (threads(|d| (d.desc.operands[0].stored, d.desc.operands[1].stored, d.desc.output.accumulator, d.desc.output.element) = (F64, F64, F64, F64)), "mainloop = warpspecialized is not supported by CUDA cores (element types other than f32); try op = tensorop", true),
        (threads(|d| d.instruction.m = 2), "instruction M = 2 is outside 4 to 16; try 4", true),
        (threads(|d| d.instruction.n = 18), "instruction N = 18 is outside 4 to 16; try 16", true),
        (threads(|d| d.instruction.m = 6), "instruction M = 6 is not a multiple of 4; try 8", true),
        (threads(|d| d.instruction.k = 8), "instruction K = 8 is not 1; try 1", true),
        (threads(|d| d.warp.m = 24), "warp M = 24 is not one of 2, 4, 8, and 16 times instruction M; try 32", true),
        (threads(|d| d.warp.m = 1000), "warp M = 1000 is not one of 2, 4, 8, and 16 times instruction M; try 128", true),
        (threads(|d| d.warp.n = 64), "warp N = 64 is not 128; try 128", true),
        (threads(|d| d.threadblock.k = 72), "threadblock K = 72 is outside 8 to 64; try 64", true),
        (threads(|d| d.threadblock.k = 12), "threadblock K = 12 is not a multiple of 8; try 16", true),
        (threads(|d| d.warp.k = 8), "warp K = 8 is not 16; try 16", true),
        (threads(|d| d.threadblock.m = 0), "threadblock M = 0 is outside 32 to 512; try 32", true),
        (threads(|d| d.threadblock.m = 100), "threadblock M = 100 is not a multiple of 32; try 128", true),
        (threads(|d| d.threadblock.m = 96), "consumer warps = 6 is not a multiple of 4; try 8", false),
        (threads(|d| d.threadblock.n = 512), "consumer warps = 16 is outside 4 to 12; try 12", false),
        (threads(|d| d.schedule = ScheduleKind::Pingpong), "consumer warps = 8 is not 4 (schedule = pingpong); try 4, or schedule = cooperative", false),
        (threads(|d| d.cluster = Mn { m: 2, n: 2 }), "cluster N = 2 is not 1 (cluster M = 2; a cluster shares operands along one axis); try 1", true),
        (threads(|d| d.cluster.m = 4), "cluster M = 4 does not divide 2 (boxes of a tile); try 2", true),
        (threads(|d| { (d.warp, d.threadblock) = (Mnk::new(8, 64, 8), Mnk::new(8, 256, 8)); (d.instruction.m, d.instruction.n) = (4, 4) }), "threadblock K = 8 is not a multiple of 32 (stages are multiples of 1024 bytes); try 32", true),
        (threads(|d| d.stages = 1), "stages = 1 is outside 2 to 16; try 2", true),
        (threads(|d| d.stages = 10), "shared memory of a block = 245920 bytes exceeds 232448 bytes (10 stages of 24576 and 160; sm_90 with 1 block per multiprocessor); try stages = 9", true),
        (threads(|d| { (d.warp, d.threadblock) = (Mnk::new(64, 96, 16), Mnk::new(128, 192, 16)); (d.instruction.m, d.instruction.n) = (16, 12) }), "registers per thread = 288 exceeds 248 (256 threads per block, 1 block per multiprocessor); use a smaller warp tile, or spills = allowed", false),
        (threads(|d| d.align_a = 2), "align_a = 2 is not one of 4 (16 bytes of TMA); try 4", true),
    ];
    assert_eq!(threads(|_| ()).unchecked().check(), Ok(()));
    check_refusals(of_threads);
}

/// TMA-fed SIMT kernels read f32 along M and N, so a K-major operand is transposed to be MN-major.
#[test]
fn operands_of_simt_kernels_are_mn_major() {
    let of = |orders| plain(orders, (128, 256, 16), (32, 128), (8, 16));
    let extents = (1000, 3000, 200);
    for (orders, wanted) in [
        ([Col, Row, Row], [Direct, Direct]),
        ([Row, Row, Row], [Transposed, Direct]),
        ([Col, Col, Row], [Direct, Transposed]),
        ([Row, Col, Col], [Transposed, Transposed]),
    ] {
        let routes = routes(&of(orders), extents, [None; 2], [0, 0]);
        assert_eq!([routes.a.route, routes.b.route], wanted, "{orders:?}");
        for (way, mn) in [(routes.a, 1000), (routes.b, 3000)] {
            let bytes = if way.route == Direct { 0 } else { 200 * way.leading as u64 * 4 };
            assert!(
                way.leading >= mn && way.leading.is_multiple_of(4) && way.bytes >= bytes,
                "{way:?}"
            );
        }
    }
    // Rows of 1001 floats are not a multiple of 16 bytes.
    let odd = routes(&of([Col, Row, Row]), (1001, 3000, 200), [None; 2], [0, 4]);
    assert_eq!([odd.a.route, odd.b.route], [Repacked, Repacked]);
}

/// Threads store a row-major D.
#[test]
fn a_column_major_d_is_refused() {
    let d = plain([Col, Row, Row], (128, 128, 16), (64, 32), (8, 8));
    assert_eq!(
        but!(d, layout_c: Col).check().message(),
        "layout of C = col is not supported by the warpspecialized main loop (CUDA cores); try row"
    );
}

/// A CTA has one to three consumers of four warps.
#[test]
fn every_cluster_of_tma_fed_simt_kernels_completes() {
    let is_f32 = |base: &GemmDesc| base.operands[0].stored == ElementKind::F32;
    for base in classes(OpKind::Simt).filter(is_f32) {
        "1x1 2x1 3x1 4x1 6x1 8x1 1x2 1x3 1x4 1x6 1x8"
            .split(' ')
            .for_each(|value| each(&base, "cluster", value));
        each(&base, "mainloop", "warpspecialized");
    }
}

/// A knob that the pinned main loop or MMA lacks is refused by name.
#[test]
fn a_knob_of_another_main_loop_or_mma_is_named() {
    let first = MULTISTAGE_OR_OTHER[0];
    for (knob, value) in [("cluster", "2x1"), ("schedule", "pingpong"), ("instruction", "8x8x1")] {
        let a = Some(MatrixType { element: ElementKind::F32, order: Order::Row });
        let op = Some(OpKind::Simt);
        let request = Request { a, op, knobs: knobs(&[(knob, value)]), ..Request::default() };
        let sentence = request.resolve(ArchKind::Sm80).message();
        assert_eq!(
            sentence,
            format!(
                "{knob} is not a knob of the {first} main loop; try mainloop = warpspecialized"
            )
        );
    }
}

/// A knob selects the main loop and the MMA that have it, if these compute the GEMM.
#[test]
fn a_knob_selects_the_main_loop_or_mma_that_has_it() {
    let f32 = Some(MatrixType { element: ElementKind::F32, order: Order::Row });
    for (knob, value) in
        [("cluster", "2x1"), ("mainloop", "warpspecialized"), ("instruction", "16x8x1")]
    {
        let request = Request { a: f32, knobs: knobs(&[(knob, value)]), ..Request::default() };
        let desc = request.resolve(ArchKind::Sm90).expect("f32 by TMA").desc;
        assert_eq!(desc.mainloop.kind(), MainloopKind::TmaRing, "{knob}");
    }
}
