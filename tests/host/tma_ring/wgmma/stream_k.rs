//! Stream-K of a kernel with `wgmma`: its ranges, both modes, and its workspace.

use crate::{
    harness::{decompositions::product, prelude::*},
    stream_k::are_sums_of_ranges,
};

type Small = HopperK<Bf16, f32, RowMajor, With<SmallTile, StreamK>>;

/// Every tile is the sum of the ranges that its clusters compute, added eight at a time.
#[test]
fn tiles_are_sums_of_the_ranges_of_neighboring_clusters() {
    are_sums_of_ranges(Small::DESC);
}

/// Clusters with ranges of several k-tiles, some of which begin and end inside a tile. Both modes
/// have the same bits on the same number of clusters.
#[test]
fn both_modes_sum_ranges_of_several_k_tiles_in_the_same_order() {
    let most = Small::DESC.most_streams();
    let extents = (100, 50, most as usize * 64 * 5 / 4);
    let (a, b) = rounding_operands(extents, Bf16::from_f32);
    let checked = product(&Small::DESC, Some(most), extents, [&a, &b]);
    assert_eq!(checked, product(&Small::DESC, None, extents, [&a, &b]), "{most} clusters");
}

/// A grouped call is refused, and the workspace has space for the maximum number of clusters.
#[test]
fn workspace_holds_all_clusters_and_groups_are_refused() {
    let (a, b, mut d) = (vec![Bf16::ZERO; 8 * 4], vec![Bf16::ZERO; 5 * 4], vec![0.0f32; 8 * 5]);
    let grouped = Small::new().grouped(Arguments::new((8, 5, 4), &a, &b, &mut d), &[0, 8]);
    let refused = "decomposition = streamk is not supported by grouped GEMM; try splitk";
    assert_eq!(grouped.message(), refused);
    let bytes = |m, n| Partials::new(&Small::DESC, (m, n), 1).bytes();
    // An f32 tile for each stream-K tile and each cluster, and 21 tickets per tile.
    let of = |tiles: u64| (tiles + 132) * 64 * 64 * 4 + (tiles * 21 * 4).next_multiple_of(256);
    assert_eq!(
        [bytes(64, 64), bytes(640, 640), bytes(1280, 1280), bytes(0, 9)],
        [of(1), of(100), of(263), 0]
    );
}
