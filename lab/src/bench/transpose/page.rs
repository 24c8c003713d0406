//! The page of a suite of transposes.

use super::SuiteTranspose;
use crate::bench::{
    Line,
    page::{distinct, laid_out, microseconds, optional, replayed, unsettled},
    statistics::geometric_mean,
};
use falchion::layout::Order;

/// A Markdown page of `lines` with `title` above it; `command` is the command that made the lines.
#[must_use]
pub fn page(title: &str, command: &str, lines: &[Line<SuiteTranspose>]) -> String {
    let columns =
        "| rows | columns | type | lda | ldd | kernel | ours µs | ours GB/s | geam GB/s | copy GB/s | relative to geam | relative to copy |
|--:|--:|---|--:|--:|---|--:|--:|--:|--:|--:|--:|";
    laid_out(title, command, &summary(lines), columns, lines.iter().map(row))
}

fn summary(lines: &[Line<SuiteTranspose>]) -> String {
    // Lower rungs of the ladder are slower by design.
    let ours: Vec<&Line<SuiteTranspose>> =
        lines.iter().filter(|line| line.problem.rung.is_none()).collect();
    let mut said = Vec::new();
    for (what, ratios) in [
        ("the speed of geam", ours.iter().filter_map(|line| line.ratio).collect::<Vec<_>>()),
        (
            "the speed of a copy",
            ours.iter().filter_map(|line| Some(line.traffic?.ratio_to_copy)).collect(),
        ),
    ] {
        let worst = ratios.iter().copied().min_by(f64::total_cmp);
        if let (Some(mean), Some(worst)) = (geometric_mean(&ratios), worst) {
            said.push(format!(
                "**Falchion's geometric mean over {} problems is {mean:.3}x {what}. The worst ratio is {worst:.3}x.**",
                ratios.len()
            ));
        }
    }
    said.push(
        "The summary excludes rungs of the ladder. GB/s count bytes read and bytes written. The benchmark verified every element.".to_owned(),
    );
    said.extend(unsettled(lines.iter().filter(|line| line.noisy).count()));
    said.extend(replayed(lines.iter().map(|line| (line.captured, line.ours_us))));
    let all = |of: fn(&Line<SuiteTranspose>) -> &str| distinct(lines.iter().map(of));
    let versions = distinct(lines.iter().filter_map(|line| line.peer_version.as_deref()));
    let peer = if versions.is_empty() {
        String::new()
    } else {
        format!(" The peer is cuBLAS {versions}.")
    };
    format!(
        "{}\n\nCommit {} ran on one {} on {}.{peer}\n",
        said.join(" "),
        all(|line| &line.commit),
        all(|line| &line.device),
        all(|line| &line.date)
    )
}

fn row(line: &Line<SuiteTranspose>) -> [String; 12] {
    let p = &line.problem;
    let problem = p.problem();
    let scaled = if p.scalars() == [1.0, 0.0] { "" } else { ", alpha Aᵀ + beta C" };
    [
        p.rows.to_string(),
        p.columns.to_string(),
        format!("{}{scaled}", p.element),
        problem.a.leading(Order::Col).to_string(),
        problem.d.leading(Order::Row).to_string(),
        format!("{} {}", line.family, line.config),
        microseconds(Some(line.ours_us)),
        optional(line.traffic.map(|traffic| traffic.ours_gbs), 0),
        optional(line.traffic.and_then(|traffic| traffic.peer_gbs), 0),
        optional(line.traffic.map(|traffic| traffic.copy_gbs), 0),
        optional(line.ratio, 3),
        optional(line.traffic.map(|traffic| traffic.ratio_to_copy), 3)
            + if line.noisy { " ~" } else { "" },
    ]
}
