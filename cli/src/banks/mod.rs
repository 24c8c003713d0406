//! `falchion banks`: what accesses to shared memory cost.

mod probe;

use crate::{args::BanksArgs, failure::Failure};

/// Runs the command.
pub fn run(args: &BanksArgs, json: bool) -> Result<(), Failure> {
    if args.probe {
        return probe::run(json);
    }
    Err(Failure::refused("nothing to count"))
}
