//! Rings and their roles, for mutation tests.
#![allow(dead_code, reason = "shared by test binaries, each of which uses a part of it")]

use crate::harness::prelude::*;
use core::ops::Range;
use falchion::{internals::schedule::Fault, threadblock::ClusterSlices};
use falchion_check::machine::{Tally, run};

pub const A: OperandKind = OperandKind::A;
pub const B: OperandKind = OperandKind::B;

/// Returns a ring with two consumers of two staging buffers each. With `shared`, a cluster of two
/// CTAs shares this operand.
pub fn ring(stages: u32, shared: Option<OperandKind>) -> Pipeline {
    Pipeline {
        stages,
        stage_bytes: [16 << 10, 32 << 10],
        consumers: 2,
        pingpong: false,
        multicast: shared.map(|operand| SharedOperand { operand, blocks: 2 }),
        gathered: [false; 2],
        slices: None,
        staging_buffers: 2,
        staging_bytes: 8 << 10,
        vector_bytes: 0,
        source: false,
    }
}

pub const fn options(pending: u8) -> RoleOptions {
    RoleOptions {
        pending,
        promoted_tiles: None,
        fragments: false,
        subtiles: 4,
        split_k: false,
        by_threads: false,
        groups_k: false,
        registers: Some([24, 240]),
    }
}

/// Checks that a ring and options allow schedules.
pub fn check_options(ring: &Pipeline, options: &RoleOptions) {
    let RoleOptions {
        pending,
        promoted_tiles,
        fragments,
        subtiles,
        by_threads,
        registers,
        split_k: _,
        groups_k: _,
    } = *options;
    assert_eq!(ring.check(), Ok(()));
    assert!(
        u32::from(pending) < ring.stages,
        "the producer would wait for a stage that its consumer does not release"
    );
    assert!(!fragments || pending <= 1, "each product in flight has its own set of fragments");
    assert!(
        promoted_tiles.is_none_or(|tiles| tiles > 0 && pending == 0 && !fragments),
        "sums are added after the products complete"
    );
    if by_threads {
        assert!(
            pending == 0 && promoted_tiles.is_none() && !fragments && subtiles == 0,
            "threads multiply and store"
        );
    } else {
        let buffers = ring.staging_buffers;
        assert!(subtiles > 0 && buffers > 0, "D is stored through staging buffers");
        assert!(
            u32::from(subtiles).is_multiple_of(buffers),
            "a subtile has the same buffer in each tile"
        );
    }
    if let Some([producer, consumer]) = registers.map(|counts| counts.map(u32::from)) {
        let launch = ring.launch_registers();
        assert!(
            (24..=launch).contains(&producer) && producer.is_multiple_of(8),
            "{producer} registers of the producer"
        );
        let most = ring.registers_beside(producer);
        assert!(
            (launch..=most).contains(&consumer) && consumer.is_multiple_of(8),
            "{consumer} registers of a consumer"
        );
    }
}

/// Returns the program of a ring and valid options.
pub fn legal(ring: Pipeline, options: &RoleOptions) -> RingProgram {
    check_options(&ring, options);
    RingProgram::new(ring, options)
}

pub fn program(stages: u32, pending: u8, shared: Option<OperandKind>) -> RingProgram {
    legal(ring(stages, shared), &options(pending))
}

/// Returns options that promote the accumulators `tiles` times per stage.
pub fn promoting(tiles: u8) -> RoleOptions {
    RoleOptions { promoted_tiles: Some(tiles), ..options(0) }
}

/// Returns options with A from registers.
pub fn from_registers(pending: u8) -> RoleOptions {
    RoleOptions { fragments: true, ..options(pending) }
}

/// Options of a TMA-fed SIMT kernel.
const THREADS: RoleOptions = RoleOptions { subtiles: 0, by_threads: true, ..options(0) };

/// Returns a ring without staging buffers.
fn unstaged(ring: Pipeline) -> Pipeline {
    Pipeline { staging_buffers: 0, staging_bytes: 0, source: false, ..ring }
}

/// Returns the ring of a cluster whose first CTA gathers the split-K slices of the other CTAs.
fn gathered(blocks: u32, ring: Pipeline) -> Pipeline {
    Pipeline { slices: Some(ClusterSlices { blocks, bytes: 4096 }), ..ring }
}

/// Returns the program of a TMA-fed SIMT kernel.
pub fn by_threads(ring: Pipeline) -> RingProgram {
    legal(unstaged(ring), &THREADS)
}

/// Returns the program of a cluster whose first CTA gathers the split-K slices of the other CTAs.
pub fn gathering(blocks: u32, ring: Pipeline, own: &RoleOptions) -> RingProgram {
    legal(gathered(blocks, ring), &RoleOptions { split_k: true, ..*own })
}

/// Returns all shapes of rings that are mutated.
pub fn subjects() -> Vec<(String, RingProgram)> {
    let mut all = Vec::new();
    let mut add = |kind: &str, ring: Pipeline, options: RoleOptions| {
        let shared = ring.multicast.map(|shared| shared.operand.name());
        let Pipeline { stages, pingpong, source, .. } = ring;
        let pending = options.pending;
        let name = format!(
            "{kind}, {stages} stages, {pending} pending, ping-pong {pingpong}, shared {shared:?}, C {source}"
        );
        all.push((name, legal(ring, &options)));
    };
    let pingpong = |pingpong, ring| Pipeline { pingpong, ..ring };
    let split = RoleOptions { split_k: true, ..options(1) };
    for stages in [2, 3, 4] {
        for pending in [0, 1] {
            for shared in [None, Some(A), Some(B)] {
                add("cooperative", ring(stages, shared), options(pending));
            }
        }
    }
    for (stages, pending, shared) in
        [(2, 0, None), (2, 1, None), (3, 1, None), (4, 1, Some(A)), (3, 0, Some(B))]
    {
        add("ping-pong", pingpong(true, ring(stages, shared)), options(pending));
    }
    for (stages, tiles, alternate, shared) in
        [(2, 1, false, None), (2, 2, true, None), (3, 2, false, Some(A)), (4, 3, false, Some(B))]
    {
        add("promoted", pingpong(alternate, ring(stages, shared)), promoting(tiles));
    }
    for (stages, alternate, shared) in [
        (3, false, None),
        (2, true, None),
        (2, false, Some(A)),
        (4, false, Some(B)),
        (3, true, Some(B)),
    ] {
        add("threads", unstaged(pingpong(alternate, ring(stages, shared))), THREADS);
    }
    for (stages, pending, alternate, shared) in [
        (2, 1, false, None),
        (3, 1, true, None),
        (3, 0, false, Some(A)),
        (4, 1, false, Some(B)),
        (2, 0, true, None),
    ] {
        add("A from registers", pingpong(alternate, ring(stages, shared)), from_registers(pending));
    }
    for (stages, staging_buffers, alternate, shared) in
        [(2, 2, false, None), (3, 2, true, None), (3, 1, false, Some(A)), (2, 2, true, Some(B))]
    {
        let ring = pingpong(alternate, ring(stages, shared));
        let vector_bytes = 1024;
        add("C in buffers", Pipeline { staging_buffers, source: true, ..ring }, options(1));
        add("vectors", Pipeline { staging_buffers, vector_bytes, ..ring }, options(1));
    }
    for (stages, alternate, shared, source) in
        [(3, false, None, true), (2, true, None, false), (3, true, Some(B), true)]
    {
        add("split-K", Pipeline { source, ..pingpong(alternate, ring(stages, shared)) }, split);
    }
    for (blocks, stages, alternate, source) in
        [(2, 3, false, true), (3, 2, true, false), (2, 2, true, true)]
    {
        let ring = Pipeline { source, ..pingpong(alternate, ring(stages, None)) };
        add("split-K in a cluster", gathered(blocks, ring), split);
    }
    let threads = unstaged(ring(3, None));
    let split_threads = RoleOptions { split_k: true, ..THREADS };
    add("split-K in a cluster, TMA-fed SIMT", gathered(2, threads), split_threads);
    add("registers as launched", ring(3, None), RoleOptions { registers: None, ..options(1) });
    let one_buffer = Pipeline { staging_buffers: 1, consumers: 1, ..ring(3, Some(B)) };
    let one = RoleOptions { subtiles: 3, registers: None, ..options(0) };
    add("one consumer, one buffer", one_buffer, one);
    all
}

/// Returns the programs of groups along K.
pub fn groups_along_k() -> Vec<(String, RingProgram)> {
    let mut all = Vec::new();
    let mut add = |kind: &str, ring: Pipeline, options: RoleOptions| {
        let Pipeline { stages, pingpong, .. } = ring;
        let program = legal(ring, &RoleOptions { groups_k: true, ..options });
        all.push((format!("{kind}, {stages} stages, ping-pong {pingpong}"), program));
    };
    for (stages, pingpong, shared) in
        [(2, false, None), (3, true, None), (3, false, Some(A)), (4, true, Some(B))]
    {
        let ring = Pipeline { pingpong, ..ring(stages, shared) };
        add("warpgroups", ring, options(u8::from(stages > 2)));
        add("threads", unstaged(ring), THREADS);
    }
    add("promoted", ring(3, None), promoting(2));
    add("A from registers", ring(3, None), from_registers(1));
    let one = Pipeline { staging_buffers: 1, consumers: 1, ..ring(3, None) };
    add("one consumer", one, RoleOptions { subtiles: 3, registers: None, ..options(0) });
    all
}

/// Work that fills each ring several times, work that never fills it, and units with different
/// depths.
pub const WORKS: [ClusterWork<'static>; 5] = [
    ClusterWork { k_tiles: &[5, 5, 5], source: true },
    ClusterWork { k_tiles: &[1, 1], source: true },
    ClusterWork { k_tiles: &[9], source: true },
    ClusterWork { k_tiles: &[2, 2, 2], source: false },
    ClusterWork { k_tiles: &[3, 0, 4, 1, 2], source: true },
];
pub const SEEDS: u64 = 200;

/// Returns the depths of a program's units. CTAs with split-K slices of a tile have different
/// depths.
pub fn depths_of(program: &RingProgram, k_tiles: &[u32]) -> Vec<u32> {
    let of_block = |block: u32| k_tiles.iter().map(move |depth| depth.saturating_sub(block % 2));
    (0..=program.ring.senders()).flat_map(of_block).collect()
}

/// Payload without data.
struct Nothing;

impl Payload for Nothing {}

/// Runs a program without data. The order follows from `seed`.
pub fn check(program: &RingProgram, work: ClusterWork<'_>, seed: u64) -> Result<Tally, Fault> {
    run(program, work, seed, &mut Nothing)
}

/// Returns the first fault over all works and seeds, and the number of runs.
pub fn find_fault(program: &RingProgram) -> Option<(Fault, u64)> {
    find_fault_among(program, 0..SEEDS)
}

/// Returns the first fault over all works and some seeds, and the number of runs.
pub fn find_fault_among(program: &RingProgram, seeds: Range<u64>) -> Option<(Fault, u64)> {
    let works = WORKS.map(|work| (depths_of(program, work.k_tiles), work.source));
    let works = works.each_ref().map(|(k_tiles, source)| ClusterWork { k_tiles, source: *source });
    let runs = seeds.flat_map(|seed| works.map(|work| (seed, work)));
    (1..).zip(runs).find_map(|(number, (seed, work))| {
        check(program, work, seed).err().map(|fault| (fault, number))
    })
}

/// Returns the name of a fault's variant.
pub fn kind(fault: &Fault) -> String {
    format!("{fault:?}").split([' ', '{']).next().unwrap_or_default().to_owned()
}
