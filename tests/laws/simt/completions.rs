//! Completions of SIMT kernels.

use super::super::completions::{check_selection_time, each, every_value_completes, multiples};
use crate::harness::{completions::*, prelude::*};

/// Returns pins with every warp tile, main loop, and access.
fn on_cuda_cores(threadblock: Option<Mnk>, warp: Option<Mnk>) -> Vec<Pins> {
    let sides = [8, 16, 32, 64, 128];
    let depths = threadblock.map_or(vec![8], |tile| {
        multiples(2, 64).into_iter().filter(|k| tile.k.is_multiple_of(*k)).collect()
    });
    let warps = warp.map_or_else(|| tiles(&sides, &sides, &depths), |warp| vec![warp]);
    let mut all = Vec::new();
    for warp in warps {
        let grids = tiles(&[1, 2, 4], &[1, 2, 4], &[1]).into_iter().map(|grid| Mnk {
            m: warp.m * grid.m,
            n: warp.n * grid.n,
            ..warp
        });
        for tile in threadblock.map_or_else(|| grids.collect(), |tile| vec![tile]) {
            if tile.m % warp.m + tile.n % warp.n > 0 {
                continue;
            }
            for (mainloop, stages) in [
                (MainloopKind::SingleStage, 1),
                (MainloopKind::Pipelined, 2),
                (MainloopKind::Multistage, 2),
            ] {
                for align in [None, Some(1)] {
                    let (threadblock, warp) = (Some(tile), Some(warp));
                    let (mainloop, stages) = (Some(mainloop), Some(stages));
                    all.push(Pins {
                        threadblock,
                        warp,
                        mainloop,
                        stages,
                        align_a: align,
                        align_b: align,
                        ..Pins::NONE
                    });
                }
            }
        }
    }
    all
}

#[test]
fn every_simt_tile_completes() {
    let sides = [8, 24, 32, 64, 96, 128, 160, 256];
    let threadblocks = tiles(&sides, &sides, &[8, 24, 32, 128]);
    let sides = [8, 16, 32, 64, 128];
    let warps = tiles(&sides, &sides, &[8, 16, 32, 64]);
    let kinds = [ElementKind::F32, ElementKind::F64, ElementKind::F16, ElementKind::U8];
    for base in classes(OpKind::Simt).filter(|base| kinds.contains(&base.operands[0].stored)) {
        every_value_completes(&base, "threadblock", &threadblocks, |tile| {
            on_cuda_cores(Some(tile), None)
        });
        every_value_completes(&base, "warp", &warps, |tile| on_cuda_cores(None, Some(tile)));
    }
}

/// A register holds two f16 accumulators, so CUTLASS's tiles fit, also on architectures without
/// asynchronous copies.
#[test]
fn tiles_of_f16_accumulators_complete_on_every_architecture() {
    for arch in ArchKind::ALL {
        let all = tiles_of_halves(arch);
        assert_eq!(all.len(), 9 * 8);
        assert!(all.iter().all(|d| d.check().is_ok() && d.arch == arch));
    }
}

/// Stages and main loops, one at a time. Files of main loops have further stages.
#[test]
fn every_value_of_other_knobs_completes() {
    for base in classes(OpKind::Simt) {
        each(&base, "stages", "2");
        ["singlestage", "pipelined", "multistage"]
            .into_iter()
            .for_each(|value| each(&base, "mainloop", value));
    }
}

/// Host time of a selection.
#[test]
#[ignore = "measures time: run by name, in release"]
fn choosing_costs_less_than_a_microsecond() {
    let (simt, native) =
        (Gemm::<f32, RowMajor, f32, RowMajor, f32, RowMajor, f32, Simt>::new(), Gemm::<f32>::new());
    check_selection_time("f32 on CUDA cores", &|size, machine| simt.desc_for(size, machine));
    let name = "f32 on the units of the machine";
    check_selection_time(name, &|size, machine| native.desc_for(size, machine));
}
