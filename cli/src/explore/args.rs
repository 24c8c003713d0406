//! What can be asked of `falchion explore`.

use crate::{
    args::{ClassArgs, seed, whole},
    knob_flags::KnobLists,
};
use clap::Args;
use falchion::shape::Mnk;
use std::path::PathBuf;

/// An exploration.
#[derive(Args, Debug)]
pub struct ExploreArgs {
    /// The problems to measure, MxNxK each, parted by commas.
    #[arg(long = "size", value_name = "MxNxK", value_delimiter = ',', value_parser = size, allow_hyphen_values = true)]
    pub sizes: Vec<Mnk>,
    /// Rows of A and D: one problem more, with --n and --k.
    #[arg(long, value_parser = extent, allow_hyphen_values = true, requires_all = ["n", "k"])]
    pub m: Option<u32>,
    /// Columns of B and D.
    #[arg(long, value_parser = extent, allow_hyphen_values = true, requires_all = ["m", "k"])]
    pub n: Option<u32>,
    /// Columns of A, rows of B.
    #[arg(long, value_parser = extent, allow_hyphen_values = true, requires_all = ["m", "n"])]
    pub k: Option<u32>,
    #[command(flatten)]
    #[allow(missing_docs, reason = "its flags say what they are")]
    pub class: ClassArgs,
    #[command(flatten)]
    #[allow(missing_docs, reason = "its flags say what they are")]
    pub knobs: KnobLists,
    /// The space, in JSON, or a file of it: a list of families, each an object of lists by the
    /// knobs' JSON names.
    #[arg(long, value_name = "FILE|JSON")]
    pub space: Option<String>,
    /// Count the space and the refusals, and stop: needs neither a GPU nor NVRTC.
    #[arg(long, conflicts_with_all = ["compile", "log"])]
    pub dry_run: bool,
    /// Compile into the cache for this compute capability (90, say), and stop: needs NVRTC, no GPU.
    #[arg(long, value_name = "SM", value_parser = extent, conflicts_with = "log")]
    pub compile: Option<u32>,
    /// Try so many of the legal kernels, drawn from the seed; all, if not given.
    #[arg(long, alias = "budget", value_name = "N", value_parser = whole, allow_hyphen_values = true)]
    pub trials: Option<usize>,
    /// What trials are drawn from.
    #[arg(long, default_value_t = 0, value_name = "N", value_parser = seed, allow_hyphen_values = true)]
    pub seed: u64,
    /// Where every trial is kept, as JSON lines; a run that finds a log goes on with it.
    #[arg(long, alias = "out", value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// How many of the best are measured by the full protocol.
    #[arg(long, default_value_t = 8, value_name = "N", value_parser = whole, allow_hyphen_values = true)]
    pub finalists: usize,
    /// How many of the best are listed.
    #[arg(long, default_value_t = 10, value_name = "N", value_parser = whole, allow_hyphen_values = true)]
    pub best: usize,
    /// Threads that compile; as many as there are processors, if not given.
    #[arg(long, value_name = "N", value_parser = whole, allow_hyphen_values = true)]
    pub jobs: Option<usize>,
    /// What to measure beside; none for the default kernel.
    #[arg(long, value_delimiter = ',', value_parser = ["cublaslt", "none"], default_value = "cublaslt")]
    pub peers: Vec<String>,
}

impl ExploreArgs {
    /// The problems, each once.
    pub fn sizes(&self) -> Vec<Mnk> {
        let one = self.m.zip(self.n).zip(self.k).map(|((m, n), k)| Mnk::new(m, n, k));
        let mut sizes: Vec<Mnk> = Vec::new();
        for size in one.into_iter().chain(self.sizes.iter().copied()) {
            if !sizes.contains(&size) {
                sizes.push(size);
            }
        }
        sizes
    }
}

fn size(text: &str) -> Result<Mnk, String> {
    text.parse().map_err(|error: falchion::Error| error.because())
}

fn extent(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| format!("it is a whole number from 0 to {}", u32::MAX))
}
