//! The overview of all suites, and the README's table.

use crate::bench::{
    Line,
    page::{Comparison, command, comparison, distinct},
};
use core::fmt::Write;

/// A suite of the overview.
#[derive(Clone, Copy, Debug)]
pub struct Suite {
    /// The name of the suite's files: `benches/suites/NAME.jsonl`,
    /// `docs/performance/NAME.{jsonl,md}`.
    pub name: &'static str,
    /// The common property of the suite's problems.
    pub title: &'static str,
    /// Whether the README's table and chart show the suite.
    pub in_readme: bool,
}

/// All suites whose peer is cuBLASLt, in the order of the overview.
pub const SUITES: &[Suite] = &[
    suite("hopper", "large, aligned, K-major operands, tensor cores", true),
    suite("hopper_layouts", "large, the other operand layouts", true),
    suite("hopper_odd", "large, odd sizes (K-major and others)", true),
    suite("pitch", "large, row pitch of 16 mod 32 bytes", true),
    suite("small", "squares up to 3072", true),
    suite("decode", "decode, M of 1 to 64", true),
    suite("deep", "small M and N, large K", true),
    suite("batched", "strided batches and pointer arrays", true),
    suite("grouped", "grouped, relative to one call per group", true),
    suite("untuned", "untuned shapes", true),
    suite("fused", "epilogues that cuBLASLt fuses, and others", true),
    suite("gathered", "gathered rows of A relative to plain cuBLASLt; groups along K", false),
    suite("simt", "exact f32 on CUDA cores, large", true),
    suite("simt_shapes", "CUDA cores relative to cuBLASLt's tensor cores", true),
    suite("f64", "f64 on tensor cores", true),
    suite("f32_accurate", "emulated f32 relative to cuBLASLt's exact f32", true),
    suite("mma_sync", "`mma.sync` kernels of sm_80, on Hopper", true),
    suite("mma_sync_ring", "f64 with and without TMA, pinned tiles", false),
];

/// Maximum seconds per problem in the committed measurements.
const SECONDS: u32 = 1;

const fn suite(name: &'static str, title: &'static str, in_readme: bool) -> Suite {
    Suite { name, title, in_readme }
}

/// A suite with its committed lines.
pub struct SuiteResult {
    /// The suite.
    pub suite: Suite,
    /// The lines of `docs/performance/NAME.jsonl`.
    pub lines: Vec<Line>,
}

impl SuiteResult {
    /// The comparison with the peer.
    pub fn comparison(&self) -> Option<Comparison<'_>> {
        comparison(&self.lines)
    }
}

/// The results of [`SUITES`]. `read` returns the text of the lines of a suite.
///
/// # Errors
/// The errors of `read`, and a line that is not a record, as text.
pub fn results(
    mut read: impl FnMut(&str) -> Result<String, String>,
) -> Result<Vec<SuiteResult>, String> {
    let result = |&suite: &Suite| {
        let lines = crate::bench::record::read_lines(&read(suite.name)?);
        Ok(SuiteResult { suite, lines: lines.map_err(|error| error.to_string())? })
    };
    SUITES.iter().map(result).collect()
}

/// `docs/performance/README.md`.
#[must_use]
pub fn overview(results: &[SuiteResult]) -> String {
    let mut text = "# Performance

`cargo run --release -p falchion-lab --example pages` writes this page. Do not edit the page. Each
row is a suite in `benches/suites/`. `falchion bench --suite benches/suites/NAME.jsonl` measures a
suite. All figures here use `--seconds 1`. The ratio is cuBLASLt's time divided by Falchion's time.
Falchion is faster if the ratio is above 1. [Lessons](../../book/src/lessons.md) explains the
figures. Two other pages have the figures of the [CPU](host.md) and of [transposes](transpose.md).

The benchmark requests 64 algorithms from cuBLASLt. Every algorithm from cuBLASLt first multiplies
integers. The benchmark times only algorithms with an exact result. The three fastest algorithms and
the first returned algorithm then run interleaved with Falchion. A run ends if the interquartile
range of the ratio is below 1 %, or at the limit of seconds per problem. A page marks a ratio with ~
if the run ended at the limit of seconds. Random operands rotate through buffers larger than the L2
cache. A CUDA graph replays the launches of problems below 50 µs.

| suite | problems | mean | worst | worst problem | GPU | date | commit | cuBLASLt |
|---|--:|--:|--:|---|---|---|---|---|
"
    .to_owned();
    for result in results {
        let Suite { name, title, .. } = result.suite;
        let all = |of: fn(&Line) -> &str| distinct(result.lines.iter().map(of));
        let versions =
            distinct(result.lines.iter().filter_map(|line| line.peer_version.as_deref()));
        let (problems, [mean, worst, problem]) = match result.comparison() {
            Some(found) => (found.problems, figures(&found)),
            None => (0, [const { String::new() }; 3]),
        };
        // Writing to a string does not fail.
        let _ = writeln!(
            text,
            "| [{name}]({name}.md): {title} | {problems} | {mean} | {worst} | {problem} | {} | {} | {} | {versions} |",
            all(|line| &line.device),
            all(|line| &line.date),
            all(|line| &line.commit),
        );
    }
    text
}

/// The README's table: two suites per row.
fn readme_table(results: &[SuiteResult]) -> String {
    let cells = |result: &SuiteResult| {
        let Suite { name, title, .. } = result.suite;
        let [mean, worst, _] = figures(&result.comparison()?);
        Some(format!("[{title}](docs/performance/{name}.md) | {mean} | {worst}"))
    };
    let shown = results.iter().filter(|result| result.suite.in_readme);
    let all: Vec<String> = shown.filter_map(cells).collect();
    let mut text =
        "| suite | mean | worst | suite | mean | worst |\n|---|--:|--:|---|--:|--:|\n".to_owned();
    for pair in all.chunks(2) {
        let second = pair.get(1).map_or(" | |", String::as_str);
        let _ = writeln!(text, "| {} | {second} |", pair[0]);
    }
    text
}

/// The lines around the README's table.
const MARKS: [&str; 2] = ["<!-- speed: made by the example `pages` -->\n", "<!-- end -->"];

/// The README with a new table.
///
/// # Errors
/// A README without the two marks, as text.
pub fn with_table(readme: &str, results: &[SuiteResult]) -> Result<String, String> {
    let missing = || format!("README.md has no lines `{}` and `{}`", MARKS[0].trim(), MARKS[1]);
    let (before, rest) = readme.split_once(MARKS[0]).ok_or_else(missing)?;
    let (_, after) = rest.split_once(MARKS[1]).ok_or_else(missing)?;
    Ok(format!("{before}{}{}{}{after}", MARKS[0], readme_table(results), MARKS[1]))
}

/// The command that measured the committed lines of a suite.
pub(super) fn bench_command(suite: &str) -> String {
    command(&format!("benches/suites/{suite}.jsonl"), "cublaslt", Some(SECONDS))
}

/// Mean, worst, and the worst problem.
fn figures(found: &Comparison<'_>) -> [String; 3] {
    let short = |ratio: f64| format!("{ratio:.2}");
    [short(found.mean), short(found.worst), found.worst_problem.to_string()]
}
