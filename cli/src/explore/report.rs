//! What is said of an exploration.

use super::object;
use crate::{failure::Failure, print};
use falchion::shape::Mnk;
use falchion_lab::explore::{
    Census,
    record::Entry,
    standing::{Summary, table},
    trials::Compiled,
};
use serde_json::json;

/// What is in a space.
pub fn census(census: &Census, json: bool) -> Result<(), Failure> {
    if json {
        object(&json!({ "points": census.points, "legal": census.legal.len(), "refused": census.refused }));
        return Ok(());
    }
    print::line(&counts(census));
    print::table(census.refused.iter().map(|reason| vec![reason.count.to_string(), reason.form.clone()]));
    Ok(())
}

/// How many there are, in a line.
fn counts(census: &Census) -> String {
    let refused = census.points - census.legal.len() as u64;
    format!("{} points: {} kernels, {refused} refused", census.points, census.legal.len())
}

/// What came of compiling.
pub fn compiled(compiled: &Compiled, sm: u32, json: bool) -> Result<(), Failure> {
    if json {
        object(&json!(compiled));
        return Ok(());
    }
    let Compiled { kernels, spilled, compile_failed } = compiled;
    print::line(&format!(
        "{kernels} kernels for sm_{sm} are in the cache; {spilled} more spill, {compile_failed} do not compile"
    ));
    Ok(())
}

/// What came of the trials.
pub fn standings(census: &Census, entries: &[Entry], sizes: &[Mnk], most: usize, json: bool) -> Result<(), Failure> {
    let summaries: Vec<Summary> = sizes.iter().map(|&size| Summary::of(entries, size, most)).collect();
    if json {
        object(&json!({ "points": census.points, "legal": census.legal.len(), "problems": summaries }));
        return Ok(());
    }
    print::line(&counts(census));
    for summary in summaries {
        let of = summary.outcomes;
        print::line(&format!(
            "{}: {} timed, {} wrong, {} spilled, {} not compiled",
            summary.size, of.timed, of.wrong, of.spilled, of.compile_failed
        ));
        print::table(table(&summary.best));
        if let (Some(name), Some(us)) = (&summary.reference, summary.reference_us) {
            let noisy = if summary.noisy == Some(true) { "; the ratio did not settle" } else { "" };
            print::line(&format!("ratio: the time of {name}, {us:.1} us, over the kernel's{noisy}; ~ was only screened"));
        }
    }
    Ok(())
}
