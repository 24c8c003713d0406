//! The suites that no fit reads: their problems are in no other suite and in no trial.

use crate::trials::parse;
use falchion_lab::bench::{SuiteProblem, suite};
use std::{collections::BTreeMap, fs, path::Path};

/// Suites that no fit reads, with their numbers of problems.
const HELD_OUT: [(&str, usize); 5] =
    [("predict", 200), ("decode_models", 200), ("mid_models", 240), ("moe", 30), ("short_k", 52)];

/// Returns the extents and the types of a problem.
fn shape(problem: &SuiteProblem) -> String {
    let SuiteProblem { m, n, k, a, b, c, .. } = problem;
    format!(
        "{m}x{n}x{k} {a} {b} {c} batch {:?} lda {:?} ldb {:?}",
        problem.batch, problem.lda, problem.ldb
    )
}

/// Returns the problems of every GEMM suite.
fn suites() -> BTreeMap<String, Vec<SuiteProblem>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../benches/suites");
    let read = |path: std::path::PathBuf| {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).expect("lines");
        Some((name.clone(), suite::parse(&name, &text).ok()?))
    };
    let files = fs::read_dir(folder).expect("suites").map(|entry| entry.expect("a file").path());
    files.filter_map(read).collect()
}

#[test]
fn held_out_problems_are_in_no_other_suite_and_no_trial() {
    let suites = suites();
    let mut seen: BTreeMap<String, &str> = BTreeMap::new();
    for (name, problems) in &suites {
        if let Some((_, count)) = HELD_OUT.iter().find(|(held_out, _)| held_out == name) {
            assert_eq!(problems.len(), *count, "{name}");
            for problem in problems {
                let other = seen.insert(shape(problem), name);
                assert_eq!(other, None, "{name}: {problem}");
            }
        }
    }
    let tried = parse(include_str!("../../data/trials.csv")).expect("trials");
    let others = suites
        .iter()
        .filter(|(name, _)| HELD_OUT.iter().all(|(held_out, _)| held_out != name))
        .flat_map(|(name, problems)| problems.iter().map(move |problem| (name.as_str(), problem)));
    let all = others.chain(tried.iter().map(|trial| ("trials", &trial.problem)));
    for (name, problem) in all {
        let held_out = seen.get(&shape(problem));
        assert_eq!(held_out, None, "{name}: {problem}");
    }
}

/// Each of five types has the same forty sizes.
#[test]
fn predictions_are_tested_with_forty_sizes_of_five_types() {
    let mut sizes: BTreeMap<String, Vec<(usize, usize, usize)>> = BTreeMap::new();
    for problem in &suites()["predict"] {
        let SuiteProblem { m, n, k, .. } = *problem;
        sizes.entry(problem.a.element.to_string()).or_default().push((m, n, k));
    }
    assert_eq!(sizes.len(), 5, "{:?}", sizes.keys());
    assert!(sizes.values().all(|of_type| of_type.len() == 40));
}
