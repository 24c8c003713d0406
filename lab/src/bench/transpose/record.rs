//! The record of a transpose: its traffic relative to a copy.

use super::SuiteTranspose;
use crate::{
    Error,
    bench::{Line, Rounds, record::Circumstances},
};
use serde::{Deserialize, Serialize};

/// The traffic of a transpose relative to a copy that reads and writes the bytes of A. Rates count
/// every byte read and every byte written, in 10^9 bytes per second.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Traffic {
    /// Falchion's rate.
    pub ours_gbs: f64,
    /// Rate of the peer.
    pub peer_gbs: Option<f64>,
    /// Median of the copy, in microseconds.
    pub copy_us: f64,
    /// Rate of the copy.
    pub copy_gbs: f64,
    /// Falchion's rate divided by the copy's rate.
    pub ratio_to_copy: f64,
}

impl Line<SuiteTranspose> {
    /// Returns the line of a transpose. Its rounds are Falchion, the copy, and the peer if there is
    /// one.
    ///
    /// # Errors
    /// [`Error::Measurement`] if `rounds` lacks the kernel or the copy.
    pub fn from_rounds(
        problem: &SuiteTranspose,
        rounds: &Rounds,
        circumstances: Circumstances,
    ) -> Result<Self, Error> {
        let median =
            |contender: usize| rounds.stats.get(contender).map(|stats| stats.quartiles_us.median);
        let (Some(ours_us), Some(copy_us)) = (median(0), median(1)) else {
            let because = "the rounds lack the kernel or the copy".to_owned();
            return Err(Error::Measurement { because });
        };
        let kind = problem.kind().map_err(|because| Error::Measurement { because })?;
        let bytes = |problem: &SuiteTranspose| problem.problem().transpose_bytes(kind);
        let gbs = |time_us: f64| bytes(problem) / time_us / 1e3;
        let copied = SuiteTranspose { alpha: None, beta: None, ..problem.clone() };
        let (peer_us, copy_gbs) = (median(2), bytes(&copied) / copy_us / 1e3);
        let traffic = Traffic {
            ours_gbs: gbs(ours_us),
            peer_gbs: peer_us.map(gbs),
            copy_us,
            copy_gbs,
            ratio_to_copy: gbs(ours_us) / copy_gbs,
        };
        Ok(Self {
            traffic: Some(traffic),
            peer_us,
            ratio: peer_us.map(|time| time / ours_us),
            noisy: rounds.noisy,
            captured: rounds.captured,
            ..Self::timed(SuiteTranspose { op: None, ..problem.clone() }, ours_us, circumstances)
        })
    }
}
