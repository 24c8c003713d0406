//! Kernels whose D is column-major, and whose A is in shared memory: few rows of a product are few
//! columns of theirs.

use super::{all_clean, descriptions};
use crate::harness::prelude::*;

/// A kernel of `m` x `n`, of consumers of `warp_m` x `n` of which each has a whole tile under
/// ping-pong.
fn by_columns(types: Combined, (m, warp_m, n): (u32, u32, u32), order: Order) -> GemmDesc {
    let d = default_of(OpKind::TensorOp, ArchKind::Sm90, types, [Order::Row, Order::Col, order]);
    let schedule = if m == warp_m { ScheduleKind::Pingpong } else { ScheduleKind::Cooperative };
    let (k, instruction) = (d.threadblock().k, Mnk { n, ..d.instruction() });
    let (threadblock, warp) = (Mnk { m, n, k }, Mnk { m: warp_m, n, k });
    let never = PromotionKind::Never;
    but!(d.with_rows_as_columns(), threadblock: threadblock, warp: warp, instruction: instruction, schedule: schedule, promotion: never, stages: 4)
}

/// Of every type and every few columns: nothing spills, and no product waits for another (C7510);
/// with C read and D stored by TMA, and by threads.
#[test]
#[ignore = "needs NVRTC"]
fn kernels_of_few_columns_compile_clean() {
    let mut kernels = Vec::new();
    for (number, types) in descriptions::warp_specialized::types().into_iter().enumerate() {
        for (i, n) in [8, 16, 24, 32, 40, 48, 56, 64, 128, 152].into_iter().enumerate() {
            if types.a.is_integer() && n % 16 != 0 && n > 32 {
                continue;
            }
            // Of many columns consumers of 128 rows have no registers for accumulators that are
            // promoted.
            let tile = [(64, 64, n), (128, 64, n), (128, 128, n)]
                [if n > 128 { 1 } else { (number + i) % 3 }];
            let order = [Order::Row, Order::Col][(number + i / 3) % 2];
            let d = by_columns(types, tile, order);
            let align_c = [d.alignments()[2], 1, 2, d.alignments()[2]][(number + i) % 4];
            let promotes = (types.a.is_fp8() || types.a == ElementKind::F32) && i % 2 == 1;
            let promotion = if promotes { PromotionKind::Stage } else { PromotionKind::Never };
            let emulation = match types.a {
                ElementKind::F32 => [EmulationKind::Bf16x6, EmulationKind::F16x3][i % 2],
                _ => EmulationKind::None,
            };
            let d = but!(d, align_c: align_c, promotion: promotion, emulation: emulation);
            kernels.push((format!("{tile:?} {order:?}"), d, ArchKind::Sm90));
        }
    }
    assert!(kernels.len() >= 150, "{} kernels", kernels.len());
    all_clean("kernels of few columns", kernels);
}

/// Each thread's addresses are of the map that the host stages by.
#[test]
#[ignore = "needs NVRTC"]
fn a_wrong_place_in_the_staging_buffer_is_named() {
    use ElementKind::{Bf16, F32};
    for c in [Bf16, F32] {
        let unit =
            unit_of(&by_columns(element_types(Bf16, F32, c), (64, 64, 24), Order::Row), true);
        for map in ["staging", "staged"] {
            a_wrong_fingerprint_is_named(&unit, (&format!("maps::{map}"), map));
        }
    }
}
