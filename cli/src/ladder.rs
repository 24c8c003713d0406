//! `falchion ladder`: every rung verified, then measured, or predicted.

use crate::{
    args::LadderArgs,
    cuda::Place,
    failure::Failure,
    print,
    progress::{self, Steps},
};
use falchion_lab::ladder::{Climb, Machine, check_size, rungs, verify};
use std::fs;

/// Letters of the longest bar.
const COLUMNS: usize = 40;

/// Runs the command.
pub fn run(args: &LadderArgs, json: bool) -> Result<(), Failure> {
    check_size(args.size).map_err(falchion::Error::from)?;
    let rungs = rungs().map_err(falchion::Error::from)?;
    let steps = Steps::new(rungs.len());
    let climb = match Place::of(args.on)? {
        Place::Cuda(device) => device.climb(args.size, &mut |rung| steps.done(rung + 1))?,
        Place::Host => {
            for (number, rung) in rungs.iter().enumerate() {
                crate::gemm::report::judged(verify(rung)?)?;
                steps.done(number + 1);
            }
            progress::during("counting accesses", || Climb::predicted(args.size, &Machine::H200, "predicted for an NVIDIA H200"))?
        }
    };
    drop(steps);
    if let Some(path) = &args.svg {
        fs::write(path, climb.svg())
            .map_err(|error| Failure::refused(format!("the chart {} cannot be written: {error}", path.display())))?;
    }
    if json {
        print::line(&serde_json::to_string(&climb).map_err(|error| Failure::refused(error.to_string()))?);
        return Ok(());
    }
    print::line(&format!("f32, {n} x {n} x {n}, by rows, on {}", climb.on, n = climb.size));
    climb.letters(COLUMNS).lines().for_each(print::line);
    Ok(())
}
