//! The ladder of the tuning notes: transposes from one element at a time to 16 bytes, with the
//! accesses of each rung.

use super::TransposeRung;
use crate::{
    Error,
    counters::{SharedAccesses, TransposeCounters, count_transpose},
    owned::HostProduct,
    verify::Verdict,
};
use falchion::{
    internals::operand::{
        Problem,
        transpose::{Combine, TransposeProgram},
    },
    numeric::ElementKind,
};
use falchion_check::Mode;

/// The accesses and the measurement of a rung.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
pub struct TransposeReached {
    /// Name of the rung.
    pub name: &'static str,
    /// Its kernel, in one word.
    pub config: String,
    /// Its accesses, counted in the host executor.
    pub counters: TransposeCounters,
    /// The measurement on a device.
    pub measured: Option<TransposeMeasured>,
}

/// The measurement of a verified rung. Rates count every byte read and every byte written.
#[derive(Clone, Copy, PartialEq, Debug, serde::Serialize)]
pub struct TransposeMeasured {
    /// Median time of a launch, in microseconds.
    pub microseconds: f64,
    /// Rate in 10^9 bytes per second.
    pub gbytes_per_second: f64,
    /// Rate divided by the rate of a copy in the same rounds.
    pub of_copy: f64,
}

/// A climb of `D = Aᵀ` with all rungs, the lowest first.
#[derive(Clone, PartialEq, Debug, serde::Serialize)]
pub struct TransposeClimb {
    /// Rows of A.
    pub rows: usize,
    /// Columns of A.
    pub columns: usize,
    /// Name of the element type.
    pub element: &'static str,
    /// Name of the device, or the host.
    pub on: String,
    /// The rungs.
    pub rungs: Vec<TransposeReached>,
}

impl TransposeClimb {
    /// Default extent for the comparison of rungs, as in the suite.
    pub const SIZE: usize = 8192;

    /// The columns of [`table`](Self::table).
    pub const HEAD: [&str; 9] = [
        "rung",
        "kernel",
        "sectors of A",
        "sectors of D",
        "wavefronts a store",
        "wavefronts a load",
        "µs",
        "GB/s",
        "of a copy",
    ];

    /// Returns the climb with its counted accesses, without a run.
    ///
    /// # Errors
    /// The errors of [`count_transpose`].
    pub fn counted(
        (rows, columns): (usize, usize),
        kind: ElementKind,
        on: &str,
    ) -> Result<Self, Error> {
        let problem = Problem::packed_transpose(rows, columns);
        let reached = |rung: TransposeRung| {
            let desc = rung.choice(kind.bytes_of(1)).desc(kind, &problem);
            let counters = count_transpose(&TransposeProgram::new(&desc), &problem)?;
            Ok(TransposeReached {
                name: rung.name(),
                config: desc.to_string(),
                counters,
                measured: None,
            })
        };
        let rungs = TransposeRung::ALL.into_iter().map(reached).collect::<Result<_, Error>>()?;
        Ok(Self { rows, columns, element: kind.name(), on: on.to_owned(), rungs })
    }

    /// Returns the climb as a table with the columns of [`HEAD`](Self::HEAD).
    pub fn table(&self) -> Vec<[String; 9]> {
        let each = |shared: &SharedAccesses| match shared.accesses {
            0 => "–".to_owned(),
            accesses => {
                let each = |wavefronts: u64| wavefronts as f64 / accesses as f64;
                format!("{:.2} ({:.2})", each(shared.wavefronts), each(shared.ideal))
            }
        };
        let cells = |rung: &TransposeReached| {
            let TransposeCounters { a, d, stores, loads, .. } = &rung.counters;
            let measured = |digits: usize, of: fn(&TransposeMeasured) -> f64| {
                rung.measured
                    .as_ref()
                    .map_or("–".to_owned(), |measured| format!("{:.digits$}", of(measured)))
            };
            [
                rung.name.to_owned(),
                rung.config.clone(),
                a.sectors.to_string(),
                d.sectors.to_string(),
                each(stores),
                each(loads),
                measured(1, |measured| measured.microseconds),
                measured(0, |measured| measured.gbytes_per_second),
                measured(3, |measured| measured.of_copy),
            ]
        };
        self.rungs.iter().map(cells).collect()
    }
}

/// Verifies a rung on the checked machine, on a matrix of some whole tiles and one partial
/// tile. Compares every element.
///
/// # Errors
/// [`falchion::Error::Fault`] if the host executor finds a fault in the rung.
pub fn verify_transpose(
    rung: TransposeRung,
    kind: ElementKind,
) -> Result<Verdict, falchion::Error> {
    let desc = rung.desc(Combine::Move, kind.bytes_of(1));
    let (rows, columns) = (2 * desc.rows as usize + 16, desc.columns as usize + 16);
    let problem = Problem::packed_transpose(rows, columns);
    let desc = rung.choice(kind.bytes_of(1)).desc(kind, &problem);
    let mut transpose = HostProduct::poisoned_transpose(kind, &desc, &problem)?;
    transpose.draw_transpose(1)?;
    transpose.run_transpose(&desc, Mode::Checked { seed: 3 })?;
    transpose.verify_transpose()
}
