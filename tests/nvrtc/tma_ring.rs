//! The schedules of the roles as CUDA: NVRTC compiles them, the maps of the ring equal those of
//! Rust, no kernel spills, and every wait is compiled.
//!
//! `FALCHION_NVRTC=<folder> cargo test --test nvrtc ring -- --ignored --nocapture`

use crate::harness::{
    prelude::*,
    tma_ring::kernel::{compile, options, program, report, ring},
};

fn shared(operand: OperandKind) -> Option<SharedOperand> {
    Some(SharedOperand { operand, blocks: 2 })
}

#[test]
#[ignore = "needs NVRTC"]
fn the_roles_compile_without_spills_and_keep_their_registers() {
    for stages in [2, 3, 4, 7] {
        for pending in [0, 1] {
            for multicast in [None, shared(OperandKind::A), shared(OperandKind::B)] {
                let compiled = compile(&ring(stages, multicast), &options(pending));
                let report = report(&compiled);
                println!(
                    "{stages} stages, {pending} pending, {multicast:?}: {} registers",
                    report.registers
                );
                assert!(report.is_clean(), "{report:?}");
                assert!(report.registers <= 168, "{report:?}");
                assert!(
                    !compiled.log.contains("warning") && !compiled.log.contains("injected"),
                    "{}",
                    compiled.log
                );
            }
        }
    }
}

#[test]
#[ignore = "needs NVRTC"]
fn a_ring_with_wrong_facts_does_not_compile() {
    let nvrtc = Nvrtc::get().unwrap_or_else(|error| panic!("{error}"));
    let told = program(&ring(4, None), &options(1));
    for (fact, changed) in [
        ("kStages = 4", "kStages = 3"),
        ("kBytesA = 16384", "kBytesA = 17408"),
        ("kStagingBuffers = 2", "kStagingBuffers = 1"),
    ] {
        assert!(told.source.contains(fact), "{fact} is spelled");
        let mut other = program(&ring(4, None), &options(1));
        other.source = told.source.replacen(fact, changed, 1);
        let error = nvrtc.compile(&other).message();
        assert!(error.contains("PipelineLayout: the Rust map and the CUDA map differ"), "{error}");
    }
}

/// The text has exactly the steps of the schedule.
#[test]
fn the_header_spells_every_step() {
    let ring: Pipeline = ring(3, shared(OperandKind::B));
    let roles = options(1).roles(&ring);
    let header = roles.header();
    let steps = header.matches("{RoleStepKind::").count();
    // An empty section is spelled as one step with a count of 0.
    let empty = header.matches("kCount = 0;").count();
    assert_eq!(steps - empty, roles.places().count());
    assert!(header.contains("{RoleStepKind::AwaitProducts, 1, 0}, {RoleStepKind::Release, 1, 0}, {RoleStepKind::Advance, 0, 0}"));
    println!("{roles}");
}
