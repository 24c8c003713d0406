//! Law of groups along K: over the k-tiles of a group, every k of the group is inside one tile, and
//! no other k is, for any offsets.

use crate::harness::{prelude::*, random_cases::cases};
use falchion::threadblock::{GroupRange, GroupRanges};
use proptest::prelude::*;

/// Checks that the parts of the k-tiles inside the group are the group, in order, and that tiles
/// begin at multiples of the step.
fn covered(range: &GroupRange) -> Result<(), String> {
    let begin = range.begin();
    if !begin.is_multiple_of(range.step) || begin > range.first {
        return Err(format!("tiles of {range:?} begin at {begin}"));
    }
    let mut behind = range.first;
    for tile in 0..range.tiles() {
        let inside = range.inside(tile);
        let first = begin + tile * range.tile_k;
        if inside.is_empty() || inside.end > range.tile_k || first + inside.start != behind {
            return Err(format!("tile {tile} of {range:?} has {inside:?}"));
        }
        behind = first + inside.end;
    }
    if behind == range.limit { Ok(()) } else { Err(format!("{range:?} ends at {behind}")) }
}

const STEPS: [u32; 5] = [1, 2, 4, 8, 16];

proptest! {
    #![proptest_config(cases(512))]

    #[test]
    fn tiles_of_a_group_cover_its_k_once(
        offsets in prop::collection::vec(any::<u32>(), 2..9),
        (small, ascending) in (any::<bool>(), any::<bool>()),
        (k, step, tile) in (0u32..600, 0usize..5, 1u32..9),
    ) {
        let mut offsets: Vec<u32> = offsets.into_iter().map(|offset| if small { offset % 700 } else { offset }).collect();
        if ascending {
            offsets.sort_unstable();
        }
        let shape = (STEPS[step], 16 * tile);
        for group in 0..offsets.len() as u32 - 1 {
            let range = GroupRange::new(|i| offsets[i as usize], group, shape, k);
            prop_assert_eq!(covered(&range), Ok(()));
            prop_assert!(range.first <= range.limit && range.limit <= k);
            if ascending && offsets[group as usize + 1] <= k {
                prop_assert_eq!((range.first, range.limit), (offsets[group as usize], offsets[group as usize + 1]));
            }
        }
    }
}

/// Ranges with a wrong begin or end are found.
#[test]
fn wrong_ranges_of_groups_are_found() {
    let right = GroupRange { first: 13, limit: 70, step: 8, tile_k: 32 };
    assert_eq!((covered(&right), right.begin(), right.tiles()), (Ok(()), 8, 2));
    assert_eq!([0, 1].map(|tile| right.inside(tile)), [5..32, 0..30]);
    let wrong = GroupRange { limit: 75, ..right };
    assert_eq!((wrong.tiles(), wrong.inside(2)), (3, 0..3));
    let empty = GroupRange { limit: 13, ..right };
    assert_eq!((empty.tiles(), covered(&empty)), (0, Ok(())));
    // Without the step, a copy begins within a vector.
    assert_eq!(GroupRange { step: 1, ..right }.begin(), 13);
}

/// The map whose fingerprint kernels assert has empty groups, groups of one tile, and a group that
/// K cuts.
#[test]
fn the_fingerprint_of_ranges_has_groups_of_all_lengths() {
    for (step, tile_k) in [(1, 8), (8, 64), (16, 128)] {
        let map = GroupRanges { groups: 6, step, tile_k };
        let tiles: Vec<_> = (0..6).map(|group| map.at(at(1, group)).expect("a number")).collect();
        assert!(tiles[1..].windows(2).all(|pair| pair[0] <= pair[1]), "{tiles:?}");
        assert!(tiles[0] <= 1 && tiles[5] >= 8, "{tiles:?}");
        let heads = (0..6).filter(|&group| map.at(at(2, group)).is_some_and(|x| x >> 16 > 0));
        assert_eq!(heads.count() > 0, step > 1);
    }
}
