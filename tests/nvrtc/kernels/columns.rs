//! Kernels with a column-major D and with A in shared memory. A decode GEMM with swapped operands
//! has such a D, with few columns.

use super::{all_clean, descriptions};
use crate::harness::prelude::*;

/// Returns a kernel with CTA tiles of `m` x `n` and consumer tiles of `warp_m` x `n`. If both are
/// equal, the schedule is ping-pong.
fn by_columns(types: Combined, (m, warp_m, n): (u32, u32, u32), order: Order) -> GemmDesc {
    let d = default_of(OpKind::TensorOp, ArchKind::Sm90, types, [Order::Row, Order::Col, order]);
    let schedule = if m == warp_m { ScheduleKind::Pingpong } else { ScheduleKind::Cooperative };
    let (k, instruction) = (d.threadblock().k, Mnk { n, ..d.instruction() });
    let (threadblock, warp) = (Mnk { m, n, k }, Mnk { m: warp_m, n, k });
    let never = PromotionKind::Never;
    but!(d.with_rows_as_columns(), threadblock: threadblock, warp: warp, instruction: instruction, schedule: schedule, promotion: never, stages: 4)
}

/// All types with all small N: no kernel spills or serializes `wgmma` (C7510). C is read, and D is
/// stored by TMA or by threads.
#[test]
#[ignore = "needs NVRTC"]
fn kernels_with_a_small_n_compile_clean() {
    let mut kernels = Vec::new();
    for (number, types) in descriptions::ring_types().into_iter().enumerate() {
        for (i, n) in [8, 16, 24, 32, 40, 48, 56, 64, 128, 152].into_iter().enumerate() {
            // Integers have no instructions with these columns, and a column-major D of fp8 needs
            // multiples of 16.
            if n % 16 != 0 && (types.c.is_fp8() || types.a.is_integer() && n > 32) {
                continue;
            }
            // If N exceeds 128, consumers of 128 rows do not have enough registers to promote
            // accumulators.
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
    all_clean("kernels with a small N", kernels);
}

/// The addresses of each thread follow the map that the host uses for staging.
#[test]
#[ignore = "needs NVRTC"]
fn a_wrong_staging_map_is_named() {
    use ElementKind::{Bf16, F32};
    for c in [Bf16, F32] {
        let unit =
            unit_of(&by_columns(element_types(Bf16, F32, c), (64, 64, 24), Order::Row), true);
        for (twin, map) in [("StagingMap", "staging"), ("StagedMap", "staged")] {
            a_wrong_fingerprint_is_named(&unit, (&format!("epilogue::{twin}<Config>"), map));
        }
    }
}
