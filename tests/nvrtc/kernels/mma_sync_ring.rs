//! TMA-fed `mma.sync` kernels.

use super::{
    a_wrong_fact_is_named, all_clean,
    descriptions::{
        KernelKind, Wanted, description, largest_shape_that_fits, tma_ring::mma_sync::plain,
    },
    unit_of,
};
use crate::harness::{prelude::*, random_cases::orders};

/// Large tiles in every layout, random valid descriptions, and descriptions that use all registers
/// of a consumer. No kernel spills.
#[test]
#[ignore = "needs NVRTC"]
fn tma_fed_mma_sync_kernels_compile_clean() {
    let tiles = [((128, 128), (64, 32), 4), ((128, 64), (32, 32), 8), ((96, 128), (48, 32), 4)];
    let tiles_of = |orders| tiles.map(|(block, warp, k)| plain(orders, block, warp, k));
    let explored: Vec<_> =
        orders().flat_map(tiles_of).map(|d| ("a tile".to_owned(), d, ArchKind::Sm90)).collect();
    all_clean("tiles of TMA-fed mma.sync kernels", explored);
    let random_description = |seed: u64, plain, draw: &dyn Fn(u64, Wanted) -> GemmDesc| {
        let wanted = Wanted { plain, kernel_kind: KernelKind::MmaSyncRing, ..Wanted::default() };
        (format!("seed {seed}"), draw(seed, wanted), ArchKind::Sm90)
    };
    let mut kernels: Vec<_> =
        (21_000..21_030).map(|seed| random_description(seed, true, &description)).collect();
    kernels.extend((22_000..22_020).map(|seed| random_description(seed, false, &description)));
    kernels.retain(|(_, d, _)| d.pins().spills == Some(SpillKind::Refused));
    all_clean("descriptions of TMA-fed mma.sync kernels", kernels);
    let just_fits = |seed, wanted| largest_shape_that_fits(seed, wanted, 33);
    let fits: Vec<_> =
        (23_000..23_012).map(|seed| random_description(seed, true, &just_fits)).collect();
    all_clean("descriptions of TMA-fed mma.sync kernels that just fit", fits);
}

#[test]
#[ignore = "needs NVRTC"]
fn a_wrong_map_of_tma_fed_mma_sync_is_named() {
    let orders = [Order::Row, Order::Col, Order::Row];
    let unit = unit_of(&plain(orders, (128, 96), (32, 48), 4), true);
    for (fact, name) in [
        ("kPitch = 16", "smem_a"),
        ("kMn = 96", "smem_b"),
        ("kInstructionWords = 2", "fragment_a"),
        ("kWarpMn = 48", "fragment_b"),
        ("kSwizzleBits = 3", "smem_a"),
        ("kStages = 3", "ring"),
    ] {
        a_wrong_fact_is_named(&unit, fact, name);
    }
}
