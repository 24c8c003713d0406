//! Kernels that read A from registers.

use super::{all_clean, descriptions};
use crate::harness::prelude::*;

/// Kernels with A in registers neither spill nor serialize `wgmma` (C7510), although they write
/// registers while products in flight read others. Covers ping-pong and cooperative schedules, with
/// one and two instruction tiles along M per consumer.
#[test]
#[ignore = "needs NVRTC"]
fn kernels_with_a_in_registers_compile_clean() {
    let types = descriptions::ring_types()
        .into_iter()
        .filter(|types| types.a.bytes_of(1) != 2 && types.a != ElementKind::F32);
    let mut kernels = Vec::new();
    for (types, orders) in types.flat_map(|types| FROM_REGISTERS.map(move |orders| (types, orders)))
    {
        let default = default_of(OpKind::TensorOp, ArchKind::Sm90, types, orders);
        let (k, cooperative) = (default.threadblock().k, ScheduleKind::Cooperative);
        for (tile, warp, schedule) in [
            ((128, 128), (128, 128), ScheduleKind::Pingpong),
            ((128, 128), (64, 128), cooperative),
            ((128, 256), (64, 256), cooperative),
            ((256, 128), (128, 128), cooperative),
            ((128, 160), (128, 160), ScheduleKind::Pingpong),
        ] {
            let of = |(m, n)| Mnk { m, n, k };
            let instruction = Mnk { n: warp.1, ..default.instruction() };
            let (threadblock, warp) = (of(tile), of(warp));
            let knobs =
                but!(default, threadblock, warp, instruction, schedule, stages: 3).user_pins();
            let d = default.with(Pins { a_operand: Some(AOperandKind::Registers), ..knobs });
            kernels.push((format!("{orders:?}"), d, ArchKind::Sm90));
        }
    }
    assert!(kernels.len() >= 5 * FROM_REGISTERS.len() * 10, "{} kernels", kernels.len());
    all_clean("kernels with A in registers", kernels);
}

/// Layouts of A, B, and D that support A in registers: two with a D that is row-major for the
/// kernel, and two with a D that is column-major.
const FROM_REGISTERS: [[Order; 3]; 4] = {
    let (row, col) = (Order::Row, Order::Col);
    [[col, col, row], [row, row, col], [row, row, row], [col, col, col]]
};
