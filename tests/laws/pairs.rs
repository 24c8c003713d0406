//! The pairs of a main loop and an MMA: a pair without kernels is refused by name, and no query of
//! its description panics.

use crate::harness::prelude::*;

/// Main loops and MMAs with tiles that are valid in some pair.
fn parts() -> (Vec<Mainloop>, Vec<WarpMma>) {
    let (tile, stages) = (Mnk::new(128, 128, 64), 4);
    let mainloops = vec![
        Mainloop::SingleStage(SingleStageKnobs { threadblock: tile, unroll: UnrollKind::Full }),
        Mainloop::Pipelined(PipelinedKnobs { threadblock: tile }),
        Mainloop::Multistage(MultistageKnobs { threadblock: tile, stages }),
        Mainloop::TmaRing(TmaRingKnobs { threadblock: tile, stages, ..TmaRingKnobs::DEFAULT }),
    ];
    let mmas = vec![
        WarpMma::Simt(SimtKnobs {
            warp: Mnk::new(64, 64, 64),
            thread: None,
            interleave: InterleaveKind::Vector,
        }),
        WarpMma::MmaSync(MmaSyncKnobs {
            warp: Mnk::new(64, 64, 64),
            instruction: Mnk::new(16, 8, 16),
            saturate: SaturateKind::Off,
        }),
        WarpMma::Wgmma(WgmmaKnobs {
            warp: Mnk::new(64, 128, 64),
            instruction: Mnk::new(64, 128, 16),
            a_operand: AOperandKind::Shared,
            pending: 0,
            promotion: PromotionKind::Never,
        }),
    ];
    (mainloops, mmas)
}

#[test]
fn a_pair_without_kernels_is_refused_by_name() {
    let types = element_types(ElementKind::Bf16, ElementKind::F32, ElementKind::Bf16);
    let orders = [Order::Row, Order::Col, Order::Row];
    let desc = default_of(OpKind::TensorOp, ArchKind::Sm90, types, orders);
    let (mainloops, mmas) = parts();
    for mainloop in mainloops {
        let kind = mainloop.kind();
        for &mma in &mmas {
            let desc = GemmDesc { mainloop, mma, ..desc };
            let said = desc.check().map_or_else(|refusal| refusal.to_string(), |()| String::new());
            let (first, second) = (kind.name(), mma.kind().name());
            let not_fed = said.contains(first) && said.contains(second);
            let fed = match mma.kind() {
                WarpMmaKind::Simt => true,
                // The ring feeds `mma.sync` only for f64.
                WarpMmaKind::MmaSync => {
                    [MainloopKind::Pipelined, MainloopKind::Multistage].contains(&kind)
                }
                WarpMmaKind::Wgmma => kind.has_producer(),
            };
            assert_eq!(not_fed, !fed, "{first} with {second}: {said}");
            // Queries of an unchecked description return arbitrary numbers.
            let _ = (desc.threads(), desc.smem_bytes(), desc.base().registers(), desc.geometry());
            assert_eq!(desc.plan().is_err(), !said.is_empty(), "{first} with {second}");
        }
    }
}
