//! A climb: the predicted and the measured rate of each rung.

use super::{Machine, Rung, rungs, traffic};
use crate::{Error, counters::Counters};

/// The result of a rung. Rates are in TFLOP/s and count `2 m n k` operations.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
pub struct Reached {
    /// Name of the rung.
    pub name: &'static str,
    /// The idea that the rung adds.
    pub adds: &'static str,
    /// For a wrong turn, the rung that it tries to improve.
    pub wrong_turn_of: Option<&'static str>,
    /// The counted memory accesses of its threads.
    pub counters: Counters,
    /// Rate that the counts predict.
    pub predicted_tflops: f64,
    /// The measurement.
    pub measured: Option<Measured>,
}

/// The measurement of a verified rung on a device.
#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize)]
pub struct Measured {
    /// Rate in TFLOP/s.
    pub tflops: f64,
    /// Rate divided by the peer's rate in the same rounds.
    pub of_peer: Option<f64>,
    /// Largest ratio of an error to its bound, in the verified rows.
    pub error_over_bound: Option<f64>,
    /// Registers per thread.
    pub registers: u32,
    /// Bytes of registers that are spilled to local memory, stores and loads.
    pub spilled_bytes: u32,
}

/// A climb of all rungs, the lowest first.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
pub struct Climb {
    /// M, N, and K.
    pub size: usize,
    /// Name of the device, or the host.
    pub on: String,
    /// The peer's rate: the median over the rounds of all rungs.
    pub peer_tflops: Option<f64>,
    /// The rungs.
    pub rungs: Vec<Reached>,
}

impl Climb {
    /// Returns the predicted climb, without a run.
    ///
    /// # Errors
    /// The errors of [`traffic`].
    pub fn predicted(size: usize, machine: &Machine, on: &str) -> Result<Self, Error> {
        let predicted = |rung: &Rung| {
            let counters = traffic(&rung.program, size)?;
            Ok(Reached {
                name: rung.name,
                adds: rung.adds,
                wrong_turn_of: rung.wrong_turn_of,
                predicted_tflops: machine.tflops(&rung.program, &counters)?,
                counters,
                measured: None,
            })
        };
        let rungs = rungs()?.iter().map(predicted).collect::<Result<_, Error>>()?;
        Ok(Self { size, on: on.to_owned(), peer_tflops: None, rungs })
    }

    /// Returns the origin of the rates: measured on a device, or predicted for a machine.
    pub fn place(&self) -> String {
        let measured = self.rungs.iter().any(|rung| rung.measured.is_some());
        format!("{} {}", if measured { "measured on" } else { "predicted for" }, self.on)
    }
}

impl Reached {
    /// Returns the measured rate, or the predicted rate without a measurement.
    pub fn tflops(&self) -> f64 {
        self.measured.map_or(self.predicted_tflops, |measured| measured.tflops)
    }
}
