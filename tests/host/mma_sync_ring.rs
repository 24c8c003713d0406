//! TMA-fed `mma.sync` kernels on the host: they conform, and their threads read what TMA writes.

use crate::harness::{
    conformance::{self, suites},
    descriptions::tma_ring::mma_sync::plain,
    prelude::*,
    same_bits::{self, Pairs, run},
};

suites! {
    the_fast_host_conforms_for_tma_fed_mma_sync: run of OnHost(Mode::Fast),
        conformance::mma_sync_ring(), (60, 6), 8_000_000, 0x0fa1_c464, (350, 60), 0.02, conformance::any;
}

/// The checked machine runs the ring in an order of events that a seed selects.
#[test]
fn fast_and_checked_give_the_same_bits_for_tma_fed_mma_sync() {
    let (wanted, asked) = (same_bits::mma_sync_ring(), |_: &GemmDesc| true);
    let pairs =
        Pairs { seed: 0x5a3e_b164, descriptions: 60, problems: 3, wanted, asked, aligned: false };
    let checked = |desc: &GemmDesc, guarded: &Guarded, buffers: &Buffers, seed| {
        run(desc, Mode::Checked { seed }, guarded, buffers)
    };
    let all = pairs.compare(&checked, (180, 60, 1));
    let has = |what: fn(&GemmDesc) -> bool| all.is_empty() || all.iter().any(what);
    assert!(has(|desc| desc.schedule() == ScheduleKind::Pingpong));
    assert!(has(|desc| desc.cluster() != Mn::ONE));
    assert!(has(|desc| desc.split_k() > 1));
    assert!(has(|desc| desc.instruction().k == 4) && has(|desc| desc.instruction().k == 8));
}

/// The map of a stage is a bijection, TMA writes 128 bytes of every row, and each element of the
/// tile belongs to one accumulator.
#[test]
fn maps_of_a_stage_are_bijections() {
    for k in [4, 8] {
        let desc = plain([Order::Row, Order::Col, Order::Row], (128, 64), (32, 32), k);
        let components = desc.components().expect("components");
        for operand in OperandKind::BOTH {
            let boxed = components.boxed_tile(operand);
            assert_eq!(laws::bijective(&boxed), Ok(()));
            let bytes = components.ring.stage_bytes[operand.index()];
            assert_eq!((boxed.codomain() * 8, boxed.one.k * 8), (bytes, 128));
        }
        let program = WarpSpecializedProgram::new(&desc).expect("a program");
        let maps = program.threads.as_ref().expect("threads multiply");
        assert_eq!(laws::bijective(maps.accumulator.as_ref()), Ok(()));
    }
}
