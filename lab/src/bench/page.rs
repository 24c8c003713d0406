//! The page made from the lines of one suite.

use super::{
    data::Data,
    protocol::Settings,
    record::Line,
    statistics::geometric_mean,
    suite::{Broadcast, Operand, SuiteProblem},
};
use falchion::refusal::Route;
use std::fmt::Write;

/// A Markdown page of `lines` with `title` above it; `command` is what made the lines.
#[must_use]
pub fn page(title: &str, command: &str, lines: &[Line]) -> String {
    let any = |of: fn(&SuiteProblem) -> bool| lines.iter().any(|line| of(&line.problem));
    let (batches, data) = (
        any(|problem| problem.batch.is_some() || problem.group_rows.is_some()),
        any(|problem| problem.data.is_some()),
    );
    let (mut head, mut rule, mut said) = (HEAD.to_owned(), RULE.to_owned(), summary(lines));
    if batches {
        head.insert_str(0, "| batch ");
        rule.insert_str(0, "|--:");
    }
    if data {
        head += " data | error | SGEMM's error | refused |";
        rule += "---|--:|--:|---|";
        // Errors are of all elements, as shares of |A||B|; the page says so.
        said += "\nErrors are the largest |D - AB| / (|A||B|) of all elements, in units of 2^-24, against DGEMM; SGEMM's is cuBLAS's on the same operands.\n";
    } else {
        said += &refusals(lines);
    }
    let rows = lines.iter().map(|line| {
        let batch = batches.then(|| products(&line.problem));
        let errors = data.then(|| errors(line)).into_iter().flatten();
        batch.into_iter().chain(row(line)).chain(errors).collect::<Vec<_>>()
    });
    laid_out(title, command, &said, &format!("{head}\n{rule}"), rows)
}

/// The columns of every page.
const HEAD: &str = "| m | n | k | A | B | C | op | kernel | ours µs | ours TFLOP/s | peer µs | peer TFLOP/s | first µs | ratio | error/bound |";
/// Their alignments.
const RULE: &str = "|--:|--:|--:|---|---|---|---|---|--:|--:|--:|--:|--:|--:|--:|";

/// A page: what made it, what it comes to, and a table whose head and rule are `columns`.
pub(super) fn laid_out(
    title: &str,
    command: &str,
    summary: &str,
    columns: &str,
    rows: impl Iterator<Item = impl AsRef<[String]>>,
) -> String {
    let made_by = wrapped(&format!("Made by `{command}`; edits here are lost."));
    let mut text = format!("# {title}\n\n{made_by}\n\n{}\n{columns}\n", wrapped(summary));
    for row in rows {
        // Writing to a string does not fail.
        let _ = writeln!(text, "| {} |", row.as_ref().join(" | "));
    }
    text
}

/// Columns of a page's prose.
const COLUMNS: usize = 100;

/// Text whose lines have at most 100 columns, broken at spaces. The lines of a list item after its
/// first are indented by two spaces.
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

/// A number, or a dash where there is none.
pub(super) fn optional(value: Option<f64>, digits: usize) -> String {
    value.map_or("–".to_owned(), |value| format!("{value:.digits$}"))
}

/// Microseconds, to a hundredth of what is short: replayed from a graph it holds to that.
pub(super) fn microseconds(value: Option<f64>) -> String {
    const SHORT_US: f64 = 20.0;
    optional(value, if value.is_some_and(|us| us < SHORT_US) { 2 } else { 1 })
}

/// What is said of ratios that did not settle; nothing where all did.
pub(super) fn unsettled(noisy: usize) -> Option<String> {
    (noisy > 0).then(|| format!("{} marked ~ did not settle to 1 %.", count(noisy, "ratio")))
}

/// The geometric mean and the worst of the ratios, who was measured where and when, and what the
/// words mean.
fn summary(lines: &[Line]) -> String {
    let compared: Vec<(f64, &Line)> =
        lines.iter().filter_map(|line| line.ratio.map(|ratio| (ratio, line))).collect();
    let ratios: Vec<f64> = compared.iter().map(|&(ratio, _)| ratio).collect();
    let mut said = Vec::new();
    match (
        geometric_mean(&ratios),
        compared.iter().min_by(|left, right| left.0.total_cmp(&right.0)),
    ) {
        (Some(mean), Some((ratio, worst))) => said.push(format!(
            "**Geometric mean of the ratio {mean:.3}, worst {ratio:.3}** ({}), over {} of {}.",
            worst.problem,
            count(compared.len(), "problem"),
            lines.len()
        )),
        _ => said.push(format!("No ratio: {} without a peer.", count(lines.len(), "problem"))),
    }
    let refused =
        lines.iter().filter(|line| line.ratio.is_none() && line.refused.is_none()).count();
    if refused > 0 && !compared.is_empty() {
        said.push(format!("The peer refuses {}.", count(refused, "problem")));
    }
    said.extend(unsettled(lines.iter().filter(|line| line.noisy).count()));
    said.extend(replayed(
        lines
            .iter()
            .filter(|line| line.refused.is_none())
            .map(|line| (line.captured, line.ours_us)),
    ));
    said.push(
        "The ratio is the peer's time over ours: above 1 we are faster. `first` is the peer's own first choice.".to_owned(),
    );
    let all = |of: fn(&Line) -> &str| distinct(lines.iter().map(of));
    let peers = distinct(lines.iter().filter_map(|line| line.peer.as_deref()));
    format!(
        "{}\n\nDevice: {}. Date: {}. Commit: {}. Peer: {}.\n",
        said.join(" "),
        all(|line| &line.device),
        all(|line| &line.date),
        all(|line| &line.commit),
        if peers.is_empty() { "none" } else { &peers }
    )
}

/// Of how many problems launches were replayed from a graph, and of how many short ones they could
/// not be: of each problem whether they were, where its line says so, and microseconds.
pub(super) fn replayed(problems: impl Iterator<Item = (Option<bool>, f64)>) -> Option<String> {
    let short = Settings::default().graph_below_us;
    let (mut captured, mut looped) = (0, 0);
    for (replayed, us) in problems {
        captured += usize::from(replayed == Some(true));
        looped += usize::from(replayed == Some(false) && us < short);
    }
    let replayed = (captured > 0)
        .then(|| format!("Launches of {} were replayed from a graph.", count(captured, "problem")));
    let launched = (looped > 0).then(|| {
        let problems = count(looped, "problem");
        format!("Launches of {problems} of less than {short} µs could not be captured: their times are the host's, too.")
    });
    let said: Vec<String> = replayed.into_iter().chain(launched).collect();
    (!said.is_empty()).then(|| said.join(" "))
}

/// A line for each problem that ours refuses, with its sentence.
fn refusals(lines: &[Line]) -> String {
    let refused = lines.iter().filter_map(|line| Some((line, line.refused.as_ref()?)));
    let said: String = refused
        .map(|(line, sentence)| format!("- {} is refused: {sentence}\n", line.problem))
        .collect();
    if said.is_empty() { said } else { format!("\n{said}") }
}

fn row(line: &Line) -> [String; 15] {
    let p = &line.problem;
    let matrix = |operand: Operand, ld: Option<usize>, shared: bool| {
        let ld = ld.map_or(String::new(), |ld| format!(" ld {ld}"));
        format!("{operand}{ld}{}", if shared { " shared" } else { "" })
    };
    [
        p.m.to_string(),
        p.n.to_string(),
        p.k.to_string(),
        matrix(p.a, p.lda, p.broadcast == Some(Broadcast::A)),
        matrix(p.b, p.ldb, p.broadcast == Some(Broadcast::B)),
        matrix(p.c, p.ldc, false),
        line.op.clone(),
        // A pipe would end the cell.
        [line.family.as_str(), line.config.as_str(), passes(line)]
            .join(" ")
            .trim()
            .replace('|', "\\|"),
        microseconds(Some(line.ours_us)),
        format!("{:.1}", line.ours_tflops),
        microseconds(line.peer_us),
        optional(line.peer_tflops, 1),
        microseconds(line.peer_first_us),
        optional(line.ratio, 3) + if line.noisy { " ~" } else { "" },
        optional(line.error_over_bound, 3),
    ]
}

/// How many products there are, and how ours is told of them where it is not a batch or groups
/// alike.
fn products(problem: &SuiteProblem) -> String {
    let by = if problem.pointers { " by pointers" } else { "" };
    problem.unlike_groups().unwrap_or_else(|| format!("{}{by}", problem.products()))
}

/// What the operands are drawn from, and what came of it.
fn errors(line: &Line) -> [String; 4] {
    let units = |error: Option<f64>| optional(error.map(|error| error * f64::from(1 << 24)), 2);
    let data = line.problem.data.map_or("random", Data::name).to_owned();
    [data, units(line.error), units(line.sgemm_error), line.refused.clone().unwrap_or_default()]
}

/// How A and B reached the kernel, where one of them took a pass.
fn passes(line: &Line) -> &str {
    if line.route == Route::Direct.name() { "" } else { &line.route }
}

fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

/// What occurs, each once, in order of appearance.
pub(super) fn distinct<'t>(words: impl Iterator<Item = &'t str>) -> String {
    let mut seen: Vec<&str> = Vec::new();
    for word in words {
        if !seen.contains(&word) {
            seen.push(word);
        }
    }
    seen.join(", ")
}

#[cfg(test)]
mod tests {
    use super::page;
    use crate::bench::record::tests::line;

    /// Whether a page contains `part`, whose prose may be wrapped anywhere.
    fn says(page: &str, part: &str) -> bool {
        page.contains(part) || page.replace('\n', " ").contains(&part.replace('\n', " "))
    }

    #[test]
    fn the_page_says_what_made_it_and_how_it_went() {
        let mut noisy = line(2500.0, Some(2000.0));
        noisy.noisy = true;
        let text = page(
            "SIMT",
            "falchion bench --suite benches/suites/simt.jsonl",
            &[line(2500.0, Some(3125.0)), noisy, line(2500.0, None)],
        );
        for part in [
            "# SIMT\n\nMade by `falchion bench --suite benches/suites/simt.jsonl`; edits here are lost.\n",
            "**Geometric mean of the ratio 1.000, worst 0.800** (4096x4096x4096, f32:row f32:col f32:row), over 2 problems of 3.",
            "The peer refuses 1 problem.",
            "1 ratio marked ~ did not settle",
            "Device: NVIDIA H200. Date: 2026-11-20. Commit: c1066a8. Peer: cublaslt.\n",
            "\n| 4096 | 4096 | 4096 | f32:row ld 4100 | f32:col | f32:row | simt | multistage 128x128x16 | 2500.0 | 55.0 | 3125.0 | 44.0 \
             | 3126.0 | 1.250 | 0.250 |\n",
            "| 0.800 ~ |",
            "| 2500.0 | 55.0 | – | – | – | – | 0.250 |\n",
        ] {
            assert!(says(&text, part), "{part}\nis not in\n{text}");
        }
        let columns: Vec<usize> =
            text.lines().filter(|l| l.starts_with('|')).map(|l| l.matches('|').count()).collect();
        assert_eq!(columns, [16; 5]);
    }

    /// Where operands are of data that has a name, the errors stand beside each other, and a
    /// refusal in its place.
    #[test]
    fn errors_have_columns_where_data_has_a_name() {
        let mut measured = line(2500.0, Some(5000.0));
        measured.problem.data = Some(super::Data::Cancelling);
        (measured.error, measured.sgemm_error) =
            (Some(1.5 / f64::from(1 << 24)), Some(3.0 / f64::from(1 << 24)));
        let mut refused = line(0.0, None);
        refused.problem.data = Some(super::Data::Wide);
        refused.refused = Some("row 3 of A".to_owned());
        let text = page("X", "c", &[measured, refused]);
        assert!(text.contains("| cancelling | 1.50 | 3.00 |  |\n"), "{text}");
        assert!(text.contains("| wide | – | – | row 3 of A |\n"), "{text}");
        let columns: Vec<usize> =
            text.lines().filter(|l| l.starts_with("| ")).map(|l| l.matches('|').count()).collect();
        assert_eq!(columns, [20; 3]);
    }

    /// A suite with batches has a column for them, in which other problems have 1, and says what is
    /// shared.
    #[test]
    fn batches_have_a_column_where_there_are_any() {
        let mut of_batch = line(2500.0, Some(2000.0));
        (of_batch.problem.batch, of_batch.problem.broadcast) =
            (Some(64), Some(super::Broadcast::B));
        let text = page("X", "c", &[of_batch, line(2500.0, Some(5000.0))]);
        for part in [
            "worst 0.800** (64 of 4096x4096x4096, f32:row f32:col f32:row), over 2 problems of 2.",
            "\n| batch | m | n | k |",
            "\n| 64 | 4096 | 4096 | 4096 | f32:row ld 4100 | f32:col shared | f32:row |",
            "\n| 1 | 4096 | 4096 | 4096 | f32:row ld 4100 | f32:col | f32:row |",
        ] {
            assert!(says(&text, part), "{part}\nis not in\n{text}");
        }
        let columns: Vec<usize> =
            text.lines().filter(|l| l.starts_with('|')).map(|l| l.matches('|').count()).collect();
        assert_eq!(columns, [17; 4]);
    }

    /// A page says whose launches the host made one by one: of short ones that is what their times
    /// are of.
    #[test]
    fn what_was_replayed_from_a_graph_is_said() {
        let (long, mut short) = (line(2500.0, Some(2000.0)), line(2.5, Some(2.5)));
        let looped = "Launches of 1 problem of less than 50 µs could not be captured";
        assert!(says(&page("X", "c", &[long.clone(), short.clone()]), looped));
        short.captured = Some(true);
        let text = page("X", "c", &[long, short]);
        assert!(
            text.contains("Launches of 1 problem were replayed from a graph.")
                && !says(&text, looped),
            "{text}"
        );
    }

    /// Unlike groups are said by how many there are and of what rows, and arrays as what they are.
    #[test]
    fn unlike_groups_and_arrays_are_said_in_the_column_of_batches() {
        let (mut groups, mut array) = (line(2500.0, Some(2000.0)), line(2500.0, Some(5000.0)));
        groups.problem.group_rows = Some(vec![3, 1900, 2193]);
        groups.peer = Some("cublaslt called for each group".into());
        (array.problem.batch, array.problem.pointers) = (Some(64), true);
        let text = page("X", "c", &[groups, array]);
        for part in [
            "worst 0.800** (3 of 3 to 2193 rows, 4096x4096x4096, f32:row f32:col f32:row), over 2 problems of 2.",
            "Peer: cublaslt called for each group, cublaslt.\n",
            "\n| batch | m | n | k |",
            "\n| 3 of 3 to 2193 rows | 4096 | 4096 | 4096 | f32:row ld 4100 |",
            "\n| 64 by pointers | 4096 | 4096 | 4096 |",
        ] {
            assert!(says(&text, part), "{part}\nis not in\n{text}");
        }
    }

    #[test]
    fn what_ours_refuses_is_said_with_its_sentence() {
        let mut refused = line(0.0, None);
        refused.refused = Some("stages = 99".to_owned());
        let text = page("X", "c", &[line(2.0, Some(2.0)), refused]);
        assert!(
            text.contains("- 4096x4096x4096, f32:row f32:col f32:row is refused: stages = 99\n\n|"),
            "{text}"
        );
        assert!(!text.contains("The peer refuses"), "{text}");
    }

    #[test]
    fn a_page_without_ratios_says_so() {
        let text = page("X", "c", &[line(1.0, None)]);
        assert!(
            text.contains("No ratio: 1 problem without a peer.") && !text.contains("refuses"),
            "{text}"
        );
        assert!(page("X", "c", &[]).contains("No ratio: 0 problems"), "an empty page is a page");
    }
}
