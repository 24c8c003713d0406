//! What is kept of a trial: a line of JSON.

use crate::Error;
use falchion::{desc::GemmDesc, shape::Mnk};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};
use serde_json::Value;

/// The form of the log; another is refused.
pub const FORMAT: &str = "falchion explore 1";

/// The first line of a log: what all of its trials have in common. Trials of another log are of
/// another header.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Header {
    /// [`FORMAT`]. It comes first, so that the first bytes of a file say whether it is a log.
    pub format: String,
    /// A's elements and layout.
    pub a: String,
    /// B's.
    pub b: String,
    /// C's and D's.
    pub c: String,
    /// What products are accumulated in.
    pub acc: String,
    /// Which units multiply.
    pub op: String,
    /// Which instructions may be used.
    pub arch: String,
    /// The extents of the problems.
    pub sizes: Vec<Mnk>,
    /// What candidates are measured beside.
    pub reference: String,
    /// The device's name.
    pub device: String,
    /// The newest CUDA that the driver speaks.
    pub driver: String,
    /// The commit measured.
    pub commit: String,
}

/// Who ran what where: what a header says apart from the problem.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Circumstances {
    /// What candidates are measured beside.
    pub reference: String,
    /// The device's name.
    pub device: String,
    /// The newest CUDA that the driver speaks.
    pub driver: String,
    /// The commit measured.
    pub commit: String,
}

impl Header {
    /// The header of trials of descriptions like `base` on problems of `sizes`.
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
            op: base.class.op.to_string(),
            arch: base.class.arch.to_string(),
            sizes: sizes.to_vec(),
            reference,
            device,
            driver,
            commit,
        }
    }
}

/// What became of a trial. Times are of one launch, in microseconds.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// NVRTC rejected the kernel.
    CompileFailed {
        /// Its log, cut to [`LOG_BYTES`].
        log: String,
    },
    /// It compiled, and spills registers although its description forbids it: it was not run.
    Spilled {
        /// Bytes a thread, stored and loaded.
        bytes: u32,
    },
    /// It computed something else than the product, or could not be run: it was not timed.
    Wrong {
        /// What was found.
        why: String,
    },
    /// It was verified, and then timed.
    Timed {
        /// The shortest of its rounds.
        us: f64,
        /// Its rate, `2 m n k` operations a launch.
        tflops: f64,
        /// Rounds, at most: long products have one.
        rounds: usize,
        /// The reference's time in the same rounds.
        reference_us: f64,
    },
}

/// The longest compiler's log that is kept, in bytes.
pub const LOG_BYTES: usize = 4096;

/// One description on one problem.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Trial {
    /// The problem's extents.
    pub size: Mnk,
    /// The description.
    #[serde(with = "as_json")]
    pub description: GemmDesc,
    /// What became of it.
    #[serde(flatten)]
    pub outcome: Outcome,
}

/// One of the best, measured by the full protocol.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Finalist {
    /// The description.
    #[serde(with = "as_json")]
    pub description: GemmDesc,
    /// The median of its rounds, in microseconds of one launch.
    pub us: f64,
    /// Its rate.
    pub tflops: f64,
}

/// The best of a problem, measured in interleaved rounds beside all references.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Final {
    /// The problem's extents.
    pub size: Mnk,
    /// In the order of their trials' times.
    pub finalists: Vec<Finalist>,
    /// The smallest of the references' medians, in microseconds of one launch.
    pub reference_us: f64,
    /// Whose it is.
    pub reference: String,
    /// Rounds of each.
    pub rounds: usize,
    /// The ratio of the first finalist to the best of the others did not settle.
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
    /// The entry as one line of JSON, without a newline.
    ///
    /// # Errors
    /// [`Error::Measurement`] if the record cannot be written as JSON.
    pub fn to_json(&self) -> Result<String, Error> {
        to_line(self)
    }
}

/// Anything as one line of JSON, without a newline.
pub(super) fn to_line(record: &impl Serialize) -> Result<String, Error> {
    serde_json::to_string(record).map_err(|error| Error::Measurement {
        because: format!("a line could not be written: {error}"),
    })
}

/// The rate of a product, in TFLOP/s.
#[must_use]
pub fn tflops(size: Mnk, us: f64) -> f64 {
    2.0 * f64::from(size.m) * f64::from(size.n) * f64::from(size.k) / us / 1e6
}

/// A description within a record, in the form of [`GemmDesc::to_json`].
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
