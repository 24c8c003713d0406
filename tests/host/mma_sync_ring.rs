//! TMA-fed `mma.sync` kernels on the host: they conform, their threads read what TMA writes, and
//! they give the bits of every other main loop.

use crate::harness::{
    conformance::{self, suites},
    descriptions::mma_sync_ring::plain,
    prelude::*,
    same_bits::{self, Pairs, compare, run},
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

/// A sum of products in ascending k does not depend on how tiles arrive.
#[test]
fn the_ring_gives_the_bits_of_the_multistage_main_loop() {
    let orders = [Order::Row, Order::Col, Order::Row];
    for (seed, k) in [(1, 4), (2, 8)] {
        let ring = plain(orders, (64, 64), (32, 32), k);
        let mainloop =
            Mainloop::Multistage(MultistageKnobs { threadblock: ring.threadblock(), stages: 3 });
        let multistage = GemmDesc { mainloop, ..ring };
        assert_eq!((ring.check(), multistage.check()), (Ok(()), Ok(())));
        let other = |_: &GemmDesc, guarded: &Guarded, buffers: &Buffers, _| {
            run(&multistage, Mode::Fast, guarded, buffers)
        };
        let other =
            |guarded: &Guarded, buffers: &Buffers, seed| other(&ring, guarded, buffers, seed);
        for problem in 0..8 {
            compare(&ring, (seed, draw(seed, problem)), true, &other)
                .unwrap_or_else(|error| panic!("{error}"));
        }
    }
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
