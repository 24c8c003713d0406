//! Mutants of programs whose threads all follow one schedule. The checked machine reports a fault,
//! or D differs from the reference. The tables name the mutants that compute the same result.

use crate::harness::{
    integers::{ragged, wrong},
    prelude::*,
    random_cases::*,
};
use falchion::internals::nest::Maps;
use falchion_check::mutation::{NamedFault, drop_each};
use proptest::prelude::*;

const CHECKED: Mode = Mode::Checked { seed: 7 };
const ROWS: [Order; 3] = [Order::Row; 3];
pub(crate) const K_MAJOR: [Order; 3] = [Order::Row, Order::Col, Order::Row];

/// Returns the programs that are mutated: the defaults, 2, 3, and 4 stages, 2, 3, and 4 warp
/// slices, and stream-K. Files of one main loop have further programs.
fn subjects() -> Vec<(String, Program)> {
    let default =
        |arch, ab, acc, c| default_of(OpKind::Simt, arch, element_types(ab, acc, c), K_MAJOR);
    let classic = default_f32(ArchKind::Sm70, K_MAJOR);
    let ring = ring(ROWS);
    #[rustfmt::skip]
    let all = vec![
        ("f32 sm70", classic),
        ("f32 sm80", default_f32(ArchKind::Sm80, ROWS)),
        ("f32 sm80 K-major", default_f32(ArchKind::Sm80, K_MAJOR)),
        ("4 stages", ring),
        ("f64 sm80", default(ArchKind::Sm80, ElementKind::F64, ElementKind::F64, ElementKind::F64)),
        ("i8 sm90", default(ArchKind::Sm90, ElementKind::I8, ElementKind::I32, ElementKind::I32)),
        ("2 stages", but!(ring, stages: 2).expect()),
        ("3 stages", but!(ring, stages: 3).expect()),
        ("2 warp slices", sliced(but!(classic, align_a: 1, align_b: 1), 2)),
        ("3 warp slices", sliced(but!(classic, align_a: 1, align_b: 1), 3)),
        ("4 warp slices of 3 stages", sliced(but!(ring, stages: 3, blocks_per_sm: 1), 4)),
        ("streams", streams(sliced(but!(classic, align_a: 1, align_b: 1), 1))),
        ("stream-K, 2 warp slices", streams(sliced(but!(classic, align_a: 1, align_b: 1), 2))),
        ("stream-K, 3 stages, 2 warp slices", streams(sliced(but!(ring, stages: 3, blocks_per_sm: 1), 2))),
    ];
    programs(all)
}

/// Returns the descriptions as named programs.
pub(crate) fn programs(all: Vec<(&str, GemmDesc)>) -> Vec<(String, Program)> {
    all.into_iter()
        .map(|(name, desc)| {
            (name.to_owned(), desc.one_schedule().expect("a kernel without a producer"))
        })
        .collect()
}

/// Returns a description with small tiles and warps that divide K.
pub(crate) fn sliced(d: GemmDesc, warp_slices: u32) -> GemmDesc {
    but!(d, threadblock: Mnk::new(64, 64, 8 * warp_slices), warp: Mnk::new(32, 32, 8)).expect()
}

/// Returns a description with stream-K.
pub(crate) fn streams(d: GemmDesc) -> GemmDesc {
    but!(d, decomposition: DecompositionKind::StreamK).expect()
}

/// Runs a mutant on the checked machine, and returns the finding. Two CTAs compute stream-K: each
/// has slices of two tiles, and whole tiles.
pub(crate) fn find_fault(program: &Program) -> Option<String> {
    let [m, n, k] = ragged(&program.desc);
    let tiles = if program.desc.streams_k() { 4 } else { 0 };
    wrong(
        &Program { clusters: 2, ..program.clone() },
        CHECKED,
        [m + tiles * program.desc.threadblock().m as usize, n, k],
    )
}

/// Returns the first words of a finding without its numbers.
pub(crate) fn find(program: &Program) -> Option<String> {
    let finding = find_fault(program)?;
    let words = finding.split_whitespace();
    let words = words.filter(|word| !word.contains(|c: char| c.is_ascii_digit()));
    Some(words.take(9).collect::<Vec<_>>().join(" "))
}

#[test]
fn every_dropped_step_is_found() {
    for (name, program) in subjects() {
        assert_eq!(find_fault(&program), None, "{name}, unchanged");
    }
    drop_each(&subjects(), find).check(452);
}

#[test]
fn main_loop_page_names_the_faults_of_removed_steps() {
    let page: Vec<_> =
        include_str!("../../book/src/mainloop.md").lines().map(without_numbers).collect();
    let program =
        default_f32(ArchKind::Sm80, ROWS).one_schedule().expect("a kernel without a producer");
    for removed in [
        Step::Wait { pending: 2 },
        Step::Commit,
        Step::Barrier,
        Step::Copy { part: 0, of: 2 },
        Step::Load { k_block: 3 },
        Step::Multiply { k_block: 3 },
    ] {
        let fault = find_fault(&without_first(&program, Section::Body, removed)).expect("a fault");
        let fault = without_numbers(&fault);
        assert!(page.iter().any(|line| line.contains(&fault)), "{removed}: {fault}");
    }
}

/// Returns the reason why two neighboring steps may be swapped.
pub(crate) fn commute(_: &Program, first: Step, second: Step) -> Option<&'static str> {
    use Step::{Advance, Barrier, Commit, Copy, Fetch, Load, Multiply, Store};
    let one_way = |x: Step, y: Step| match (x, y) {
        (Load { k_block: g }, Multiply { k_block: h }) if g % 2 != h % 2 => {
            Some("each has its own fragment buffer")
        }
        (Load { .. } | Multiply { .. }, Fetch | Copy { .. })
        | (Multiply { .. }, Store | Commit) => Some("the copy writes another stage"),
        (Advance, Barrier) => Some("the counter belongs to the thread"),
        (x, y) if x == y => Some("the steps are equal"),
        _ => None,
    };
    one_way(first, second).or_else(|| one_way(second, first))
}

#[test]
fn swapped_steps_are_found_or_commute() {
    let sections = [Section::Prologue, Section::Body, Section::Epilogue];
    let findings = swap_each(&subjects(), &sections, commute, |program, _| find(program));
    findings.check(234);
    assert_eq!(findings.tried, 419);
}

#[test]
fn a_wait_that_leaves_one_more_copy_in_flight_is_found() {
    let weaker = |step| match step {
        Step::Wait { pending } => Some(Step::Wait { pending: pending + 1 }),
        _ => None,
    };
    let findings = weaken_each(&subjects(), weaker, find_fault);
    findings.check(14);
    assert!(findings.kinds("").iter().all(|kind| kind.contains("before the wait for thread")));
}

#[test]
fn a_ring_with_fewer_stages_than_its_schedule_is_found() {
    for stages in [3, 4, 5] {
        let desc = but!(ring(ROWS), stages, blocks_per_sm: 1).expect();
        let program = desc.one_schedule().expect("a kernel without a producer");
        let fewer = but!(desc, stages: stages - 1);
        let fewer = Program { desc: fewer, base: fewer.base(), ..program };
        let finding = find_fault(&fewer).expect("the ring is overrun");
        println!("{stages} stages in {}: {finding}", stages - 1);
    }
}

/// Program that a fault of a map needs.
#[derive(Clone, Copy, PartialEq)]
enum Needs {
    Classic,
    Ring,
    Sliced,
}

/// Defines wrong maps: the name of the fault, its program, and the change of the program's maps.
macro_rules! wrong_maps {
    ($($name:literal, $of:ident, |$m:ident| $change:expr;)*) => {
        const WRONG_MAPS: [NamedFault<Maps, Needs>; 26] = [$(($name, Needs::$of, |$m| $change)),*];
    };
}

wrong_maps! {
    "copy A: the last vector is omitted", Classic, |m| leave_out_last(&mut m.copy[0]);
    "copy B: the last vector is omitted", Ring, |m| leave_out_last(&mut m.copy[1]);
    "copy A: two threads copy one vector", Classic, |m| revalue(&mut m.copy[0], |v| v.max(1));
    "copy B: two threads copy one vector", Ring, |m| revalue(&mut m.copy[1], |v| v.max(1));
    "smem A: off by one", Ring, |m| revalue(&mut m.smem[0], |x| x + 1);
    "smem B: off by one", Ring, |m| revalue(&mut m.smem[1], |x| x + 1);
    "smem A: two rows collide", Classic, |m| redirect(&mut m.smem[0], |i, k| (i, k & !1));
    "smem B: two columns collide", Ring, |m| redirect(&mut m.smem[1], |i, k| (i & !1, k));
    "smem A: the pitch is too short", Ring, |m|
        mutate(&mut m.smem[0], |_, p| Some(p.column * 127 + p.row));
    "smem A: MN and K are swapped", Classic, |m|
        mutate(&mut m.smem[0], |_, p| Some(p.row * 132 + p.column));
    "smem B: MN and K are swapped", Ring, |m|
        mutate(&mut m.smem[1], |_, p| Some(p.row * 128 + p.column));
    "smem A: an element is omitted", Classic, |m|
        mutate(&mut m.smem[0], |map, p| map.at(p).filter(|&x| x != 77));
    "fragment A: lanes 0 and 1 are swapped", Classic, |m|
        redirect(&mut m.fragment[0], |lane, i| (if lane < 2 { lane ^ 1 } else { lane }, i));
    "fragment A: neighboring lanes are swapped", Classic, |m|
        redirect(&mut m.fragment[0], |lane, i| (lane ^ 1, i));
    "fragment B: neighboring lanes are swapped", Ring, |m|
        redirect(&mut m.fragment[1], |lane, i| (lane ^ 2, i));
    "fragment B: the elements are reversed", Ring, |m| {
        let last = m.fragment[1].domain().column - 1;
        redirect(&mut m.fragment[1], move |lane, i| (lane, last - i))
    };
    "fragment A: every warp reads the rows of warp 0", Classic, |m|
        redirect(&mut m.fragment[0], |lane, i| (lane % 32, i));
    "depth: off by one", Sliced, |m| revalue(&mut m.depth, |k| k + 1);
    "depth: every warp slice reads the k of the first", Sliced, |m| mutate(&mut m.depth, |_, p| Some(p.column));
    "depth: lane 0 reads every other k twice", Classic, |m|
        mutate(&mut m.depth, |map, p| map.at(p).map(|k| if p.row == 0 { k & !1 } else { k }));
    "accumulators: transposed", Classic, |m|
        revalue(&mut m.accumulator, |x| x % 128 * 128 + x / 128);
    "accumulators: two of a thread are swapped", Ring, |m|
        redirect(&mut m.accumulator, |thread, i| (thread, i ^ 1));
    "accumulators: one is stored twice", Ring, |m|
        redirect(&mut m.accumulator, |thread, i| (thread, i & !1));
    "partials: threads collide", Sliced, |m|
        redirect(&mut m.partials, |thread, i| (thread & !1, i));
    "partials: accumulators of a thread collide", Sliced, |m|
        redirect(&mut m.partials, |thread, i| (thread, i & !1));
    "partials: outside of the memory", Sliced, |m| revalue(&mut m.partials, |x| x + 4096);
}

fn leave_out_last(map: &mut falchion::internals::index::Map) {
    mutate(map, |map, p| map.at(p).filter(|&v| v + 1 < map.codomain()));
}

#[test]
fn every_wrong_map_is_found_in_both_modes() {
    let mut all = subjects();
    let of = |of, name: &str, all: &mut Vec<(String, Program)>| {
        let at = all.iter().position(|(other, _)| other == name).expect("a subject");
        (of, all.swap_remove(at).1)
    };
    let programs = [
        of(Needs::Classic, "f32 sm70", &mut all),
        of(Needs::Ring, "4 stages", &mut all),
        of(Needs::Sliced, "3 warp slices", &mut all),
    ];
    for mode in [CHECKED, Mode::Fast] {
        for (of, program) in &programs {
            let subject = [(format!("{mode:?}"), program.clone())];
            let faults = WRONG_MAPS.iter().filter(|fault| fault.1 == *of).copied();
            let find = |_: &str, mutant: &Program| wrong(mutant, mode, ragged(&mutant.desc));
            let faults: Vec<_> = faults.collect();
            apply_each(&subject, &faults, |_, _| true, |p| &mut p.maps, find).check(faults.len());
        }
    }
}

#[test]
fn maps_with_wrong_edges_are_found() {
    mutate_edges(&subjects(), |_, _, _| None, |program, _| find(program)).check(384);
}

#[test]
fn a_wrong_tile_order_is_found_in_both_modes() {
    type Mutation = fn(&Work, Unit) -> Option<Unit>;
    let mutations: [(&str, Mutation); 3] = [
        ("a tile is computed twice", |_, unit| Some(Unit { row: unit.row.max(1), ..unit })),
        ("a tile is omitted", |_, unit| (unit.row != 1).then_some(unit)),
        ("a tile is beyond the last row", |work, unit| {
            Some(Unit { row: if unit.row == 0 { work.rows } else { unit.row }, ..unit })
        }),
    ];
    let desc = default_f32(ArchKind::Sm70, ROWS);
    for (name, mutation) in mutations {
        let mut program = desc.one_schedule().expect("a kernel without a producer");
        program.units = Arc::new(move |work, block, rank, i| {
            work.unit(block, rank, i).and_then(|unit| mutation(work, unit))
        });
        for mode in [CHECKED, Mode::Fast] {
            println!("{name:25} {mode:?}: {}", wrong(&program, mode, [257, 130, 9]).expect(name));
        }
    }
}

#[test]
fn a_layout_that_splits_vectors_is_found() {
    let desc = but!(ring(ROWS), stages: 3);
    // Enough shared memory for each of these layouts: the pitch of the description is 128 + 8.
    let padded = SmemLayout::Padded { along: Along::Mn, padding: 8 };
    let desc = but!(desc, smem_a: padded, smem_b: padded).expect();
    let tile =
        SmemTile { padding: 8, along: Along::Mn, mn: 128, k: 16, bits: 0, base: 0, shift: 0 };
    for (name, map) in [
        ("rows begin between vectors", SmemTile { padding: 5, ..tile }),
        ("the swizzle is finer than a vector", SmemTile { bits: 2, base: 1, ..tile }),
        (
            "K-major, although copies are vectors along MN",
            SmemTile { along: Along::K, padding: 0, ..tile },
        ),
    ] {
        let mut program = desc.one_schedule().expect("a kernel without a producer");
        program.maps.smem[0] = Arc::new(map);
        println!("{name}: {}", find_fault(&program).expect(name));
        println!("{name}: {}", wrong(&program, Mode::Fast, ragged(&desc)).expect(name));
    }
}

/// Maps that change addresses but not the result: D stays correct, and only the fingerprint
/// differs. `index_maps.rs` counts their conflicts.
#[test]
fn a_layout_with_conflicts_is_equivalent_and_its_fingerprint_differs() {
    let program =
        default_f32(ArchKind::Sm70, K_MAJOR).one_schedule().expect("a kernel without a producer");
    let tile = program.base.operand(falchion::internals::shape::OperandKind::A).smem;
    assert_eq!(tile.padding, 4);
    for (name, map) in [
        ("without padding", SmemTile { padding: 0, ..tile }),
        ("rows are rotated by a swizzle", SmemTile { padding: 0, bits: 3, base: 2, ..tile }),
    ] {
        let mut mutant = program.clone();
        mutant.maps.smem[0] = Arc::new(map);
        assert_eq!(find_fault(&mutant), None, "{name}");
        assert_eq!(wrong(&mutant, Mode::Fast, ragged(&mutant.desc)), None, "{name}");
        assert_ne!(fingerprint(&map), fingerprint(&tile), "{name}");
    }
}

#[test]
fn shipped_programs_have_no_fault() {
    let mut clean = HashSet::new();
    for (i, desc) in shipped().enumerate() {
        let k = 2 * desc.threadblock().k as usize + 5;
        // Some descriptions have a second tile of C.
        let m = if i % 5 == 0 { 131 } else { 125 };
        for (mode, size) in [(CHECKED, [m, 67, k]), (Mode::Fast, [19, 13, 21])] {
            assert_eq!(
                wrong(&desc.one_schedule().expect("a kernel without a producer"), mode, size),
                None,
                "{mode:?} {desc:?}"
            );
        }
        clean.insert(desc);
    }
    println!("{} descriptions without a fault", clean.len());
    assert_eq!(clean.len(), 18 * 6 * 8, "types, tags, layouts");
}

/// Sums of a deep GEMM also fit the narrow types.
#[test]
fn deep_gemms_of_every_type_are_exact() {
    for kind in [ElementKind::U8, ElementKind::I8, ElementKind::F16, ElementKind::Bf16] {
        let desc = shipped()
            .find(|d| d.output.element == kind && d.user_types().a == kind)
            .expect("it ships");
        assert_eq!(
            wrong(
                &desc.one_schedule().expect("a kernel without a producer"),
                Mode::Fast,
                [9, 7, 1053]
            ),
            None,
            "{desc:?}"
        );
    }
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn valid_programs_have_no_fault_in_any_order_of_threads(d in legal(), seed in any::<u64>()) {
        let program = d.one_schedule().expect("a kernel without a producer");
        prop_assert_eq!(wrong(&program, Mode::Checked { seed }, ragged(&d)), None);
        prop_assert_eq!(wrong(&program, Mode::Fast, ragged(&d)), None);
    }
}
