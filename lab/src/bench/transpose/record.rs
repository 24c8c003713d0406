//! The line that is kept of one transpose: JSON, one object a line.

use super::problem::SuiteTranspose;
use crate::{
    Error,
    bench::{
        Rounds,
        record::{Circumstances, json},
    },
};
use serde::{Deserialize, Serialize};

/// One transpose measured. Times are of one launch, in microseconds; rates count every byte read
/// and every byte written, 10^9 of them a second.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TransposeLine {
    /// The problem as it was asked.
    #[serde(flatten)]
    pub problem: SuiteTranspose,
    /// The suite's name.
    pub suite: String,
    /// `transpose`.
    pub kind: String,
    /// `transpose`, or the rung.
    pub family: String,
    /// The configuration that ran, in one word.
    pub config: String,
    /// Our median.
    pub ours_us: f64,
    /// Our rate.
    pub ours_gbs: f64,
    /// `cublasSgeam` or `cublasDgeam`; null where there is none for the type, or none was asked.
    pub peer: Option<String>,
    /// The version of cuBLAS: `13.1.0`. Records before 2026-11-28 lack it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peer_version: Option<String>,
    /// The peer's median.
    pub peer_us: Option<f64>,
    /// The peer's rate.
    pub peer_gbs: Option<f64>,
    /// `peer_us / ours_us`: above 1 we are faster.
    pub ratio: Option<f64>,
    /// The median of a copy that reads and writes as many bytes as A has.
    pub copy_us: f64,
    /// The copy's rate.
    pub copy_gbs: f64,
    /// Our rate over the copy's.
    pub ratio_to_copy: f64,
    /// Elements of D compared, every one of them; all were equal, or there would be no line.
    pub verified: u64,
    /// The largest error over its a-priori bound, where elements are scaled and added; null where
    /// they only move.
    pub error_over_bound: Option<f64>,
    /// The ratio to the faster of peer and copy did not settle.
    pub noisy: bool,
    /// Whether launches were replayed from a graph, so that no time of the host's is in the times;
    /// absent in lines of before lines said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub captured: Option<bool>,
    /// The device's name.
    pub device: String,
    /// The day, `2026-11-20`.
    pub date: String,
    /// The commit measured.
    pub commit: String,
}

impl TransposeLine {
    /// The line of `problem`, whose rounds are ours, the copy, and the peer where there is one. So
    /// many elements were verified.
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
            captured: Some(rounds.captured),
            device,
            date,
            commit,
        })
    }

    /// The line as JSON, without a newline.
    ///
    /// # Errors
    /// [`Error::Measurement`] if the record cannot be written as JSON.
    pub fn to_json(&self) -> Result<String, Error> {
        json(self)
    }

    /// One line of text.
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
