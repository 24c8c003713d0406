//! Pinning all knobs that a problem selects by itself gives the same kernel.

use falchion::{
    arch::{ArchKind, OpKind},
    internals::nest::Request,
    nest::{GemmDesc, Pins},
    shape::Mnk,
};
use falchion_lab::{
    bench::{SuiteProblem, kernels::description, suite},
    explain::size_of,
    explore::Space,
};
use std::{fs, path::Path};

/// Returns the GEMM problems of all suites.
fn problems() -> Vec<SuiteProblem> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../benches/suites");
    let files = fs::read_dir(folder).expect("suites").map(|entry| entry.expect("a file").path());
    let texts = files.map(|file| fs::read_to_string(file).expect("lines"));
    texts.filter_map(|text| suite::parse("a suite", &text).ok()).flatten().collect()
}

#[test]
fn committed_problems_name_their_op() {
    for problem in problems() {
        assert!(problem.op.is_some(), "{problem}");
    }
}

/// Returns a problem with the knobs of a description, except for the epilogue.
fn pinned(problem: &SuiteProblem, desc: &GemmDesc) -> SuiteProblem {
    let knobs = Pins::TABLE.iter().map(|row| row.0).zip(desc.user_pins().words());
    let words = knobs
        .filter(|(knob, _)| *knob != "epilogue")
        .filter_map(|(knob, word)| Some((knob.to_owned(), word?)));
    SuiteProblem { knobs: words.collect(), ..problem.clone() }
}

/// Pinning the selected knobs gives a kernel with these knobs that the cost model rates equally
/// fast. If a tile is valid in both frames, the problem selects the frame that fills the tile.
///
/// The default table has some tiles in one frame only. Pins allow the other frame as well, which
/// the model rates faster for very few problems.
#[test]
fn pinning_the_selected_values_gives_the_selected_kernel() {
    let machine = ArchKind::Sm90.machine();
    let (mut count, mut swapped, mut faster) = (0, 0, 0);
    for problem in problems() {
        let Ok(chosen) = description(&problem, ArchKind::Sm90) else { continue };
        let found = description(&pinned(&problem, &chosen), ArchKind::Sm90)
            .expect("the selected description is valid");
        let size = size_of(&problem.launched());
        assert_eq!(found.user_pins().words(), chosen.user_pins().words(), "{problem}");
        let [pinned, free] = [&found, &chosen].map(|desc| desc.predicted(&size, &machine));
        assert!(pinned <= free, "{problem}: {pinned:?}, and {free:?} without pins");
        count += 1;
        swapped += usize::from(found.frame != chosen.frame);
        faster += usize::from(pinned < free);
    }
    assert!(
        count > 1100 && swapped < count / 10 && faster < 5,
        "{count} problems, {swapped} of them in the other frame, {faster} of these faster"
    );
}

/// The start of the search space contains the kernels that problems select on Hopper's tensor
/// cores.
#[test]
fn selected_kernels_are_in_the_search_space() {
    let mut count = 0;
    // Batches and groups are not explored.
    for problem in problems().into_iter().filter(|problem| {
        problem.knobs.is_empty() && problem.batch.is_none() && problem.ragged().is_none()
    }) {
        let Ok(chosen) = description(&problem, ArchKind::Sm90) else { continue };
        if !chosen.has_producer() || !matches!(chosen.op(), OpKind::TensorOp) {
            continue;
        }
        let size = Mnk::new(problem.m as u32, problem.n as u32, problem.k as u32);
        let of_types = Request {
            a: Some(problem.a),
            b: Some(problem.b),
            c: Some(problem.c),
            op: Some(OpKind::TensorOp),
            ..Request::default()
        };
        let space = Space::asked_for(&of_types, ArchKind::Sm90, &[], &[size]).expect("subspaces");
        let words = chosen.user_pins().words();
        let has = |knob: &str| {
            let at = Pins::TABLE.iter().position(|row| row.0 == knob).expect("a knob");
            words[at].clone().unwrap_or_default()
        };
        let knobs = ["threadblock", "warp", "instruction", "stages", "cluster", "schedule"];
        let mut framed = space
            .subspaces()
            .iter()
            .filter(|subspace| subspace.base().is_of_columns() == chosen.is_of_columns());
        let found = framed
            .any(|subspace| knobs.iter().all(|knob| subspace.list(knob).contains(&has(knob))));
        assert!(found, "{problem}: {:?}", knobs.map(has));
        count += 1;
    }
    assert!(count > 200, "{count} problems");
}
