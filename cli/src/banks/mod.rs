//! `falchion banks`: bank conflicts of accesses to shared memory.

mod layout;
mod probe;
mod steps;

use crate::{args::BanksArgs, failure::Failure, output};
use falchion_lab::banks::WarpAccess;
use falchion_lab::banks::picture;
use std::path::Path;

/// Runs the command.
pub fn run(args: &BanksArgs, json: bool) -> Result<(), Failure> {
    if args.probe {
        return probe::run(json);
    }
    match (&args.layout, &args.threads) {
        (Some(layout), Some(threads)) => layout::run(args, layout, threads, json),
        // clap refuses `--layout` or `--threads` alone, so both are absent here.
        _ => steps::run(args, json),
    }
}

/// Draws accesses with their titles, if `--svg` names a file.
fn draw(
    file: Option<&Path>,
    accesses: impl IntoIterator<Item = (String, WarpAccess)>,
) -> Result<(), Failure> {
    let Some(file) = file else { return Ok(()) };
    output::write(file, &picture(&accesses.into_iter().collect::<Vec<_>>()))
}
