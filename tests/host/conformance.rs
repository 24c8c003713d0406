//! The host executor conforms.

use crate::harness::{
    completions::{completions_of_single_knobs, conform_all},
    conformance::*,
    prelude::*,
};

suites! {
    the_fast_host_conforms_for_warp_specialized_kernels: run_decisively of OnHost(Mode::Fast),
        wgmma_ring(), (200, 6), 24_000_000, 0x0fa1_c494, (900, 150), 0.02,
        |all| with_vectors(all, Coverage::missing_warp_specialized(all));
    the_fast_host_conforms_for_tma_fed_simt_kernels: run_decisively of OnHost(Mode::Fast),
        simt_ring(), (100, 6), 8_000_000, 0x0fa1_c4f3, (600, 90), 0.05,
        |all| with_vectors(all, Coverage::missing_threads(all));
}

/// Completions of every single pinned knob conform. Each pair of a main loop and an MMA has a
/// minimum number of cases.
#[test]
fn completions_of_single_knobs_conform() {
    let ops = [OpKind::TensorOp, OpKind::Simt];
    let all: Vec<_> = ops.into_iter().flat_map(completions_of_single_knobs).collect();
    for (mainloop, mma, most_work, least) in [
        (MainloopKind::Pipelined, WarpMmaKind::MmaSync, 600_000, 30),
        (MainloopKind::Multistage, WarpMmaKind::MmaSync, 600_000, 240),
        (MainloopKind::TmaRing, WarpMmaKind::MmaSync, 600_000, 20),
        (MainloopKind::TmaRing, WarpMmaKind::Wgmma, 600_000, 1800),
        (MainloopKind::SingleStage, WarpMmaKind::Simt, 100_000, 80),
        (MainloopKind::Pipelined, WarpMmaKind::Simt, 100_000, 860),
        (MainloopKind::Multistage, WarpMmaKind::Simt, 100_000, 460),
        (MainloopKind::TmaRing, WarpMmaKind::Simt, 100_000, 20),
    ] {
        let is_pair = |desc: &&GemmDesc| (desc.mainloop.kind(), desc.mma.kind()) == (mainloop, mma);
        let pair: Vec<_> = all.iter().filter(is_pair).copied().collect();
        let tally = conform_all(&OnHost(Mode::Fast), &pair, most_work);
        println!("{mainloop}, {mma}: {tally:?}");
        assert!(tally.cases >= least && tally.largest <= 1.0, "{mainloop}, {mma}: {tally:?}");
    }
}
