//! Laws of all index maps of SIMT kernels, for random valid descriptions. Each law fails if its
//! mechanism is removed.

use super::super::index_maps::neighbours_share;
use crate::harness::{
    prelude::*,
    random_cases::{self, cases, legal},
    vectors::Apart,
};
use falchion::{
    epilogue::tile_store::AccumulatorMap,
    threadblock::{StagedOperand, ThreadMap},
    warp::thread_maps::FragmentMap,
};
use proptest::prelude::*;

/// Checks that vectors of a tile in shared memory are contiguous and aligned.
fn smem_vectors_whole(tile: &SmemTile, vector: u32) -> Result<(), Apart> {
    match tile.along {
        Along::Mn => vectors_whole(&Transposed(tile), vector),
        Along::K => vectors_whole(tile, vector),
    }
}

/// Returns how many points of a map have each offset.
fn counts(map: &dyn IndexMap) -> Vec<u32> {
    let mut counts = vec![0; map.codomain() as usize];
    points(map).filter_map(|point| map.at(point)).for_each(|offset| counts[offset as usize] += 1);
    counts
}

fn each_operand(d: &GemmDesc) -> [StagedOperand; 2] {
    OperandKind::BOTH.map(|operand| d.base().operand(operand))
}

/// Returns the maximum number of words of one bank in a warp's store of element `element` of access
/// `access`. 1 means no conflict.
fn conflict(
    d: &GemmDesc,
    operand: OperandKind,
    smem: &dyn IndexMap,
    warp: u32,
    access: u32,
    element: u32,
) -> usize {
    let facts = d.base().operand(operand);
    let map = facts.thread_map();
    let mut words: Vec<u32> = (warp * WARP..(warp + 1) * WARP)
        .filter_map(|thread| map.vector(thread, access))
        .filter_map(|vector| {
            let (mn, k) = facts.coordinate(vector, element);
            smem.at(at(mn, k)).map(|offset| offset * facts.element.bytes_of(1) / 4)
        })
        .collect();
    words.sort_unstable();
    words.dedup();
    (0..32).map(|bank| words.iter().filter(|word| *word % 32 == bank).count()).max().unwrap_or(0)
}

/// Returns the worst conflict of the stores of an operand's tile.
fn worst_conflict(d: &GemmDesc, operand: OperandKind, smem: &dyn IndexMap) -> usize {
    let facts = d.base().operand(operand);
    let each = (0..d.threads() / WARP)
        .flat_map(|warp| (0..facts.thread_map().accesses()).map(move |access| (warp, access)))
        .flat_map(|(warp, access)| (0..facts.access).map(move |element| (warp, access, element)));
    each.map(|(warp, access, element)| conflict(d, operand, smem, warp, access, element))
        .max()
        .unwrap_or(0)
}

/// An `f32` kernel that copies through registers, with K-major operands, so that each tile is
/// transposed.
fn transposing(threadblock_k: u32, align: u32, smem: SmemLayout) -> GemmDesc {
    let classic = random_cases::default_f32(ArchKind::Sm70, [Order::Row, Order::Col, Order::Row]);
    let d = but!(classic, align_a: align, align_b: align, smem_a: smem, smem_b: smem);
    let [threadblock, warp] =
        [d.threadblock(), d.warp()].map(|tile| Mnk { k: threadblock_k, ..tile });
    but!(d, threadblock, warp).expect()
}

proptest! {
    #![proptest_config(cases(512))]

    #[test]
    fn each_element_of_a_tile_has_its_own_address(d in legal()) {
        for facts in each_operand(&d) {
            prop_assert_eq!(laws::injective(&facts.smem), Ok(()));
            prop_assert!(facts.smem.elements() * facts.element.bytes_of(1) <= facts.stage_bytes());
        }
    }

    #[test]
    fn a_tile_without_padding_has_no_gaps(d in legal()) {
        for facts in each_operand(&d) {
            prop_assert_eq!(laws::bijective(&SmemTile { padding: 0, ..facts.smem }), Ok(()));
        }
    }

    #[test]
    fn shared_memory_accesses_are_contiguous_and_aligned(d in legal()) {
        for facts in each_operand(&d) {
            if !facts.transposes() {
                prop_assert_eq!(smem_vectors_whole(&facts.smem, facts.shared_access()), Ok(()));
            }
            prop_assert_eq!(smem_vectors_whole(&facts.smem, facts.fragment_access()), Ok(()));
        }
    }

    #[test]
    fn threads_copy_every_vector_of_a_tile_exactly_once(d in legal()) {
        for facts in each_operand(&d) {
            prop_assert_eq!(laws::bijective(&facts.thread_map()), Ok(()));
        }
    }

    #[test]
    fn the_copied_vectors_hold_every_element_of_a_tile_exactly_once(d in legal()) {
        for facts in each_operand(&d) {
            let map = facts.thread_map();
            let mut copied = vec![0u32; (facts.smem.mn * facts.smem.k) as usize];
            for point in points(&map) {
                for (element, vector) in (0..facts.access).filter_map(|i| map.vector(point.row, point.column).map(|v| (i, v))) {
                    let (mn, k) = facts.coordinate(vector, element);
                    copied[(mn * facts.smem.k + k) as usize] += 1;
                }
            }
            prop_assert!(copied.iter().all(|&times| times == 1));
        }
    }

    #[test]
    fn every_element_of_a_tile_is_in_the_fragments_that_need_it(d in legal()) {
        let (lanes, warps) = (d.base().tiles.lanes, d.base().tiles.warps());
        for (operand, others) in [(OperandKind::A, lanes.n * warps.n), (OperandKind::B, lanes.m * warps.m)] {
            let map = FragmentMap::new(d.base().tiles, operand);
            prop_assert!(counts(&map).iter().all(|&times| times == others * warps.k));
        }
    }

    #[test]
    fn runs_of_a_fragment_are_contiguous_and_aligned(d in legal()) {
        for operand in OperandKind::BOTH {
            prop_assert_eq!(vectors_whole(&FragmentMap::new(d.base().tiles, operand), d.base().operand(operand).interleave()), Ok(()));
        }
    }

    #[test]
    fn every_warp_slice_has_its_own_share_of_the_depth(d in legal()) {
        let map = d.one_schedule().expect("a kernel without a producer").maps.depth;
        for thread in 0..d.threads() {
            let slice = d.base().tiles.warp_place(thread / WARP).2;
            for group in 0..d.warp().k {
                prop_assert_eq!(map.at(at(thread, group)), Some(slice * d.warp().k + group));
            }
        }
        prop_assert!(counts(map.as_ref()).iter().all(|&times| times == d.base().tiles.threads_per_warp_slice()));
    }

    #[test]
    fn accumulators_of_subtiles_cover_the_tile_of_c(d in legal()) {
        prop_assert_eq!(laws::bijective(&AccumulatorMap(d.base().tiles)), Ok(()));
        prop_assert_eq!(vectors_whole(&AccumulatorMap(d.base().tiles), d.base().store_access), Ok(()));
    }

    #[test]
    fn every_partial_accumulator_has_its_own_address(d in legal()) {
        prop_assert_eq!(laws::bijective(&PartialsMap(d.base().tiles)), Ok(()));
        prop_assert!(d.base().tiles.warps().k == 1 || PartialsMap(d.base().tiles).codomain() * d.output.accumulator.bytes_of(1) == d.base().partials_bytes());
    }

    #[test]
    fn every_warp_has_its_own_position(d in legal()) {
        let warps = d.base().tiles.warps();
        let numbers = (0..d.threads() / WARP).map(|warp| {
            let (m, n, k) = d.base().tiles.warp_place(warp);
            (m < warps.m && n < warps.n && k < warps.k).then_some((k * warps.n + n) * warps.m + m)
        });
        prop_assert!(numbers.eq((0..d.threads() / WARP).map(Some)));
    }
}

/// Checks that stores of f32 conflict only without the padding or the swizzle.
fn conflict_only_without(layout: SmemLayout, depths: &[u32], without: fn(SmemTile) -> SmemTile) {
    for (&k, align) in depths.iter().flat_map(|k| [1, 2, 4].map(|align| (k, align))) {
        let d = transposing(k, align, layout);
        for operand in OperandKind::BOTH {
            let facts = d.base().operand(operand);
            assert!(facts.transposes() && (layout != SmemLayout::Auto || facts.smem.padding == 4));
            let conflicts =
                [facts.smem, without(facts.smem)].map(|tile| worst_conflict(&d, operand, &tile));
            // Without padding or swizzle, all k of a store are in the bank of one k: as many as a
            // warp has along K.
            assert_eq!(conflicts, [1, 8 / align as usize], "k {k}, alignment {align}");
        }
    }
}

#[test]
fn transposing_f32_stores_conflict_only_without_padding() {
    conflict_only_without(SmemLayout::Auto, &[8, 16, 32], |tile| SmemTile { padding: 0, ..tile });
}

#[test]
fn transposing_f32_stores_conflict_only_without_a_swizzle() {
    let swizzled = SmemLayout::Swizzled { along: Along::Mn, bits: 3, base: 2, shift: 0 };
    conflict_only_without(swizzled, &[8, 16], |tile| SmemTile { bits: 0, ..tile });
}

#[test]
fn every_law_fails_on_a_mutated_map() {
    let d = transposing(8, 4, SmemLayout::Auto);
    let facts = d.base().operand(OperandKind::A);
    let sliced = { but!(d, align_a: 1, align_b: 1, threadblock: Mnk::new(64, 64, 16)).expect() };
    let maps = d.one_schedule().expect("a kernel without a producer").maps;
    let (tile, threads) = (facts.smem, facts.thread_map());
    let order = TileOrder { kind: SwizzleKind::Identity(4), rows: 5, columns: 10 };
    let order: Map = Arc::new(order);
    let mutate = |map: &Map, f: fn(&dyn IndexMap, Coord) -> Option<u32>| mutant(map, f);

    #[rustfmt::skip]
    let bijective: Vec<(&str, Map)> = vec![
        ("a thread map has twice the lanes along a row", Arc::new(ThreadMap { lanes_contiguous: 4, ..threads })),
        ("a thread map has two warps along a row of one", Arc::new(ThreadMap { warps_contiguous: 2, ..threads })),
        ("a thread map omits its last vector", mutate(&maps.copy[0], |map, p| map.at(p).filter(|&v| v + 1 < map.codomain()))),
        ("a thread map copies a vector twice", mutate(&maps.copy[0], |map, p| map.at(p).map(|v| v.max(1)))),
        ("a tile order does not truncate its last group", mutate(&order, |_, p| { let (group, within) = (p.column / 20, p.column % 20); Some(within / 4 * 10 + group * 4 + within % 4) })),
        ("a tile order ignores its rows", mutate(&order, |_, p| Some(p.column / 4 % 5 * 10 + p.column % 4))),
        ("accumulators have a pitch that is too short", mutate(&maps.accumulator, |map, p| map.at(p).map(|x| x / 128 * 127 + x % 128))),
        ("accumulators have the columns of the previous lane", mutate(&maps.accumulator, |map, p| map.at(at(p.row & !1, p.column)))),
        ("partials have a pitch that is one too small", mutate(&maps.partials, |map, p| Some(p.column * (map.domain().row - 1) + p.row))),
    ];
    for (name, map) in &bijective {
        let violation = laws::bijective(map.as_ref()).expect_err(name);
        println!("{name}: {violation}");
    }
    let injective: Vec<(&str, SmemTile)> = vec![
        (
            "a swizzle leaves its row",
            SmemTile { along: Along::Mn, mn: 24, k: 8, padding: 0, bits: 3, base: 2, shift: 0 },
        ),
        (
            "a swizzle does not divide its row",
            SmemTile { along: Along::K, mn: 64, k: 12, padding: 0, bits: 2, base: 1, shift: 0 },
        ),
    ];
    for (name, map) in &injective {
        println!("{name}: {}", laws::injective(map).expect_err(name));
    }
    let short = mutate(&maps.smem[0], |_, p| Some(p.column * 127 + p.row));
    println!(
        "rows are one element too short: {}",
        laws::injective(short.as_ref()).expect_err("shared")
    );

    let odd = SmemTile { padding: 1, ..tile };
    println!("an odd padding: {}", smem_vectors_whole(&odd, 4).expect_err("apart"));
    assert_eq!(odd.vector(4), 1, "the description does not claim this width");
    let fine = SmemTile { bits: 3, base: 1, padding: 0, ..tile };
    println!("a swizzle finer than a vector: {}", smem_vectors_whole(&fine, 4).expect_err("apart"));
    assert_eq!(fine.vector(4), 2);
    let apart = mutate(&maps.fragment[0], |map, p| map.at(p).map(|mn| mn ^ 1));
    println!(
        "neighbors of a fragment are swapped: {}",
        vectors_whole(apart.as_ref(), 4).expect_err("apart")
    );
    let apart = mutate(&maps.accumulator, |map, p| map.at(at(p.row, p.column ^ 2)));
    println!("accumulators out of order: {}", vectors_whole(apart.as_ref(), 4).expect_err("apart"));

    let depth = sliced.one_schedule().expect("a kernel without a producer").maps.depth;
    assert!(
        sliced.base().tiles.warps().k == 2
            && counts(depth.as_ref())
                .iter()
                .all(|&times| times == sliced.base().tiles.threads_per_warp_slice())
    );
    let first_only = mutate(&depth, |_, p| Some(p.column));
    assert!(
        counts(first_only.as_ref()).contains(&0),
        "warp slices without their number omit a share"
    );
    let doubled = mutate(&maps.fragment[1], |map, p| map.at(p).map(|mn| mn & !8));
    assert!(counts(doubled.as_ref()).contains(&0), "a fragment that ignores a bit omits elements");
    assert!(
        !neighbours_share(|lane| (lane % 4, lane / 4)),
        "lanes whose bits do not alternate do not share A with i^2"
    );
    assert!(
        !neighbours_share(|lane| (lane / 8, lane % 8)),
        "lanes with N first do not share B with i^1"
    );
}
