//! Climbing: what each rung is predicted to reach, and what it reached.

use super::{Machine, Program, Rung, rungs, traffic};
use crate::{Error, counters::Counters};

/// What a rung reached. Rates are in TFLOP/s and count `2 m n k`.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
pub struct Reached {
    /// The rung's name.
    pub name: &'static str,
    /// What is new on it.
    pub adds: &'static str,
    /// For a wrong turn: the rung that it was meant to better.
    pub wrong_turn_of: Option<&'static str>,
    /// What its threads ask of memory, counted.
    pub counters: Counters,
    /// What the counts predict.
    pub predicted_tflops: f64,
    /// What was measured.
    pub measured: Option<Measured>,
}

/// A rung, verified and then measured on a device.
#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize)]
pub struct Measured {
    /// Its rate.
    pub tflops: f64,
    /// Its rate over the peer's, in the same rounds.
    pub of_peer: Option<f64>,
    /// The largest error over its bound, of the rows that were computed again.
    pub error_over_bound: Option<f64>,
    /// Registers of a thread.
    pub registers: u32,
    /// Bytes of registers that were spilled to local memory: stores and loads.
    pub spilled_bytes: u32,
}

/// A climb: every rung, from the bottom up.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
pub struct Climb {
    /// M, N and K.
    pub size: usize,
    /// Where: the device's name, or the host.
    pub on: String,
    /// The peer's rate, the median over the rungs' rounds.
    pub peer_tflops: Option<f64>,
    /// The rungs.
    pub rungs: Vec<Reached>,
}

impl Climb {
    /// The climb that the counts predict, nothing run yet.
    ///
    /// # Errors
    /// Those of [`traffic`].
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

    /// Where the rates are from: measured on the device, or predicted for a machine.
    pub fn place(&self) -> String {
        let measured = self.rungs.iter().any(|rung| rung.measured.is_some());
        format!("{} {}", if measured { "measured on" } else { "predicted for" }, self.on)
    }
}

impl Reached {
    /// What was measured, or else what is predicted.
    pub fn tflops(&self) -> f64 {
        self.measured.map_or(self.predicted_tflops, |measured| measured.tflops)
    }
}

impl Program {
    /// What it is, in a word.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Textbook(_) => "textbook",
            Self::Gemm(desc) => desc.knobs.mainloop.name(),
        }
    }
}
