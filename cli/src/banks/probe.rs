//! The accesses that the rule is held against, made on a device: `scripts/banks.sh` counts them
//! with a profiler.

use crate::{failure::Failure, print};
use falchion::cuda::open;
use falchion_lab::banks::wavefronts;
use falchion_lab::banks::{cases, probe::Probe};
use serde_json::json;

/// Makes every access, in one launch each, and says in the same order what is predicted: lines of
/// name, direction, bytes a lane and wavefronts, with tabs between.
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
