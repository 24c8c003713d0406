//! Law of work: over all CTAs of a grid, every k-tile of every tile of each D is in exactly one
//! unit, and the slices of a tile are in order.

use crate::harness::{prelude::*, random_cases::cases};
use falchion::threadblock::k_slice;
use proptest::prelude::*;

/// Returns unit `i` of a CTA.
type Taken = fn(&Work, u32, u32, u32) -> Option<Unit>;

/// Checks that units cover the tiles of each D, k-tile by k-tile, exactly once.
fn covered(work: &Work, (tiles_m, tiles_n): (u32, u32), taken: Taken) -> Result<(), String> {
    let mut ranges = BTreeMap::<_, Vec<_>>::new();
    let blocks = work.blocks();
    for (cluster, rank) in
        (0..work.clusters).flat_map(|cluster| (0..blocks).map(move |rank| (cluster, rank)))
    {
        let count = work.count(cluster);
        for i in 0..count {
            let unit = taken(work, cluster, rank, i)
                .ok_or(format!("block {rank} of cluster {cluster} has no unit {i}"))?;
            ranges
                .entry((unit.product, unit.row, unit.column))
                .or_default()
                .push(unit.k_begin..unit.k_begin + unit.k_count);
        }
        if let Some(unit) = taken(work, cluster, rank, count) {
            return Err(format!(
                "block {rank} of cluster {cluster} has a unit beyond its {count}: {unit:?}"
            ));
        }
    }
    let of_product =
        |product| (0..tiles_m).flat_map(move |m| (0..tiles_n).map(move |n| (product, m, n)));
    if let Some(tile) = (0..work.batch).flat_map(of_product).find(|tile| !ranges.contains_key(tile))
    {
        return Err(format!("tile {tile:?} is in no unit"));
    }
    if let Some(&(product, ..)) =
        ranges.keys().next_back().filter(|&&(product, ..)| product >= work.batch)
    {
        return Err(format!("product {product} of {}", work.batch));
    }
    for (tile, ranges) in ranges {
        let mut ranges = ranges;
        ranges.sort_by_key(|range| (range.start, range.end));
        let end = ranges.iter().try_fold(0, |k, range| (range.start == k).then_some(range.end));
        if end != Some(work.tiles_k) {
            return Err(format!("tile {tile:?} has {ranges:?} of {} k-tiles", work.tiles_k));
        }
    }
    Ok(())
}

/// Checks that the slices of each tile are numbered in ascending k and state their count. For
/// stream-K, checks that they belong to neighboring clusters, and that all clusters but one have
/// equally many k-tiles.
fn slices_follow_each_other(work: &Work, taken: Taken) -> Result<(), String> {
    let mut slices = BTreeMap::<_, Vec<_>>::new();
    let mut spans = Vec::new();
    let streamed = work.streams();
    // Ranks have separate tiles, or slices of one tile.
    let ranks = if work.kind == WorkKind::SplitKCluster { work.blocks() } else { 1 };
    for (cluster, rank) in
        (0..work.clusters).flat_map(|cluster| (0..ranks).map(move |rank| (cluster, rank)))
    {
        let mut span = 0;
        for i in 0..work.count(cluster) {
            let unit = taken(work, cluster, rank, i).ok_or("no unit")?;
            if ranks > 1 && unit.slice != rank {
                return Err(format!("block {rank} has slice {}", unit.slice));
            }
            slices.entry((unit.product, unit.row, unit.column)).or_default().push((
                unit.k_begin,
                unit.slice,
                unit.slices,
                cluster,
            ));
            span += if i < streamed.count(cluster) { unit.k_count } else { 0 };
        }
        spans.push(span);
    }
    if spans.iter().max().zip(spans.iter().min()).is_some_and(|(most, least)| most - least > 1) {
        return Err(format!("spans of {spans:?}"));
    }
    for (tile, mut slices) in slices {
        slices.sort_unstable();
        let known = |(at, &(_, slice, of, cluster)): (usize, &(u32, u32, u32, u32))| {
            let neighbour = match work.kind {
                WorkKind::StreamK => cluster == slices[0].3 + at as u32,
                // Clusters that run at the same time.
                WorkKind::SplitKCluster => cluster == slices[0].3,
                _ => true,
            };
            slice as usize == at && of as usize == slices.len() && neighbour
        };
        if !slices.iter().enumerate().all(known) {
            return Err(format!("tile {tile:?} has the slices {slices:?}"));
        }
    }
    Ok(())
}

/// Slots of stream-K slices do not overlap, those of a tile are consecutive, and the workspace has
/// space for all of them.
#[test]
fn slots_of_stream_k_do_not_overlap() {
    for (tiles, tiles_k, clusters) in [
        (1, 7, 3),
        (5, 1, 5),
        (7, 100, 132),
        (200, 16, 132),
        (263, 33, 132),
        (131, 2, 132),
        (1, 1, 1),
    ] {
        let streams = Streams::new(tiles, tiles_k, clusters);
        let mut slots = std::collections::BTreeSet::new();
        for (cluster, i) in
            (0..clusters).flat_map(|cluster| (0..streams.count(cluster)).map(move |i| (cluster, i)))
        {
            let slice = streams.slice(cluster, i);
            assert!(slots.insert(slice.tile + cluster), "{slice:?}");
            assert!(
                slice.tile + cluster < streams.tiles + clusters
                    && slice.slices <= clusters.min(tiles_k)
            );
        }
        assert!(streams.tiles < 2 * clusters);
    }
    // Stream-K uses every SM of a Hopper GPU.
    let hoppers = falchion_lab::gpus::GPUS.iter().filter(|(_, machine)| machine.sm == 90);
    assert_eq!(hoppers.map(|(_, machine)| machine.multiprocessors).max(), Some(MOST_STREAMS));
}

/// Every tile order, and a small tile.
pub(super) const ORDERS: [SwizzleKind; 4] = [
    SwizzleKind::Identity(2),
    SwizzleKind::Horizontal,
    SwizzleKind::Grouped(3),
    SwizzleKind::Hilbert,
];
pub(super) const TILE: Mnk = Mnk { m: 16, n: 8, k: 4 };

proptest! {
    #![proptest_config(cases(512))]

    #[test]
    fn every_k_tile_is_in_one_unit(
        (kind, order) in (0usize..WorkKind::ALL.len(), 0usize..4),
        (m, n, batch) in (1usize..300, 1usize..200, 0usize..5),
        cluster in prop::sample::select(vec![(1, 1), (2, 1), (1, 2), (4, 1), (2, 4)]),
        (tiles_k, split_k, resident) in (0u32..40, prop::sample::select(vec![1, 1, 2, 3, 7, 16]), 1u32..70),
    ) {
        let cluster = Mn { m: cluster.0, n: cluster.1 };
        // CTAs of a cluster have separate tiles, or slices of one tile.
        let (cluster, split_k) = match WorkKind::ALL[kind] {
            WorkKind::StreamK => (cluster, 1),
            WorkKind::SplitKCluster => (Mn::ONE, split_k),
            _ => (cluster, split_k),
        };
        let work = Work::new((WorkKind::ALL[kind], ORDERS[order], split_k), (TILE, cluster), ((m, n), batch, tiles_k), resident).expect("few tiles");
        let tiles = (m.div_ceil(16) as u32, n.div_ceil(8) as u32);
        prop_assert_eq!(covered(&work, tiles, Work::unit), Ok(()), "{:?}", work);
        prop_assert!(work.kind == WorkKind::DataParallel || work.clusters <= resident);
        prop_assert!(work.kind != WorkKind::DataParallel || (0..work.clusters).all(|cluster| work.count(cluster) == 1));
        prop_assert_eq!(slices_follow_each_other(&work, Work::unit), Ok(()), "{:?}", work);
    }
}

/// Each of these mutants breaks the law in a different way.
#[test]
fn wrong_units_break_the_law() {
    #[rustfmt::skip]
    let mutations: [(&str, Taken, &str); 8] = [
        ("a CTA repeats its first unit", |w, cluster, rank, _| w.unit(cluster, rank, 0), "beyond"),
        ("ranks are ignored", |w, cluster, _, i| w.unit(cluster, 0, i), "is in no unit"),
        ("clusters advance by one too few", |w, cluster, rank, i| Work { clusters: w.clusters - 1, ..*w }.unit(cluster, rank, i), "beyond"),
        ("the first k-tile is omitted", |w, cluster, rank, i| { w.unit(cluster, rank, i).map(|unit| Unit { k_begin: 1, k_count: unit.k_count - 1,..unit }) }, "[1..5] of 5 k-tiles"),
        ("the last k-tile is omitted", |w, cluster, rank, i| { w.unit(cluster, rank, i).map(|unit| Unit { k_count: unit.k_count - 1, ..unit }) }, "[0..4] of 5 k-tiles"),
        ("every unit computes the first GEMM", |w, cluster, rank, i| w.unit(cluster, rank, i).map(|unit| Unit { product: 0, ..unit }), "is in no unit"),
        ("the last GEMM is omitted", |w, cluster, rank, i| Work { batch: w.batch - 1, ..*w }.unit(cluster, rank, i), "has no unit"),
        ("a tile is omitted", |w, cluster, rank, i| w.unit(cluster, rank, i).filter(|unit| unit.row != 3), "has no unit"),
    ];
    let kinds = (WorkKind::Persistent, SwizzleKind::Identity(2), 1);
    let work =
        Work::new(kinds, (TILE, Mn { m: 2, n: 1 }), ((200, 100), 3, 5), 7).expect("few tiles");
    assert_eq!(covered(&work, (13, 13), Work::unit), Ok(()));
    for (name, taken, said) in mutations {
        let error = covered(&work, (13, 13), taken).expect_err(name);
        println!("{name}: {error}");
        assert!(error.contains(said), "{name}: {error}");
    }
}

/// Split-K: 13 k-tiles in 4 slices are 4, 3, 3, and 3.
#[test]
fn wrong_split_k_slices_break_the_law() {
    let kinds = (WorkKind::DataParallel, SwizzleKind::Identity(2), 4);
    let work = Work::new(kinds, (TILE, Mn::ONE), ((50, 20), 2, 13), u32::MAX).expect("few tiles");
    assert_eq!(covered(&work, (4, 3), Work::unit), Ok(()));
    assert_eq!(
        (0..4).map(|slice| k_slice(13, 4, slice)).collect::<Vec<_>>(),
        [(0, 4), (4, 3), (7, 3), (10, 3)]
    );
    #[rustfmt::skip]
    let mutations: [(&str, Taken, &str); 9] = [
        ("the remainder is omitted", |w, cluster, rank, i| { Work { tiles_k: w.tiles_k / w.split_k * w.split_k, ..*w }.unit(cluster, rank, i) }, "of 13 k-tiles"),
        ("longer slices begin as if they were not longer", |w, cluster, rank, i| { w.unit(cluster, rank, i).map(|unit| Unit { k_begin: unit.slice * 3, ..unit }) }, "of 13 k-tiles"),
        ("both the first and the last slice contain the remainder", |w, cluster, rank, i| { w.unit(cluster, rank, i).map(|unit| Unit { k_count: unit.k_count + u32::from(unit.slice == 3), ..unit }) }, "of 13 k-tiles"),
        ("every slice is the first one", |w, cluster, rank, i| { w.unit(cluster, rank, i).map(|unit| Unit { slice: 0, k_begin: 0, k_count: 4,..unit }) }, "of 13 k-tiles"),
        ("the last slice is omitted", |w, cluster, rank, i| w.unit(cluster, rank, i).filter(|unit| unit.slice < 3), "has no unit"),
        ("there is one slice too few", |w, cluster, rank, i| Work { split_k: w.split_k - 1, ..*w }.unit(cluster, rank, i), "has no unit"),
        (
            "slices vary more slowly than tiles",
            |w, cluster, rank, i| {
                let unit = w.unit(cluster / w.split_k, rank, i)?;
                let (k_begin, k_count) = k_slice(w.tiles_k, w.split_k, cluster / w.rectangles());
                Some(Unit { slice: cluster / w.rectangles(), k_begin, k_count, ..unit })
            },
            "of 13 k-tiles",
        ),
        ("slices overlap by a k-tile", |w, cluster, rank, i| { w.unit(cluster, rank, i).map(|unit| Unit { k_count: unit.k_count + 1, ..unit }) }, "of 13 k-tiles"),
        ("slices begin at their ends", |w, cluster, rank, i| { w.unit(cluster, rank, i).map(|unit| Unit { k_begin: unit.k_begin + unit.k_count, ..unit }) }, "of 13 k-tiles"),
    ];
    for (name, taken, said) in mutations {
        let error = covered(&work, (4, 3), taken).expect_err(name);
        println!("{name}: {error}");
        assert!(error.contains(said), "{name}: {error}");
    }
}

/// Split-K in a cluster: each CTA has one slice.
#[test]
fn wrong_cluster_slices_break_the_law() {
    let kinds = (WorkKind::SplitKCluster, SwizzleKind::Identity(2), 4);
    let work = Work::new(kinds, (TILE, Mn::ONE), ((50, 20), 2, 13), 5).expect("few tiles");
    assert_eq!((work.clusters, work.blocks(), covered(&work, (4, 3), Work::unit)), (5, 4, Ok(())));
    let one = Work::new(kinds, (TILE, Mn::ONE), ((50, 20), 2, 13), u32::MAX).expect("few tiles");
    assert_eq!((one.clusters, one.count(23), one.count(24)), (24, 1, 0), "one cluster per tile");
    #[rustfmt::skip]
    let mutations: [(&str, Taken, &str); 5] = [
        ("every CTA has the first slice", |w, cluster, _, i| w.unit(cluster, 0, i), "of 13 k-tiles"),
        ("the last CTA has no slice", |w, cluster, rank, i| w.unit(cluster, rank, i).filter(|unit| unit.slice < 3), "has no unit"),
        ("ranks select both slices and tiles", |w, cluster, rank, i| { w.unit(cluster, rank, i).map(|unit| Unit { column: unit.column + rank, ..unit }) }, "of 13 k-tiles"),
        ("clusters advance by their number of CTAs", |w, cluster, rank, i| { Work { clusters: w.clusters * w.split_k, ..*w }.unit(cluster, rank, i) }, "has no unit"),
        ("a cluster repeats its first tile", |w, cluster, rank, _| w.unit(cluster, rank, 0), "beyond"),
    ];
    for (name, taken, said) in mutations {
        let error = covered(&work, (4, 3), taken).expect_err(name);
        println!("{name}: {error}");
        assert!(error.contains(said), "{name}: {error}");
    }
    let exchanged: Taken = |w, cluster, rank, i| w.unit(cluster, w.split_k - 1 - rank, i);
    assert_eq!(covered(&work, (4, 3), exchanged), Ok(()), "each slice is in one unit");
    assert_eq!(slices_follow_each_other(&work, exchanged), Err("block 0 has slice 3".to_owned()));
}

/// A D without elements has no units. More tiles than a grid supports are refused.
#[test]
fn empty_d_has_no_units_and_too_many_tiles_are_refused() {
    let of = |m, n, batch| {
        Work::new(
            (WorkKind::Persistent, SwizzleKind::Horizontal, 1),
            (TILE, Mn::ONE),
            ((m, n), batch, 1),
            132,
        )
    };
    let most = usize::MAX;
    for (m, n, batch) in [(0, 0, 1), (0, most, 2), (most, 0, most), (most, most, 0), (1, 1, 0)] {
        let work = of(m, n, batch).expect("no tiles");
        assert_eq!((work.clusters, work.count(0), work.unit(0, 0, 0)), (0, 0, None));
    }
    for (m, n, batch) in [(1 << 30, 1 << 30, 1), (1 << 20, 1 << 20, 1 << 20)] {
        let sentence = of(m, n, batch).message();
        assert_eq!(
            sentence,
            "number of tiles = 9007199254740992 exceeds 2147483647 (thread blocks of a grid); use a larger tile"
        );
    }
    assert!(of(most, most, most).is_err());
}
