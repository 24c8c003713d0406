//! What the checked executor finds: a step of a schedule left out, two steps exchanged, a map or a
//! description changed.
//!
//! A mutant is caught by a fault, or by a product that is not the reference's. Those that survive
//! are named here, with the reason why they compute the same product.

use crate::harness::{
    integers::{ragged, wrong},
    mutated::{without, without_numbers},
    prelude::*,
    random_cases::{cases, default_f32, legal, ring, shipped, types},
};
use falchion::internals::{index::Map, schedule::Schedule};
use proptest::prelude::*;

const CHECKED: Mode = Mode::Checked { seed: 7 };
const ROWS: [Order; 3] = [Order::Row; 3];
const TURNED: [Order; 3] = [Order::Row, Order::Col, Order::Row];

/// Descriptions whose schedules are taken apart: the defaults, rings of 2, 3 and 4 stages, K in 2,
/// 3 and 4 slices.
fn subjects() -> Vec<(&'static str, GemmDesc)> {
    let default = |arch, ab, acc, c| {
        default_description(OpKind::Simt, arch, types(ab, acc, c), TURNED).expect("a row")
    };
    let classic = default_f32(ArchKind::Sm70, TURNED);
    let ring = ring(ROWS);
    let single = but!(classic, mainloop: MainloopKind::SingleStage, stages: 1).expect();
    let sliced = |d: GemmDesc, slices: u32| {
        but!(d, threadblock: Mnk::new(64, 64, 8 * slices), warp: Mnk::new(32, 32, 8)).expect()
    };
    let streams = |d: GemmDesc| but!(d, decomposition: DecompositionKind::StreamK).expect();
    vec![
        ("f32 sm70", classic),
        ("f32 sm80", default_f32(ArchKind::Sm80, ROWS)),
        ("f32 sm80 turned", default_f32(ArchKind::Sm80, TURNED)),
        ("4 stages", ring),
        ("f64 sm80", default(ArchKind::Sm80, ElementKind::F64, ElementKind::F64, ElementKind::F64)),
        ("i8 sm90", default(ArchKind::Sm90, ElementKind::I8, ElementKind::I32, ElementKind::I32)),
        ("2 stages", but!(ring, stages: 2).expect()),
        ("3 stages", but!(ring, stages: 3).expect()),
        ("2 slices", sliced(but!(classic, align_a: 1, align_b: 1), 2)),
        ("3 slices", sliced(but!(classic, align_a: 1, align_b: 1), 3)),
        ("1 stage", single),
        ("1 stage, 2 slices", sliced(but!(single, align_a: 1, align_b: 1), 2)),
        ("4 slices of 3 stages", sliced(but!(ring, stages: 3, blocks_per_sm: 1), 4)),
        ("streams", streams(sliced(but!(classic, align_a: 1, align_b: 1), 1))),
        ("streams of 2 slices", streams(sliced(but!(classic, align_a: 1, align_b: 1), 2))),
        ("streams of 1 stage, 2 slices", streams(sliced(but!(single, align_a: 1, align_b: 1), 2))),
        (
            "streams of 3 stages, 2 slices",
            streams(sliced(but!(ring, stages: 3, blocks_per_sm: 1), 2)),
        ),
    ]
}

/// Runs a changed program, checked: what caught it. Streams are of two blocks, each of which has
/// parts of two tiles and whole tiles.
fn caught(program: &Program) -> Option<String> {
    let [m, n, k] = ragged(&program.desc);
    let tiles = if program.desc.streams_k() { 4 } else { 0 };
    wrong(
        &Program { clusters: 2, ..program.clone() },
        CHECKED,
        [m + tiles * program.desc.threadblock().m as usize, n, k],
    )
}

fn with_schedule(program: &Program, schedule: Schedule) -> Program {
    Program { schedule, ..program.clone() }
}

/// The first words of a finding, without its numbers.
fn kind(finding: &str) -> String {
    finding
        .split_whitespace()
        .filter(|word| !word.contains(|c: char| c.is_ascii_digit()))
        .take(9)
        .collect::<Vec<_>>()
        .join(" ")
}

#[test]
fn every_step_of_every_schedule_is_needed() {
    let (mut table, mut mutants, mut survivors) =
        (BTreeMap::<(String, String), u32>::new(), 0, Vec::new());
    for (name, desc) in subjects() {
        let program = desc.one().program();
        assert_eq!(caught(&program), None, "{name} is accused without a change");
        for (section, index, step) in program.schedule.places() {
            mutants += 1;
            match caught(&with_schedule(&program, without(&program.schedule, section, index))) {
                Some(finding) => {
                    let step = step.to_string();
                    let step = step.split('(').next().unwrap_or_default().to_owned();
                    *table
                        .entry((format!("{section:?} without {step}"), kind(&finding)))
                        .or_default() += 1;
                }
                None => {
                    survivors.push(format!("{name}: {section:?} without {step}, number {index}"))
                }
            }
        }
    }
    for ((mutant, finding), count) in &table {
        println!("{mutant:28} {count:4}  {finding}");
    }
    println!("{mutants} mutants, {} survivors", survivors.len());
    assert!(survivors.is_empty(), "{survivors:#?}");
    assert!(mutants >= 300);
}

#[test]
fn main_loop_page_names_the_faults_of_removed_steps() {
    let page: Vec<_> =
        include_str!("../../book/src/mainloop.md").lines().map(without_numbers).collect();
    let program = default_f32(ArchKind::Sm80, ROWS).one().program();
    for removed in [
        Step::Wait { pending: 2 },
        Step::Commit,
        Step::Barrier,
        Step::Copy { part: 0, of: 2 },
        Step::Load { k_block: 3 },
        Step::Multiply { k_block: 3 },
    ] {
        let index = program.schedule.body.iter().position(|step| *step == removed);
        let schedule =
            without(&program.schedule, Section::Body, index.expect("a step of the body"));
        let fault = caught(&with_schedule(&program, schedule)).expect("a fault");
        let fault = without_numbers(&fault);
        assert!(page.iter().any(|line| line.contains(&fault)), "{removed}: {fault}");
    }
}

/// Whether two neighbouring steps may change places: neither touches what the other does.
fn commute(first: Step, second: Step) -> bool {
    use Step::{Advance, Barrier, Copy, Fetch, Load, Multiply, Store};
    let one_way = |x: Step, y: Step| match (x, y) {
        // The two fragment buffers take turns.
        (Load { k_block: g }, Multiply { k_block: h }) => g % 2 != h % 2,
        // What is copied goes to another stage than what is read.
        (Load { .. } | Multiply { .. }, Fetch | Copy { .. })
        | (Multiply { .. }, Store | Step::Commit) => true,
        // A counter of the thread's own.
        (Advance, Barrier) => true,
        _ => false,
    };
    first == second || one_way(first, second) || one_way(second, first)
}

#[test]
fn neighbouring_steps_change_places_only_where_neither_touches_what_the_other_does() {
    let (mut mutants, mut harmless) = (0, BTreeMap::<String, u32>::new());
    for (name, desc) in subjects() {
        let program = desc.one().program();
        for section in [Section::Prologue, Section::Body, Section::Epilogue] {
            let mut schedule = program.schedule.clone();
            for i in 1..schedule.steps_mut(section).len() {
                let mut swapped = schedule.clone();
                let steps = swapped.steps_mut(section);
                let (first, second) = (steps[i - 1], steps[i]);
                steps.swap(i - 1, i);
                mutants += 1;
                let finding = caught(&with_schedule(&program, swapped));
                assert_eq!(
                    finding.is_none(),
                    commute(first, second),
                    "{name}: {section:?}: {first} {second}: {finding:?}"
                );
                if finding.is_none() {
                    *harmless.entry(format!("{section:?}: {first} {second}")).or_default() += 1;
                }
            }
        }
    }
    let count = harmless.values().sum::<u32>();
    println!(
        "{mutants} exchanges, {count} of them harmless, as they should be; the others are caught"
    );
    assert!(mutants - count >= 100 && count >= 100);
}

#[test]
fn a_wait_that_lets_one_more_copy_fly_is_caught() {
    let mut mutants = 0;
    for (name, desc) in
        subjects().into_iter().filter(|(_, d)| d.family.mainloop() == MainloopKind::Multistage)
    {
        let program = desc.one().program();
        for (section, index, step) in program.schedule.places() {
            if let Step::Wait { pending } = step {
                let mut schedule = program.schedule.clone();
                schedule.steps_mut(section)[index] = Step::Wait { pending: pending + 1 };
                let finding = caught(&with_schedule(&program, schedule))
                    .unwrap_or_else(|| panic!("{name}: {section:?}"));
                assert!(finding.contains("before the wait for thread"), "{finding}");
                mutants += 1;
            }
        }
    }
    assert_eq!(mutants, 14);
}

#[test]
fn a_ring_with_fewer_stages_than_its_schedule_is_caught() {
    for stages in [3, 4, 5] {
        let desc = but!(ring(ROWS), stages, blocks_per_sm: 1).expect();
        let program = desc.one().program();
        let fewer = but!(desc, stages: stages - 1);
        let fewer = Program { desc: fewer, base: fewer.one().base(), ..program };
        let finding = caught(&fewer).expect("the ring is overrun");
        println!("{stages} stages in {}: {finding}", stages - 1);
    }
}

/// A map of a program, to be replaced.
type Place = fn(&mut Program) -> &mut Map;

/// Wrong maps: each changes the product, in both modes. The names say what is wrong.
fn wrong_maps() -> Vec<(&'static str, Program)> {
    let classic = default_f32(ArchKind::Sm70, TURNED).one().program();
    let ring = ring(ROWS).one().program();
    let sliced = subjects()[9].1.one().program();
    let mut mutants = Vec::new();
    let mut add =
        |name,
         of: &Program,
         place: Place,
         mutate: fn(&dyn IndexMap, falchion::internals::index::Coord) -> Option<u32>| {
            let mut program = of.clone();
            let map = place(&mut program);
            *map = mutant(map, mutate);
            mutants.push((name, program));
        };
    add(
        "copy A: the last vector left out",
        &classic,
        |p| &mut p.maps.copy[0],
        |m, p| m.at(p).filter(|&v| v + 1 < m.codomain()),
    );
    add(
        "copy B: the last vector left out",
        &ring,
        |p| &mut p.maps.copy[1],
        |m, p| m.at(p).filter(|&v| v + 1 < m.codomain()),
    );
    add(
        "copy A: a vector copied by two threads",
        &classic,
        |p| &mut p.maps.copy[0],
        |m, p| m.at(p).map(|v| v.max(1)),
    );
    add(
        "copy B: a vector copied by two threads",
        &ring,
        |p| &mut p.maps.copy[1],
        |m, p| m.at(p).map(|v| v.max(1)),
    );
    add("smem A: one further", &ring, |p| &mut p.maps.smem[0], |m, p| m.at(p).map(|x| x + 1));
    add("smem B: one further", &ring, |p| &mut p.maps.smem[1], |m, p| m.at(p).map(|x| x + 1));
    add(
        "smem A: two rows in one place",
        &classic,
        |p| &mut p.maps.smem[0],
        |m, p| m.at(at(p.row, p.column & !1)),
    );
    add(
        "smem B: two columns in one place",
        &ring,
        |p| &mut p.maps.smem[1],
        |m, p| m.at(at(p.row & !1, p.column)),
    );
    add(
        "smem A: a row too short",
        &ring,
        |p| &mut p.maps.smem[0],
        |_, p| Some(p.column * 127 + p.row),
    );
    add(
        "smem A: MN and K exchanged",
        &classic,
        |p| &mut p.maps.smem[0],
        |_, p| Some(p.row * 132 + p.column),
    );
    add(
        "smem B: MN and K exchanged",
        &ring,
        |p| &mut p.maps.smem[1],
        |_, p| Some(p.row * 128 + p.column),
    );
    add(
        "smem A: leaves an element out",
        &classic,
        |p| &mut p.maps.smem[0],
        |m, p| m.at(p).filter(|&x| x != 77),
    );
    add(
        "fragment A: lanes 0 and 1 exchanged",
        &classic,
        |p| &mut p.maps.fragment[0],
        |m, p| m.at(at(if p.row < 2 { p.row ^ 1 } else { p.row }, p.column)),
    );
    add(
        "fragment A: all lanes exchanged in pairs",
        &classic,
        |p| &mut p.maps.fragment[0],
        |m, p| m.at(at(p.row ^ 1, p.column)),
    );
    add(
        "fragment B: all lanes exchanged in pairs",
        &ring,
        |p| &mut p.maps.fragment[1],
        |m, p| m.at(at(p.row ^ 2, p.column)),
    );
    add(
        "fragment B: the elements reversed",
        &ring,
        |p| &mut p.maps.fragment[1],
        |m, p| m.at(at(p.row, m.domain().column - 1 - p.column)),
    );
    add(
        "fragment A: every thread holds warp 0's",
        &classic,
        |p| &mut p.maps.fragment[0],
        |m, p| m.at(at(p.row % 32, p.column)),
    );
    add("depth: one further", &sliced, |p| &mut p.maps.depth, |m, p| m.at(p).map(|k| k + 1));
    add("depth: slices forget their number", &sliced, |p| &mut p.maps.depth, |_, p| Some(p.column));
    add(
        "depth: lane 0 takes every other k twice",
        &classic,
        |p| &mut p.maps.depth,
        |m, p| m.at(p).map(|k| if p.row == 0 { k & !1 } else { k }),
    );
    add(
        "accumulators: transposed",
        &classic,
        |p| &mut p.maps.accumulator,
        |m, p| m.at(p).map(|x| x % 128 * 128 + x / 128),
    );
    add(
        "accumulators: two of a thread exchanged",
        &ring,
        |p| &mut p.maps.accumulator,
        |m, p| m.at(at(p.row, p.column ^ 1)),
    );
    add(
        "accumulators: stored twice",
        &ring,
        |p| &mut p.maps.accumulator,
        |m, p| m.at(at(p.row, p.column & !1)),
    );
    add(
        "partials: threads collide",
        &sliced,
        |p| &mut p.maps.partials,
        |m, p| m.at(at(p.row & !1, p.column)),
    );
    add(
        "partials: accumulators of a thread collide",
        &sliced,
        |p| &mut p.maps.partials,
        |m, p| m.at(at(p.row, p.column & !1)),
    );
    add(
        "partials: beyond the memory",
        &sliced,
        |p| &mut p.maps.partials,
        |m, p| m.at(p).map(|x| x + 4096),
    );
    mutants
}

#[test]
fn a_wrong_map_goes_wrong_in_both_modes() {
    let mutants = wrong_maps();
    let mut survivors = Vec::new();
    for (name, program) in &mutants {
        let size = ragged(&program.desc);
        for mode in [CHECKED, Mode::Fast] {
            match wrong(program, mode, size) {
                Some(finding) => println!("{name:45} {mode:?}: {finding}"),
                None => survivors.push(format!("{name}, {mode:?}")),
            }
        }
    }
    assert!(survivors.is_empty(), "{survivors:#?}");
    assert_eq!(mutants.len(), 26);
}

#[test]
fn a_wrong_order_of_tiles_goes_wrong_in_both_modes() {
    type Mutation = fn(&Work, Unit) -> Option<Unit>;
    let mutations: [(&str, Mutation); 3] = [
        ("a tile twice", |_, unit| Some(Unit { row: unit.row.max(1), ..unit })),
        ("a tile left out", |_, unit| (unit.row != 1).then_some(unit)),
        ("beyond the last row", |work, unit| {
            Some(Unit { row: if unit.row == 0 { work.rows } else { unit.row }, ..unit })
        }),
    ];
    let desc = default_f32(ArchKind::Sm70, ROWS);
    for (name, mutation) in mutations {
        let mut program = desc.one().program();
        program.units = Arc::new(move |work, block, rank, i| {
            work.unit(block, rank, i).and_then(|unit| mutation(work, unit))
        });
        for mode in [CHECKED, Mode::Fast] {
            println!("{name:25} {mode:?}: {}", wrong(&program, mode, [257, 130, 9]).expect(name));
        }
    }
}

#[test]
fn a_layout_that_takes_vectors_apart_is_caught() {
    let desc = but!(ring(ROWS), stages: 3);
    // Room enough for any of these: the pitch of the description is 128 + 8.
    let padded = SmemLayout::Padded { along: Along::Mn, padding: 8 };
    let desc = but!(desc, smem_a: padded, smem_b: padded).expect();
    let tile =
        SmemTile { padding: 8, along: Along::Mn, mn: 128, k: 16, bits: 0, base: 0, shift: 0 };
    for (name, map) in [
        ("rows that begin between vectors", SmemTile { padding: 5, ..tile }),
        ("a swizzle finer than a vector", SmemTile { bits: 2, base: 1, ..tile }),
        (
            "along K, where copies are vectors along MN",
            SmemTile { along: Along::K, padding: 0, ..tile },
        ),
    ] {
        let mut program = desc.one().program();
        program.maps.smem[0] = Arc::new(map);
        println!("{name}: {}", caught(&program).expect(name));
        println!("{name}: {}", wrong(&program, Mode::Fast, ragged(&desc)).expect(name));
    }
}

/// Maps that change where things lie and not what is computed: the product stays, and the
/// fingerprint tells them apart. What they cost is counted in `index_maps.rs`.
#[test]
fn a_layout_that_only_costs_conflicts_survives_and_its_fingerprint_differs() {
    let program = default_f32(ArchKind::Sm70, TURNED).one().program();
    let tile = program.base.operand(falchion::internals::operand::OperandKind::A).smem;
    assert_eq!(tile.padding, 4);
    for (name, map) in [
        ("the padding dropped", SmemTile { padding: 0, ..tile }),
        ("rows rotated by a swizzle", SmemTile { padding: 0, bits: 3, base: 2, ..tile }),
    ] {
        let mut mutant = program.clone();
        mutant.maps.smem[0] = Arc::new(map);
        assert_eq!(caught(&mutant), None, "{name}");
        assert_eq!(wrong(&mutant, Mode::Fast, ragged(&mutant.desc)), None, "{name}");
        assert_ne!(fingerprint(&map), fingerprint(&tile), "{name}");
    }
}

#[test]
fn nothing_that_ships_is_accused() {
    let mut clean = HashSet::new();
    for (i, desc) in shipped().enumerate() {
        let k = 2 * desc.threadblock().k as usize + 5;
        // Now and then a second tile of C.
        let m = if i % 5 == 0 { 131 } else { 125 };
        assert_eq!(wrong(&desc.one().program(), CHECKED, [m, 67, k]), None, "{desc:?}");
        clean.insert(desc);
    }
    println!("{} descriptions, none accused", clean.len());
    assert_eq!(clean.len(), 18 * 6 * 8, "types, tags, layouts");
}

/// Sums of a deep product lie in the narrow types, too.
#[test]
fn deep_products_of_every_type_are_compared() {
    for kind in [ElementKind::U8, ElementKind::I8, ElementKind::F16, ElementKind::Bf16] {
        let desc = shipped()
            .find(|d| d.class.output.element == kind && d.user_types().a == kind)
            .expect("it ships");
        assert_eq!(wrong(&desc.one().program(), Mode::Fast, [9, 7, 1053]), None, "{desc:?}");
    }
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn nothing_that_checks_is_accused_in_any_order_of_threads(d in legal(), seed in any::<u64>()) {
        let program = d.one().program();
        prop_assert_eq!(wrong(&program, Mode::Checked { seed }, ragged(&d)), None);
        prop_assert_eq!(wrong(&program, Mode::Fast, ragged(&d)), None);
    }
}
