//! Laws of index maps that no description determines: orders of tiles, and grids of lanes.

use crate::harness::{prelude::*, random_cases::cases};
use falchion::internals::thread::mma::packed;
use proptest::prelude::*;

/// Checks that lanes i and i^1 share B, and that lanes i and i^2 share A.
pub(super) fn neighbours_share(place: impl Fn(u32) -> (u32, u32)) -> bool {
    (0..WARP).all(|lane| place(lane).1 == place(lane ^ 1).1 && place(lane).0 == place(lane ^ 2).0)
}

proptest! {
    #![proptest_config(cases(4096))]

    #[test]
    fn one_cta_computes_each_tile_of_c(rows in 1u32..40, columns in 1u32..70, group_size in 1u32..=64, which in 0usize..4) {
        let kind = [SwizzleKind::Horizontal, SwizzleKind::Identity(group_size), SwizzleKind::Grouped(group_size), SwizzleKind::Hilbert][which];
        prop_assert_eq!(laws::bijective(&TileOrder { kind, rows, columns }), Ok(()));
    }

    /// `|r(t + 1) - r(t)| + |c(t + 1) - c(t)| = 1` within each square of Hilbert's curve. The first
    /// `n` tiles of a square touch at most 2 sqrt(n) + 2 rows and columns, while an order by rows
    /// touches all columns of a row.
    #[test]
    fn hilbert_order_visits_neighbors(rows in 1u32..40, columns in 1u32..40) {
        let order = TileOrder { kind: SwizzleKind::Hilbert, rows, columns };
        let mut side = falchion::threadblock::HILBERT_SIDE;
        while side > rows.min(columns) {
            side /= 2;
        }
        for square in 0..rows / side * (columns / side) {
            let walk: Vec<_> = (0..side * side).map(|step| order.tile(square * side * side + step)).collect();
            for pair in walk.windows(2) {
                prop_assert_eq!(pair[0].0.abs_diff(pair[1].0) + pair[0].1.abs_diff(pair[1].1), 1);
            }
            for n in [4, 16, 64].map(|n: usize| n.min(walk.len())) {
                let distinct = |of: fn(&(u32, u32)) -> u32| walk[..n].iter().map(of).collect::<std::collections::BTreeSet<_>>().len();
                prop_assert!(distinct(|tile| tile.0) + distinct(|tile| tile.1) <= 2 * n.isqrt() + 2);
            }
        }
    }

    #[test]
    fn lanes_of_a_warp_form_a_grid_and_neighbors_share_fragments(m in 3u32..=7, n in 3u32..=7, half in any::<bool>()) {
        let (m, n) = (1 << m, 1 << n);
        let lanes = LaneArrangement::best(m, n, if half { ElementKind::F16 } else { ElementKind::F32 });
        prop_assert_eq!(lanes.m * lanes.n, WARP);
        prop_assert!(m % lanes.m == 0 && n % lanes.n == 0);
        let mut places: Vec<_> = (0..WARP).map(|lane| lanes.place(lane)).collect();
        prop_assert!(places.iter().all(|&(i, j)| i < lanes.m && j < lanes.n));
        prop_assert_eq!(neighbours_share(|lane| lanes.place(lane)), lanes.m > 1 && lanes.n > 1);
        places.sort_unstable();
        places.dedup();
        prop_assert_eq!(places.len(), WARP as usize);
    }
}

#[test]
fn the_grid_of_lanes_reads_the_fewest_elements() {
    for (m, n) in (3..=7)
        .flat_map(|m| (3..=7).map(move |n| (1u32 << m, 1u32 << n)))
        .filter(|(m, n)| m * n >= 128)
    {
        let [lanes, halves] = [ElementKind::F32, ElementKind::F16]
            .map(|accumulator| LaneArrangement::best(m, n, accumulator));
        let sum = |a: u32| m / a + n / (WARP / a);
        let least = (0..=5)
            .map(|bit| 1 << bit)
            .filter(|&a| m % a == 0 && n % (WARP / a) == 0)
            .map(sum)
            .min();
        assert_eq!([Some(sum(lanes.m)), Some(sum(halves.m))], [least; 2], "{m} x {n}");
        // Given two equal choices, packed halves use the wider thread tile, and both of its extents
        // are even.
        assert!(
            halves.m >= lanes.m && packed(ElementKind::F16, [m / halves.m, n / halves.n]) == 2,
            "{m} x {n}"
        );
    }
}
