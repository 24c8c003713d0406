//! The command line: it prints what the library returns.
//!
//! Exit codes: 0 done, and verified where asked; 1 verification failed; 2 refused, with one
//! sentence on stderr.
#![deny(missing_docs, unsafe_code)]

mod args;
mod banks;
mod bare;
mod bench;
mod cuda;
mod doctor;
mod explore;
mod failure;
mod gemm;
mod help;
mod interrupt;
mod knob_flags;
mod ladder;
mod layout;
mod npy;
mod output;
mod print;
mod progress;
mod request;
mod text;
mod transpose;

use args::{Cli, Command};
use clap::Parser;
use failure::Failure;
use std::process::ExitCode;

fn main() -> ExitCode {
    limit_threads();
    let parsed = Cli::try_parse();
    // A command line that is no command line may ask for JSON, too.
    let json = parsed
        .as_ref()
        .map_or_else(|_| std::env::args_os().any(|arg| arg == "--json"), |cli| cli.json);
    let done = parsed.map_or_else(|error| failure::usage(&error), run);
    done.and_then(|()| print::finish())
        .map_or_else(|failure| failure.report(json), |()| ExitCode::SUCCESS)
}

/// Threads for each processor, at most: more only wait for each other.
const MOST_THREADS: usize = 8;

/// Takes fewer threads than `RAYON_NUM_THREADS` asks for where it asks for far more than there are
/// processors, and says so.
fn limit_threads() {
    let most = MOST_THREADS * std::thread::available_parallelism().map_or(1, usize::from);
    let asked = std::env::var("RAYON_NUM_THREADS").ok().and_then(|text| text.parse::<usize>().ok());
    if let Some(asked) = asked.filter(|&asked| asked > most) {
        print::error(&format!(
            "note: RAYON_NUM_THREADS is {asked}, and {most} threads are taken, {MOST_THREADS} a processor"
        ));
        // A pool that is there already is one of another size, and works.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(most).build_global();
    }
}

fn run(cli: Cli) -> Result<(), Failure> {
    match cli.command {
        None => bare::run(cli.json),
        Some(Command::Gemm(args)) => gemm::run(&args, cli.json),
        Some(Command::Bench(args)) => bench::run(&args, cli.json),
        Some(Command::Banks(args)) => banks::run(&args, cli.json),
        Some(Command::Explore(args)) => explore::run(&args, cli.json),
        Some(Command::Ladder(args)) => ladder::run(&args, cli.json),
        Some(Command::Transpose(args)) => transpose::run(&args, cli.json),
        Some(Command::Layout(args)) => layout::run(&args, cli.json),
        Some(Command::Doctor { verbose }) => doctor::run(verbose, cli.json),
    }
}
