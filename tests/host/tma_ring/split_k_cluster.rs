//! Split-K in a cluster of random kernels: D has the bits of split-K through a workspace.

use crate::harness::{descriptions::cut_by_clusters, prelude::*, tma_ring::subject::program};

/// The random kernels include both kinds of consumers, all element types, ping-pong, C through
/// staging buffers, and epilogues.
#[test]
fn random_cluster_kernels_have_the_bits_of_workspace_split_k() {
    for kernel_kind in [KernelKind::WgmmaRing, KernelKind::SimtRing] {
        // Cooperative, ping-pong, and accumulators of another type than f32.
        let mut seen = [0; 3];
        let wanted =
            Wanted { kernel_kind, largest_tile: 1 << 20, plain: true, ..Wanted::default() };
        for seed in 0..48 {
            let desc = description(0xc240 + seed, wanted);
            let Some([split, clustered]) = cut_by_clusters(desc, 2 + seed as u32 % 2) else {
                continue;
            };
            let subjects = [Subject::new(&split), Subject::with_integers(&split)];
            for clusters in [1, 3] {
                let program = WarpSpecializedProgram { clusters, ..program(&clustered) };
                for subject in &subjects {
                    let wrong = subject.wrong(&program, seed);
                    assert_eq!(wrong, None, "{clusters} clusters of {clustered:?}");
                }
            }
            seen[usize::from(clustered.schedule() == ScheduleKind::Pingpong)] += 1;
            // CUDA cores multiply only f32.
            let other = clustered.output.accumulator != ElementKind::F32;
            seen[2] += usize::from(other || desc.op() == OpKind::Simt);
        }
        println!("{kernel_kind:?}: cooperative, ping-pong, not f32: {seen:?}");
        assert!(seen.iter().all(|&count| count > 2), "{kernel_kind:?}: {seen:?}");
    }
}
