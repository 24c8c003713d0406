//! Mutants of transposes on the host: a removed step, two swapped steps, and a changed map or
//! description.
//!
//! A mutant causes a fault, or a D that differs from the definition. Surviving mutants are listed
//! with the reason why they compute the same transpose.

use crate::harness::{
    Random,
    prelude::*,
    transposes::{fill, gathered, named, scalars},
};
use falchion_lab::{ladder::TransposeRung as Rung, verify::transpose};

const CHECKED: Mode = Mode::Checked { seed: 7 };

/// Returns a problem of three tiles and partial tiles, with extents that are multiples of every
/// access.
fn ragged(d: &TransposeDesc) -> Problem {
    let (rows, columns) = (d.rows as usize + 16, 2 * d.columns as usize + 16);
    let packed = Problem::packed_transpose(rows, columns);
    if d.combine == Combine::Move {
        return packed;
    }
    Problem { scalars: scalars([1.5, -0.5]), c: Source::Matrix(packed.d), ..packed }
}

/// Runs a program, and returns the finding, if any.
fn wrong(program: &TransposeProgram, mode: Mode) -> Option<String> {
    let (d, problem) = (&program.desc, ragged(&program.desc));
    let kind = match d.element_bytes {
        1 => ElementKind::U8,
        2 => ElementKind::F16,
        4 => ElementKind::F32,
        _ => ElementKind::F64,
    };
    let (length, moves) = (problem.d.memory.length, d.combine == Combine::Move);
    assert_eq!(problem.a.memory.length, length);
    let buffer = |seed: Option<u64>| {
        let mut buffer = HostBuffer::poisoned(kind, length).expect("memory");
        if let Some(seed) = seed {
            let bytes = buffer.whole_mut().expect("a slice").into_bytes();
            fill(d.combine, bytes, &mut Random::new(seed));
        }
        buffer
    };
    let (a, c, mut after) = (buffer(Some(1)), buffer(Some(2)), buffer(None));
    let slice = |buffer| HostBuffer::whole(buffer).expect("a slice");
    let of_c = if moves { Source::None } else { Source::Matrix(slice(&c)) };
    let of_d = after.whole_mut().expect("a slice");
    if let Err(error) = run_in_mode(program, mode, problem.with_transposed(slice(&a), of_c, of_d)) {
        return Some(error.to_string());
    }
    let of_c = (!moves).then(|| slice(&c));
    let verdict = transpose(&problem, [slice(&a), slice(&after)], of_c).expect("a verdict");
    (!verdict.is_right()).then(|| verdict.to_string())
}

/// Returns the descriptions to mutate: every rung at each width, the resolver's choices for f32 and
/// f64, a padded one, and a gathered one.
fn subjects() -> Vec<TransposeDesc> {
    let mut subjects = Vec::new();
    for (combine, bytes) in [
        (Combine::Move, 1),
        (Combine::Move, 2),
        (Combine::Move, 4),
        (Combine::Move, 8),
        (Combine::F32, 4),
        (Combine::F64, 8),
    ] {
        subjects.extend(Rung::ALL.map(|rung| rung.desc(combine, bytes)));
    }
    subjects.extend([gathered(), oblong(), wide()]);
    subjects
}

/// Returns a description with accesses of 16 bytes, and swizzled chunks.
fn wide() -> TransposeDesc {
    let staging = Staging::Swizzled { bits: 3, base: 2, shift: 2 };
    let bare = Rung::Coalesced.desc(Combine::Move, 4);
    TransposeDesc {
        rows: 64,
        columns: 64,
        access_a: 4,
        thread_rows: 4,
        access_d: 4,
        staging,
        ..bare
    }
    .expect()
}

/// Returns a description with a tile that is not square, so that swapped rows and columns are
/// found.
fn oblong() -> TransposeDesc {
    TransposeDesc {
        rows: 64,
        columns: 32,
        threads: 128,
        thread_rows: 2,
        access_a: 2,
        ..Rung::Coalesced.desc(Combine::Move, 4)
    }
    .expect()
}

fn body(program: &TransposeProgram, body: Vec<Step>) -> TransposeProgram {
    TransposeProgram { schedule: Schedule { body, ..Schedule::default() }, ..program.clone() }
}

/// Returns whether each thread reads from shared memory only what it stored itself, and therefore
/// needs no barrier.
fn needs_no_barrier(desc: &TransposeDesc) -> bool {
    let (fetch, write) = (desc.fetch(), desc.write());
    let alike = |thread, step| {
        let ((row, column), (line, piece)) = (fetch.place(thread, step), write.place(thread, step));
        (row, column) == (piece, line)
    };
    [desc.access_a, desc.thread_rows, desc.access_d] == [1; 3]
        && (0..desc.threads).all(|thread| (0..fetch.steps()).all(|step| alike(thread, step)))
}

/// Returns the first words of a finding without its numbers.
fn kind(finding: &str) -> String {
    finding
        .split_whitespace()
        .filter(|word| !word.contains(|c: char| c.is_ascii_digit()))
        .take(9)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Every step is needed, except for the barrier of the rung `tiled`, whose threads read the
/// elements that they wrote.
#[test]
fn every_step_of_every_schedule_is_needed() {
    let (mut table, mut mutants, mut kept) = (BTreeMap::<(String, String), u32>::new(), 0, 0);
    for desc in subjects() {
        let program = TransposeProgram::new(&desc);
        assert_eq!(wrong(&program, CHECKED), None, "{desc} has a fault without a change");
        for (section, index, step) in program.schedule.places() {
            assert_eq!(section, Section::Body);
            let mutant = TransposeProgram {
                schedule: without(&program.schedule, section, index),
                ..program.clone()
            };
            for mode in [CHECKED, Mode::Fast] {
                if step == Step::Barrier && needs_no_barrier(&desc) {
                    assert!(
                        desc.lanes == Lanes::Across && wrong(&mutant, mode).is_none(),
                        "{desc}"
                    );
                    kept += 1;
                    continue;
                }
                let finding = wrong(&mutant, mode)
                    .unwrap_or_else(|| panic!("{desc} without {step} survives {mode:?}"));
                assert!(
                    step != Step::Barrier
                        || finding.contains("no thread wrote")
                        || finding.contains("without a barrier"),
                    "{finding}"
                );
                mutants += 1;
                *table.entry((format!("without {step}"), kind(&finding))).or_default() += 1;
            }
        }
    }
    for ((mutant, finding), count) in &table {
        println!("{mutant:18} {count:4}  {finding}");
    }
    println!("{mutants} mutants, all found; {kept} barriers that no thread needs");
    // The rung `tiled`, at six widths and in two modes.
    assert_eq!(kept, 12);
    assert!(mutants >= 200, "{mutants}");
}

/// Each step needs the previous step, except for the barrier of the rung `tiled`. A repeated
/// barrier is only slower.
#[test]
fn swapped_steps_are_found() {
    let mut mutants = 0;
    for desc in subjects() {
        let program = TransposeProgram::new(&desc);
        let steps = program.schedule.body.clone();
        for i in 1..steps.len() {
            let mut swapped = steps.clone();
            swapped.swap(i - 1, i);
            let harmless = needs_no_barrier(&desc) && swapped[i - 1..=i].contains(&Step::Barrier);
            let finding = wrong(&body(&program, swapped), CHECKED);
            assert_eq!(
                finding.is_none(),
                harmless,
                "{desc}: {} and {} swapped: {finding:?}",
                steps[i - 1],
                steps[i]
            );
            mutants += 1;
        }
        if desc.is_staged() && !needs_no_barrier(&desc) {
            let twice = vec![Step::Fetch, Step::Store, Step::Barrier, Step::Barrier, Step::Write];
            assert_eq!(wrong(&body(&program, twice), CHECKED), None, "{desc}");
            let early = vec![Step::Fetch, Step::Barrier, Step::Store, Step::Write];
            let finding = wrong(&body(&program, early), CHECKED).expect("a race");
            assert!(
                finding.contains("barrier in between") || finding.contains("no thread wrote"),
                "{finding}"
            );
        }
        let foreign = wrong(&body(&program, vec![Step::Fetch, Step::Advance]), CHECKED)
            .expect("no such step");
        assert!(foreign.contains("has no step Advance"), "{foreign}");
    }
    println!("{mutants} swaps, all found");
    assert!(mutants >= 80, "{mutants}");
}

type Place = fn(&mut TransposeProgram) -> &mut Map;
type Mutation = fn(&dyn IndexMap, Coord) -> Option<u32>;

fn changed(of: &TransposeDesc, place: Place, to: Mutation) -> TransposeProgram {
    let mut program = TransposeProgram::new(of);
    mutate(place(&mut program), to);
    program
}

/// Wrong maps, each of which changes D in both modes. The name states the fault.
fn wrong_maps() -> Vec<(&'static str, TransposeProgram)> {
    let ([naive, _, bare, padded, _], wide) =
        (Rung::ALL.map(|rung| rung.desc(Combine::Move, 4)), wide());
    let oblong = oblong();
    fn fetch(p: &mut TransposeProgram) -> &mut Map {
        &mut p.fetch
    }
    fn smem(p: &mut TransposeProgram) -> &mut Map {
        &mut p.smem
    }
    fn write(p: &mut TransposeProgram) -> &mut Map {
        &mut p.write
    }
    vec![
        (
            "fetch: the last piece is omitted",
            changed(&wide, fetch, |m, p| m.at(p).filter(|&n| n + 1 < m.codomain())),
        ),
        (
            "fetch: the last piece is omitted, in registers",
            changed(&naive, fetch, |m, p| m.at(p).filter(|&n| n + 1 < m.codomain())),
        ),
        (
            "fetch: two threads fetch one piece",
            changed(&padded, fetch, |m, p| m.at(p).map(|n| n.max(1))),
        ),
        (
            "fetch: two threads fetch one piece, in registers",
            changed(&naive, fetch, |m, p| m.at(p).map(|n| n.max(1))),
        ),
        ("fetch: off by one", changed(&wide, fetch, |m, p| m.at(p).map(|n| n + 1))),
        ("fetch: every step repeats the first", changed(&padded, fetch, |m, p| m.at(at(p.row, 0)))),
        (
            "fetch: half of the pieces are predicated off",
            changed(&wide, fetch, |m, p| m.at(p).filter(|&n| n < m.codomain() / 2)),
        ),
        (
            "write: the last piece is omitted",
            changed(&wide, write, |m, p| m.at(p).filter(|&n| n + 1 < m.codomain())),
        ),
        (
            "write: two threads write one piece",
            changed(&bare, write, |m, p| m.at(p).map(|n| n & !1)),
        ),
        ("write: off by one", changed(&padded, write, |m, p| m.at(p).map(|n| n + 1))),
        (
            "write: the lines are too short",
            changed(&oblong, write, |m, p| m.at(p).map(|n| n / 64 * 63 + n % 64)),
        ),
        (
            "write: some lanes are predicated off",
            changed(&wide, write, |m, p| m.at(p).filter(|_| p.row < 200)),
        ),
        ("smem: off by one", changed(&bare, smem, |m, p| m.at(p).map(|x| x + 1))),
        (
            "smem: two columns collide",
            changed(&padded, smem, |m, p| m.at(at(p.row, p.column & !1))),
        ),
        ("smem: two rows collide", changed(&bare, smem, |m, p| m.at(at(p.row & !1, p.column)))),
        (
            "smem: half of the columns have no padding",
            changed(&padded, smem, |_, p| {
                Some(if p.column < 16 { p.column * 33 + p.row } else { p.column * 32 + p.row })
            }),
        ),
        (
            "smem: the pitch is one too small",
            changed(&bare, smem, |_, p| Some(p.column * 31 + p.row)),
        ),
        (
            "smem: the padding exceeds the memory",
            changed(&padded, smem, |_, p| Some(p.column * 34 + p.row)),
        ),
        (
            "smem: rows and columns are swapped below a vector",
            changed(&oblong, smem, |_, p| Some(p.row * 32 + p.column)),
        ),
        (
            "smem: the pitch is the other extent",
            changed(&oblong, smem, |_, p| Some(p.column * 32 + p.row)),
        ),
        ("smem: an element is omitted", changed(&wide, smem, |m, p| m.at(p).filter(|&x| x != 77))),
        (
            "smem: the swizzle is finer than a vector",
            changed(&wide, smem, |m, p| m.at(p).map(|x| x ^ 1)),
        ),
        (
            "smem: a vector begins at an odd element",
            changed(&oblong, smem, |_, p| Some(p.column * 64 + (p.row + 1) % 64)),
        ),
    ]
}

#[test]
fn every_wrong_transpose_map_is_found_in_both_modes() {
    let mutants = wrong_maps();
    let mut survivors = Vec::new();
    for (name, program) in &mutants {
        for mode in [CHECKED, Mode::Fast] {
            match wrong(program, mode) {
                Some(finding) => println!("{name:50} {mode:?}: {finding}"),
                None => survivors.push(format!("{name}, {mode:?}")),
            }
        }
    }
    assert!(survivors.is_empty(), "{survivors:#?}");
    assert_eq!(mutants.len(), 23);
}

#[test]
fn a_wrong_tile_order_is_found_in_both_modes() {
    type Taken = fn(&Work, u32, u32, u32) -> Option<Unit>;
    let taken: [(&str, Taken); 5] = [
        ("a tile is computed twice", |work, block, rank, i| work.unit(block.max(1), rank, i)),
        ("a tile is omitted", |work, block, rank, i| {
            work.unit(block, rank, i).filter(|_| block != 2)
        }),
        ("a tile is beyond the last row", |work, block, rank, i| {
            work.unit(block, rank, i)
                .map(|unit| Unit { row: if block == 0 { work.rows } else { unit.row }, ..unit })
        }),
        ("one further", |work, block, rank, i| work.unit(block + 1, rank, i)),
        ("rows and columns are swapped", |work, block, rank, i| {
            work.unit(block, rank, i).map(|unit| Unit {
                row: unit.column,
                column: unit.row,
                ..unit
            })
        }),
    ];
    let desc = oblong();
    for (name, taken) in taken {
        let program = TransposeProgram { units: Arc::new(taken), ..TransposeProgram::new(&desc) };
        for mode in [CHECKED, Mode::Fast] {
            let finding =
                wrong(&program, mode).unwrap_or_else(|| panic!("{name} survives {mode:?}"));
            assert!(
                finding.contains("computed by no block, or by two") || finding.contains("units"),
                "{finding}"
            );
        }
    }
}

/// A description that contradicts its maps is found.
#[test]
fn a_description_that_contradicts_its_maps_is_found() {
    let ([_, _, bare, padded, _], wide) =
        (Rung::ALL.map(|rung| rung.desc(Combine::Move, 4)), wide());
    let oblong = oblong();
    let departures = [
        ("half the thread_rows", wide, TransposeDesc { thread_rows: 2, ..wide }),
        ("half the access to A", wide, TransposeDesc { access_a: 2, ..wide }),
        ("half the access to D", wide, TransposeDesc { access_d: 2, ..wide }),
        (
            "no memory for the padding",
            padded,
            TransposeDesc { staging: Staging::Padded(0), ..padded },
        ),
        ("rows and columns are swapped", oblong, TransposeDesc { rows: 32, columns: 64, ..oblong }),
        ("half the rows", bare, TransposeDesc { rows: 16, ..bare }),
        ("twice the columns", bare, TransposeDesc { columns: 64, ..bare }),
    ];
    for (name, desc, other) in departures {
        let mutant = TransposeProgram { desc: other.expect(), ..TransposeProgram::new(&desc) };
        for mode in [CHECKED, Mode::Fast] {
            println!(
                "{name:30} {mode:?}: {}",
                wrong(&mutant, mode).unwrap_or_else(|| panic!("{name} survives {mode:?}"))
            );
        }
    }
}

/// Maps that change threads or addresses, but not the result: D stays correct, and only the
/// fingerprint differs. `transpose_maps.rs` counts their cost.
#[test]
fn an_equivalent_map_survives_and_its_fingerprint_differs() {
    let ([_, _, bare, padded, _], wide) =
        (Rung::ALL.map(|rung| rung.desc(Combine::Move, 4)), wide());
    let tile = padded.smem();
    let mut survivors = Vec::new();
    for (name, desc, map) in [
        ("without padding", padded, SmemTile { padding: 0, ..tile }),
        (
            "the swizzle is per element",
            bare,
            SmemTile { padding: 0, bits: 5, base: 0, shift: 0, ..tile },
        ),
    ] {
        survivors.push((
            name,
            TransposeProgram { smem: Arc::new(map), ..TransposeProgram::new(&desc) },
            fingerprint(&desc.smem()),
        ));
    }
    let across =
        falchion::internals::operand::transpose::PieceMap { lanes: Lanes::Across, ..wide.write() };
    survivors.push((
        "pieces are assigned in reverse order",
        TransposeProgram { write: Arc::new(across), ..TransposeProgram::new(&wide) },
        fingerprint(&wide.write()),
    ));
    for (name, program, own) in survivors {
        for mode in [CHECKED, Mode::Fast] {
            assert_eq!(wrong(&program, mode), None, "{name}");
        }
        let now = if name.starts_with("pieces") { &program.write } else { &program.smem };
        assert_ne!(fingerprint(now.as_ref()), own, "{name}");
    }
}

#[test]
fn shipped_transposes_have_no_fault_in_any_order_of_threads() {
    let mut clean = 0;
    for (seed, desc) in
        (0..).zip(named().into_iter().chain(subjects()).chain(random_descriptions(60, 9)))
    {
        let program = TransposeProgram::new(&desc);
        assert_eq!(wrong(&program, Mode::Checked { seed }), None, "{desc}");
        assert_eq!(wrong(&program, Mode::Fast), None, "{desc}");
        clean += 1;
    }
    println!("{clean} descriptions without a fault");
    assert!(clean > 130, "{clean}");
}
