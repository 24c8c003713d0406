//! `falchion banks`: what accesses to shared memory cost.

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
        // clap has seen that neither is alone.
        _ => steps::run(args, json),
    }
}

/// Draws accesses, each with its title, where a file was given.
fn draw(
    file: Option<&Path>,
    accesses: impl IntoIterator<Item = (String, WarpAccess)>,
) -> Result<(), Failure> {
    let Some(file) = file else { return Ok(()) };
    output::write(file, &picture(&accesses.into_iter().collect::<Vec<_>>()))
}
