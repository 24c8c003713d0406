//! Law of grouped work: over all CTAs of a grid, every tile of every group is in exactly one unit,
//! and no unit reaches beyond D, for any offsets.

use super::work::{ORDERS, TILE};
use crate::harness::{prelude::*, random_cases::cases};
use falchion::threadblock::{GroupedWork, lines_of_rectangle};
use proptest::prelude::*;

/// Returns unit `i` of a CTA.
type Taken = fn(&GroupedWork<'_>, u32, u32, u32) -> Option<(Unit, [u32; 2])>;

const RIGHT: Taken = |work, cluster, rank, i| work.unit(cluster, rank, i);

/// Returns the work of a grouped call, as in a launch.
fn work(
    kind: WorkKind,
    order: SwizzleKind,
    cluster: Mn,
    axis: Axis,
    (lines, across): (u32, u32),
    (groups, step): (usize, u32),
    resident: u32,
) -> Work {
    let (m, n) = if axis == Axis::M { (lines, across) } else { (across, lines) };
    let desc = HopperRows::<Bf16, f32>::DESC;
    let problem = Problem::new(
        &desc,
        (m as usize, n as usize, 12),
        [None; 3],
        [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    );
    let problem =
        Problem { batch: groups, groups: Some(Groups::with_count(axis, groups)), ..problem };
    problem.work((kind, order, 1), (TILE, cluster, step), 3, resident).expect("few tiles")
}

/// Checks that the units of all CTAs cover the rows and columns of each group exactly once.
fn covered(
    grouped: &GroupedWork<'_>,
    (extent, across): (u32, u32),
    taken: Taken,
) -> Result<(), String> {
    let Work { cluster, clusters, kind, .. } = grouped.work;
    let down = grouped.axis == Axis::M;
    let (tile, tile_across) = if down { (TILE.m, TILE.n) } else { (TILE.n, TILE.m) };
    let mut computed = BTreeMap::<(u32, u32, u32), u32>::new();
    for (number, rank) in
        (0..clusters).flat_map(|number| (0..cluster.m * cluster.n).map(move |rank| (number, rank)))
    {
        let mut i = 0;
        while let Some((unit, [first, limit])) = taken(grouped, number, rank, i) {
            if first > limit || limit > extent {
                return Err(format!("lines {first} to {limit} of {extent}"));
            }
            let (along, other) =
                if down { (unit.row, unit.column) } else { (unit.column, unit.row) };
            let begin = first - first % grouped.step;
            let lines = (begin + along * tile..begin + (along + 1) * tile)
                .filter(|&line| first <= line && line < limit);
            if lines.clone().next().is_none() && cluster == Mn::ONE {
                return Err(format!("{unit:?} has no line of {first} to {limit}"));
            }
            for line in lines {
                for column in (other * tile_across..(other + 1) * tile_across)
                    .filter(|&column| column < across)
                {
                    *computed.entry((unit.product, line, column)).or_default() += 1;
                }
            }
            if unit.k_count != 3 {
                return Err(format!("{unit:?} does not cover K"));
            }
            i += 1;
            if kind == WorkKind::DataParallel && i > 1 {
                return Err("a CTA of such a grid has one unit".into());
            }
        }
    }
    for (product, ends) in grouped.offsets.windows(2).enumerate() {
        for line in ends[0]..ends[1] {
            for column in 0..across {
                match computed.remove(&(product as u32, line, column)) {
                    Some(1) => {}
                    times => {
                        return Err(format!(
                            "({line}, {column}) of group {product} is computed {times:?} times"
                        ));
                    }
                }
            }
        }
    }
    computed.keys().next().map_or(Ok(()), |element| Err(format!("{element:?} belongs to no group")))
}

const CLUSTERS: [(u32, u32); 5] = [(1, 1), (2, 1), (1, 2), (4, 1), (2, 4)];

proptest! {
    #![proptest_config(cases(256))]

    #[test]
    fn every_group_is_in_units_once(
        (kind, order, cluster, along_m) in (0usize..2, 0usize..4, 0usize..5, any::<bool>()),
        lengths in prop::collection::vec(prop::sample::select(vec![0u32, 0, 1, 7, 8, 9, 15, 16, 17, 33, 70]), 0..9),
        (before, behind, across, resident) in (0u32..20, 0u32..20, 1u32..40, 1u32..20),
        step in prop::sample::select(vec![1u32, 2, 4, 8]),
    ) {
        let mut offsets = vec![before];
        lengths.iter().for_each(|length| offsets.push(offsets[offsets.len() - 1] + length));
        prop_assume!(offsets.len() > 1);
        let extent = offsets[offsets.len() - 1] + behind;
        let axis = if along_m { Axis::M } else { Axis::N };
        let cluster = Mn { m: CLUSTERS[cluster].0, n: CLUSTERS[cluster].1 };
        let kind = [WorkKind::DataParallel, WorkKind::Persistent][kind];
        let work = work(kind, ORDERS[order], cluster, axis, (extent, across), (offsets.len() - 1, step), resident);
        let grouped = GroupedWork { work, axis, lines: lines_of_rectangle(axis, TILE, cluster), step, extent, offsets: &offsets };
        prop_assert_eq!(covered(&grouped, (extent, across), RIGHT), Ok(()));
    }

    /// For any offsets, rows stay within D and ascend, and the enumeration of units ends.
    #[test]
    fn units_stay_within_d_for_any_offsets(offsets in prop::collection::vec(any::<u32>(), 0..9), small in any::<bool>(), extent in 0u32..300, step in prop::sample::select(vec![1u32, 8])) {
        let offsets: Vec<u32> = offsets.into_iter().map(|offset| if small { offset % 400 } else { offset }).collect();
        let work = work(WorkKind::Persistent, SwizzleKind::Horizontal, Mn::ONE, Axis::M, (extent, 20), (offsets.len().max(2) - 1, step), 4);
        let grouped = GroupedWork { work, axis: Axis::M, lines: TILE.m, step, extent, offsets: &offsets };
        for cluster in 0..work.clusters {
            let mut last = 0;
            for i in 0.. {
                let Some((_, [first, limit])) = grouped.unit(cluster, 0, i) else { break };
                prop_assert!(last <= first && first < limit && limit <= extent, "{first} to {limit} behind {last} of {extent}");
                last = first;
                prop_assert!(i < 1000);
            }
        }
    }
}

/// Wrong enumerations of units are found. The message names the missing or repeated part.
#[test]
fn wrong_group_enumerations_are_found() {
    let offsets = [2, 35, 35, 36, 68];
    let work = work(
        WorkKind::Persistent,
        SwizzleKind::Horizontal,
        Mn { m: 2, n: 1 },
        Axis::M,
        (70, 20),
        (4, 1),
        3,
    );
    let grouped = GroupedWork {
        work,
        axis: Axis::M,
        lines: 2 * TILE.m,
        step: 1,
        extent: 70,
        offsets: &offsets,
    };
    covered(&grouped, (70, 20), RIGHT).expect("the correct enumeration");
    #[rustfmt::skip]
    let mutations: [(&str, Taken, &str); 8] = [
        ("an empty group is counted", |w, c, r, i| { w.unit(c, r, i).map(|(u, l)| (Unit { product: u.product - u32::from(u.product > 1), ..u }, l)) }, "group 2"),
        ("the first row is that of D", |w, c, r, i| w.unit(c, r, i).map(|(u, [_, limit])| (u, [0, limit])), "None times"),
        ("a group ends with D", |w, c, r, i| w.unit(c, r, i).map(|(u, [first, _])| (u, [first, 70])), "belongs to no group"),
        ("a group ends one line too early", |w, c, r, i| w.unit(c, r, i).map(|(u, [first, limit])| (u, [first, limit - 1])), "None times"),
        ("the last tile of a group is omitted", |w, c, r, i| w.unit(c, r, i).filter(|(u, l)| (u.row + 1) * 16 < l[1] - l[0]), "None times"),
        ("every group starts with the first tile", |w, c, r, i| w.unit(c, r, i).map(|(u, l)| (Unit { row: u.row & 1, ..u }, l)), "Some(2) times"),
        ("all ranks are rank 0", |w, c, _, i| w.unit(c, 0, i), "times"),
        ("a cluster computes the next cluster's units", |w, c, r, i| w.unit(c + 1, r, i), "None times"),
    ];
    for (name, taken, said) in mutations {
        let error = covered(&grouped, (70, 20), taken).expect_err(name);
        println!("{name}: {error}");
        assert!(error.contains(said), "{name}: {error}");
    }
}

/// An enumeration that ignores where tiles begin omits lines. One that computes a tile of an empty
/// group reads a group that does not exist.
#[test]
fn group_enumerations_without_the_step_are_found() {
    let offsets = [2, 7, 7, 36, 41, 68];
    let work =
        work(WorkKind::Persistent, SwizzleKind::Horizontal, Mn::ONE, Axis::M, (70, 20), (5, 8), 3);
    let grouped =
        GroupedWork { work, axis: Axis::M, lines: TILE.m, step: 8, extent: 70, offsets: &offsets };
    covered(&grouped, (70, 20), RIGHT).expect("the correct enumeration");
    let forgotten: Taken = |w, c, r, i| GroupedWork { step: 1, ..*w }.unit(c, r, i);
    let error = covered(&grouped, (70, 20), forgotten).expect_err("tiles begin at the first line");
    assert!(error.contains("is computed None times"), "{error}");
    let farther: Taken = |w, c, r, i| GroupedWork { step: 16, ..*w }.unit(c, r, i);
    let error = covered(&grouped, (70, 20), farther).expect_err("tiles begin too early");
    assert!(error.contains("has no line of"), "{error}");
}

/// For every kernel, the tile is a multiple of the step, and TMA reads along groups from multiples
/// of 16 bytes.
#[test]
fn steps_of_random_kernels_are_vectors() {
    let mut steps = BTreeMap::<(u64, u32), u32>::new();
    let kernel_kinds =
        [KernelKind::Simt, KernelKind::WgmmaRing, KernelKind::MmaSync, KernelKind::SimtRing];
    for kernel_kind in kernel_kinds {
        for seed in 0..64 {
            let d =
                description(seed, Wanted { kernel_kind, ..Wanted::default() }).for_groups(Axis::M);
            let (axis, step) = (d.work.mode.groups().expect("groups"), d.group_step());
            let tile = if axis == Axis::M { d.threadblock().m } else { d.threadblock().n };
            let operand = OperandKind::along(axis);
            let bytes = d.operand(operand).stored.matrix_bytes(step.into());
            assert!(step > 0 && tile.is_multiple_of(step) && bytes <= 16, "{step}: {d:?}");
            if d.has_producer() {
                let along = d.reads_transposed(operand) == d.k_contiguous(operand);
                assert_eq!((step > 1, bytes == 16), (along, along || bytes == 16), "{d:?}");
            } else {
                assert!(step == 1 || !d.k_contiguous(operand), "{d:?}");
            }
            *steps.entry((kernel_kind as u64, step)).or_default() += 1;
        }
    }
    println!("{steps:?}");
    assert!(4 * steps.len() > 10 * kernel_kinds.len());
}

/// JSON has the groups' axis of the user's D. It reads back for both orders of D.
#[test]
fn grouped_descriptions_read_back_from_json() {
    let types = element_types(ElementKind::Bf16, ElementKind::F32, ElementKind::F32);
    for order in [Order::Row, Order::Col] {
        for (axis, mode) in [(Axis::M, "grouped-m"), (Axis::N, "grouped-n")] {
            let orders = [Order::Row, Order::Row, order];
            let desc = default_of(OpKind::TensorOp, ArchKind::Sm90, types, orders).for_groups(axis);
            let json = desc.to_json().expect("text");
            assert!(json.contains(mode), "{axis:?} of {order:?}: {json}");
            assert_eq!(GemmDesc::from_json(&json).expect("a description"), desc);
            let older = json.replace("\"swapped\":", "\"exchanged\":");
            assert_eq!(GemmDesc::from_json(&older).expect("the name before 2026-11-30"), desc);
        }
    }
}

/// The grid has the maximum number of rectangles that groups may need, and no more than some groups
/// need.
#[test]
fn a_grid_has_the_rectangles_that_groups_may_need() {
    for (lines, groups) in [(1, 1), (1, 5), (16, 2), (17, 2), (33, 3), (100, 7), (5, 100)] {
        let work = work(
            WorkKind::DataParallel,
            SwizzleKind::Horizontal,
            Mn::ONE,
            Axis::M,
            (lines, 8),
            (groups, 1),
            1,
        );
        // For lines in any order: one rectangle for each group but one, and the rest.
        let singles = (groups as u32).min(lines) - 1;
        let most = (0..=singles).map(|ones| ones + (lines - ones).div_ceil(TILE.m)).max();
        assert_eq!(Some(work.clusters), most, "{lines} lines in {groups} groups");
    }
}

/// If an operand is contiguous along the groups, the tiles of a group begin at whole vectors of the
/// operand. The refusal of grouped GEMM with split-K names the rule.
#[test]
fn tiles_of_groups_begin_at_vectors_of_contiguous_operands() {
    type ByColumns = Gemm<Bf16, ColMajor, Bf16, ColMajor, Bf16, RowMajor, f32, TensorOp, Sm90>;
    type Exchanged = Gemm<Bf16, ColMajor, Bf16, ColMajor, Bf16, ColMajor, f32, TensorOp, Sm90>;
    type Rows = HopperK<Bf16, Bf16>;
    let of_groups = |desc: GemmDesc| desc.for_groups(Axis::M);
    let steps = [ByColumns::DESC, Exchanged::DESC, Rows::DESC].map(|desc| {
        assert_eq!((of_groups(desc).check(), desc.group_step()), (Ok(()), 1));
        of_groups(desc).group_step()
    });
    assert_eq!(steps, [8, 8, 1]);
    let said = of_groups(Rows::DESC.cut(3)).check().message();
    assert_eq!(said, "split_k = 3 is not 1 (grouped GEMM keeps K whole); try 1");
}
