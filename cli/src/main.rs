//! Command line of Falchion, which prints the results of the library.
//!
//! Exit code 0 means success. Exit code 1 means that the verification failed. Exit code 2 means
//! that the command refused the request, with one sentence on stderr.
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
    // `--json` also applies if clap refuses the command line.
    let json = parsed
        .as_ref()
        .map_or_else(|_| std::env::args_os().any(|arg| arg == "--json"), |cli| cli.json);
    let done = parsed.map_or_else(|error| failure::usage(&error), run);
    done.and_then(|()| print::finish())
        .map_or_else(|failure| failure.report(json), |()| ExitCode::SUCCESS)
}

/// Maximum number of threads per processor.
const MOST_THREADS: usize = 8;

/// Limits the threads of `RAYON_NUM_THREADS` to `MOST_THREADS` threads per processor. Prints a note
/// if the limit applies.
fn limit_threads() {
    let most = MOST_THREADS * std::thread::available_parallelism().map_or(1, usize::from);
    let asked = std::env::var("RAYON_NUM_THREADS").ok().and_then(|text| text.parse::<usize>().ok());
    if let Some(asked) = asked.filter(|&asked| asked > most) {
        print::error(&format!(
            "note: RAYON_NUM_THREADS is {asked}; falchion uses {most} threads, {MOST_THREADS} per processor"
        ));
        // The call fails if a thread pool exists. The program then uses the existing pool.
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
