//! What can be asked for.

use crate::{explore::ExploreArgs, knob_flags::KnobFlags};
use clap::{
    Args, Parser, Subcommand, ValueEnum, builder::PossibleValuesParser, builder::TypedValueParser,
};
use falchion::{
    arch::{ArchKind, Machine, OpRequest},
    layout::MatrixType,
    numeric::ElementKind,
};
use falchion_lab::{gpus::GPUS, ladder::TransposeRung};
use std::path::PathBuf;

/// GEMM the way CUTLASS does it, on a GPU or on the CPU. Without a command: one verified product on
/// what is here.
#[derive(Parser, Debug)]
#[command(name = "falchion", version)]
pub struct Cli {
    /// Print one JSON object and nothing else.
    #[arg(long, global = true)]
    pub json: bool,
    /// What to do.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// The commands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// D = epilogue(alpha * A*B, beta * C).
    Gemm(Box<GemmArgs>),
    /// Wavefronts and bank conflicts: of a layout, or of every access of a description to shared
    /// memory.
    Banks(Box<BanksArgs>),
    /// D = A^T, or D = alpha * A^T + beta * B.
    Transpose(Box<TransposeArgs>),
    /// Measure a suite of problems against a peer, on a GPU.
    Bench(BenchArgs),
    /// Try the legal kernels of one product, on a GPU; count them, anywhere.
    Explore(Box<ExploreArgs>),
    /// Climb from three loops to the ring of asynchronous copies, rung by rung.
    Ladder(LadderArgs),
    /// Evaluate an expression of layouts, and draw what it stands for.
    Layout(LayoutArgs),
    /// Find out, in order, what is missing.
    Doctor {
        /// List where libraries were looked for.
        #[arg(long)]
        verbose: bool,
    },
}

/// Where a product is computed.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum On {
    #[allow(missing_docs, reason = "a comment here would be printed, and the flag says it")]
    #[default]
    Auto,
    #[allow(missing_docs, reason = "as above")]
    Host,
    #[allow(missing_docs, reason = "as above")]
    Cuda,
}

/// Which elements are verified.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verification {
    #[allow(missing_docs, reason = "a comment here would be printed, and the flag says it")]
    #[value(hide = true)]
    Enough,
    #[allow(missing_docs, reason = "as above")]
    All,
}

/// A GPU by name, and its limits.
pub type NamedMachine = (&'static str, Machine);

/// A product. Extents that are not given are those of the files.
#[derive(Args, Debug)]
pub struct GemmArgs {
    /// Rows of A and D.
    #[arg(long, value_parser = whole, allow_hyphen_values = true)]
    pub m: Option<usize>,
    /// Columns of B and D.
    #[arg(long, value_parser = whole, allow_hyphen_values = true)]
    pub n: Option<usize>,
    /// Columns of A, rows of B.
    #[arg(long, value_parser = whole, allow_hyphen_values = true)]
    pub k: Option<usize>,
    #[command(flatten)]
    #[allow(missing_docs, reason = "its flags say what they are")]
    pub kernel: KernelArgs,
    /// Scales A*B; 1 if not given.
    #[arg(long, value_name = "X", value_parser = number, allow_hyphen_values = true)]
    pub alpha: Option<f64>,
    /// Scales C; 0 if not given.
    #[arg(long, value_name = "X", value_parser = number, allow_hyphen_values = true)]
    pub beta: Option<f64>,
    /// A scalar of the epilogue, s2 to s7: --scalar 2=0.1.
    #[arg(long = "scalar", value_name = "SLOT=X")]
    pub scalars: Vec<String>,
    /// A's leading dimension, in elements.
    #[arg(long, value_name = "N", value_parser = whole, allow_hyphen_values = true)]
    pub lda: Option<usize>,
    /// B's leading dimension, in elements.
    #[arg(long, value_name = "N", value_parser = whole, allow_hyphen_values = true)]
    pub ldb: Option<usize>,
    /// C's and D's leading dimension, in elements.
    #[arg(long, value_name = "N", value_parser = whole, allow_hyphen_values = true)]
    pub ldc: Option<usize>,
    /// Products of one shape: a file holds N matrices, as an array of shape (N, rows, columns), or
    /// one for all of them.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = whole, allow_hyphen_values = true)]
    pub batch: usize,
    /// Tells products by the addresses of their matrices, as an array, and not by the distances
    /// between them: each lies in memory of its own on a device.
    #[arg(long, conflicts_with = "group_rows")]
    pub pointers: bool,
    /// Groups of so many rows of A and D, one behind another, each with a B of its own: 100,0,37. A
    /// file of B holds as many matrices as there are groups.
    #[arg(long, value_name = "N,..", value_delimiter = ',', value_parser = whole, allow_hyphen_values = true, conflicts_with = "batch")]
    pub group_rows: Option<Vec<usize>>,
    /// What operands without a file are drawn from.
    #[arg(long, default_value_t = 0, value_name = "N", value_parser = seed, allow_hyphen_values = true)]
    pub seed: u64,
    /// A: a .npy file, in C or Fortran order. Without --a and --b, their elements are those of the
    /// files.
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    pub a_file: Option<PathBuf>,
    /// B: a .npy file.
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    pub b_file: Option<PathBuf>,
    /// C: a .npy file.
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    pub c_file: Option<PathBuf>,
    /// A vector of the epilogue, bias_m, bias_n, scale_m or scale_n: a .npy file of one value a row
    /// of D, or a column.
    #[arg(long = "vector", value_name = "NAME=FILE", help_heading = "Files")]
    pub vectors: Vec<String>,
    /// Where D goes: a .npy file in the order of C, bf16 as f32.
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    pub out: Option<PathBuf>,
    /// Where to compute; auto is a GPU where one works, else the host.
    #[arg(long, value_enum, default_value_t)]
    pub on: On,
    /// On the host, thread by thread, with every access to shared memory watched.
    #[arg(long)]
    pub checked: bool,
    /// Hold D against a reference and its bound: every element, of a large product those of drawn
    /// rows; with `all`, every element of any.
    #[arg(long, value_enum, num_args = 0..=1, default_missing_value = "enough", value_name = "all")]
    pub verify: Option<Verification>,
    /// Say what was chosen and why. Compute only with --run, --verify, --out or --checked.
    #[arg(long)]
    pub explain: bool,
    /// Explain for a GPU that is not here.
    #[arg(long = "for", value_name = "GPU", requires = "explain", value_parser = PossibleValuesParser::new(GPUS.map(|gpu| gpu.0)).map(gpu))]
    pub gpu: Option<NamedMachine>,
    /// Compute what is explained.
    #[arg(long, requires = "explain")]
    pub run: bool,
    #[command(flatten)]
    #[allow(missing_docs, reason = "its flags say what they are")]
    pub later: LaterArgs,
}

/// A transpose. Extents that are not given are those of the files; matrices lie by rows.
#[derive(Args, Debug)]
pub struct TransposeArgs {
    /// Rows of A, columns of D.
    #[arg(long, value_parser = whole, allow_hyphen_values = true)]
    pub rows: Option<usize>,
    /// Columns of A, rows of D.
    #[arg(long, value_parser = whole, allow_hyphen_values = true)]
    pub cols: Option<usize>,
    /// The elements' type.
    #[arg(long = "type", value_name = "TYPE", value_parser = element)]
    pub element: Option<ElementKind>,
    /// Scales A^T; other than 1 for f32 and f64.
    #[arg(long, default_value_t = 1.0, value_parser = number, allow_hyphen_values = true)]
    pub alpha: f64,
    /// Scales B; other than 0 for f32 and f64.
    #[arg(long, value_name = "X", value_parser = number, allow_hyphen_values = true)]
    pub beta: Option<f64>,
    /// Transposes of one shape, their matrices one below another.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = whole, allow_hyphen_values = true)]
    pub batch: usize,
    /// A's leading dimension, in elements.
    #[arg(long, value_name = "N", value_parser = whole, allow_hyphen_values = true)]
    pub lda: Option<usize>,
    /// B's leading dimension, in elements.
    #[arg(long, value_name = "N", value_parser = whole, allow_hyphen_values = true)]
    pub ldb: Option<usize>,
    /// D's leading dimension, in elements.
    #[arg(long, value_name = "N", value_parser = whole, allow_hyphen_values = true)]
    pub ldd: Option<usize>,
    /// A rung of the ladder, instead of what suits the problem.
    #[arg(long, value_parser = PossibleValuesParser::new(TransposeRung::ALL.map(TransposeRung::name)).map(rung), conflicts_with = "desc")]
    pub rung: Option<TransposeRung>,
    /// The kernel: a description in JSON, or a file of one.
    #[arg(long, value_name = "FILE|JSON")]
    pub desc: Option<String>,
    /// What operands without a file are drawn from.
    #[arg(long, default_value_t = 0, value_name = "N", value_parser = seed, allow_hyphen_values = true)]
    pub seed: u64,
    /// A: a .npy file, in C or Fortran order.
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    pub a_file: Option<PathBuf>,
    /// B: a .npy file of D's shape.
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    pub b_file: Option<PathBuf>,
    /// Where D goes: a .npy file in C order, bf16 as f32.
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    pub out: Option<PathBuf>,
    /// Where to compute; auto is a GPU where one works, else the host.
    #[arg(long, value_enum, default_value_t)]
    pub on: On,
    /// On the host, thread by thread, with every access to shared memory watched.
    #[arg(long)]
    pub checked: bool,
    /// Compare every element of D with the definition.
    #[arg(long)]
    pub verify: bool,
    /// Say what was chosen and why. Compute only with --run, --verify, --out or --checked.
    #[arg(long)]
    pub explain: bool,
    /// Compute what is explained.
    #[arg(long, requires = "explain")]
    pub run: bool,
    /// Every rung, verified; its accesses counted, and measured on a GPU. 8192 x 8192, if no
    /// extents are given.
    #[arg(long, conflicts_with_all = ["alpha", "beta", "batch", "lda", "ldb", "ldd", "rung", "desc", "seed", "a_file", "b_file", "out", "checked", "explain"])]
    pub ladder: bool,
}

/// What is said of a kernel; what is not said is chosen.
#[derive(Args, Debug)]
pub struct KernelArgs {
    #[command(flatten)]
    #[allow(missing_docs, reason = "its flags say what they are")]
    pub class: ClassArgs,
    #[command(flatten)]
    #[allow(missing_docs, reason = "its flags say what they are")]
    pub knobs: KnobFlags,
}

/// What kernels of one product have in common; what is not said is chosen.
#[derive(Args, Debug)]
pub struct ClassArgs {
    /// Elements and layout of A.
    #[arg(long, value_name = "TYPE:ORDER")]
    pub a: Option<MatrixType>,
    /// Elements and layout of B.
    #[arg(long, value_name = "TYPE:ORDER")]
    pub b: Option<MatrixType>,
    /// Elements and layout of C and D.
    #[arg(long, value_name = "TYPE:ORDER")]
    pub c: Option<MatrixType>,
    /// What products are accumulated in.
    #[arg(long, value_name = "TYPE", value_parser = element)]
    pub acc: Option<ElementKind>,
    /// Which units multiply: the CUDA cores, or the tensor cores.
    #[arg(long, value_parser = PossibleValuesParser::new(OpRequest::ALL.map(OpRequest::name)).map(op))]
    pub op: Option<OpRequest>,
    /// Which instructions the kernel may use.
    #[arg(long, value_parser = PossibleValuesParser::new(ArchKind::ALL.map(ArchKind::name)).map(arch))]
    pub arch: Option<ArchKind>,
    /// Everything at once: a description in JSON, or a file of one.
    #[arg(long, value_name = "FILE|JSON")]
    pub desc: Option<String>,
}

/// Flags whose time has not come: known, so that they can be refused by name.
#[derive(Args, Debug)]
pub struct LaterArgs {
    /// The order of tiles of a persistent kernel.
    #[arg(long, hide = true)]
    pub order: Option<String>,
}

/// Accesses to shared memory: one, of a layout, or else all of a description.
#[derive(Args, Debug)]
pub struct BanksArgs {
    /// Where an index of the data lies, in elements, in CuTe's notation: '(32,32):(33,1)'.
    #[arg(long, value_name = "LAYOUT", requires = "threads", help_heading = "One access")]
    pub layout: Option<String>,
    /// At which index of the data each lane begins: '32:1' goes through the first mode.
    #[arg(long, value_name = "LAYOUT", requires = "layout", help_heading = "One access")]
    pub threads: Option<String>,
    /// The elements of the data; f32 if not given.
    #[arg(long, value_name = "TYPE", value_parser = element, requires = "layout", help_heading = "One access")]
    pub element: Option<ElementKind>,
    /// Consecutive elements that each lane touches; 1 if not given.
    #[arg(long, value_name = "N", value_parser = elements, allow_hyphen_values = true, requires = "layout", help_heading = "One access")]
    pub access: Option<u32>,
    /// The lanes store; otherwise they load.
    #[arg(long, requires = "layout", help_heading = "One access")]
    pub store: bool,
    #[command(flatten)]
    #[allow(missing_docs, reason = "its flags say what they are")]
    pub kernel: KernelArgs,
    /// Draw the access, or the worst of each step, to this file: banks as columns, lanes as
    /// colours, wavefronts below.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Make the accesses that the rule is held against on a GPU, one launch each, and list what is
    /// predicted: see scripts/banks.sh.
    #[arg(long, hide = true)]
    pub probe: bool,
}

/// A measurement.
#[derive(Args, Debug)]
pub struct BenchArgs {
    /// JSON lines, one problem each.
    #[arg(long, value_name = "FILE")]
    pub suite: PathBuf,
    /// Whom to compare with; none for ours alone.
    #[arg(long, value_delimiter = ',', value_parser = ["cublaslt", "none"], default_value = "cublaslt")]
    pub peers: Vec<String>,
    /// Compile the suite's kernels into the cache for this compute capability (90, say), and
    /// measure nothing: needs NVRTC, no GPU.
    #[arg(long, value_name = "SM", value_parser = elements)]
    pub compile: Option<u32>,
    /// Where the lines go; a page goes beside them, ending in .md. By default
    /// docs/performance/SUITE.jsonl.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// A climb.
#[derive(Args, Debug)]
pub struct LadderArgs {
    /// M, N and K; a multiple of 256.
    #[arg(long, value_name = "N", default_value_t = 2048, value_parser = whole, allow_hyphen_values = true)]
    pub size: usize,
    /// Where: on a GPU every rung is verified and measured, on the host verified, and predicted
    /// from the counts of its accesses.
    #[arg(long, value_enum, default_value_t)]
    pub on: On,
    /// The chart as a picture.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
}

/// An expression of the layout algebra.
#[derive(Args, Debug)]
pub struct LayoutArgs {
    /// A layout, a function of layouts, or a layout applied to a coordinate: compose((6,2):(8,2),
    /// (4,3):(3,1)).
    #[arg(value_name = "EXPR", allow_hyphen_values = true)]
    pub expression: String,
    /// Print the table of offsets instead.
    #[arg(long)]
    pub table: bool,
    /// Draw the layout, as SVG.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Colour the drawing by threads: a layout of threads, laid over the cells again and again.
    #[arg(long, value_name = "EXPR", requires = "svg")]
    pub threads: Option<String>,
    /// Show the drawing's banks of shared memory, for elements of so many bytes.
    #[arg(long, value_name = "N", value_parser = elements, requires = "svg")]
    pub element_bytes: Option<u32>,
    /// The drawing's title; by default what the expression stands for.
    #[arg(long, requires = "svg")]
    pub title: Option<String>,
}

fn op(name: String) -> OpRequest {
    name.parse().unwrap_or_default()
}

fn arch(name: String) -> ArchKind {
    ArchKind::ALL.into_iter().find(|arch| arch.name() == name).unwrap_or(ArchKind::Sm80)
}

fn gpu(name: String) -> NamedMachine {
    GPUS.into_iter().find(|gpu| gpu.0 == name).unwrap_or(GPUS[0])
}

fn rung(name: String) -> TransposeRung {
    TransposeRung::ALL
        .into_iter()
        .find(|rung| rung.name() == name)
        .unwrap_or(TransposeRung::Vectorized)
}

fn element(name: &str) -> Result<ElementKind, String> {
    name.parse().map_err(|error: falchion::Error| format!("it {}", error.because()))
}

/// A number of a flag.
pub fn whole(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| format!("it is a whole number from 0 to {}", usize::MAX))
}

fn elements(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| format!("it is a whole number from 0 to {}", u32::MAX))
}

/// A number of a flag.
pub fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("it is a whole number from 0 to {}", u64::MAX))
}

fn number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "it is a number, -0.5 or 1e-3 for one".to_owned())
}
