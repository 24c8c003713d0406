//! Each formula of `book/src/fusions.md` has the values of the reference.

use crate::gemm::verified;

const PAGE: &str = include_str!("../../../book/src/fusions.md");

/// Returns the formulas of the page: the texts in backticks in the last cell of each row.
fn formulas() -> Vec<&'static str> {
    let (tables, _) = PAGE.split_once("## Not here").expect("the last section");
    let rows = tables.lines().filter(|line| line.starts_with("| ") && line.ends_with("` |"));
    rows.flat_map(|row| {
        let cell = row.trim_end_matches(" |").rsplit(" | ").next().expect("a cell");
        cell.split('`').skip(1).step_by(2)
    })
    .collect()
}

#[test]
fn fusions_are_verified() {
    let all = formulas();
    assert!(all.len() >= 30, "{all:?}");
    for formula in all {
        let args = "--m 40 --n 24 --k 32 --a bf16:row --b bf16:col --c bf16:row --op tensorop";
        let mut args: Vec<_> = args.split(' ').chain(["--epilogue", formula]).collect();
        for (word, scalar) in [("beta", ["--beta", "0.5"]), ("s2", ["--scalar", "2=20"])] {
            args.extend(formula.contains(word).then_some(scalar).into_iter().flatten());
        }
        let object = verified(&args);
        assert!(object["elements_checked"].as_u64() >= Some(40 * 24), "{formula}: {object}");
    }
}
