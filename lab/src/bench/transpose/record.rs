//! The record of one transpose: one JSON object per line.

use super::problem::SuiteTranspose;
use crate::{
    Error,
    bench::{
        Rounds,
        record::{Circumstances, json},
    },
};
use serde::{Deserialize, Serialize};

/// The measurement of one transpose. Times are microseconds per launch. Rates count every byte read
/// and every byte written, in 10^9 bytes per second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TransposeLine {
    /// The problem.
    #[serde(flatten)]
    pub problem: SuiteTranspose,
    /// Name of the suite.
    pub suite: String,
    /// `transpose`.
    pub kind: String,
    /// `transpose`, or the name of the rung.
    pub family: String,
    /// The configuration that ran, in one word.
    pub config: String,
    /// Falchion's median.
    pub ours_us: f64,
    /// Falchion's rate.
    pub ours_gbs: f64,
    /// `cublasSgeam` or `cublasDgeam`; null if the type has no peer, or if no peer was requested.
    pub peer: Option<String>,
    /// Version of cuBLAS, such as `13.1.0`. Absent without a peer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer_version: Option<String>,
    /// Median of the peer.
    pub peer_us: Option<f64>,
    /// Rate of the peer.
    pub peer_gbs: Option<f64>,
    /// `peer_us / ours_us`. Above 1, Falchion is faster.
    pub ratio: Option<f64>,
    /// Median of a copy that reads and writes the bytes of A.
    pub copy_us: f64,
    /// Rate of the copy.
    pub copy_gbs: f64,
    /// Falchion's rate divided by the copy's rate.
    pub ratio_to_copy: f64,
    /// Number of verified elements of D, which is all of them. Wrong results have no record.
    pub verified: u64,
    /// Largest ratio of an error to its a-priori bound; null without arithmetic.
    pub error_over_bound: Option<f64>,
    /// Whether the ratio to the faster of peer and copy did not settle.
    pub noisy: bool,
    /// Whether launches were replayed from a graph, so that the times contain no host time.
    pub captured: bool,
    /// Name of the device.
    pub device: String,
    /// Date, such as `2026-11-20`.
    pub date: String,
    /// Measured commit.
    pub commit: String,
}

impl TransposeLine {
    /// Returns the line of `problem`. Its rounds are Falchion, the copy, and the peer if there is
    /// one. `verified` is the number of verified elements.
    ///
    /// # Errors
    /// [`Error::Measurement`] if `rounds` lacks the kernel or the copy.
    pub fn new(
        problem: &SuiteTranspose,
        rounds: &Rounds,
        verified: u64,
        circumstances: Circumstances,
    ) -> Result<Self, Error> {
        let [ours_us, copy_us] =
            [0, 1].map(|slot: usize| rounds.stats.get(slot).map(|stats| stats.quartiles_us.median));
        let (Some(ours_us), Some(copy_us)) = (ours_us, copy_us) else {
            return Err(Error::Measurement {
                because: "there are no rounds of ours and of a copy".to_owned(),
            });
        };
        let peer_us = rounds.stats.get(2).map(|stats| stats.quartiles_us.median);
        let copied = SuiteTranspose { beta: None, ..problem.clone() }.traffic_bytes();
        let gbs = |bytes: f64, time_us: f64| bytes / time_us / 1e3;
        let bytes = problem.traffic_bytes();
        let Circumstances {
            suite,
            kind,
            config,
            peer,
            peer_version,
            error_over_bound,
            device,
            date,
            commit,
            ..
        } = circumstances;
        Ok(Self {
            problem: problem.clone(),
            suite,
            kind,
            family: problem.rung.map_or("transpose", |rung| rung.name()).to_owned(),
            config,
            ours_us,
            ours_gbs: gbs(bytes, ours_us),
            peer,
            peer_version,
            peer_us,
            peer_gbs: peer_us.map(|time| gbs(bytes, time)),
            ratio: peer_us.map(|time| time / ours_us),
            copy_us,
            copy_gbs: gbs(copied, copy_us),
            ratio_to_copy: gbs(bytes, ours_us) / gbs(copied, copy_us),
            verified,
            error_over_bound,
            noisy: rounds.noisy,
            captured: rounds.captured,
            device,
            date,
            commit,
        })
    }

    /// Returns the line as JSON, without a newline.
    ///
    /// # Errors
    /// [`Error::Measurement`] if the record cannot be written as JSON.
    pub fn to_json(&self) -> Result<String, Error> {
        json(self)
    }

    /// Returns the measurement as one line of text.
    #[must_use]
    pub fn said(&self) -> String {
        let p = &self.problem;
        let peer = self.ratio.map_or(String::new(), |ratio| format!(", {ratio:.3} of geam"));
        format!(
            "{} x {} {} {}: {:.0} GB/s{peer}, {:.3} of a copy",
            p.rows, p.columns, p.element, self.config, self.ours_gbs, self.ratio_to_copy
        )
    }
}
