//! Refusals of kernels with `wgmma`: each message names the field, the value, and the limit, and
//! the suggested value is valid.

use crate::{
    harness::prelude::*,
    request_refusals::{BF16, request as request_on, said},
    tma_ring::refusals::check_refusals,
};

const K_MAJOR: [Order; 3] = [Order::Row, Order::Col, Order::Row];

/// Returns a changed bf16 description with two consumer warpgroups on a tile of 128 x 256.
pub(super) fn changed(change: impl FnOnce(&mut Changed)) -> Changed {
    with_types(ElementKind::Bf16, ElementKind::F32, K_MAJOR, change)
}

fn with_types(
    ab: ElementKind,
    accumulator: ElementKind,
    orders: [Order; 3],
    change: impl FnOnce(&mut Changed),
) -> Changed {
    let c = if ab.is_integer() { ElementKind::I32 } else { ab };
    let types = element_types(ab, accumulator, c);
    let mut d = Changed::new(default_of(OpKind::TensorOp, ArchKind::Sm90, types, orders));
    let bytes = ab.bytes_of(1);
    d.threadblock = Mnk::new(128, 256, 128 / bytes);
    (d.warp, d.instruction) = (Mnk::new(64, 256, 128 / bytes), Mnk::new(64, 256, 32 / bytes));
    (d.stages, d.schedule) = (4, ScheduleKind::Cooperative);
    change(&mut d);
    d
}

#[test]
fn warp_specialized_refusals_name_field_value_limit_and_a_valid_value() {
    use ElementKind::{E4m3, F16, F32, F64, I8, I32};
    let both = |d: &mut Changed, m, n| {
        (d.warp, d.threadblock) = (Mnk { m, n, ..d.warp }, Mnk { m, n, ..d.threadblock })
    };
    let along_n = [Order::Row, Order::Row, Order::Row];
    #[rustfmt::skip]
    let table: Vec<(Changed, &str, bool)> = vec![
        (changed(|d| d.desc.arch = ArchKind::Sm80), "mainloop = warpspecialized is not supported by sm80; try arch = sm90", true),
        (changed(|d| d.desc.operands[1].stored = ElementKind::F16), "no kernel multiplies bf16 by f16 accumulating in f32 into bf16; try f16 by f16 accumulating in f32 into bf16", false),
        (changed(|d| d.schedule = ScheduleKind::Pingpong), "consumer warpgroups = 2 is not 1 (schedule = pingpong); try 1, or schedule = cooperative", false),
        (changed(|d| d.pending = 4), "pending = 4 is outside 0 to 3; try 3", true),
        (changed(|d| d.instruction.m = 16), "instruction M = 16 is not 64; try 64", true),
        (changed(|d| d.instruction.k = 8), "instruction K = 8 is not 16; try 16", true),
        (changed(|d| d.instruction.n = 264), "instruction N = 264 is outside 8 to 256; try 256", true),
        (changed(|d| d.instruction.n = 100), "instruction N = 100 is not a multiple of 8; try 104", true),
        (with_types(I8, I32, K_MAJOR, |d| { d.instruction.n = 40; both(d, 64, 40) }), "instruction N = 40 is not a multiple of 16; try 48", true),
        (changed(|d| d.warp.k = 32), "warp K = 32 is not 64; try 64", true),
        (changed(|d| d.threadblock.k = 128), "threadblock K = 128 is not 64; try 64", true),
        (changed(|d| d.warp.m = 32), "warp M = 32 is outside 64 to 512; try 64", true),
        (changed(|d| d.warp.m = 72), "warp M = 72 is not a multiple of 64; try 128", true),
        (changed(|d| { d.instruction.n = 96; d.warp.n = 500 }), "warp N = 500 is not a multiple of 96; try 480", true),
        (changed(|d| d.threadblock.m = 520), "threadblock M = 520 is outside 64 to 512; try 512", true),
        (changed(|d| d.threadblock.m = 100), "threadblock M = 100 is not a multiple of 64; try 128", true),
        (changed(|d| d.threadblock.n = 0), "threadblock N = 0 is outside 8 to 512; try 8", true),
        (changed(|d| d.threadblock.n = 300), "threadblock N = 300 is not a multiple of 256; try 512", true),
        (changed(|d| d.threadblock.m = 256), "consumer warpgroups = 4 is outside 1 to 3; try 3", false),
        (changed(|d| d.cluster = Mn { m: 9, n: 1 }), "cluster M = 9 is outside 1 to 8; try 8", true),
        (changed(|d| d.cluster = Mn { m: 2, n: 2 }), "cluster N = 2 is not 1 (cluster M = 2; a cluster shares operands along one axis); try 1", true),
        (changed(|d| { d.instruction.n = 8; d.cluster.m = 4; (d.warp.n, d.threadblock.n) = (16, 16) }), "cluster M = 4 does not divide 2 (boxes of a tile); try 2", true),
        (changed(|d| { d.instruction.n = 8; (d.warp.n, d.threadblock.n) = (8, 8) }), "warp N = 8 is not a multiple of 16; try 16", true),
        (with_types(F16, F32, along_n, |d| { d.instruction.n = 96; (d.warp.n, d.threadblock.n) = (96, 96) }), "instruction N = 96 is not a multiple of 64 (B is N-major); try 128", true),
        (with_types(F16, F32, along_n, |d| { d.instruction.n = 96; (d.warp, d.threadblock) = (Mnk { m: 64, n: 96, ..d.warp }, Mnk { m: 64, n: 192, ..d.threadblock }) }), "instruction N = 96 is not a multiple of 64 (B is N-major); try 128", true),
        (changed(|d| d.stages = 1), "stages = 1 is outside 2 to 16; try 2", true),
        (changed(|d| d.stages = 17), "stages = 17 is outside 2 to 16; try 16", true),
        (changed(|d| d.stages = 5), "shared memory of a block = 262240 bytes exceeds 232448 bytes (5 stages of 49152 and 16480; sm_90 with 1 block per multiprocessor); try stages = 4", true),
        (changed(|d| d.align_a = 4), "align_a = 4 is not one of 8 (16 bytes of TMA); try 8", true),
        (with_types(I8, I32, K_MAJOR, |d| d.align_b = 8), "align_b = 8 is not one of 16 (16 bytes of TMA); try 16", true),
        (changed(|d| d.align_c = 16), "align_c = 16 is not one of 1, 2, 4, 8; try 8", true),
        (changed(|d| d.swizzle = SwizzleKind::Grouped(65)), "swizzle = 65 is outside 1 to 64; try 64", true),
        (changed(|d| both(d, 128, 256)), "registers per thread = 296 exceeds 248 (256 threads per block, 1 block per multiprocessor); use a smaller warp tile, or spills = allowed", false),
        (changed(|d| { (d.threadblock, d.warp) = (Mnk { m: 192, n: 208, ..d.threadblock }, Mnk { n: 208, ..d.warp }); d.instruction.n = 208; d.stages = 2 }), "registers per thread = 130 exceeds 128 (512 threads per block, 1 block per multiprocessor); use a smaller warp tile, or spills = allowed", false),
        (changed(|d| d.desc.output.compute = ComputeKind::F64), "compute type of the epilogue = f64 is not supported by floating-point accumulators or outputs; try f32", true),
        (changed(|d| (d.desc.operands[0].stored, d.desc.operands[1].stored, d.desc.output.element) = (E4m3, E4m3, F64)), "no kernel multiplies e4m3 by e4m3 accumulating in f32 into f64; try D of f32, f16, bf16, e4m3, or e5m2", false),
    ];
    check_refusals(table);
}

#[test]
fn machines_other_than_hopper_are_refused() {
    let machine = Machine { sm: 100, ..ArchKind::Sm90.machine() };
    let sentence = changed(|_| ()).unchecked().check_on(&machine).message();
    assert_eq!(sentence, "compute capability = 100 is not 90 (warpspecialized); try op = simt");
    let sentence = changed(|_| ()).unchecked().check_on(&ArchKind::Sm80.machine()).message();
    assert_eq!(sentence, "compute capability = 80 is less than 90; try arch = sm80");
}

#[test]
fn types_that_only_mma_sync_multiplies_are_refused() {
    let (f64, nearest) = (ElementKind::F64, MULTISTAGE_OR_OTHER[0]);
    let sentence = format!(
        "mainloop = warpspecialized is not supported by sm90 (on tensor cores); try {nearest}"
    );
    let f64s = changed(|d| {
        (d.desc.operands[0].stored, d.desc.operands[1].stored) = (f64, f64);
        (d.desc.output.accumulator, d.desc.output.element) = (f64, f64);
    });
    check_refusals(vec![(f64s, &sentence, false)]);
}

/// Interfaces for kernels whose threads all follow one schedule refuse others.
#[test]
fn a_warp_specialized_kernel_is_not_a_program_of_one_schedule() {
    let d = changed(|_| ());
    let sentence = d.unchecked().one_schedule().message();
    let nearest = MULTISTAGE_OR_OTHER[0];
    assert_eq!(
        sentence,
        format!(
            "mainloop = warpspecialized is not supported by a program of one schedule; try {nearest}"
        )
    );
}

/// If D is column-major, the kernel's A is the user's B. The message names the user's operand.
#[test]
fn refusals_name_the_users_operand() {
    for knob in ["align_a", "align_b"] {
        for c in ["i32:row", "i32:col"] {
            let pins = [(knob, "4"), ("mainloop", "warpspecialized")];
            let request = request(["i8:row", "i8:col", c], &pins);
            let request = Request { op: Some(OpKind::TensorOp), ..request };
            let sentence = request.resolve(ArchKind::Sm90).message();
            assert!(sentence.starts_with(knob), "{sentence}");
        }
    }
}

#[test]
fn cluster_along_both_axes_is_refused_as_such() {
    let clusters = |shape| request_on(Some(OpKind::TensorOp), BF16, &[("cluster", shape)]);
    let refused = said(&clusters("2x2"), ArchKind::Sm90);
    assert_eq!(
        refused,
        "cluster N = 2 is not 1 (cluster M = 2; a cluster shares operands along one axis); try 1; no kernel was found with this cluster"
    );
    let refused = said(&clusters("1x9"), ArchKind::Sm90);
    assert_eq!(
        refused,
        "cluster N = 9 is outside 1 to 8; try 8; no kernel was found with this cluster"
    );
    for shape in ["2x1", "1x2"] {
        clusters(shape).resolve(ArchKind::Sm90).expect("a kernel");
    }
}
