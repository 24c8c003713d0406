//! `falchion ladder` verifies every rung, and measures or predicts the speed of each rung.

use crate::{
    args::LadderArgs,
    cuda::Place,
    failure::Failure,
    output::OutputFile,
    print,
    progress::{self, Steps},
};
use falchion_lab::ladder::{Climb, Machine, check_size, rungs, verify};

/// Width of the longest bar in characters.
const COLUMNS: usize = 40;

/// Runs the command.
pub fn run(args: &LadderArgs, json: bool) -> Result<(), Failure> {
    check_size(args.size).map_err(falchion::Error::from)?;
    let rungs = rungs().map_err(falchion::Error::from)?;
    let chart = args.svg.as_deref().map(OutputFile::create).transpose()?;
    let steps = Steps::new(rungs.len());
    let climb = match Place::open(args.on)? {
        Place::Cuda(device) => device.climb(args.size, &mut |rung| steps.done(rung + 1))?,
        Place::Host => {
            for (number, rung) in rungs.iter().enumerate() {
                crate::gemm::report::require_verified(verify(rung)?)?;
                steps.done(number + 1);
            }
            progress::during("counting accesses", || {
                Climb::predicted(args.size, &Machine::H200, "an NVIDIA H200")
            })?
        }
    };
    drop(steps);
    if let Some(chart) = chart {
        chart.text(&climb.svg())?;
    }
    if json {
        print::line(
            &serde_json::to_string(&climb).map_err(|error| Failure::refused(error.to_string()))?,
        );
        return Ok(());
    }
    print::line(&format!("f32, {n} x {n} x {n}, row-major: {}", climb.place(), n = climb.size));
    climb.letters(COLUMNS).lines().for_each(print::line);
    Ok(())
}
