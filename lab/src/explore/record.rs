//! The record of a trial: a line of JSON.

use crate::Error;
use falchion::{nest::GemmDesc, shape::Mnk};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};
use serde_json::Value;

/// The format of the log. Logs of other formats are refused.
pub const FORMAT: &str = "falchion explore 1";

/// The first line of a log: the properties that all its trials share. Trials with other properties
/// need another log.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Header {
    /// [`FORMAT`]. It is the first field, so the first bytes of a file identify a log.
    pub format: String,
    /// A's element type and layout.
    pub a: String,
    /// B's element type and layout.
    pub b: String,
    /// The element type and layout of C and D.
    pub c: String,
    /// The accumulator type.
    pub acc: String,
    /// The units that multiply.
    pub op: String,
    /// The architecture tag.
    pub arch: String,
    /// The problem sizes.
    pub sizes: Vec<Mnk>,
    /// The reference that is measured beside the candidates.
    pub reference: String,
    /// Name of the device.
    pub device: String,
    /// The newest CUDA version that the driver supports.
    pub driver: String,
    /// The measured commit.
    pub commit: String,
}

/// The machine and the versions of a run: all fields of a header except those of the problem.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Circumstances {
    /// The reference that is measured beside the candidates.
    pub reference: String,
    /// Name of the device.
    pub device: String,
    /// The newest CUDA version that the driver supports.
    pub driver: String,
    /// The measured commit.
    pub commit: String,
}

impl Header {
    /// Returns the header for trials of descriptions like `base` on problems of `sizes`.
    #[must_use]
    pub fn new(base: &GemmDesc, sizes: &[Mnk], circumstances: Circumstances) -> Self {
        let (types, orders) = (base.user_types(), base.orders());
        let matrix = |element, order| falchion::layout::MatrixType { element, order }.to_string();
        let Circumstances { reference, device, driver, commit } = circumstances;
        Self {
            format: FORMAT.to_owned(),
            a: matrix(types.a, orders.a),
            b: matrix(types.b, orders.b),
            c: matrix(types.c, orders.c),
            acc: types.accumulator.to_string(),
            op: base.op().to_string(),
            arch: base.arch.to_string(),
            sizes: sizes.to_vec(),
            reference,
            device,
            driver,
            commit,
        }
    }
}

/// The outcome of a trial. Times are microseconds per launch.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// NVRTC rejected the kernel.
    CompileFailed {
        /// The log of NVRTC, cut to [`LOG_BYTES`].
        log: String,
    },
    /// The kernel spills registers, although its description forbids spills. It was not run.
    Spilled {
        /// Spilled bytes per thread, stored and loaded.
        bytes: u32,
    },
    /// The kernel returned a wrong result, or could not be run. It was not timed.
    Wrong {
        /// The difference or the error.
        why: String,
    },
    /// The kernel was verified and timed.
    Timed {
        /// Shortest time of its rounds.
        us: f64,
        /// Rate in TFLOP/s, with `2 m n k` operations per launch.
        tflops: f64,
        /// Number of rounds. Long problems have only one.
        rounds: usize,
        /// Time of the reference in the same rounds.
        reference_us: f64,
    },
}

/// Length of a stored compiler log, in bytes.
pub const LOG_BYTES: usize = 4096;

/// The trial of one description on one problem.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Trial {
    /// The problem size.
    pub size: Mnk,
    /// The description.
    #[serde(with = "as_json")]
    pub description: GemmDesc,
    /// The outcome.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// One of the best descriptions, measured with the full protocol.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Finalist {
    /// The description.
    #[serde(with = "as_json")]
    pub description: GemmDesc,
    /// Median of its rounds, in microseconds per launch.
    pub us: f64,
    /// Rate in TFLOP/s.
    pub tflops: f64,
}

/// The best descriptions of a problem, measured in interleaved rounds beside all references.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Final {
    /// The problem size.
    pub size: Mnk,
    /// The finalists, ordered by the times of their trials.
    pub finalists: Vec<Finalist>,
    /// Smallest median of the references, in microseconds per launch.
    pub reference_us: f64,
    /// Name of the reference with the smallest median.
    pub reference: String,
    /// Rounds per contender.
    pub rounds: usize,
    /// Whether the ratio of the first finalist to the best of the others did not settle.
    pub noisy: bool,
}

/// A line of a log after the first.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Entry {
    /// A trial.
    Trial(Box<Trial>),
    /// The best of a problem.
    Final(Final),
}

impl Entry {
    /// Returns the entry as one line of JSON, without a newline.
    ///
    /// # Errors
    /// [`Error::Measurement`] if the record cannot be written as JSON.
    pub fn to_json(&self) -> Result<String, Error> {
        to_line(self)
    }
}

/// Returns a record as one line of JSON, without a newline.
pub(super) fn to_line(record: &impl Serialize) -> Result<String, Error> {
    serde_json::to_string(record).map_err(|error| Error::Measurement {
        because: format!("a line could not be written: {error}"),
    })
}

/// Returns the rate of a GEMM in TFLOP/s.
#[must_use]
pub fn tflops(size: Mnk, us: f64) -> f64 {
    2.0 * f64::from(size.m) * f64::from(size.n) * f64::from(size.k) / us / 1e6
}

/// Serializes a description within a record, in the form of [`GemmDesc::to_json`].
pub(super) mod as_json {
    use super::{Deserialize, Deserializer, GemmDesc, Serialize, Serializer, Value, de, ser};

    pub fn serialize<S: Serializer>(desc: &GemmDesc, serializer: S) -> Result<S::Ok, S::Error> {
        let value = desc.to_json().map_err(|error| ser::Error::custom(error.to_string()))?;
        serde_json::from_str::<Value>(&value).map_err(ser::Error::custom)?.serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<GemmDesc, D::Error> {
        let value = Value::deserialize(deserializer)?;
        GemmDesc::from_json(&value.to_string())
            .map_err(|error| de::Error::custom(error.to_string()))
    }
}
