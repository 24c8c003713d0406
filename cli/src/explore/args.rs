//! The flags of `falchion explore`.

use crate::{
    args::{ClassArgs, seed, whole},
    knob_flags::KnobLists,
};
use clap::Args;
use falchion::shape::Mnk;
use std::path::PathBuf;

/// The flags of `falchion explore`.
#[derive(Args, Debug)]
pub struct ExploreArgs {
    /// Problem sizes M x N x K, separated by commas.
    #[arg(long = "size", value_name = "MxNxK", value_delimiter = ',', value_parser = size, allow_hyphen_values = true)]
    pub sizes: Vec<Mnk>,
    /// Rows of A and D of one more problem. The problem also needs --n and --k.
    #[arg(long, value_parser = extent, allow_hyphen_values = true, requires_all = ["n", "k"])]
    pub m: Option<u32>,
    /// Columns of B and D of the problem with --m and --k.
    #[arg(long, value_parser = extent, allow_hyphen_values = true, requires_all = ["m", "k"])]
    pub n: Option<u32>,
    /// Columns of A and rows of B of the problem with --m and --n.
    #[arg(long, value_parser = extent, allow_hyphen_values = true, requires_all = ["m", "n"])]
    pub k: Option<u32>,
    #[command(flatten)]
    #[allow(missing_docs, reason = "each flag has its own help text")]
    pub class: ClassArgs,
    #[command(flatten)]
    #[allow(missing_docs, reason = "each flag has its own help text")]
    pub knobs: KnobLists,
    /// Search space as JSON or a JSON file: a list of subspaces. A subspace is an object of knob
    /// names and lists of values.
    #[arg(long, value_name = "FILE|JSON")]
    pub space: Option<String>,
    /// Count the points and the valid kernels, and stop. --dry-run needs neither a GPU
    /// nor NVRTC.
    #[arg(long, conflicts_with_all = ["compile", "log"])]
    pub dry_run: bool,
    /// Compile the kernels into the kernel cache for a compute capability, such as 90 for sm_90,
    /// and stop. --compile needs NVRTC, but no GPU.
    #[arg(long, value_name = "SM", value_parser = extent, conflicts_with = "log")]
    pub compile: Option<u32>,
    /// Number of random valid kernels to try. Default: all.
    #[arg(long, value_name = "N", value_parser = whole, allow_hyphen_values = true)]
    pub trials: Option<usize>,
    /// Seed that selects the kernels to try.
    #[arg(long, default_value_t = 0, value_name = "N", value_parser = seed, allow_hyphen_values = true)]
    pub seed: u64,
    /// Write every trial to this file as a JSON line. If the file exists, the run adds
    /// the missing trials.
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// Number of the best kernels to measure with the protocol of `falchion bench`.
    #[arg(long, default_value_t = 8, value_name = "N", value_parser = whole, allow_hyphen_values = true)]
    pub finalists: usize,
    /// Number of the best kernels to list.
    #[arg(long, default_value_t = 10, value_name = "N", value_parser = whole, allow_hyphen_values = true)]
    pub best: usize,
    /// Number of threads that compile. Default: the number of processors.
    #[arg(long, value_name = "N", value_parser = whole, allow_hyphen_values = true)]
    pub jobs: Option<usize>,
    /// Library to compare the kernels with. With none, the peer is the default kernel.
    #[arg(long, value_delimiter = ',', value_parser = ["cublaslt", "none"], default_value = "cublaslt")]
    pub peers: Vec<String>,
}

impl ExploreArgs {
    /// The problems without duplicates.
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
    text.parse().map_err(|_| format!("the value must be a whole number from 0 to {}", u32::MAX))
}
