//! Stream-K of random kernels with a TMA ring. Integers are exact on any number of clusters.

use crate::harness::{prelude::*, tma_ring::subject::program};

/// Random kernels with both kinds of consumers, including ping-pong and clusters, on few and on
/// many clusters.
#[test]
fn integers_are_exact_on_any_number_of_ctas() {
    for kernel_kind in [KernelKind::WgmmaRing, KernelKind::SimtRing] {
        let mut seen = [0; 3];
        let wanted =
            Wanted { kernel_kind, largest_tile: 1 << 20, plain: true, ..Wanted::default() };
        for seed in 0..24 {
            let desc = description(0x57e4 + seed, wanted);
            // Emulated f32 rounds the sums of its terms.
            let Some([whole, streamed]) = with_stream_k(desc).filter(|_| {
                desc.operands[0].stored != ElementKind::F32 || desc.op() == OpKind::Simt
            }) else {
                continue;
            };
            let subject = Subject::with_integers(&whole);
            for clusters in [3, 4 + seed as u32 % 4] {
                let program = WarpSpecializedProgram { clusters, ..program(&streamed) };
                assert_eq!(
                    subject.wrong(&program, seed),
                    None,
                    "{clusters} clusters of {streamed:?}"
                );
            }
            seen[usize::from(streamed.schedule() == ScheduleKind::Pingpong)] += 1;
            seen[2] += usize::from(streamed.cluster() != Mn::ONE);
        }
        println!("{kernel_kind:?}: cooperative, ping-pong, clusters: {seen:?}");
        // Few ping-pong SIMT kernels have enough registers for stream-K.
        let is_simt = description(0x57e4, wanted).op() == OpKind::Simt;
        let [cooperative, pingpong, clusters] = seen;
        assert!(cooperative > 2 && clusters > 2, "{kernel_kind:?}: {seen:?}");
        assert!(pingpong > 2 || is_simt, "{kernel_kind:?}: {seen:?}");
    }
}
