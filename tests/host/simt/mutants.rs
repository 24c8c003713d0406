//! Mutants of programs whose threads all follow one schedule. The checked machine reports a fault,
//! or D differs from the reference. The tables name the mutants that compute the same result. The
//! steps of each main loop are mutated in its own file.

use crate::harness::{
    integers::{ragged, wrong},
    prelude::*,
    random_cases::*,
};
use falchion::internals::nest::Maps;
use falchion_check::mutation::{NamedFault, drop_each};
use proptest::prelude::*;

const CHECKED: Mode = Mode::Checked { seed: 7 };
pub(crate) const ROWS: [Order; 3] = [Order::Row; 3];
pub(crate) const K_MAJOR: [Order; 3] = [Order::Row, Order::Col, Order::Row];

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
fn find(program: &Program) -> Option<String> {
    let finding = find_fault(program)?;
    let words = finding.split_whitespace();
    let words = words.filter(|word| !word.contains(|c: char| c.is_ascii_digit()));
    Some(words.take(9).collect::<Vec<_>>().join(" "))
}

/// Returns the reason why two neighboring steps may be swapped.
fn commute(_: &Program, first: Step, second: Step) -> Option<&'static str> {
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

/// Checks that dropped steps are found: at least `least`.
pub(crate) fn drop_steps(subjects: &[(String, Program)], least: usize) {
    for (name, program) in subjects {
        assert_eq!(find_fault(program), None, "{name}, unchanged");
    }
    drop_each(subjects, find).check(least);
}

/// Checks that swapped steps are found, or commute: at least `least` of `tried`.
pub(crate) fn swap_steps(subjects: &[(String, Program)], least: usize, tried: usize) {
    let sections = [Section::Prologue, Section::Body, Section::Epilogue];
    let findings = swap_each(subjects, &sections, commute, |program, _| find(program));
    findings.check(least);
    assert_eq!(findings.tried, tried);
}

/// Checks that maps with wrong edges are found: at least `least`.
pub(crate) fn mutate_maps(subjects: &[(String, Program)], least: usize) {
    mutate_edges(subjects, |_, _, _| None, |program, _| find(program)).check(least);
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
    let classic = default_f32(ArchKind::Sm70, K_MAJOR);
    let programs = [
        (Needs::Classic, classic),
        (Needs::Ring, ring(ROWS)),
        (Needs::Sliced, sliced(but!(classic, align_a: 1, align_b: 1), 3)),
    ]
    .map(|(of, desc)| (of, desc.one_schedule().expect("a kernel without a producer")));
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
