//! Summaries of trials: the number of each outcome, and the fastest descriptions.

use super::record::{Entry, Final, Finalist, Outcome, Trial};
use falchion::{
    nest::{GemmDesc, Pins},
    shape::Mnk,
};
use serde::Serialize;

/// The number of trials with each outcome.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Tally {
    /// Rejected by NVRTC.
    pub compile_failed: usize,
    /// Compiled, with spills.
    pub spilled: usize,
    /// Wrong result.
    pub wrong: usize,
    /// Verified and timed.
    pub timed: usize,
}

impl Tally {
    /// Counts the entries of a problem.
    #[must_use]
    pub fn from_entries(entries: &[Entry], size: Mnk) -> Self {
        let mut tally = Self::default();
        for trial in trials(entries, size) {
            *match trial.outcome {
                Outcome::CompileFailed { .. } => &mut tally.compile_failed,
                Outcome::Spilled { .. } => &mut tally.spilled,
                Outcome::Wrong { .. } => &mut tally.wrong,
                Outcome::Timed { .. } => &mut tally.timed,
            } += 1;
        }
        tally
    }
}

/// The result of a description on a problem.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Standing {
    /// The description.
    #[serde(rename = "description", with = "super::record::as_json")]
    pub desc: GemmDesc,
    /// Time in microseconds per launch.
    pub us: f64,
    /// Rate in TFLOP/s.
    pub tflops: f64,
    /// The reference's time divided by this time. Above 1, this description is faster.
    pub ratio: f64,
    /// Whether it was measured with the full protocol.
    #[serde(rename = "final")]
    pub is_final: bool,
}

/// Returns the trials of a problem.
fn trials(entries: &[Entry], size: Mnk) -> impl Iterator<Item = &Trial> {
    entries.iter().filter_map(move |entry| match entry {
        Entry::Trial(trial) if trial.size == size => Some(&**trial),
        _ => None,
    })
}

/// Returns the last final measurement of a problem.
#[must_use]
pub fn last_final(entries: &[Entry], size: Mnk) -> Option<&Final> {
    entries.iter().rev().find_map(|entry| match entry {
        Entry::Final(last) if last.size == size => Some(last),
        _ => None,
    })
}

/// Returns the timed descriptions of a problem, the best first. Trials are compared by their ratio
/// to the reference of the same rounds, because clock drift affects both alike.
#[must_use]
pub fn screened(entries: &[Entry], size: Mnk) -> Vec<Standing> {
    let timed = |trial: &Trial| match trial.outcome {
        Outcome::Timed { us, tflops, reference_us, .. } => Some(Standing {
            desc: trial.description,
            us,
            tflops,
            ratio: reference_us / us,
            is_final: false,
        }),
        _ => None,
    };
    let mut all: Vec<Standing> = trials(entries, size).filter_map(timed).collect();
    all.sort_by(|x, y| y.ratio.total_cmp(&x.ratio));
    all
}

/// Returns the standings of a problem: first the descriptions measured with the full protocol, then
/// the others. Each part has the best first.
#[must_use]
pub fn standings(entries: &[Entry], size: Mnk) -> Vec<Standing> {
    let mut all: Vec<Standing> = Vec::new();
    if let Some(last) = last_final(entries, size) {
        all.extend(last.finalists.iter().map(|&Finalist { description, us, tflops }| Standing {
            desc: description,
            us,
            tflops,
            ratio: last.reference_us / us,
            is_final: true,
        }));
        all.sort_by(|x, y| y.ratio.total_cmp(&x.ratio));
    }
    let finalists = all.len();
    for standing in screened(entries, size) {
        if !all[..finalists].iter().any(|known| known.desc == standing.desc) {
            all.push(standing);
        }
    }
    all
}

/// The summary of a problem's trials.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Summary {
    /// The problem size.
    pub size: Mnk,
    /// The number of trials with each outcome.
    pub outcomes: Tally,
    /// The fastest reference of the last final measurement.
    pub reference: Option<String>,
    /// Time of this reference, in microseconds per launch.
    pub reference_us: Option<f64>,
    /// Whether that measurement did not settle.
    pub noisy: Option<bool>,
    /// The best standings, the fastest first.
    pub best: Vec<Standing>,
}

impl Summary {
    /// Summarizes the entries of a problem, with the first `most` standings.
    #[must_use]
    pub fn from_entries(entries: &[Entry], size: Mnk, most: usize) -> Self {
        let last = last_final(entries, size);
        let mut best = standings(entries, size);
        best.truncate(most);
        Self {
            size,
            outcomes: Tally::from_entries(entries, size),
            reference: last.map(|last| last.reference.clone()),
            reference_us: last.map(|last| last.reference_us),
            noisy: last.map(|last| last.noisy),
            best,
        }
    }
}

/// Knobs that a table always shows.
const SHOWN: [&str; 4] = ["mainloop", "threadblock", "warp", "stages"];

/// Returns a table of standings with a header. Columns are the main loop, tiles, stages, and all
/// other knobs that differ. Further columns are swapped operands if any standing has them,
/// microseconds, TFLOP/s, and the ratio to the reference. A `~` marks standings without the full
/// protocol.
#[must_use]
pub fn table(standings: &[Standing]) -> Vec<Vec<String>> {
    let words: Vec<Vec<String>> = standings
        .iter()
        .map(|standing| {
            standing.desc.user_pins().words().into_iter().map(Option::unwrap_or_default).collect()
        })
        .collect();
    let differs = |at: usize| {
        words.iter().any(|row| row.get(at) != words.first().and_then(|first| first.get(at)))
    };
    let shown: Vec<usize> = (0..Pins::TABLE.len())
        .filter(|&at| SHOWN.contains(&Pins::TABLE[at].0) || differs(at))
        .collect();
    let mut head: Vec<String> = shown.iter().map(|&at| Pins::TABLE[at].0.to_owned()).collect();
    let of_columns = standings.iter().any(|standing| standing.desc.is_of_columns());
    head.extend(of_columns.then(|| "swap-AB".to_owned()));
    head.extend(["us", "TFLOP/s", "ratio"].map(str::to_owned));
    let mut rows = vec![head];
    for (standing, words) in standings.iter().zip(&words) {
        let mut row: Vec<String> = shown.iter().map(|&at| words[at].clone()).collect();
        row.extend(of_columns.then(|| standing.desc.is_of_columns().to_string()));
        let rough = if standing.is_final { "" } else { " ~" };
        row.extend([
            format!("{:.1}", standing.us),
            format!("{:.1}", standing.tflops),
            format!("{:.3}{rough}", standing.ratio),
        ]);
        rows.push(row);
    }
    rows
}
