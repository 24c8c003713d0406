//! Rings of groups along K under adversarial schedulers: no program has a fault, and the checked
//! machine finds each step that is missing or in the wrong place.

use super::roles::commute;
use crate::harness::{prelude::*, tma_ring::programs::*};
use falchion_check::mutation::drop_each;

fn find(program: &RingProgram) -> Option<String> {
    find_fault_among(program, 0..40).map(|(fault, _)| kind(&fault))
}

/// Units have no k-tile, one, or several, in any order.
#[test]
fn programs_of_groups_along_k_have_no_fault() {
    for (name, program) in groups_along_k() {
        for seed in 0..60u32 {
            let units = 0..=seed % 5;
            let k_tiles: Vec<u32> = units.map(|unit| (seed / 5 + unit * seed) % 7).collect();
            let work = ClusterWork { k_tiles: &k_tiles, source: false };
            let tally = check(&program, work, seed.into())
                .unwrap_or_else(|fault| panic!("{name}, {work:?}, seed {seed}: {fault}"));
            let readers = u64::from(program.ring.blocks()) * 4 * u64::from(program.ring.readers());
            assert_eq!(tally.products, readers * u64::from(k_tiles.iter().sum::<u32>()), "{name}");
        }
    }
}

#[test]
fn dropped_steps_of_groups_along_k_are_found() {
    drop_each(&groups_along_k(), find).check(398);
}

#[test]
fn swapped_steps_of_groups_along_k_are_found_or_commute() {
    let find = |program: &RingProgram, equivalent: Option<usize>| {
        let seeds = equivalent.map_or(0..40, |number| number as u64..number as u64 + 5);
        find_fault_among(program, seeds).map(|(fault, _)| kind(&fault))
    };
    swap_each(&groups_along_k(), &[Section::Body], commute, find).check(106);
}
