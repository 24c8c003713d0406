//! Producers and consumers over the ring, under adversarial schedulers: no shipped program has a
//! fault, and the checked machine finds every mutant.

use crate::harness::{prelude::*, tma_ring::programs::*};
use falchion_check::{
    machine::Tally,
    mutation::{
        NamedFault, drop_each,
        tma_ring::ring_faults::{RING_FAULTS, RingNeeds},
        weaker,
    },
};

/// No shipped program has a fault. The test varies the number of stages (2 to 7), pending products,
/// clusters, the schedule, the k-tiles (0 to 20), the tiles of D (1 to 5), and the place of C.
/// Consumers multiply on tensor cores and on CUDA cores.
#[test]
fn shipped_programs_have_no_fault() {
    let (mut runs, mut total, start) = (0, Tally::default(), Instant::now());
    for stages in 2..=7 {
        for pending in [0, 1] {
            for shared in [None, Some(A), Some(B)] {
                let ring = Pipeline { source: pending == 1, ..ring(stages, shared) };
                let together = legal(ring, &options(pending));
                let pingpong = Pipeline { pingpong: true, ..ring };
                let pingpong = legal(pingpong, &options(pending));
                // Consumers that promote wait for all products.
                let promoted = legal(ring, &promoting(1 + pending));
                let pingpong_promoted = legal(pingpong.ring, &promoting(1 + pending));
                let threads = [by_threads(together.ring), by_threads(pingpong.ring)];
                let fragments = legal(ring, &from_registers(pending));
                let mut programs =
                    vec![&together, &pingpong, &promoted, &pingpong_promoted, &fragments];
                if pending == 0 {
                    // Threads have no pending products, and do not read C through buffers.
                    programs.extend(&threads);
                }
                for (seed, program) in
                    (0..210).flat_map(|seed| programs.iter().map(move |program| (seed, *program)))
                {
                    // Under every third seed, all units have the same depth.
                    let k_tiles: Vec<u32> = (0..=seed % 5)
                        .map(|unit| (seed / 5 + unit * (seed % 3) * 8) % 21)
                        .collect();
                    let work = ClusterWork { k_tiles: &k_tiles, source: seed % 2 == 0 };
                    let tally = check(program, work, u64::from(seed)).unwrap_or_else(|fault| {
                        panic!("{stages} stages, {pending} pending, {shared:?}, {work:?}, seed {seed}: {fault}")
                    });
                    let blocks = u64::from(program.ring.blocks());
                    let (tiles, all_k) =
                        (k_tiles.len() as u64, u64::from(k_tiles.iter().sum::<u32>()));
                    let readers = 4 * u64::from(program.ring.readers());
                    assert_eq!(tally.products, blocks * readers * all_k);
                    assert_eq!(tally.stores, blocks * readers * tiles);
                    assert_eq!(
                        tally.sources,
                        if program.ring.source && work.source { tally.stores } else { 0 }
                    );
                    // Each CTA receives its share of the operand that is not shared, and one share
                    // per CTA of the shared operand.
                    assert_eq!(
                        tally.copies,
                        blocks * all_k * if blocks == 1 { 2 } else { 1 + blocks }
                    );
                    assert_eq!(
                        tally.arrivals,
                        if blocks == 1 { 0 } else { blocks * readers * all_k }
                    );
                    runs += 1;
                    total.steps += tally.steps;
                    total.copies += tally.copies;
                    total.most_under_way = total.most_under_way.max(tally.most_under_way);
                }
            }
        }
    }
    println!(
        "{runs} runs, {} steps, {} copies, at most {} operations in flight, no fault, {:.1} s",
        total.steps,
        total.copies,
        total.most_under_way,
        start.elapsed().as_secs_f64()
    );
    assert_eq!(runs, 6 * 3 * (7 + 5) * 210);
    assert!(total.most_under_way >= 20);
}

fn find(program: &RingProgram) -> Option<String> {
    find_fault(program).map(|(fault, _)| kind(&fault))
}

#[test]
fn every_dropped_role_step_is_found() {
    drop_each(&subjects(), find).check(1978);
}

#[test]
fn every_weakened_role_step_is_found() {
    weaken_each(&subjects(), weaker, find).check(285);
}

#[test]
fn ring_maps_with_wrong_edges_are_found() {
    let equivalent = |program: &RingProgram, map: &str, edge: &str| match map {
        "share" | "destinations" if program.ring.multicast.is_none() => Some("no copy is shared"),
        "producer position" | "consumer position" if edge.contains("last point") => {
            Some("no work reaches the last tile")
        }
        _ => None,
    };
    // An equivalent mutant runs under five seeds, and the next one under the next five.
    let find = |program: &RingProgram, equivalent: Option<usize>| {
        let first = equivalent.map(|number| 5 * number as u64 % SEEDS);
        let seeds = first.map_or(0..SEEDS, |first| first..first + 5);
        find_fault_among(program, seeds).map(|(fault, _)| kind(&fault))
    };
    mutate_edges(&subjects(), equivalent, find).check(479);
}

#[test]
fn every_named_ring_fault_is_found() {
    assert_eq!(RING_FAULTS.len(), 101);
    let find = |_: &str, program: &RingProgram| find(program);
    apply_each(&subjects(), RING_FAULTS, RingNeeds::has, |p| p, find).check(2637);
}

#[test]
fn main_loop_page_names_the_faults_of_removed_role_steps() {
    let page: Vec<_> =
        include_str!("../../../book/src/mainloop.md").lines().map(without_numbers).collect();
    let program = legal(Pipeline { pingpong: true, ..ring(6, None) }, &options(1));
    for removed in [
        RoleStep::AwaitFull,
        RoleStep::FenceOperands,
        RoleStep::AwaitProducts { pending: 1 },
        RoleStep::Release { behind: 1 },
        RoleStep::Expect,
    ] {
        let mutant = without_first(&program, Section::Body, removed);
        let (fault, _) = find_fault(&mutant).expect("a fault");
        let fault = without_numbers(&fault.to_string());
        assert!(page.iter().any(|line| line.contains(&fault)), "{removed}: {fault}");
    }
}

/// Returns the reason why two neighboring steps may be swapped, if they may.
pub(super) fn commute(
    program: &RingProgram,
    first: RoleStep,
    second: RoleStep,
) -> Option<&'static str> {
    use RoleStep::{
        AwaitFull, AwaitProducts, AwaitRead, AwaitSource, AwaitStores, AwaitTurn, ClearOutside,
        CopyTensor, Expect, ExpectPartials, ExpectSource, FenceBarrierInit, FenceOperands,
        FenceProxy, FetchSource, GatherLines, LoadFirst, LoadFragments, Meet, MeetBlock,
        MeetCleared, MultiplyLast, PassTurn, Promote, ReduceSlices, Release, SendPartials,
        SkipEarlier, SkipLater, StageVectors, StoreStaging, StoreTensor, StoreThreads,
    };
    let one_way = |x: RoleStep, y: RoleStep| match (x, y) {
        (Expect, CopyTensor { .. }) | (ExpectSource, FetchSource { .. }) => {
            Some("bytes may land before they are announced: the phase waits for the arrival")
        }
        (CopyTensor { .. }, CopyTensor { .. })
        | (CopyTensor { .. }, GatherLines { .. })
        | (GatherLines { .. }, GatherLines { .. }) => Some("each has its own share"),
        (FenceProxy, LoadFragments) => Some("threads load an operand that TMA copied"),
        (FenceProxy, ClearOutside) => Some("threads clear through the proxy that gathers"),
        (FetchSource { .. }, FetchSource { .. })
        | (StoreStaging { .. }, StoreStaging { .. })
        | (StoreTensor { .. }, StoreTensor { .. }) => Some("each has its own buffer"),
        (SkipEarlier, AwaitTurn)
        | (PassTurn, SkipLater | AwaitProducts { .. } | Release { .. }) => {
            Some("one concerns the ring, one the turns")
        }
        (StageVectors, AwaitProducts { .. } | PassTurn) => {
            Some("one concerns the epilogue, one products")
        }
        (SkipLater, AwaitProducts { .. } | AwaitStores { .. } | StoreThreads) => {
            Some("one concerns the ring, one the turns")
        }
        (AwaitFull | MeetCleared | FenceProxy, FenceOperands) => {
            Some("one concerns memory, one registers")
        }
        (Promote { .. }, Release { .. }) | (LoadFirst, MultiplyLast) => {
            Some("one concerns registers, one stages")
        }
        (SkipLater | Release { .. }, ReduceSlices) => Some("one concerns stages, one accumulators"),
        (SkipLater | Release { .. }, AwaitRead) => Some("one concerns stages, one slots"),
        (SendPartials, ExpectPartials) => Some("each concerns other CTAs"),
        (Release { .. }, AwaitStores { .. }) => Some("one concerns stages, one staging"),
        (FenceBarrierInit, MeetBlock)
            if !program.ring.gathers() && (!program.ring.source || program.split_k) =>
        {
            Some("without a cluster, the thread that initializes barriers issues the first copy")
        }
        (Meet, ExpectSource | AwaitSource) => {
            Some("fetches are ordered after the stores of the same thread")
        }
        _ => None,
    };
    one_way(first, second).or_else(|| one_way(second, first))
}

#[test]
fn swapped_neighbors_are_found_or_commute() {
    use Section::{Body, Closing, Epilogue, Opening, Tail};
    // An equivalent mutant runs under one fifth of all seeds, and the next one under the next
    // fifth.
    let find = |program: &RingProgram, equivalent: Option<usize>| {
        let fifth = equivalent.map(|number| SEEDS / 5 * (number as u64 % 5));
        let seeds = fifth.map_or(0..SEEDS, |fifth| fifth..fifth + SEEDS / 5);
        find_fault_among(program, seeds).map(|(fault, _)| kind(&fault))
    };
    let sections = [Opening, Body, Tail, Epilogue, Closing];
    let findings = swap_each(&subjects(), &sections, commute, find);
    findings.check(1226);
    assert_eq!(findings.kinds("equivalent").len(), 12);
}

/// Programs with split-K in a cluster have no fault. The cluster has two to eight CTAs, which send
/// their partials to the first CTA. The depth varies.
#[test]
fn cluster_split_k_programs_have_no_fault() {
    let mut runs = 0;
    for (blocks, stages, pingpong, pending) in
        [2, 3, 5, 8].into_iter().flat_map(|blocks| [(blocks, 2, false, 1), (blocks, 3, true, 0)])
    {
        let program = gathering(
            blocks,
            Pipeline { pingpong, source: pending == 1, ..ring(stages, None) },
            &options(pending),
        );
        for seed in 0..60u32 {
            let units = seed % 6;
            let k_tiles: Vec<u32> =
                (0..units * blocks).map(|unit| (seed / 5 + unit * (seed % 3) * 8) % 11).collect();
            let work = ClusterWork { k_tiles: &k_tiles, source: seed % 2 == 0 };
            let tally = check(&program, work, seed.into())
                .unwrap_or_else(|fault| panic!("{blocks} blocks, {work:?}, seed {seed}: {fault}"));
            let (units, senders, readers) =
                (u64::from(units), u64::from(blocks - 1), 4 * u64::from(program.ring.readers()));
            assert_eq!(tally.products, readers * u64::from(k_tiles.iter().sum::<u32>()));
            assert_eq!(
                (tally.stores, tally.partials),
                (units * readers, units * readers * senders)
            );
            // After a consumer's last unit, no CTA is notified that its partials were read.
            let told = if pingpong { units.saturating_sub(2) } else { units.saturating_sub(1) };
            assert_eq!(tally.arrivals, told * readers * senders);
            runs += 1;
        }
    }
    assert_eq!(runs, 8 * 60);
}

/// Accumulators need a fence after other instructions have accessed them. One fence per tile of D
/// suffices for plain accumulators. It does not suffice for partial accumulators, which are read
/// after each instruction tile, or for fragments of A, which are written before each stage.
#[test]
fn one_operand_fence_per_tile_suffices_without_promotion_and_fragments() {
    for (name, mut program) in subjects() {
        program.roles.consumer.body.retain(|step| *step != RoleStep::FenceOperands);
        program.roles.consumer.prologue.push(RoleStep::FenceOperands);
        let needed = program.promoted_tiles + program.fragment_sets > 0;
        let seeds = if needed { 0..SEEDS } else { 0..SEEDS / 5 };
        let found = find_fault_among(&program, seeds).map(|(fault, _)| kind(&fault));
        assert_eq!(found, needed.then(|| "OperandsNotFenced".to_owned()), "{name}");
    }
}

/// The message of a fault names the warp, the address, and the cause.
#[test]
fn fault_messages_name_warp_address_and_cause() {
    let mut program = program(2, 0, None);
    program.roles.consumer.closing.clear();
    let (fault, _) = find_fault(&program).expect("a fault");
    let says = fault.to_string();
    assert!(
        says.ends_with("is the last to leave, and a store still reads its block's memory"),
        "{says}"
    );
}

/// A program on a cluster of eight CTAs with 96 warps has no fault. The machine finds each removed
/// step, and faults of only the last CTA.
#[test]
fn a_cluster_of_96_warps_is_checked() {
    let shared = Some(SharedOperand { operand: A, blocks: 8 });
    let ring = Pipeline { multicast: shared, ..ring(3, None) };
    let program = legal(ring, &options(1));
    assert_eq!(ring.blocks() * ring.threads() / WARP, 96);
    for (seed, work) in (0..10).flat_map(|seed| WORKS.map(|work| (seed, work))) {
        let tally = check(&program, work, seed)
            .unwrap_or_else(|fault| panic!("{work:?}, seed {seed}: {fault}"));
        assert_eq!(tally.products, u64::from(8 * 8 * work.k_tiles.iter().sum::<u32>()));
    }
    let subject = [("96 warps".to_owned(), program)];
    drop_each(&subject, find).check(39);
    let of_last: [NamedFault<RingProgram, RingNeeds>; 3] = [
        ("its warps arrive only at CTA 0", RingNeeds::Cluster, |p| {
            mutate(&mut p.released, |map, point| {
                map.at(point).map(|rank| if point.row == 7 { 0 } else { rank })
            });
        }),
        ("it copies the previous CTA's share", RingNeeds::Cluster, |p| {
            revalue(&mut p.share, |share| share.min(6))
        }),
        ("no CTA copies to it", RingNeeds::Cluster, |p| {
            mutate(&mut p.destinations, |map, point| {
                map.at(point).map(|rank| if rank == 7 { point.row } else { rank })
            });
        }),
    ];
    apply_each(&subject, &of_last, RingNeeds::has, |p| p, |_, program| find(program)).check(3);
}
