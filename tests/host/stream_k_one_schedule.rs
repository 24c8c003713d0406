//! Stream-K of kernels whose threads all follow one schedule. Integers are exact on any number of
//! CTAs, the barrier between units is necessary, and the workspace holds all partials.

mod simt;

use crate::harness::{integers::wrong, prelude::*};
use falchion::{numeric::sum_of, threadblock::tickets_of};

const CHECKED: Mode = Mode::Checked { seed: 7 };

fn kernel(types: [&str; 3], op: OpKind, knobs: &[(&str, &str)]) -> GemmDesc {
    described(types, (op, ArchKind::Sm80), knobs)
}

/// MMAs with their main loops.
const MAIN_LOOPS: &[(WarpMmaKind, &[MainloopKind])] =
    &[(WarpMmaKind::Simt, ONE_SCHEDULE), (WarpMmaKind::MmaSync, MULTISTAGE_OR_OTHER)];

/// MMAs with one main loop each.
const ONE_MAIN_LOOP: &[(WarpMmaKind, MainloopKind)] =
    &[(WarpMmaKind::Simt, THROUGH_REGISTERS[0]), (WarpMmaKind::MmaSync, MULTISTAGE_OR_OTHER[0])];

/// Returns stream-K kernels with two warp slices: every main loop, SIMT and `mma.sync`.
fn sliced() -> Vec<GemmDesc> {
    let sliced = |&(mma, mainloops): &(_, &[MainloopKind])| {
        mainloops.iter().map(move |&mainloop| sliced_in(mma, mainloop)).collect::<Vec<_>>()
    };
    MAIN_LOOPS.iter().flat_map(sliced).collect()
}

/// Returns the stream-K kernel of a main loop with two warp slices.
fn sliced_in(mma: WarpMmaKind, mainloop: MainloopKind) -> GemmDesc {
    let op = op_of(mma);
    let types = match op {
        OpKind::Simt => ["f32:row"; 3],
        OpKind::TensorOp => ["f16:row", "f16:col", "f32:row"],
    };
    let knobs = [
        ("decomposition", "streamk"),
        ("threadblock", "64x64x32"),
        ("warp", "32x32x16"),
        ("mainloop", mainloop.name()),
    ];
    kernel(types, op, &knobs)
}

/// Returns the program for a device that holds `clusters` CTAs at once.
fn program(desc: &GemmDesc, clusters: u32) -> Program {
    Program { clusters, ..desc.one_schedule().expect("a kernel of one schedule") }
}

/// Returns extents with more tiles than two CTAs compute at once, and with ragged edges.
fn several_tiles(desc: &GemmDesc) -> [usize; 3] {
    let tile = desc.threadblock();
    let [m, n, k] = [tile.m, tile.n, tile.k].map(|extent| extent as usize);
    [2 * m + m / 2 + 1, 2 * n - 3, 3 * k - 1]
}

/// Random SIMT and `mma.sync` kernels with every main loop, on few and on many CTAs.
#[test]
fn integers_are_exact_on_any_number_of_ctas() {
    let mut seen = BTreeMap::<_, u32>::new();
    for kernel_kind in [KernelKind::Simt, KernelKind::MmaSync] {
        let wanted =
            Wanted { kernel_kind, largest_tile: 64 * 64 * 32, plain: true, ..Wanted::default() };
        for seed in 0..60 {
            // Some descriptions do not have enough registers for stream-K.
            let Some([_, streamed]) = with_stream_k(description(0x57e4_0000 + seed, wanted)) else {
                continue;
            };
            for clusters in [2, 3 + seed as u32 % 5, streamed.most_streams()] {
                let program = program(&streamed, clusters);
                let found = wrong(&program, Mode::Checked { seed }, several_tiles(&streamed));
                assert_eq!(found, None, "{clusters} clusters of {streamed:?}");
            }
            let warp_slices = streamed.one_schedule().expect("a kernel").base.tiles.warps().k;
            *seen
                .entry((
                    format!("{kernel_kind:?}"),
                    streamed.mainloop.kind().name(),
                    warp_slices > 1,
                ))
                .or_default() += 1;
        }
    }
    println!("{seen:?}");
    let main_loops: usize = MAIN_LOOPS.iter().map(|(_, mainloops)| mainloops.len()).sum();
    assert!(seen.len() == 2 * main_loops && seen.values().all(|&count| count >= 2), "{seen:?}");
}

/// With sliced K, a missing barrier between units is found: the next unit copies over the partials
/// of a warp slice. Without sliced K, the schedule has no such barrier.
#[test]
fn sliced_k_needs_the_barrier_between_units() {
    for desc in sliced() {
        let whole = but!(desc, decomposition: DecompositionKind::SplitK);
        let [of_streams, alone] =
            [desc, whole].map(|desc| desc.one_schedule().expect("a kernel").schedule);
        let last = of_streams.epilogue.len() - 1;
        assert_eq!(of_streams.epilogue[last], Step::Barrier, "{of_streams}");
        assert_eq!(without(&of_streams, Section::Epilogue, last), alone);
        let right = program(&desc, 2);
        let forgotten = Program { schedule: alone, ..right.clone() };
        let mut sentences = Vec::new();
        for seed in 0..6 {
            let mode = Mode::Checked { seed };
            assert_eq!(wrong(&right, mode, several_tiles(&desc)), None, "{desc:?}");
            sentences.extend(wrong(&forgotten, mode, several_tiles(&desc)));
            // A CTA with one unit does not need the barrier.
            let tile = [desc.threadblock().m, desc.threadblock().n, desc.threadblock().k]
                .map(|extent| extent as usize);
            assert_eq!(wrong(&forgotten, mode, tile), None, "{desc:?}");
        }
        println!(
            "{}: {}",
            desc.mainloop.kind(),
            sentences.first().map_or("not found", |sentence| sentence)
        );
        assert_eq!(sentences.len(), 6, "{desc:?}");
        let raced = |sentence: &String| {
            sentence.contains("without a barrier in between")
                || sentence.contains("has the partial accumulators of another one")
        };
        assert!(sentences.iter().all(raced), "{sentences:?}");
        let unsliced = but!(desc, warp: Mnk { k: 32, ..desc.warp() });
        assert_eq!(unsliced.check(), Ok(()));
        let [of_streams, alone] =
            [unsliced, but!(unsliced, decomposition: DecompositionKind::SplitK)]
                .map(|desc| desc.one_schedule().expect("a kernel").schedule);
        assert_eq!(of_streams, alone);
        for seed in 0..6 {
            assert_eq!(
                wrong(&program(&unsliced, 2), Mode::Checked { seed }, several_tiles(&desc)),
                None,
                "{unsliced:?}"
            );
        }
    }
}

/// Wrong stream-K units are found: repeated units, slices with a wrong index, and units with a
/// wrong first k-tile.
#[test]
fn wrong_stream_k_units_are_found() {
    type Mutation = fn(&Work, u32, u32) -> Option<Unit>;
    let mutations: [(&str, Mutation); 3] = [
        ("every unit is the first one", |w, block, _| w.unit(block, 0, 0)),
        ("a slice begins one k-tile too early", |w, block, i| {
            w.unit(block, 0, i).map(|unit| Unit { k_begin: unit.k_begin.saturating_sub(1), ..unit })
        }),
        ("each slice has index 0", |w, block, i| {
            w.unit(block, 0, i).map(|unit| Unit { slice: 0, ..unit })
        }),
    ];
    for desc in ONE_MAIN_LOOP.iter().map(|&(mma, mainloop)| sliced_in(mma, mainloop)) {
        for (name, mutation) in mutations {
            let units = Arc::new(move |w: &Work, block, _, i| mutation(w, block, i));
            let mutant = Program { units, ..program(&desc, 4) };
            let found = wrong(&mutant, CHECKED, several_tiles(&desc));
            println!("{name}: {found:?}");
            assert!(found.is_some(), "{name}");
        }
    }
}

/// Returns the call of a batch of GEMMs of bytes.
fn bytes<'a>(
    desc: &GemmDesc,
    ((m, n, k), batch): ((usize, usize, usize), usize),
    [a, b]: [&'a [i8]; 2],
    d: &'a mut [i32],
) -> HostCall<'a> {
    let problem = Problem { batch, ..Problem::new(desc, (m, n, k), [None; 3], PLAIN) };
    let (a, b) = (HostSlice::new::<i8>(a), HostSlice::new::<i8>(b));
    problem.with(matrices(a, b, HostSliceMut::new::<i32>(d)))
}

/// The tiles of a batch or an array form one stream. Integers equal those of a data-parallel
/// kernel, for each GEMM.
#[test]
fn batches_and_arrays_support_stream_k() {
    let (extents @ (m, n, k), products) = ((70, 99, 131), 3);
    let number = |i: usize| (i * 7919 % 251) as u8 as i8;
    let a: Vec<i8> = (0..products * m * k).map(number).collect();
    let b: Vec<i8> = (0..products * k * n).map(|i| number(3 * i + 1)).collect();
    let of = |product: usize| [&a[product * m * k..][..m * k], &b[product * k * n..][..k * n]];
    for &(mma, mainloop) in ONE_MAIN_LOOP {
        let knobs = [
            ("threadblock", "64x64x64"),
            ("warp", "32x32x32"),
            ("mainloop", mainloop.name()),
            ("decomposition", "streamk"),
        ];
        let streamed = kernel(["i8:row", "i8:col", "i32:row"], op_of(mma), &knobs);
        let whole = but!(streamed, decomposition: DecompositionKind::SplitK);
        let mut wanted = vec![0; products * m * n];
        for (product, d) in wanted.chunks_mut(m * n).enumerate() {
            run_in_mode(&whole, Mode::Fast, bytes(&whole, (extents, 1), of(product), d))
                .expect("a product");
        }
        for clusters in [5, 7, streamed.most_streams()] {
            let mut together = vec![0; products * m * n];
            let batch = program(&streamed.for_batch(products), clusters);
            run_in_mode(
                &batch,
                CHECKED,
                bytes(&streamed, (extents, products), [&a, &b], &mut together),
            )
            .expect("a batch");
            assert!(together == wanted, "a batch on {clusters}: {streamed:?}");
            let mut each = vec![0; products * m * n];
            let array = program(&streamed.for_array(products), clusters);
            let calls = each
                .chunks_mut(m * n)
                .enumerate()
                .map(|(product, d)| bytes(&streamed, (extents, 1), of(product), d));
            run_in_mode(&Array(&array), CHECKED, calls.collect()).expect("an array");
            assert!(each == wanted, "an array on {clusters}: {streamed:?}");
        }
        // Calls through the public interface.
        let mut d = vec![0; m * n];
        run_in_mode(&streamed, Mode::Fast, bytes(&streamed, (extents, 1), of(0), &mut d))
            .expect("a product");
        assert!(d == wanted[..m * n], "{streamed:?}");
    }
}

/// K = 0 gives whole tiles of zeros.
#[test]
fn stream_k_with_k_zero_stores_zeros() {
    for desc in sliced() {
        for mode in [CHECKED, Mode::Fast] {
            assert_eq!(wrong(&program(&desc, 2), mode, [130, 67, 0]), None, "{desc:?}");
        }
    }
}

/// For any number of resident CTAs, slots and tickets fit into the workspace. This also holds for
/// the kernel with narrower accesses that a call may need.
#[test]
fn the_workspace_holds_all_stream_k_partials() {
    let mut narrower = 0;
    for kernel_kind in [KernelKind::Simt, KernelKind::MmaSync] {
        for seed in 0..60 {
            let drawn = description(
                0x57e4_1000 + seed,
                Wanted { kernel_kind, plain: true, ..Wanted::default() },
            );
            let Some([_, desc]) = with_stream_k(drawn) else { continue };
            let (tile, most, of_desc) =
                (desc.threadblock(), desc.most_streams(), desc.threadblock());
            assert!(
                most.is_multiple_of(MOST_STREAMS)
                    && most / MOST_STREAMS <= desc.arch.machine().blocks_per_sm,
                "{desc:?}"
            );
            assert!(most / MOST_STREAMS >= desc.pins().blocks_per_sm.unwrap_or(1), "{desc:?}");
            for (down, across, batch) in [(1, 1, 1), (7, 5, 1), (13, 40, 2), (60, 90, 3)] {
                let extents = (down * tile.m as usize - 3, across * tile.n as usize - 1);
                let given = Partials::new(&desc, extents, batch);
                // A call that allows only narrower accesses runs another kernel in this workspace,
                // possibly with smaller tiles.
                for desc in [desc, desc.narrowed([2; 3]), desc.narrowed([1; 3])] {
                    let (tile, kinds) =
                        (desc.threadblock(), (WorkKind::StreamK, desc.swizzle(), 1));
                    let slot = sum_of(desc.output.accumulator).bytes_of(tile.m * tile.n) as u64;
                    for resident in [1, 2, 131, most / 2, most - 1, most, u32::MAX] {
                        let of_kernel = Problem::new(
                            &desc,
                            (extents.0, extents.1, 37 * tile.k as usize),
                            [None; 3],
                            [1.0; 8],
                        );
                        let workspace = Some(Elements::new(given.bytes() as usize));
                        let (m, n) = extents;
                        let problem = Problem { m, n, batch, workspace, ..of_kernel };
                        let (partials, clusters) = Partials::for_launch(&desc, &problem, resident);
                        assert!((1..=resident.min(desc.most_streams())).contains(&clusters));
                        assert!(
                            partials.bytes() <= given.bytes(),
                            "{clusters} clusters of {desc:?}"
                        );
                        let [slots, tickets] = [partials.slots(), partials.tickets()]
                            .map(|range| range.end - range.start);
                        let work =
                            Work::new(kinds, (tile, Mn::ONE), (extents, batch, 37), clusters)
                                .expect("few tiles");
                        let (tiles, clusters) = (u64::from(work.streams().tiles), work.clusters);
                        assert!(
                            (tiles + u64::from(clusters)) * slot <= slots,
                            "{clusters} clusters of {desc:?}"
                        );
                        assert!(
                            tiles * u64::from(tickets_of(clusters)) * 4 <= tickets,
                            "{clusters} clusters of {desc:?}"
                        );
                        narrower += usize::from(tile != of_desc);
                    }
                }
            }
        }
    }
    assert!(narrower > 0, "no kernel had smaller tiles");
}

/// Stream-K keeps one slice, and supports neither groups nor split-K in a cluster.
#[test]
fn refusals_name_the_rule() {
    let hopper = [("decomposition", "streamk"), ("threadblock", "64x64x64"), ("warp", "64x64x64")];
    let types = ["bf16:row", "bf16:col", "f32:row"];
    let hopper = described(types, (OpKind::TensorOp, ArchKind::Sm90), &hopper);
    for desc in sliced().into_iter().chain([hopper]) {
        let two = but!(desc, split_k: 2);
        assert_eq!(two.check().message(), "split_k = 2 is not 1 (streamk); try 1");
        let whole = but!(desc, decomposition: DecompositionKind::DataParallel, split_k: 3);
        assert_eq!(whole.check().message(), "split_k = 3 is not 1 (dataparallel); try 1");
        assert_eq!(but!(whole, split_k: 1).check(), Ok(()));
        let grouped = "decomposition = streamk is not supported by grouped GEMM; try splitk";
        assert_eq!(desc.for_groups(Axis::M).check().message(), grouped);
        if desc != hopper {
            let decomposition = Some(DecompositionKind::SplitKCluster);
            let clusters = desc.pinned(Pins { decomposition, ..Pins::NONE });
            let mainloop = desc.mainloop.kind().name();
            let refused = "decomposition = splitkcluster is not supported by";
            let sentence = format!("{refused} the {mainloop} main loop; try splitk");
            assert_eq!(clusters.check().message(), sentence);
        }
    }
}
