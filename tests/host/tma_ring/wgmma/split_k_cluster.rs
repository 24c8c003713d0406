//! Split-K in a cluster: D has the bits of split-K through a workspace with the same number of
//! slices, and no workspace is needed.

use crate::harness::{decompositions::product, prelude::*, tma_ring::subject::program};
use falchion::nest::{ClusterShape, CooperativeSchedule, DataParallel, StreamK};

type Tile = With<With<SmallTile, SplitK<3>>, CooperativeSchedule>;
type Small = HopperK<Bf16, f32, RowMajor, With<With<Tile, Stages<3>>, SplitKCluster>>;

/// D has the bits of split-K through a workspace with two to eight slices, in both modes, and with
/// one to nine clusters. D without split-K has other bits.
#[test]
fn cluster_split_k_has_the_bits_of_workspace_split_k() {
    for ((m, n, k), clusters, slices) in [
        ((130, 70, 640), 2, 3),
        ((64, 64, 1300), 1, 8),
        ((200, 130, 200), 3, 2),
        ((1, 3, 512), 9, 5),
    ] {
        let (a, b) = rounding_operands((m, n, k), Bf16::from_f32);
        let desc = but!(Small::DESC, split_k: slices);
        let split = but!(desc, decomposition: DecompositionKind::SplitK);
        let wanted = product(&split, None, (m, n, k), [&a, &b]);
        for (desc, on) in [(&split, Some(clusters)), (&desc, Some(clusters)), (&desc, None)] {
            let found = product(desc, on, (m, n, k), [&a, &b]);
            assert_eq!(wanted, found, "{m} x {n} x {k} on {on:?}: {desc:?}");
        }
        let whole = product(&but!(split, split_k: 1), None, (m, n, k), [&a, &b]);
        assert!(k < 600 || whole != wanted, "sums are rounded at the end of each slice");
    }
}

/// The slots for the slices of other CTAs are in shared memory, and the workspace is empty.
#[test]
fn cluster_slots_are_in_shared_memory() {
    let desc = Small::DESC;
    assert_eq!(desc.check(), Ok(()));
    assert_eq!(Partials::new(&desc, (640, 640), 3).bytes(), 0);
    let split = but!(desc, decomposition: DecompositionKind::SplitK);
    assert!(Partials::new(&split, (640, 640), 3).bytes() > 0);
    let bytes = |desc: GemmDesc| desc.components().expect("a kernel").ring.shared_bytes();
    let consumers = desc.components().expect("a kernel").ring.consumers;
    // Each consumer has one f32 tile per other CTA, and two barriers.
    let slots = |slices: u32| consumers * ((slices - 1) * 64 * 64 * 4 + 16);
    for slices in [2, 3, 4] {
        let [with, without] =
            [but!(desc, split_k: slices, stages: 3), but!(split, stages: 3)].map(bytes);
        assert_eq!(with - without, slots(slices));
    }
    let one = but!(desc, split_k: 1);
    assert_eq!(
        (bytes(one), one.check()),
        (bytes(but!(split, split_k: 1)), Ok(())),
        "one slice is not split-K"
    );
}

type Few<Cfg> = HopperK<Bf16, f32, RowMajor, Cfg>;

/// The selection uses split-K in a cluster for a problem with few tiles, even without a workspace.
/// D has the bits of split-K through a workspace. The selection does not use it for groups, or if a
/// pin fixes the decomposition, the split-K slices, the cluster, or the tile.
#[test]
fn few_tiles_select_cluster_split_k() {
    let machine = ArchKind::Sm90.machine();
    let size = ProblemSize::new((16, 2112, 7168));
    let chosen = Few::<Auto>::new().desc_for(&size, &machine);
    assert_eq!((chosen.cuts_by_cluster(), chosen.split_k(), chosen.threadblock().n), (true, 2, 16));
    assert_eq!(
        Few::<Auto>::new().desc_for(&ProblemSize { workspace: 0, ..size }, &machine),
        chosen
    );
    // C needs staging buffers in shared memory.
    assert!(
        Few::<With<Auto, EpilogueTree<LinearCombination>>>::new()
            .desc_for(&size, &machine)
            .cuts_by_cluster()
    );
    macro_rules! pinned {
        ($($pin:ty),*) => { [$(Few::<With<Auto, $pin>>::new().desc_for(&size, &machine)),*] };
    }
    type Wide = Threadblock<GemmShape<128, 128, 64>>;
    let pinned = pinned!(SplitK<4>, SplitK<1>, DataParallel, StreamK, ClusterShape<1, 1>, Wide);
    assert!(pinned.iter().all(|desc| !desc.cuts_by_cluster()), "{pinned:?}");
    assert_eq!(pinned.map(|desc| desc.split_k())[..4], [4, 1, 1, 1]);
    for rows in [16, 100, 4096] {
        let groups =
            Few::<Auto>::new().desc_for(&ProblemSize::for_groups((rows, 2112, 7168), 1), &machine);
        assert!(
            !groups.cuts_by_cluster() && groups.for_groups(Axis::M).check().is_ok(),
            "{groups:?}"
        );
    }
    let batch = Few::<Auto>::new()
        .desc_for(&ProblemSize { batch: 2, ..ProblemSize::new((16, 1024, 7168)) }, &machine);
    assert!(
        batch.cuts_by_cluster()
            && batch.for_batch(2).check().is_ok()
            && batch.for_array(2).check().is_ok()
    );
    let (m, n, k) = (16, 130, 1300);
    let (a, b) = rounding_operands((m, n, k), Bf16::from_f32);
    let wanted =
        product(&but!(chosen, decomposition: DecompositionKind::SplitK), None, (m, n, k), [&a, &b]);
    for clusters in [None, Some(1), Some(2), Some(7)] {
        assert_eq!(wanted, product(&chosen, clusters, (m, n, k), [&a, &b]), "{clusters:?}");
    }
}

#[test]
fn refusals_name_the_rule() {
    let small = Small::DESC;
    let slices = |split_k| but!(small, split_k: split_k);
    let wide = |m, n| but!(small, cluster: Mn { m, n });
    let deep = "shared memory of a block = 237784 bytes exceeds 232448 bytes (12 stages of 16384 and 41176; sm_90 with 1 block per multiprocessor); try stages = 11";
    for (desc, said) in [
        (slices(9), "split_k = 9 is outside 1 to 8 (splitkcluster); try 8"),
        (slices(0), "split_k = 0 is outside 1 to 8 (splitkcluster); try 1"),
        (wide(2, 1), "cluster M = 2 is not 1 (splitkcluster); try 1"),
        (wide(1, 4), "cluster N = 4 is not 1 (splitkcluster); try 1"),
        (small.for_groups(Axis::M), "split_k = 3 is not 1 (grouped GEMM keeps K whole); try 1"),
        (but!(small, stages: 12), deep),
    ] {
        assert_eq!(desc.check().message(), said);
    }
    let gemm = Small::new();
    let (a, b, mut d) = (vec![Bf16::ZERO; 128], vec![Bf16::ZERO; 128], vec![0.0f32; 1]);
    let refused = gemm.run(Arguments::new((1, 1, 128), &a, &b, &mut d)).message();
    assert_eq!(refused, "split_k = 3 is outside 1 to 2 (a slice has at least one k-tile); try 2");
}

/// The checked machine reports each wrong assignment of slices to CTAs, or D has wrong bits.
#[test]
fn wrong_cluster_slices_are_found() {
    let split = but!(Small::DESC, decomposition: DecompositionKind::SplitK);
    let (subject, right) = (Subject::new(&split), program(&Small::DESC));
    assert_eq!(subject.wrong(&right, 3), None);
    type Change = fn(&mut WarpSpecializedProgram);
    #[rustfmt::skip]
    let changes: [(&str, Change); 4] = [
        ("every CTA computes the first slice", |p| { p.units = std::sync::Arc::new(|work, cluster, _, i| work.unit(cluster, 0, i)); }),
        ("slices are swapped", |p| { p.units = std::sync::Arc::new(|work, cluster, rank, i| { work.unit(cluster, work.split_k - 1 - rank, i) }); }),
        ("the slice of the last CTA ends one k-tile too early", |p| { p.units = std::sync::Arc::new(|work, cluster, rank, i| { let unit = work.unit(cluster, rank, i)?; Some(falchion::threadblock::Unit { k_count: unit.k_count - u32::from(rank == 2),..unit }) }); }),
        ("each CTA of a cluster computes its own tile", |p| { p.units = std::sync::Arc::new(|work, cluster, rank, i| { falchion::threadblock::Work { kind: WorkKind::Persistent, ..*work }.unit(cluster, rank, i) }); }),
    ];
    for (name, change) in changes {
        let mut mutant = right.clone();
        change(&mut mutant);
        let found = (0..20)
            .find_map(|seed| subject.wrong(&mutant, seed))
            .unwrap_or_else(|| panic!("{name}: not found"));
        println!("{name}: {found}");
    }
}
