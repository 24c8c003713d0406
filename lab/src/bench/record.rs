//! The record of one problem: one JSON object per line.

use super::{
    protocol::Outcome, rounds::Stats, statistics::Quartiles, suite::SuiteProblem,
    transpose::Traffic,
};
use crate::Error;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::ser::{CompactFormatter, Formatter, Serializer};
use std::io;

/// The measurement of one problem, a GEMM or a transpose. Times are microseconds per launch. Rates
/// of GEMMs count `2 m n k` operations per GEMM of the batch.
///
/// The line repeats the problem, but `op` is the class that ran.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Line<P = SuiteProblem> {
    /// The problem, without its `op`.
    #[serde(flatten)]
    pub problem: P,
    /// Name of the suite.
    pub suite: String,
    /// The kind of the measurement: `gemm` or `transpose`.
    pub kind: String,
    /// Main loop that ran, or the rung of a transpose.
    pub family: String,
    /// `simt`, `tensorop`, or `transpose`.
    pub op: String,
    /// The kernel that ran: its configuration in one word, its cluster, its division of K, and
    /// whether operands are swapped.
    pub config: String,
    /// The route of A and B to the kernel: `direct`, or for example `A repacked, B transposed`. The
    /// time includes the passes. Absent for a transpose.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub route: String,
    /// Falchion's median.
    pub ours_us: f64,
    /// Falchion's rate. Absent for a transpose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ours_tflops: Option<f64>,
    /// The traffic of a transpose.
    #[serde(flatten)]
    pub traffic: Option<Traffic>,
    /// Name of the peer; null without a peer.
    pub peer: Option<String>,
    /// Version of the peer's library, such as `13.1.0`. Absent without a peer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer_version: Option<String>,
    /// Whether the timed algorithms of the peer computed a problem with whole numbers exactly, on
    /// the verified rows. Absent without a peer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer_verified: Option<bool>,
    /// Algorithms of the peer that returned a wrong result. They are timed only if no algorithm is
    /// right.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub peer_wrong: usize,
    /// Smallest median of the peer; null if the peer does not support the problem.
    pub peer_us: Option<f64>,
    /// Rate of the peer.
    pub peer_tflops: Option<f64>,
    /// Median of the peer's own first choice.
    pub peer_first_us: Option<f64>,
    /// Number of timed algorithms of the peer.
    #[serde(default)]
    pub peer_count: usize,
    /// `peer_us / ours_us`. Above 1, Falchion is faster.
    pub ratio: Option<f64>,
    /// Median of another kernel of Falchion, as a reference if the peer does not support the
    /// problem.
    pub own_reference_us: Option<f64>,
    /// Largest ratio of an error to its a-priori bound; null if the result was not verified.
    pub error_over_bound: Option<f64>,
    /// Whether the ratio did not settle.
    pub noisy: bool,
    /// Whether launches were replayed from a graph, so that the times contain no host time.
    pub captured: bool,
    /// Falchion's largest `|D - AB| / (|A||B|)` of all elements. Present only if the problem names
    /// the distribution of its operands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<f64>,
    /// The same error of cuBLAS's SGEMM on the same operands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sgemm_error: Option<f64>,
    /// The reason why Falchion refuses these operands or knobs. Times and rates are then 0, and
    /// nothing else was measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// Name of the device.
    pub device: String,
    /// Date, such as `2026-11-20`.
    pub date: String,
    /// Measured commit.
    pub commit: String,
}

/// Returns whether a count is omitted from a record.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// The content of a line besides the problem and the times.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Circumstances {
    /// Name of the suite.
    pub suite: String,
    /// The kind of the measurement.
    pub kind: String,
    /// Main loop that ran, or the rung of a transpose.
    pub family: String,
    /// `simt` or `tensorop`.
    pub op: String,
    /// The kernel that ran: its configuration in one word, its cluster, its division of K, and
    /// whether operands are swapped.
    pub config: String,
    /// The route of A and B to the kernel.
    pub route: String,
    /// The peer.
    pub peer: Option<String>,
    /// Version of the peer's library.
    pub peer_version: Option<String>,
    /// Whether the timed algorithms of the peer are right.
    pub peer_verified: Option<bool>,
    /// Algorithms of the peer with a wrong result.
    pub peer_wrong: usize,
    /// Median of another kernel of Falchion as a reference, in microseconds.
    pub own_reference_us: Option<f64>,
    /// Largest ratio of an error to its bound.
    pub error_over_bound: Option<f64>,
    /// Largest errors of Falchion and of cuBLAS's SGEMM, relative to `|A||B|`.
    pub errors: Option<[f64; 2]>,
    /// Name of the device.
    pub device: String,
    /// Date, see [`utc_date`](super::date::utc_date).
    pub date: String,
    /// Measured commit.
    pub commit: String,
}

impl Line {
    /// Returns the line of `problem` with its `outcome` and its `circumstances`.
    #[must_use]
    pub fn new(problem: &SuiteProblem, outcome: &Outcome, circumstances: Circumstances) -> Self {
        let tflops = |time_us: f64| problem.operations() / time_us / 1e6;
        let problem = SuiteProblem { op: None, ..problem.clone() };
        let ours_us = outcome.ours.quartiles_us.median;
        Self {
            ours_tflops: Some(tflops(ours_us)),
            peer_us: outcome.peer_us,
            peer_tflops: outcome.peer_us.map(tflops),
            peer_first_us: outcome.peer_first_us,
            peer_count: outcome.peer_count,
            ratio: outcome.ratio,
            noisy: outcome.noisy,
            captured: outcome.captured,
            ..Self::timed(problem, ours_us, circumstances)
        }
    }
    /// Returns the line of a problem that Falchion refuses.
    #[must_use]
    pub fn refused(problem: &SuiteProblem, sentence: String, circumstances: Circumstances) -> Self {
        let quartiles_us = Quartiles { lower: 0.0, median: 0.0, upper: 0.0 };
        let ours = Stats { name: "ours".to_owned(), samples_us: Vec::new(), quartiles_us };
        // The requested class, if the class that would run is unknown.
        let op = if circumstances.op.is_empty() {
            problem.op.clone().unwrap_or_default()
        } else {
            circumstances.op.clone()
        };
        let line = Self::new(problem, &Outcome::alone(ours), Circumstances { op, ..circumstances });
        Self { ours_tflops: Some(0.0), refused: Some(sentence), ..line }
    }
}

impl<P> Line<P> {
    /// Returns the line of a problem without rates and without the peer's times.
    pub(super) fn timed(problem: P, ours_us: f64, circumstances: Circumstances) -> Self {
        let Circumstances { suite, kind, family, op, config, route, .. } = circumstances;
        let Circumstances {
            peer,
            peer_version,
            peer_verified,
            peer_wrong,
            own_reference_us,
            error_over_bound,
            errors,
            device,
            date,
            commit,
            ..
        } = circumstances;
        Self {
            problem,
            suite,
            kind,
            family,
            op,
            config,
            route,
            ours_us,
            ours_tflops: None,
            traffic: None,
            peer,
            peer_version,
            peer_verified,
            peer_wrong,
            peer_us: None,
            peer_tflops: None,
            peer_first_us: None,
            peer_count: 0,
            ratio: None,
            own_reference_us,
            error_over_bound,
            noisy: false,
            captured: false,
            error: errors.map(|[ours, _]| ours),
            sgemm_error: errors.map(|[_, sgemm]| sgemm),
            refused: None,
            device,
            date,
            commit,
        }
    }
}

impl<P: Serialize> Line<P> {
    /// Returns the line as JSON, without a newline.
    ///
    /// # Errors
    /// [`Error::Measurement`] if the record cannot be written as JSON.
    pub fn to_json(&self) -> Result<String, Error> {
        json(self)
    }
}

/// A JSON formatter with six significant digits, which is below the noise of a measurement.
struct SixDigits;

impl Formatter for SixDigits {
    fn write_f64<W: ?Sized + io::Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        let rounded = format!("{value:.5e}").parse().unwrap_or(value);
        CompactFormatter.write_f64(writer, rounded)
    }
}

/// Returns a record as JSON, without a newline.
fn json(record: &impl Serialize) -> Result<String, Error> {
    let mut line = Vec::new();
    let written = record.serialize(&mut Serializer::with_formatter(&mut line, SixDigits));
    let fault = |e: &dyn core::fmt::Display| Error::Measurement {
        because: format!("a line could not be written: {e}"),
    };
    written.map_err(|e| fault(&e))?;
    String::from_utf8(line).map_err(|e| fault(&e))
}

/// Parses a file of records. Blank lines are skipped.
///
/// # Errors
/// [`Error::Measurement`] with the line number if a line is not a record.
pub fn read_lines<P: DeserializeOwned>(text: &str) -> Result<Vec<Line<P>>, Error> {
    text.lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(index, line)| {
            serde_json::from_str(line).map_err(|e| Error::Measurement {
                because: format!("line {} is not a record: {e}", index + 1),
            })
        })
        .collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::bench::suite::parse;

    pub(in crate::bench) fn line(ours_us: f64, peer_us: Option<f64>) -> Line {
        let text = r#"{"m":4096,"n":4096,"k":4096,"a":"f32:row","b":"f32:col","c":"f32:row","op":"simt","lda":4100}"#;
        let quartiles_us = Quartiles { lower: ours_us, median: ours_us, upper: ours_us };
        let outcome = Outcome {
            ours: Stats { name: "ours".into(), samples_us: vec![ours_us], quartiles_us },
            peers: Vec::new(),
            peer: peer_us.map(|_| "cublaslt heuristic 2".into()),
            peer_us,
            peer_first_us: peer_us.map(|time| time + 1.0),
            peer_count: if peer_us.is_some() { 8 } else { 0 },
            ratio: peer_us.map(|time| time / ours_us),
            noisy: false,
            captured: false,
        };
        let circumstances = Circumstances {
            suite: "simt".into(),
            kind: "gemm".into(),
            family: "multi-stage".into(),
            op: "simt".into(),
            config: "128x128x16".into(),
            route: falchion::refusal::Route::Direct.name().to_owned(),
            peer: Some("cublaslt".into()),
            peer_version: peer_us.map(|_| "13.1.0".into()),
            peer_verified: peer_us.map(|_| true),
            peer_wrong: 0,
            own_reference_us: None,
            error_over_bound: Some(0.25),
            errors: None,
            device: "NVIDIA H200".into(),
            date: "2026-11-20".into(),
            commit: "c1066a8".into(),
        };
        Line::new(&parse("simt", text).unwrap()[0], &outcome, circumstances)
    }

    #[test]
    fn a_line_has_the_documented_fields_in_order_and_reads_back() {
        let line = line(2500.0, Some(2600.0));
        let json = line.to_json().unwrap();
        let keys: Vec<&str> = json
            .split(['{', ','])
            .filter_map(|part| part.split_once(':'))
            .map(|(key, _)| key)
            .collect();
        let documented = "m n k a b c lda suite kind family op config route ours_us ours_tflops peer peer_version peer_verified peer_us peer_tflops peer_first_us \
                          peer_count ratio own_reference_us error_over_bound noisy captured device date commit";
        let named: Vec<String> =
            documented.split_whitespace().map(|key| format!("\"{key}\"")).collect();
        assert_eq!(keys, named, "{json}");
        let read = read_lines(&format!("{json}\n\n{json}\n")).unwrap();
        assert_eq!(read.len(), 2);
        for again in read {
            assert_eq!(again.to_json().unwrap(), json);
            let rate = |line: &Line| line.ours_tflops.unwrap();
            assert!((rate(&again) / rate(&line) - 1.0).abs() < 1e-5, "{json}");
        }
    }

    #[test]
    fn rates_and_ratio_follow_from_the_times() {
        let line = line(2500.0, Some(2600.0));
        assert!((line.ours_tflops.unwrap() - 54.9755813888).abs() < 1e-9);
        assert_eq!(line.ratio, Some(1.04));
        assert_eq!(line.peer_first_us, Some(2601.0));
    }

    #[test]
    fn a_peer_that_refuses_is_null() {
        let json = line(2500.0, None).to_json().unwrap();
        for field in [
            "\"peer_us\":null",
            "\"peer_tflops\":null",
            "\"ratio\":null",
            "\"peer_first_us\":null",
            "\"peer_count\":0",
        ] {
            assert!(json.contains(field), "{field} in {json}");
        }
        assert_eq!(read_lines::<SuiteProblem>(&json).unwrap()[0].ratio, None);
    }

    /// Checks that a refusal is a line with its message and no times, and that lines without named
    /// data have no data fields.
    #[test]
    fn refused_problems_keep_their_sentence() {
        let measured = line(2500.0, Some(2600.0));
        let circumstances =
            Circumstances { suite: "f32_accurate".into(), ..Circumstances::default() };
        let refused = Line::refused(&measured.problem, "row 3 of A".into(), circumstances);
        assert_eq!(
            (refused.ours_us, refused.ours_tflops, refused.ratio, refused.error),
            (0.0, Some(0.0), None, None)
        );
        let json = refused.to_json().unwrap();
        assert!(json.contains("\"refused\":\"row 3 of A\""), "{json}");
        assert_eq!(read_lines(&json).unwrap(), [refused]);
        assert!(!measured.to_json().unwrap().contains("refused"));
    }

    #[test]
    fn invalid_records_are_named_by_their_line() {
        let good = line(1.0, None).to_json().unwrap();
        let text = read_lines::<SuiteProblem>(&format!("{good}\n{{}}")).unwrap_err().to_string();
        assert!(
            text.starts_with("the measurement failed: line 2 is not a record: missing field"),
            "{text}"
        );
    }
}
