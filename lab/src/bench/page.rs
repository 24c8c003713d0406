//! The Markdown page of a suite: a summary, and a table with one row per problem size and one
//! column per element type.

use super::{
    data::Data,
    protocol::Settings,
    record::Line,
    statistics::geometric_mean,
    suite::{Broadcast, Operand, SuiteProblem},
};
use core::fmt::Write;
use falchion::refusal::Route;

/// A Markdown page of `lines` with `title` above it; `command` is the command that made the lines.
#[must_use]
pub fn page(title: &str, command: &str, lines: &[Line]) -> String {
    let said = summary(lines);
    if lines.iter().any(|line| line.problem.data.is_some()) {
        let said = format!("{said}\n{ERRORS}\n");
        return laid_out(title, command, &said, ERROR_COLUMNS, lines.iter().map(error_row));
    }
    let (columns, rows) = by_type(lines);
    let said = said + &refusals(lines);
    laid_out(title, command, &said, &columns, rows.into_iter())
}

/// The command that measures a suite, as its page names it. `seconds` is the limit per problem.
#[must_use]
pub fn command(suite: &str, peers: &str, seconds: Option<u32>) -> String {
    let limit = seconds.map_or(String::new(), |seconds| format!(" --seconds {seconds}"));
    format!("falchion bench --suite {suite} --peers {peers}{limit}")
}

/// Summary of a suite's ratios. The summary excludes problems without a peer and problems with a
/// wrong peer.
#[derive(Clone, Copy, Debug)]
pub struct Comparison<'l> {
    /// The geometric mean of the ratios.
    pub mean: f64,
    /// The smallest ratio.
    pub worst: f64,
    /// The problem with the smallest ratio.
    pub worst_problem: &'l SuiteProblem,
    /// Number of problems in the summary.
    pub problems: usize,
}

/// The comparison of `lines` with the peer; `None` if no line has a correct peer.
#[must_use]
pub fn comparison(lines: &[Line]) -> Option<Comparison<'_>> {
    let counted: Vec<(f64, &Line)> = lines
        .iter()
        .filter(|line| line.peer_verified != Some(false))
        .filter_map(|line| line.ratio.map(|ratio| (ratio, line)))
        .collect();
    let ratios: Vec<f64> = counted.iter().map(|&(ratio, _)| ratio).collect();
    let (worst, line) = counted.iter().min_by(|left, right| left.0.total_cmp(&right.0))?;
    let (worst, worst_problem) = (*worst, &line.problem);
    Some(Comparison {
        mean: geometric_mean(&ratios)?,
        worst,
        worst_problem,
        problems: counted.len(),
    })
}

/// Maximum width of a page's prose, in characters.
const COLUMNS: usize = 100;

/// Text whose lines have at most 100 columns, broken at spaces. Each later line of a list item has
/// an indent of two spaces.
pub(super) fn wrapped(text: &str) -> String {
    let wrap = |line: &str| {
        let indent = if line.starts_with("- ") { "  " } else { "" };
        let (mut out, mut column) = (String::new(), 0);
        for word in line.split(' ') {
            let width = word.chars().count();
            if column > 0 && column + 1 + width > COLUMNS {
                out = out + "\n" + indent;
                column = indent.len();
            } else if column > 0 {
                out.push(' ');
                column += 1;
            }
            out += word;
            column += width;
        }
        out
    };
    text.split('\n').map(wrap).collect::<Vec<_>>().join("\n")
}

/// A page: its title, the command that made it, a summary, and a table whose header is `columns`.
pub(super) fn laid_out(
    title: &str,
    command: &str,
    summary: &str,
    columns: &str,
    rows: impl Iterator<Item = impl AsRef<[String]>>,
) -> String {
    let origin = wrapped(&format!("`{command}` writes this page. Do not edit the page."));
    let mut text = format!("# {title}\n\n{origin}\n\n{}\n{columns}\n", wrapped(summary));
    for row in rows {
        // Writing to a string does not fail.
        let _ = writeln!(text, "| {} |", row.as_ref().join(" | "));
    }
    text
}

/// A number, or a dash if there is none.
pub(super) fn optional(value: Option<f64>, digits: usize) -> String {
    value.map_or("–".to_owned(), |value| format!("{value:.digits$}"))
}

/// Microseconds with two decimals below 20 µs, and with one decimal from 20 µs on.
pub(super) fn microseconds(value: Option<f64>) -> String {
    const SHORT_US: f64 = 20.0;
    optional(value, if value.is_some_and(|us| us < SHORT_US) { 2 } else { 1 })
}

/// The sentence about ratios that did not settle; `None` if all ratios settled.
pub(super) fn unsettled(noisy: usize) -> Option<String> {
    (noisy > 0).then(|| {
        format!("{} marked ~ varied by more than 1 % (interquartile range).", count(noisy, "ratio"))
    })
}

/// The summary of a page: the mean, the worst ratio, the GPU, the date, the commit, and the peer.
fn summary(lines: &[Line]) -> String {
    let mut said = Vec::new();
    match comparison(lines) {
        Some(Comparison { mean, worst, worst_problem, problems }) => said.push(format!(
            "**The geometric mean ratio over {problems} of {} is {mean:.3}. The worst ratio is {worst:.3}** ({worst_problem}).",
            count(lines.len(), "problem")
        )),
        None => said.push(format!(
            "There is no ratio: the suite has {} without a peer.",
            count(lines.len(), "problem")
        )),
    }
    said.push(
        "A ratio is the peer's time divided by Falchion's time. Falchion is faster if the ratio is above 1.".to_owned(),
    );
    let unsupported =
        lines.iter().filter(|line| line.ratio.is_none() && line.refused.is_none()).count();
    if unsupported > 0 && unsupported < lines.len() {
        said.push(format!("The peer does not support {}.", count(unsupported, "problem")));
    }
    said.extend(unsettled(lines.iter().filter(|line| line.noisy).count()));
    said.extend(wrong(lines));
    said.extend(replayed(
        lines
            .iter()
            .filter(|line| line.refused.is_none())
            .map(|line| (line.captured, line.ours_us)),
    ));
    said.extend(cell_legend(lines).map(str::to_owned));
    let all = |of: fn(&Line) -> &str| distinct(lines.iter().map(of));
    let peers = distinct(lines.iter().filter_map(|line| line.peer.as_deref()));
    let versions = distinct(lines.iter().filter_map(|line| line.peer_version.as_deref()));
    let versions = if versions.is_empty() { versions } else { format!(" (version {versions})") };
    let peer = if peers.is_empty() {
        "The suite has no peer.".to_owned()
    } else {
        let peers = peers.replace("cublaslt", "cuBLASLt").replace("products", "GEMMs");
        format!("The peer is {}{versions}.", peers.replace(", ", " or "))
    };
    format!(
        "{}\n\nCommit {} ran on one {} on {}. {peer}\n",
        said.join(" "),
        all(|line| &line.commit),
        all(|line| &line.device),
        all(|line| &line.date),
    )
}

/// The sentences about wrong algorithms of the peer.
fn wrong(lines: &[Line]) -> Option<String> {
    let some = lines.iter().filter(|line| line.peer_wrong > 0).count();
    let none_right = lines.iter().filter(|line| line.peer_verified == Some(false)).count();
    let some = (some > 0).then(|| {
        format!("The peer returned at least one wrong algorithm for {}.", count(some, "problem"))
    });
    let none_right = (none_right > 0).then(|| {
        let problems = count(none_right, "problem");
        format!("The peer has no correct algorithm for {problems} marked !. The mean and the worst ratio exclude ratios marked !.")
    });
    let said: Vec<String> = some.into_iter().chain(none_right).collect();
    (!said.is_empty()).then(|| said.join(" "))
}

/// Sentences about CUDA graphs: the number of replayed problems, and the number of short problems
/// whose capture failed. Each item is one problem: whether a graph replayed its launches, and its
/// microseconds.
pub(super) fn replayed(problems: impl Iterator<Item = (bool, f64)>) -> Option<String> {
    let short = Settings::default().graph_below_us;
    let (mut captured, mut looped) = (0, 0);
    for (replayed, us) in problems {
        captured += usize::from(replayed);
        looped += usize::from(!replayed && us < short);
    }
    let replayed = (captured > 0)
        .then(|| format!("A CUDA graph replayed the launches of {}.", count(captured, "problem")));
    let launched = (looped > 0).then(|| {
        let problems = count(looped, "problem");
        format!("Stream capture failed for {problems} below {short} µs, so the times include the host's launch time.")
    });
    let said: Vec<String> = replayed.into_iter().chain(launched).collect();
    (!said.is_empty()).then(|| said.join(" "))
}

/// The content of a cell of [`by_type`]; `None` for suites with a table of errors.
fn cell_legend(lines: &[Line]) -> Option<&'static str> {
    const TIME: &str = "A cell has Falchion's time in µs.";
    const BOTH: &str = "A cell has Falchion's time in µs and the ratio. The suite's JSON file \
                        lists the kernels.";
    let errors = lines.iter().any(|line| line.problem.data.is_some());
    (!errors).then(|| if comparison(lines).is_some() { BOTH } else { TIME })
}

/// The table of a page: the header, and a row per batch, size, and layouts. Each element type has a
/// column. Two lines with the same row and column go into rows of their own.
fn by_type(lines: &[Line]) -> (String, Vec<Vec<String>>) {
    let mut types: Vec<String> = Vec::new();
    let mut rows: Vec<([String; 3], Vec<Option<&Line>>)> = Vec::new();
    for line in lines {
        let of_line = types_of(line);
        let column = types.iter().position(|types| *types == of_line).unwrap_or_else(|| {
            types.push(of_line);
            types.len() - 1
        });
        let key = row_key(&line.problem);
        let free = |cells: &Vec<Option<&Line>>| cells.get(column).is_none_or(Option::is_none);
        let row = rows.iter().position(|(other, cells)| *other == key && free(cells));
        let row = row.unwrap_or_else(|| {
            rows.push((key, Vec::new()));
            rows.len() - 1
        });
        let cells = &mut rows[row].1;
        cells.resize(cells.len().max(column + 1), None);
        cells[column] = Some(line);
    }
    let batches = rows.iter().any(|(key, _)| !key[0].is_empty());
    let skipped = usize::from(!batches);
    let header = ["batch", "M x N x K", "A, B, D"].map(str::to_owned);
    let header: Vec<String> = header.into_iter().skip(skipped).chain(types.clone()).collect();
    let rule = header.iter().map(|_| "---").collect::<Vec<_>>().join("|");
    let rows = rows.into_iter().map(|(key, cells)| {
        let cells = (0..types.len())
            .map(|at| cells.get(at).copied().flatten().map_or_else(String::new, cell));
        key.into_iter().skip(skipped).chain(cells).collect()
    });
    (format!("| {} |\n|{rule}|", header.join(" | ")), rows.collect())
}

/// A line's column: its element types, and the other settings that are not defaults.
fn types_of(line: &Line) -> String {
    let p = &line.problem;
    let [a, b, c] = [p.a, p.b, p.c].map(|operand| operand.element.name());
    let factors = if a == b { a.to_owned() } else { format!("{a} x {b}") };
    let mut said = if a == b && b == c { factors } else { format!("{factors} to {c}") };
    for (word, what) in [(&p.acc, "accumulator"), (&p.epilogue, "epilogue")] {
        if let Some(word) = word {
            said += &format!(", {what} {word}");
        }
    }
    if let Some(emulation) = p.emulation {
        said += &format!(", {}", emulation.name());
    }
    if p.accumulate.is_some_and(|accumulate| accumulate == super::suite::Accumulate::Slow) {
        said += ", slow accumulation";
    }
    if p.gather_a {
        said += ", A gathered";
    }
    // A pipe would end the cell.
    said.replace('|', "\\|")
}

/// A line's row: its number of GEMMs, its size, and its layouts.
fn row_key(p: &SuiteProblem) -> [String; 3] {
    let order = |operand: Operand, ld: Option<usize>, shared: bool| {
        let ld = ld.map_or(String::new(), |ld| format!(" ld {ld}"));
        format!("{}{ld}{}", operand.order.name(), if shared { " shared" } else { "" })
    };
    let batch = if p.products() == 1 && p.ragged().is_none() { String::new() } else { products(p) };
    let knobs = p.knobs.iter().filter(|(name, _)| *name != "mainloop");
    let knobs: String = knobs.map(|(name, words)| format!(", {name} {words}")).collect();
    let layouts = [
        order(p.a, p.lda, p.broadcast == Some(Broadcast::A)),
        order(p.b, p.ldb, p.broadcast == Some(Broadcast::B)),
        order(p.c, p.ldc, false),
    ];
    [batch, format!("{} x {} x {}", p.m, p.n, p.k), layouts.join(", ") + &knobs]
}

/// A cell: microseconds, and the ratio with its marks.
fn cell(line: &Line) -> String {
    if line.refused.is_some() {
        return "refused".to_owned();
    }
    let time = microseconds(Some(line.ours_us));
    let noisy = if line.noisy { " ~" } else { "" };
    let wrong = if line.peer_verified == Some(false) { " !" } else { "" };
    let ratio = line.ratio.map_or(String::new(), |ratio| format!(" **{ratio:.3}**{noisy}{wrong}"));
    time + &ratio
}

/// A list item for each problem that Falchion refuses, with its sentence.
fn refusals(lines: &[Line]) -> String {
    let refused = lines.iter().filter_map(|line| Some((line, line.refused.as_ref()?)));
    let said: String = refused
        .map(|(line, sentence)| format!("- Falchion refuses {}: {sentence}\n", line.problem))
        .collect();
    if said.is_empty() { said } else { format!("\n{said}") }
}

/// The unit of the errors of [`error_row`].
const ERRORS: &str = "An error is the largest |D - AB| / (|A||B|) of all elements, in units of \
                      2^-24, relative to DGEMM. SGEMM's error is the error of cuBLAS's SGEMM on the \
                      same operands.";

/// The columns of a suite whose problems name their data.
const ERROR_COLUMNS: &str =
    "| M x N x K | types | data | kernel | µs | TFLOP/s | ratio | error | SGEMM's error | refused |
|---|---|---|---|--:|--:|--:|--:|--:|---|";

fn error_row(line: &Line) -> [String; 10] {
    let units = |error: Option<f64>| optional(error.map(|error| error * f64::from(1 << 24)), 2);
    let [_, size, _] = row_key(&line.problem);
    [
        size,
        types_of(line),
        line.problem.data.map_or("random", Data::name).to_owned(),
        // A pipe would end the cell.
        [line.family.as_str(), line.config.as_str(), passes(line)]
            .join(" ")
            .trim()
            .replace('|', "\\|"),
        microseconds(Some(line.ours_us)),
        optional(line.ours_tflops, 1),
        optional(line.ratio, 3) + if line.noisy { " ~" } else { "" },
        units(line.error),
        units(line.sgemm_error),
        line.refused.clone().unwrap_or_default(),
    ]
}

/// The number of GEMMs in one launch, and the form of the batch if the batch is not strided.
fn products(problem: &SuiteProblem) -> String {
    let by = if problem.pointers { " by pointers" } else { "" };
    let bound = if problem.bound { ", bound" } else { "" };
    let grouped = if problem.grouped { " groups" } else { "" };
    problem.ragged_groups().unwrap_or_else(|| format!("{}{grouped}{by}{bound}", problem.products()))
}

/// The routes of A and B to the kernel, if a pass ran before the kernel.
fn passes(line: &Line) -> &str {
    if line.route == Route::Direct.name() { "" } else { &line.route }
}

fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// The distinct words, in order of appearance.
pub(crate) fn distinct<'t>(words: impl Iterator<Item = &'t str>) -> String {
    let mut seen: Vec<&str> = Vec::new();
    for word in words {
        if !seen.contains(&word) {
            seen.push(word);
        }
    }
    seen.join(", ")
}

#[cfg(test)]
#[path = "page_tests.rs"]
mod tests;
