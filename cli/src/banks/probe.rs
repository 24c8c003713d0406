//! Accesses that test the model of bank conflicts on a device. `scripts/banks.sh` counts the
//! wavefronts of the accesses with a profiler.

use crate::{failure::Failure, print};
use falchion::cuda::open;
use falchion_lab::banks::wavefronts;
use falchion_lab::banks::{cases, probe::Probe};
use serde_json::json;

/// Launches every test access once, and prints the predicted wavefronts in the same order. A line
/// holds the name, the direction, the bytes per lane, and the wavefronts, separated by tabs.
pub fn run(json: bool) -> Result<(), Failure> {
    let cases = cases::cases().map_err(|error| Failure::refused(error.to_string()))?;
    let probe = Probe::prepare(&open(0)?)?;
    let mut listed = Vec::new();
    for case in &cases {
        probe.run(&case.access)?;
        let (direction, bytes) = (case.access.direction().name(), case.access.bytes());
        listed.push((&case.name, direction, bytes, wavefronts(&case.access).wavefronts));
    }
    if json {
        let object = |(name, direction, bytes, wavefronts): &(&String, &str, u32, u32)| json!({ "name": name, "direction": direction, "bytes": bytes, "wavefronts": wavefronts });
        print::line(&json!({ "cases": listed.iter().map(object).collect::<Vec<_>>() }).to_string());
        return Ok(());
    }
    for (name, direction, bytes, wavefronts) in listed {
        print::line(&format!("{name}\t{direction}\t{bytes}\t{wavefronts}"));
    }
    Ok(())
}
