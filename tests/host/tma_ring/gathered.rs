//! Producers whose warps gather lines of A or B: no shipped program has a fault, and the checked
//! machine finds every mutant.

use super::roles::commute;
use crate::harness::{prelude::*, tma_ring::programs::*};
use falchion_check::mutation::{
    Edit, NamedFault, drop_each,
    tma_ring::ring_faults::{RING_FAULTS, RingNeeds},
    weaker,
};

/// Returns all shapes of rings whose producers gather A, B, or both.
fn subjects() -> Vec<(String, RingProgram)> {
    let mut all = Vec::new();
    let mut add = |kind: &str, ring: Pipeline, options: RoleOptions| {
        let Pipeline { stages, pingpong, gathered, .. } = ring;
        let shared = ring.multicast.map(|shared| shared.operand.name());
        let name = format!(
            "{kind}, {stages} stages, ping-pong {pingpong}, gathers {gathered:?}, shared {shared:?}"
        );
        let registers = Some([48, 224]).filter(|_| ring.consumers > 1);
        all.push((name, legal(ring, &RoleOptions { registers, ..options })));
    };
    for (stages, pending, gathered, shared) in [
        (2, 0, [true, false], None),
        (2, 1, [false, true], None),
        (3, 1, [true, true], None),
        (4, 1, [true, false], Some(B)),
        (3, 0, [false, true], Some(A)),
    ] {
        for pingpong in [false, true] {
            let ring = Pipeline { gathered, pingpong, ..ring(stages, shared) };
            add("warpgroups", ring, options(pending));
            let groups_k = RoleOptions { groups_k: true, ..options(pending) };
            add("groups along K", ring, groups_k);
        }
    }
    let gathers_b = Pipeline { gathered: [false, true], ..ring(3, None) };
    add("promoted", gathers_b, promoting(2));
    add("A from registers", gathers_b, from_registers(1));
    add("C in buffers", Pipeline { source: true, ..gathers_b }, options(1));
    add("split-K", gathers_b, RoleOptions { split_k: true, ..options(1) });
    let one = Pipeline { staging_buffers: 1, consumers: 1, ..gathers_b };
    add("one consumer", one, RoleOptions { subtiles: 3, ..options(0) });
    all
}

fn find(program: &RingProgram) -> Option<String> {
    find_fault(program).map(|(fault, _)| kind(&fault))
}

#[test]
fn gathering_programs_have_no_fault() {
    for (name, program) in subjects() {
        for (seed, work) in (0..SEEDS).flat_map(|seed| WORKS.map(|work| (seed, work))) {
            let tally = check(&program, work, seed)
                .unwrap_or_else(|fault| panic!("{name}: {work:?}, seed {seed}: {fault}"));
            let (ring, all_k) = (&program.ring, u64::from(work.k_tiles.iter().sum::<u32>()));
            // Each of the four producer warps copies a part of the lines.
            let copies = OperandKind::BOTH.map(|operand| match ring.gathered[operand.index()] {
                true => 4,
                false => u64::from(ring.shares(operand)),
            });
            let blocks = u64::from(ring.blocks());
            assert_eq!(tally.copies, blocks * all_k * copies.iter().sum::<u64>(), "{name}");
        }
    }
}

/// A full barrier counts the arrivals of 128 threads, and of the thread that announces the bytes of
/// the other operand.
#[test]
fn full_barriers_count_the_threads_that_gather() {
    let of = |gathered| {
        let ring = Pipeline { gathered, ..ring(3, None) };
        (ring.full_arrivals(), ring.expect_bytes(), ring.whole_stage_bytes())
    };
    assert_eq!(of([false, false]), (1, 48 << 10, 48 << 10));
    assert_eq!(of([true, false]), (129, 32 << 10, 48 << 10));
    assert_eq!(of([false, true]), (129, 16 << 10, 48 << 10));
    assert_eq!(of([true, true]), (128, 0, 48 << 10));
}

#[test]
fn every_dropped_step_of_a_gathering_program_is_found() {
    drop_each(&subjects(), find).check(1078);
}

#[test]
fn every_weakened_step_of_a_gathering_program_is_found() {
    weaken_each(&subjects(), weaker, find).check(157);
}

#[test]
fn every_named_fault_of_a_gathering_program_is_found() {
    let find = |_: &str, program: &RingProgram| find(program);
    apply_each(&subjects(), &FAULTS, RingNeeds::has, |p| p, find).check(150);
    let of_rings: Vec<_> = RING_FAULTS
        .iter()
        .filter(|(_, needs, _)| subjects().iter().any(|(_, program)| needs.has(program)))
        .copied()
        .collect();
    apply_each(&subjects(), &of_rings, RingNeeds::has, |p| p, find).check(994);
}

/// Faults of producers that gather lines.
const FAULTS: [NamedFault<RingProgram, RingNeeds>; 6] = [
    ("lines are made visible once per tile of D", RingNeeds::Nothing, |p| {
        let consumer = &mut p.roles.consumer;
        consumer.body.drop_like(RoleStep::FenceProxy);
        consumer.prologue.extend([RoleStep::AwaitFull, RoleStep::FenceProxy]);
    }),
    ("lines are made visible before they have landed", RingNeeds::Nothing, |p| {
        p.roles.consumer.body.move_to(0, RoleStep::FenceProxy)
    }),
    ("threads arrive before they gather", RingNeeds::Nothing, |p| {
        p.roles.producer.body.move_to(1, RoleStep::ArriveGathered)
    }),
    ("full barriers count one gathering warp", RingNeeds::Nothing, |p| p.full_arrivals -= 96),
    ("full barriers count no gathering warp", RingNeeds::Nothing, |p| p.full_arrivals -= 128),
    ("the bytes of gathered lines are announced", RingNeeds::Nothing, |p| {
        p.expect_bytes = p.ring.whole_stage_bytes();
        if !p.ring.copies_boxes() {
            p.roles.producer.body.insert(1, RoleStep::Expect);
            p.full_arrivals += 1;
        }
    }),
];

#[test]
fn swapped_neighbors_of_a_gathering_program_are_found_or_commute() {
    use Section::{Body, Closing, Opening, Tail};
    let find = |program: &RingProgram, equivalent: Option<usize>| {
        let fifth = equivalent.map(|number| SEEDS / 5 * (number as u64 % 5));
        let seeds = fifth.map_or(0..SEEDS, |fifth| fifth..fifth + SEEDS / 5);
        find_fault_among(program, seeds).map(|(fault, _)| kind(&fault))
    };
    swap_each(&subjects(), &[Opening, Body, Tail, Closing], commute, find).check(312);
}

/// The messages name the warp and the operand.
#[test]
fn faults_of_gathered_lines_name_warp_and_operand() {
    let program = legal(
        Pipeline { gathered: [true, false], ..ring(3, None) },
        &RoleOptions { registers: Some([48, 224]), ..options(1) },
    );
    let unfenced = without_first(&program, Section::Body, RoleStep::FenceProxy);
    let (fault, _) = find_fault(&unfenced).expect("a fault");
    let says = fault.to_string();
    assert!(says.ends_with("multiplies lines of A that are not yet visible to products"), "{says}");
    let mut ends = program;
    ends.roles.producer.closing.clear();
    let (fault, _) = find_fault(&ends).expect("a fault");
    let says = fault.to_string();
    assert!(says.ends_with("ends while lines that it copies are under way"), "{says}");
}
