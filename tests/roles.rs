//! Producers and consumers over the ring, under schedulers that mean harm: what ships is never accused, and every step left out,
//! every neighbour exchanged, every wrong count, phase or rank is found.

use falchion::{
    desc::OperandKind,
    device::host::{
        Map,
        roles::{RingFault, RingProgram, Tally, Work, check},
    },
    index::{Coord, IndexMap, at},
    schedule::{Cooperative, Role, RoleStep, Section},
    threadblock::{Multicast, Pipeline},
};
use std::{collections::BTreeMap, sync::Arc, time::Instant};

const A: OperandKind = OperandKind::A;
const B: OperandKind = OperandKind::B;

/// A ring of two consumers and two staging buffers each; in a cluster of two that shares an operand, or alone.
fn ring(stages: u32, shared: Option<OperandKind>) -> Pipeline {
    Pipeline {
        stages,
        stage_bytes: [16 << 10, 32 << 10],
        consumers: 2,
        multicast: shared.map(|operand| Multicast { operand, blocks: 2 }),
        staging_buffers: 2,
        staging_bytes: 8 << 10,
    }
}

fn options(pending: u8) -> Cooperative {
    Cooperative { pending, slices: 4, registers: Some([24, 240]) }
}

fn program(stages: u32, pending: u8, shared: Option<OperandKind>) -> RingProgram {
    RingProgram::cooperative(ring(stages, shared), &options(pending)).expect("a ring")
}

/// Every shape of ring that mutants are made of.
fn subjects() -> Vec<(String, RingProgram)> {
    let mut subjects = Vec::new();
    for stages in [2, 3, 4] {
        for pending in [0, 1] {
            for shared in [None, Some(A), Some(B)] {
                let name = format!("{stages} stages, {pending} pending, shared {:?}", shared.map(OperandKind::name));
                subjects.push((name, program(stages, pending, shared)));
            }
        }
    }
    let plain = Cooperative { registers: None, ..options(1) };
    subjects.push(("registers as launched".to_owned(), RingProgram::cooperative(ring(3, None), &plain).expect("a ring")));
    let one_buffer = Pipeline { staging_buffers: 1, consumers: 1, ..ring(3, Some(B)) };
    let one = Cooperative { slices: 3, registers: None, ..options(0) };
    subjects.push(("one consumer, one buffer".to_owned(), RingProgram::cooperative(one_buffer, &one).expect("a ring")));
    subjects
}

/// Work that fills each ring several times, and work that does not fill it once.
const WORKS: [Work; 3] = [Work { tiles: 3, k_tiles: 5 }, Work { tiles: 2, k_tiles: 1 }, Work { tiles: 1, k_tiles: 9 }];
const SEEDS: u64 = 200;

/// The first fault over works and seeds, and after how many runs.
fn caught(program: &RingProgram) -> Option<(RingFault, u64)> {
    let runs = (0..SEEDS).flat_map(|seed| WORKS.map(|work| (seed, work)));
    (1..).zip(runs).find_map(|(number, (seed, work))| check(program, work, seed).err().map(|fault| (fault, number)))
}

/// The name of a fault's variant.
fn kind(fault: &RingFault) -> String {
    format!("{fault:?}").split([' ', '{']).next().unwrap_or_default().to_owned()
}

/// For all stages 2..=7, pending 0 and 1, no cluster and clusters that share A or B, k tiles 0..=20, 1..=5 tiles of D: no fault.
#[test]
fn nothing_that_ships_is_accused() {
    let (mut runs, mut total, start) = (0, Tally::default(), Instant::now());
    for stages in 2..=7 {
        for pending in [0, 1] {
            for shared in [None, Some(A), Some(B)] {
                let program = program(stages, pending, shared);
                for seed in 0..210 {
                    let work = Work { tiles: 1 + seed % 5, k_tiles: seed / 5 % 21 };
                    let tally = check(&program, work, u64::from(seed)).unwrap_or_else(|fault| {
                        panic!("{stages} stages, {pending} pending, {shared:?}, {work:?}, seed {seed}: {fault}")
                    });
                    let blocks = u64::from(program.ring.blocks());
                    let (tiles, all_k) = (u64::from(work.tiles), u64::from(work.tiles * work.k_tiles));
                    assert_eq!(tally.products, blocks * 8 * all_k);
                    assert_eq!(tally.stores, blocks * 2 * 4 * tiles);
                    // A share lands in each block: one of the operand of one's own, as many as blocks of the other.
                    assert_eq!(tally.copies, blocks * all_k * if blocks == 1 { 2 } else { 1 + blocks });
                    assert_eq!(tally.arrivals, if blocks == 1 { 0 } else { blocks * 8 * all_k });
                    runs += 1;
                    total.steps += tally.steps;
                    total.copies += tally.copies;
                    total.most_under_way = total.most_under_way.max(tally.most_under_way);
                }
            }
        }
    }
    println!(
        "{runs} runs, {} steps, {} copies, at most {} things under way, none accused, {:.1} s",
        total.steps,
        total.copies,
        total.most_under_way,
        start.elapsed().as_secs_f64()
    );
    assert_eq!(runs, 6 * 2 * 3 * 210);
    assert!(total.most_under_way >= 20);
}

#[test]
fn every_step_of_every_role_is_needed() {
    let (mut table, mut mutants, mut survivors, mut slowest) = (BTreeMap::<_, u32>::new(), 0, Vec::new(), 0);
    for (name, program) in subjects() {
        for (role, section, index, step) in program.roles.places() {
            mutants += 1;
            let roles = program.roles.without(role, section, index);
            match caught(&RingProgram { roles, ..program.clone() }) {
                Some((fault, runs)) => {
                    slowest = slowest.max(runs);
                    let step = step.to_string();
                    let step = step.split('(').next().unwrap_or_default().to_owned();
                    *table.entry((format!("{} {} without {step}", role.name(), section.name()), kind(&fault))).or_default() += 1;
                }
                None => survivors.push(format!("{name}: {role:?} {section:?} without {step}, number {index}")),
            }
        }
    }
    for ((mutant, finding), count) in &table {
        println!("{mutant:48} {count:4}  {finding}");
    }
    println!("{mutants} mutants, {} survivors; the slowest took {slowest} runs", survivors.len());
    assert!(survivors.is_empty(), "{survivors:#?}");
}

/// Whether two neighbouring steps may change places, and why.
fn commute(first: RoleStep, second: RoleStep) -> Option<&'static str> {
    use RoleStep::{AwaitFull, AwaitStores, CopyTensor, Expect, FenceBarrierInit, FenceOperands, MeetBlock, Release};
    let one_way = |x: RoleStep, y: RoleStep| match (x, y) {
        (Expect, CopyTensor { .. }) => Some("bytes may land before they are announced: the phase waits for the arrival"),
        (CopyTensor { .. }, CopyTensor { .. }) => Some("each has its own place"),
        (AwaitFull, FenceOperands) => Some("one is about memory, one about registers"),
        (Release { .. }, AwaitStores { .. }) => Some("one is about stages, one about staging"),
        (FenceBarrierInit, MeetBlock) => Some("without a cluster, who sets up is the only one who copies"),
        _ => None,
    };
    one_way(first, second).or_else(|| one_way(second, first))
}

#[test]
fn exchanged_neighbours_are_found_or_commute() {
    let (mut table, mut found, mut harmless) = (BTreeMap::<_, u32>::new(), 0, 0);
    for (name, program) in subjects() {
        for role in Role::ALL {
            for section in [Section::Opening, Section::Body, Section::Epilogue, Section::Closing] {
                for i in 1..program.roles.of(role).steps(section).len() {
                    let mut swapped = program.clone();
                    let steps = swapped.roles.of_mut(role).steps_mut(section);
                    steps.swap(i - 1, i);
                    let pair = format!("{} before {}", steps[i - 1], steps[i]);
                    let reason = commute(steps[i - 1], steps[i]);
                    match (caught(&swapped), reason) {
                        (None, Some(reason)) => {
                            harmless += 1;
                            *table.entry(format!("harmless, {reason}")).or_default() += 1;
                        }
                        (Some((fault, _)), None) => {
                            found += 1;
                            *table.entry(kind(&fault)).or_default() += 1;
                        }
                        (None, None) => panic!("{name}, {role:?}: {pair} survives"),
                        (Some((fault, _)), Some(reason)) => panic!("{name}, {role:?}: {pair} ({reason}) is accused: {fault}"),
                    }
                }
            }
        }
    }
    for (finding, count) in &table {
        println!("{count:4}  {finding}");
    }
    println!("{} exchanges: {found} found, {harmless} harmless", found + harmless);
    assert!(found >= 500 && table.keys().filter(|key| key.starts_with("harmless")).count() == 5);
}

/// A map, bent.
struct Bent<F>(Map, F);

impl<F: Fn(&dyn IndexMap, Coord) -> Option<u32> + Send + Sync> IndexMap for Bent<F> {
    fn domain(&self) -> Coord {
        self.0.domain()
    }
    fn codomain(&self) -> u32 {
        self.0.codomain()
    }
    fn at(&self, point: Coord) -> Option<u32> {
        (self.1)(&*self.0, point)
    }
}

fn bend(map: &mut Map, f: impl Fn(&dyn IndexMap, Coord) -> Option<u32> + Send + Sync + 'static) {
    *map = Arc::new(Bent(map.clone(), f));
}

/// Replaces each step of a section for which there is another.
fn replace(program: &mut RingProgram, role: Role, section: Section, f: impl Fn(RoleStep) -> Vec<RoleStep>) {
    let steps = program.roles.of_mut(role).steps_mut(section);
    *steps = steps.iter().flat_map(|step| f(*step)).collect();
}

/// What a change needs to be one.
#[derive(Clone, Copy, PartialEq)]
enum Needs {
    Nothing,
    Cluster,
    TwoConsumers,
    Registers,
}

impl Needs {
    fn has(self, program: &RingProgram) -> bool {
        match self {
            Self::Nothing => true,
            Self::Cluster => program.ring.multicast.is_some(),
            Self::TwoConsumers => program.ring.consumers == 2,
            Self::Registers => !program.roles.producer.opening.is_empty(),
        }
    }
}

/// A named change to a program.
type Named = (&'static str, Needs, fn(&mut RingProgram));

const FAULTS: &[Named] = &[
    ("the producer's phase is inverted", Needs::Nothing, |p| {
        bend(&mut p.producer_position, |map, point| map.at(point).map(|x| if point.row == 1 { x ^ 1 } else { x }));
    }),
    ("the consumers' phase is inverted", Needs::Nothing, |p| {
        bend(&mut p.consumer_position, |map, point| map.at(point).map(|x| if point.row == 1 { x ^ 1 } else { x }));
    }),
    ("the producer's phase never changes", Needs::Nothing, |p| {
        bend(&mut p.producer_position, |map, point| if point.row == 1 { Some(0) } else { map.at(point) });
    }),
    ("the consumers' phase never changes", Needs::Nothing, |p| {
        bend(&mut p.consumer_position, |map, point| if point.row == 1 { Some(0) } else { map.at(point) });
    }),
    ("the consumers' phase changes a tile too early", Needs::Nothing, |p| {
        bend(&mut p.consumer_position, |map, point| match point.row {
            1 => map.at(at(1, (point.column + 1) % map.domain().column)),
            _ => map.at(point),
        });
    }),
    ("the producer's phase changes a tile too late", Needs::Nothing, |p| {
        bend(&mut p.producer_position, |map, point| match point.row {
            1 => map.at(at(1, (point.column + map.domain().column - 1) % map.domain().column)),
            _ => map.at(point),
        });
    }),
    ("consumers begin one stage on", Needs::Nothing, |p| {
        bend(&mut p.consumer_position, |map, point| map.at(at(point.row, (point.column + 1) % map.domain().column)));
    }),
    ("the producer goes around the other way", Needs::Nothing, |p| {
        let last = p.ring.stages - 1;
        bend(&mut p.producer_position, move |map, point| {
            map.at(point).map(|x| if point.row == 0 && last > 1 { last - x } else { x ^ u32::from(point.row == 0) })
        });
    }),
    ("everybody's ring leaves out its last stage", Needs::Nothing, |p| {
        let stages = p.ring.stages - 1;
        for map in [&mut p.producer_position, &mut p.consumer_position] {
            // The phase goes on as if the stage were there.
            bend(map, move |map, point| map.at(point).map(|x| if point.row == 0 { x.min(stages - 1) } else { x }));
        }
    }),
    ("the producer has no place for tile 1", Needs::Nothing, |p| {
        bend(&mut p.producer_position, |map, point| map.at(point).filter(|_| point.column != 1));
    }),
    ("full barriers wait for two arrivals", Needs::Nothing, |p| p.full_arrivals = 2),
    ("empty barriers wait for one arrival fewer", Needs::Nothing, |p| p.empty_arrivals -= 1),
    ("empty barriers wait for one arrival more", Needs::Nothing, |p| p.empty_arrivals += 1),
    ("empty barriers wait for a warpgroup's arrivals", Needs::TwoConsumers, |p| p.empty_arrivals = 4),
    ("empty barriers forget the other block", Needs::Cluster, |p| p.empty_arrivals /= 2),
    ("a full barrier waits for A alone", Needs::Nothing, |p| p.expect_bytes = p.ring.stage_bytes[0]),
    ("a full barrier waits for 16 bytes too many", Needs::Nothing, |p| p.expect_bytes += 16),
    ("a full barrier waits for this block's share alone", Needs::Cluster, |p| p.expect_bytes = p.copy_bytes.iter().sum()),
    ("copies of B are half as large", Needs::Nothing, |p| p.copy_bytes[1] /= 2),
    ("warps arrive at their own block twice", Needs::Cluster, |p| bend(&mut p.released, |_, point| Some(point.row))),
    ("warps arrive at the other block twice", Needs::Cluster, |p| bend(&mut p.released, |_, point| Some(1 - point.row))),
    ("warps arrive at block 0 twice", Needs::Cluster, |p| bend(&mut p.released, |_, _| Some(0))),
    ("no rank for the second arrival", Needs::Cluster, |p| {
        bend(&mut p.released, |map, point| map.at(point).filter(|_| point.column == 0));
    }),
    ("both blocks copy share 0", Needs::Cluster, |p| bend(&mut p.share, |_, _| Some(0))),
    ("each block copies the other's share to itself", Needs::Cluster, |p| {
        bend(&mut p.destinations, |_, point| Some(point.row));
    }),
    ("shared copies go to the other block alone", Needs::Cluster, |p| bend(&mut p.destinations, |_, point| Some(1 - point.row))),
    ("shared copies go to block 0 alone", Needs::Cluster, |p| bend(&mut p.destinations, |_, _| Some(0))),
    ("a stage is let go one tile early", Needs::Nothing, |p| {
        replace(p, Role::Consumer, Section::Body, |step| match step {
            RoleStep::AwaitProducts { pending } => vec![RoleStep::AwaitProducts { pending: pending + 1 }],
            step => vec![step],
        });
    }),
    ("a stage is let go one tile late, and the last never", Needs::Nothing, |p| {
        replace(p, Role::Consumer, Section::Body, |step| match step {
            RoleStep::Release { behind } => vec![RoleStep::Release { behind: behind + 1 }],
            step => vec![step],
        });
    }),
    ("a stage is let go twice", Needs::Nothing, |p| {
        replace(p, Role::Consumer, Section::Body, |step| match step {
            RoleStep::Release { .. } => vec![step, step],
            step => vec![step],
        });
    }),
    ("a stage is let go before it is multiplied", Needs::Nothing, |p| {
        let body = &mut p.roles.consumer.body;
        body.retain(|step| !matches!(step, RoleStep::Release { .. }));
        body.insert(1, RoleStep::Release { behind: 0 });
    }),
    ("the producer arrives twice", Needs::Nothing, |p| {
        replace(p, Role::Producer, Section::Body, |step| if step == RoleStep::Expect { vec![step, step] } else { vec![step] });
    }),
    ("the producer copies A instead of B", Needs::Nothing, |p| {
        replace(p, Role::Producer, Section::Body, |step| match step {
            RoleStep::CopyTensor { .. } => vec![RoleStep::CopyTensor { operand: A }],
            step => vec![step],
        });
    }),
    ("the producer looks only once whether stages are empty", Needs::Nothing, |p| {
        p.roles.producer.body.retain(|step| *step != RoleStep::AwaitEmpty);
        p.roles.producer.prologue.push(RoleStep::AwaitEmpty);
    }),
    ("the producer drains before it has filled", Needs::Cluster, |p| {
        p.roles.producer.closing.clear();
        p.roles.producer.opening.push(RoleStep::Drain);
    }),
    ("consumers wait for a full stage once a tile of D", Needs::Nothing, |p| {
        p.roles.consumer.body.retain(|step| *step != RoleStep::AwaitFull);
        p.roles.consumer.prologue.push(RoleStep::AwaitFull);
    }),
    ("accumulators are put in order once a kernel", Needs::Nothing, |p| {
        p.roles.consumer.body.retain(|step| *step != RoleStep::FenceOperands);
        p.roles.consumer.opening.push(RoleStep::FenceOperands);
    }),
    ("one store more may be under way", Needs::Nothing, |p| {
        replace(p, Role::Consumer, Section::Epilogue, |step| match step {
            RoleStep::AwaitStores { pending } => vec![RoleStep::AwaitStores { pending: pending + 1 }],
            step => vec![step],
        });
    }),
    ("one store may be under way at the end", Needs::Nothing, |p| {
        p.roles.consumer.closing = vec![RoleStep::AwaitStores { pending: 1 }]
    }),
    ("the warps meet once a slice, after the store", Needs::Nothing, |p| {
        replace(p, Role::Consumer, Section::Epilogue, |step| match step {
            RoleStep::Meet => vec![],
            RoleStep::CommitStores => vec![step, RoleStep::Meet],
            step => vec![step],
        });
    }),
    ("the proxy's fence comes after the meeting", Needs::Nothing, |p| {
        replace(p, Role::Consumer, Section::Epilogue, |step| match step {
            RoleStep::FenceProxy => vec![],
            RoleStep::StoreTensor { .. } => vec![RoleStep::FenceProxy, step],
            step => vec![step],
        });
    }),
    ("every store is of slice 0", Needs::Nothing, |p| {
        replace(p, Role::Consumer, Section::Epilogue, |step| match step {
            RoleStep::StoreTensor { .. } => vec![RoleStep::StoreTensor { slice: 0 }],
            step => vec![step],
        });
    }),
    ("slices are deposited in another order than stored", Needs::Nothing, |p| {
        replace(p, Role::Consumer, Section::Epilogue, |step| match step {
            RoleStep::Deposit { slice } => vec![RoleStep::Deposit { slice: slice ^ 1 }],
            step => vec![step],
        });
    }),
    ("all slices are deposited before one is stored", Needs::Nothing, |p| {
        let (deposits, stores): (Vec<_>, Vec<_>) = p
            .roles
            .consumer
            .epilogue
            .iter()
            .partition(|step| !matches!(step, RoleStep::StoreTensor { .. } | RoleStep::CommitStores));
        p.roles.consumer.epilogue = [deposits, stores].concat();
    }),
    ("the last slice is not stored", Needs::Nothing, |p| p.slices += 1),
    ("consumers take too few registers", Needs::Registers, |p| {
        p.consumer_registers = 240;
        p.roles.consumer.opening = vec![RoleStep::RegistersUp { count: 232 }];
    }),
    ("the producer keeps too many registers", Needs::Registers, |p| {
        p.roles.producer.opening = vec![RoleStep::RegistersDown { count: 40 }];
        p.roles.consumer.opening = vec![RoleStep::RegistersUp { count: 240 }];
    }),
    ("the blocks of a cluster do not meet", Needs::Cluster, |p| {
        replace(p, Role::Setup, Section::Opening, |step| match step {
            RoleStep::MeetCluster => vec![RoleStep::MeetBlock],
            step => vec![step],
        });
    }),
    ("barriers are set up twice", Needs::Nothing, |p| p.roles.setup.opening.insert(1, RoleStep::InitBarriers)),
    ("a consumer copies", Needs::Nothing, |p| p.roles.consumer.body.insert(0, RoleStep::CopyTensor { operand: A })),
];

#[test]
fn named_faults_are_found() {
    let (mut found, mut survivors, mut slowest) = (0, Vec::new(), 0);
    for (name, needs, change) in FAULTS {
        let mut kinds = BTreeMap::<String, u32>::new();
        for (subject, program) in subjects() {
            if !needs.has(&program) {
                continue;
            }
            let mut changed = program.clone();
            change(&mut changed);
            match caught(&changed) {
                Some((fault, runs)) => {
                    (found, slowest) = (found + 1, runs.max(slowest));
                    *kinds.entry(kind(&fault)).or_default() += 1;
                }
                None => survivors.push(format!("{name}: {subject}")),
            }
        }
        println!("{name:56} {kinds:?}");
    }
    println!(
        "{} named faults, {found} programs found, {} survivors; the slowest took {slowest} runs",
        FAULTS.len(),
        survivors.len()
    );
    assert!(survivors.is_empty(), "{survivors:#?}");
    assert!(FAULTS.len() >= 40);
}

/// Accumulators need a fence only after something else has touched them: once a tile of D is enough, and is not accused.
#[test]
fn a_fence_of_operands_once_a_tile_is_harmless() {
    for (name, mut program) in subjects() {
        program.roles.consumer.body.retain(|step| *step != RoleStep::FenceOperands);
        program.roles.consumer.prologue.push(RoleStep::FenceOperands);
        assert_eq!(caught(&program), None, "{name}");
    }
}

/// A fault's sentence says who, where and what.
#[test]
fn faults_are_sentences() {
    let mut program = program(2, 0, None);
    program.roles.consumer.closing.clear();
    let (fault, _) = caught(&program).expect("a fault");
    let says = fault.to_string();
    assert!(says.ends_with("is the last to leave, and a store still reads its block's memory"), "{says}");
}
