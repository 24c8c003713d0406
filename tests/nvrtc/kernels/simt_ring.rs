//! TMA-fed SIMT kernels.

use super::{
    a_wrong_fact_is_named, all_clean,
    descriptions::{
        KernelKind, Wanted, description, largest_shape_that_fits, tma_ring::simt::plain,
    },
    unit_of,
};
use crate::harness::{prelude::*, random_cases::orders};

/// The explored tiles in every layout, random valid descriptions, and descriptions that use all
/// registers of a consumer. Threads store D, and no kernel spills.
#[test]
#[ignore = "needs NVRTC"]
fn tma_fed_simt_kernels_compile_clean() {
    let tiles = [
        ((128, 256, 16), (32, 128), (8, 16)),
        ((256, 128, 16), (64, 64), (16, 8)),
        ((128, 128, 8), (32, 64), (8, 8)),
    ];
    let tiles_of = |orders| tiles.map(|(block, warp, thread)| plain(orders, block, warp, thread));
    let explored: Vec<_> =
        orders().flat_map(tiles_of).map(|d| ("a tile".to_owned(), d, ArchKind::Sm90)).collect();
    all_clean("tiles of TMA-fed SIMT kernels", explored);
    let random_description = |seed: u64, plain, draw: &dyn Fn(u64, Wanted) -> GemmDesc| {
        (
            format!("seed {seed}"),
            draw(seed, Wanted { plain, kernel_kind: KernelKind::SimtRing, ..Wanted::default() }),
            ArchKind::Sm90,
        )
    };
    let mut kernels: Vec<_> =
        (11_000..11_030).map(|seed| random_description(seed, true, &description)).collect();
    kernels.extend((12_000..12_020).map(|seed| random_description(seed, false, &description)));
    kernels.retain(|(_, d, _)| d.pins().spills == Some(SpillKind::Refused));
    all_clean("descriptions of TMA-fed SIMT kernels", kernels);
    let just_fits = |seed, wanted| largest_shape_that_fits(seed, wanted, 33);
    let fits: Vec<_> =
        (13_000..13_012).map(|seed| random_description(seed, true, &just_fits)).collect();
    all_clean("descriptions of TMA-fed SIMT kernels that just fit", fits);
}

#[test]
#[ignore = "needs NVRTC"]
fn a_wrong_map_of_tma_fed_simt_is_named() {
    let orders = [Order::Col, Order::Row, Order::Row];
    let d = plain(orders, (128, 256, 16), (32, 128), (8, 16));
    let unit = unit_of(&d, true);
    for (fact, name) in [
        ("kPitch = 128", "smem_a"),
        ("kTileMn = 256", "smem_b"),
        ("kInterleave = 4", "fragment_a"),
        ("kWarpMn = 128", "fragment_b"),
        ("kStages = 3", "ring"),
    ] {
        a_wrong_fact_is_named(&unit, fact, name);
    }
}
