//! Mutants of SIMT programs of the multistage main loop.

mod types;

use super::super::simt::mutants::{
    K_MAJOR, ROWS, drop_steps, find_fault, mutate_maps, programs, sliced, streams, swap_steps,
};
use crate::harness::{
    integers::{ragged, wrong},
    prelude::*,
    random_cases::ring,
};

/// Returns the programs that are mutated: the defaults, 2, 3, and 4 stages, warp slices, and
/// stream-K.
fn subjects() -> Vec<(String, Program)> {
    let ring = ring(ROWS);
    let three = but!(ring, stages: 3, blocks_per_sm: 1);
    let all = vec![
        ("f32 sm80", default_f32(ArchKind::Sm80, ROWS)),
        ("f32 sm80 K-major", default_f32(ArchKind::Sm80, K_MAJOR)),
        ("4 stages", ring),
        ("2 stages", but!(ring, stages: 2).expect()),
        ("3 stages", but!(ring, stages: 3).expect()),
        ("4 warp slices of 3 stages", sliced(three, 4)),
        ("stream-K, 3 stages, 2 warp slices", streams(sliced(three, 2))),
    ];
    assert!(all.iter().all(|(_, desc)| desc.mainloop.kind() == MainloopKind::Multistage));
    programs(all)
}

#[test]
fn every_dropped_step_is_found() {
    drop_steps(&subjects(), 270);
}

#[test]
fn swapped_steps_are_found_or_commute() {
    swap_steps(&subjects(), 146, 254);
}

#[test]
fn maps_with_wrong_edges_are_found() {
    mutate_maps(&subjects(), 196);
}

#[test]
fn main_loop_page_names_the_faults_of_removed_steps() {
    let page: Vec<_> =
        include_str!("../../../book/src/mainloop.md").lines().map(without_numbers).collect();
    let program =
        default_f32(ArchKind::Sm80, ROWS).one_schedule().expect("a kernel without a producer");
    for removed in [
        Step::Wait { pending: 2 },
        Step::Commit,
        Step::Barrier,
        Step::Copy { part: 0, of: 2 },
        Step::Load { k_block: 3 },
        Step::Multiply { k_block: 3 },
    ] {
        let fault = find_fault(&without_first(&program, Section::Body, removed)).expect("a fault");
        let fault = without_numbers(&fault);
        assert!(page.iter().any(|line| line.contains(&fault)), "{removed}: {fault}");
    }
}

#[test]
fn a_wait_that_leaves_one_more_copy_in_flight_is_found() {
    let weaker = |step| match step {
        Step::Wait { pending } => Some(Step::Wait { pending: pending + 1 }),
        _ => None,
    };
    let findings = weaken_each(&subjects(), weaker, find_fault);
    findings.check(14);
    assert!(findings.kinds("").iter().all(|kind| kind.contains("before the wait for thread")));
}

#[test]
fn a_ring_with_fewer_stages_than_its_schedule_is_found() {
    for stages in [3, 4, 5] {
        let desc = but!(ring(ROWS), stages, blocks_per_sm: 1).expect();
        let program = desc.one_schedule().expect("a kernel without a producer");
        let fewer = but!(desc, stages: stages - 1);
        let fewer = Program { desc: fewer, base: fewer.base(), ..program };
        let finding = find_fault(&fewer).expect("the ring is overrun");
        println!("{stages} stages in {}: {finding}", stages - 1);
    }
}

#[test]
fn a_layout_that_splits_vectors_is_found() {
    let desc = but!(ring(ROWS), stages: 3);
    // Enough shared memory for each of these layouts: the pitch of the description is 128 + 8.
    let padded = SmemLayout::Padded { along: Along::Mn, padding: 8 };
    let desc = but!(desc, smem_a: padded, smem_b: padded).expect();
    let tile =
        SmemTile { padding: 8, along: Along::Mn, mn: 128, k: 16, bits: 0, base: 0, shift: 0 };
    for (name, map) in [
        ("rows begin between vectors", SmemTile { padding: 5, ..tile }),
        ("the swizzle is finer than a vector", SmemTile { bits: 2, base: 1, ..tile }),
        (
            "K-major, although copies are vectors along MN",
            SmemTile { along: Along::K, padding: 0, ..tile },
        ),
    ] {
        let mut program = desc.one_schedule().expect("a kernel without a producer");
        program.maps.smem[0] = Arc::new(map);
        println!("{name}: {}", find_fault(&program).expect(name));
        println!("{name}: {}", wrong(&program, Mode::Fast, ragged(&desc)).expect(name));
    }
}
