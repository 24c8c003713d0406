//! The command line: every subcommand and flag, with its help.

use crate::{explore::ExploreArgs, help, knob_flags::KnobFlags};
use clap::{
    Args, Parser, Subcommand, ValueEnum, builder::PossibleValuesParser, builder::TypedValueParser,
};
use falchion::{
    arch::{ArchKind, Machine, OpRequest},
    internals::operand::GateColumns,
    layout::MatrixType,
    numeric::ElementKind,
};
use falchion_lab::{gpus::GPUS, ladder::TransposeRung};
use std::path::PathBuf;

/// GEMM with CUTLASS's hierarchy, on the GPU or on the CPU. Without a subcommand, falchion computes
/// and verifies one GEMM on this machine.
#[derive(Parser, Debug)]
#[command(name = "falchion", version, after_help = help::FALCHION)]
pub struct Cli {
    /// Print one JSON object on stdout, and nothing else.
    #[arg(long, global = true)]
    pub json: bool,
    /// The subcommand.
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// The subcommands.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Compute a GEMM, D = alpha * A*B + beta * C, or explain the kernel for it.
    #[command(after_help = help::GEMM)]
    Gemm(Box<GemmArgs>),
    /// Count the bank conflicts of a kernel's accesses to shared memory, or of one layout.
    #[command(after_help = help::BANKS)]
    Banks(Box<BanksArgs>),
    /// Transpose a matrix: D = A^T, or D = alpha * A^T + beta * C.
    #[command(after_help = help::TRANSPOSE)]
    Transpose(Box<TransposeArgs>),
    /// Measure a suite of problems on a GPU, relative to cuBLASLt.
    #[command(after_help = help::BENCH)]
    Bench(BenchArgs),
    /// Find the fastest kernel configurations of a GEMM on a GPU. With --dry-run, count the valid
    /// configurations without a GPU.
    #[command(after_help = help::EXPLORE)]
    Explore(Box<ExploreArgs>),
    /// Verify and compare a ladder of GEMM kernels, from three loops to the multistage main loop.
    Ladder(LadderArgs),
    /// Evaluate an expression of CuTe layouts, and print or draw the result.
    #[command(after_help = help::LAYOUT)]
    Layout(LayoutArgs),
    /// Check the driver, NVRTC, the GPU, and the kernel cache.
    Doctor {
        /// List the paths that falchion searched for libraries.
        #[arg(long)]
        verbose: bool,
    },
}

/// Device that computes: the GPU or the CPU.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum On {
    #[allow(missing_docs, reason = "clap would print a comment; the flag explains the value")]
    #[default]
    Auto,
    #[allow(missing_docs, reason = "as above")]
    Host,
    #[allow(missing_docs, reason = "as above")]
    Cuda,
}

/// Elements that the verification checks.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verification {
    #[allow(missing_docs, reason = "clap would print a comment; the flag explains the value")]
    #[value(hide = true)]
    Enough,
    #[allow(missing_docs, reason = "as above")]
    All,
}

/// Name and limits of a GPU.
pub type NamedMachine = (&'static str, Machine);

/// The flags of `falchion gemm`.
#[derive(Args, Debug)]
pub struct GemmArgs {
    /// Rows of A and D. Default: the number of rows in the files.
    #[arg(long, value_parser = whole, allow_hyphen_values = true)]
    pub m: Option<usize>,
    /// Columns of B and D. Default: the number of columns in the files.
    #[arg(long, value_parser = whole, allow_hyphen_values = true)]
    pub n: Option<usize>,
    /// Columns of A and rows of B. Default: the extent in the files.
    #[arg(long, value_parser = whole, allow_hyphen_values = true)]
    pub k: Option<usize>,
    #[command(flatten)]
    #[allow(missing_docs, reason = "each flag has its own help text")]
    pub kernel: KernelArgs,
    /// Factor of A*B. Default: 1.
    #[arg(long, value_name = "X", value_parser = number, allow_hyphen_values = true)]
    pub alpha: Option<f64>,
    /// Factor of C. Default: 0. If the factor is 0, the kernel does not read C.
    #[arg(long, value_name = "X", value_parser = number, allow_hyphen_values = true)]
    pub beta: Option<f64>,
    /// Scalar of the epilogue, s2 to s7: `--scalar 2=0.1` sets s2. Repeat the flag for each scalar.
    #[arg(long = "scalar", value_name = "SLOT=X")]
    pub scalars: Vec<String>,
    /// Leading dimension of A, in elements. Default: packed.
    #[arg(long, value_name = "N", value_parser = whole, allow_hyphen_values = true)]
    pub lda: Option<usize>,
    /// Leading dimension of B, in elements. Default: packed.
    #[arg(long, value_name = "N", value_parser = whole, allow_hyphen_values = true)]
    pub ldb: Option<usize>,
    /// Leading dimension of C and D, in elements. Default: packed.
    #[arg(long, value_name = "N", value_parser = whole, allow_hyphen_values = true)]
    pub ldc: Option<usize>,
    /// Order of the 2n columns of B, if the epilogue has a gate: n columns of the gate and then the
    /// n columns that it multiplies (halves), or pairs of both (interleaved). Default: halves.
    #[arg(long, value_name = "ORDER", value_parser = PossibleValuesParser::new(GateColumns::ALL.map(GateColumns::name)).map(gates))]
    pub gates: Option<GateColumns>,
    /// Number of GEMMs of the same size. A file holds an array of shape (N, rows, columns), or one
    /// matrix for all GEMMs.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = whole, allow_hyphen_values = true)]
    pub batch: usize,
    /// Pass the matrices of a batch by a pointer array instead of a stride. Each matrix has its own
    /// allocation on a GPU.
    #[arg(long, conflicts_with_all = ["group_rows", "group_k"])]
    pub pointers: bool,
    /// Grouped GEMM: rows of A and D per group, such as 100,0,37. Each group has its own B. A file
    /// of B holds one matrix per group.
    #[arg(long, value_name = "N,..", value_delimiter = ',', value_parser = whole, allow_hyphen_values = true, conflicts_with = "batch")]
    pub group_rows: Option<Vec<usize>>,
    /// Grouped GEMM along K: columns of A and rows of B per group, such as 100,0,37. Each group has
    /// its own D. A file of C holds one matrix per group, or one matrix for all.
    #[arg(long, value_name = "N,..", value_delimiter = ',', value_parser = whole, allow_hyphen_values = true, conflicts_with_all = ["batch", "group_rows"])]
    pub group_k: Option<Vec<usize>>,
    /// Seed of the random operands.
    #[arg(long, default_value_t = 0, value_name = "N", value_parser = seed, allow_hyphen_values = true)]
    pub seed: u64,
    /// Read A from a .npy file, in C or Fortran order. Without --a and --b, the files set the
    /// element types. If one operand has a file, each operand that the kernel reads needs a file.
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    pub a_file: Option<PathBuf>,
    /// Read B from a .npy file.
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    pub b_file: Option<PathBuf>,
    /// Read C from a .npy file. --c-file needs --beta.
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    pub c_file: Option<PathBuf>,
    /// Read a vector of the epilogue from a .npy file. NAME is bias_m or scale_m (one value per row
    /// of D), or bias_n or scale_n (one value per column). Repeat the flag for each vector.
    #[arg(long = "vector", value_name = "NAME=FILE", help_heading = "Files")]
    pub vectors: Vec<String>,
    /// Read an auxiliary matrix of the epilogue from a .npy file. NAME is aux1, aux2, aux3, or aux4
    /// (m x n). Repeat the flag for each matrix.
    #[arg(long = "matrix", value_name = "NAME=FILE", help_heading = "Files")]
    pub matrices: Vec<String>,
    /// Gather rows of A: read the row numbers from a .npy file of i32. Row i of the GEMM's A is
    /// that row of the A of --a-file, or of a random A.
    #[arg(long, value_name = "FILE", help_heading = "Files", conflicts_with = "pointers")]
    pub gather_a: Option<PathBuf>,
    /// Gather columns of B: read the column numbers from a .npy file of i32.
    #[arg(long, value_name = "FILE", help_heading = "Files", conflicts_with = "pointers")]
    pub gather_b: Option<PathBuf>,
    /// Scatter rows of D: read the row numbers from a .npy file of i32. C and auxiliary matrices
    /// are read at the same rows. Other rows of D are 0.
    #[arg(long, value_name = "FILE", help_heading = "Files", conflicts_with = "pointers")]
    pub scatter_d: Option<PathBuf>,
    /// Write D to a .npy file in the layout of --c. The file holds bf16 and fp8 as f32. If FILE
    /// is - or /dev/stdout, D goes to stdout and the report goes to stderr.
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    pub out: Option<PathBuf>,
    /// Device that computes. auto selects the GPU if it works, and the CPU otherwise.
    #[arg(long, value_enum, default_value_t)]
    pub on: On,
    /// Compute on the CPU, warp by warp, and check every access to shared memory for races.
    #[arg(long)]
    pub checked: bool,
    /// Compare D with a reference and an a-priori error bound. If D is large, --verify checks
    /// random rows. `--verify all` checks every element.
    #[arg(long, value_enum, num_args = 0..=1, default_missing_value = "enough", value_name = "all")]
    pub verify: Option<Verification>,
    /// Print the selected kernel, the reason for each choice, and the bottleneck. The command
    /// computes D only with --run, --verify, --out, or --checked.
    #[arg(long)]
    pub explain: bool,
    /// GPU that --explain describes. The machine may lack the GPU.
    #[arg(long = "for", value_name = "GPU", requires = "explain", value_parser = PossibleValuesParser::new(GPUS.map(|gpu| gpu.0)).map(gpu))]
    pub gpu: Option<NamedMachine>,
    /// Compute the GEMM that --explain describes.
    #[arg(long, requires = "explain")]
    pub run: bool,
    #[command(flatten)]
    #[allow(missing_docs, reason = "each flag has its own help text")]
    pub later: LaterArgs,
}

/// The flags of `falchion transpose`.
#[derive(Args, Debug)]
pub struct TransposeArgs {
    /// Rows of A and columns of D. Default: the extent in the files.
    #[arg(long, value_parser = whole, allow_hyphen_values = true)]
    pub rows: Option<usize>,
    /// Columns of A and rows of D. Default: the extent in the files.
    #[arg(long, value_parser = whole, allow_hyphen_values = true)]
    pub cols: Option<usize>,
    /// Element type of A, C, and D. Default: the type in the files, or f32 without files.
    #[arg(long = "type", value_name = "TYPE", value_parser = element)]
    pub element: Option<ElementKind>,
    /// Factor of A^T. Only f32 and f64 support values other than 1.
    #[arg(long, default_value_t = 1.0, value_parser = number, allow_hyphen_values = true)]
    pub alpha: f64,
    /// Factor of C. Default: 0. If the factor is 0, the kernel does not read C. Only f32 and f64
    /// support values other than 0.
    #[arg(long, value_name = "X", value_parser = number, allow_hyphen_values = true)]
    pub beta: Option<f64>,
    /// Number of transposes of the same size.
    #[arg(long, default_value_t = 1, value_name = "N", value_parser = whole, allow_hyphen_values = true)]
    pub batch: usize,
    /// Leading dimension of A, in elements. Default: packed.
    #[arg(long, value_name = "N", value_parser = whole, allow_hyphen_values = true)]
    pub lda: Option<usize>,
    /// Leading dimension of C, in elements. Default: packed.
    #[arg(long, value_name = "N", value_parser = whole, allow_hyphen_values = true)]
    pub ldc: Option<usize>,
    /// Leading dimension of D, in elements. Default: packed.
    #[arg(long, value_name = "N", value_parser = whole, allow_hyphen_values = true)]
    pub ldd: Option<usize>,
    /// Use a kernel of the ladder instead of the kernel that the resolver selects.
    #[arg(long, value_parser = PossibleValuesParser::new(TransposeRung::ALL.map(TransposeRung::name)).map(rung), conflicts_with = "desc")]
    pub rung: Option<TransposeRung>,
    /// Kernel description as JSON or a JSON file. The flag accepts the output of --json.
    #[arg(long, value_name = "FILE|JSON")]
    pub desc: Option<String>,
    /// Seed of the random operands.
    #[arg(long, default_value_t = 0, value_name = "N", value_parser = seed, allow_hyphen_values = true)]
    pub seed: u64,
    /// Read A from a .npy file, in C or Fortran order. If the kernel reads C, C also needs a
    /// file.
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    pub a_file: Option<PathBuf>,
    /// Read C from a .npy file of D's shape. --c-file needs --beta.
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    pub c_file: Option<PathBuf>,
    /// Write D to a .npy file in C order. The file holds bf16 and fp8 as f32. If FILE is - or
    /// /dev/stdout, D goes to stdout and the report goes to stderr.
    #[arg(long, value_name = "FILE", help_heading = "Files")]
    pub out: Option<PathBuf>,
    /// Device that computes. auto selects the GPU if it works, and the CPU otherwise.
    #[arg(long, value_enum, default_value_t)]
    pub on: On,
    /// Compute on the CPU, warp by warp, and check every access to shared memory for races.
    #[arg(long)]
    pub checked: bool,
    /// Compare every element of D with a reference.
    #[arg(long)]
    pub verify: bool,
    /// Print the selected kernel and the reason for each choice. The command computes D only with
    /// --run, --verify, --out, or --checked.
    #[arg(long)]
    pub explain: bool,
    /// Compute the transpose that --explain describes.
    #[arg(long, requires = "explain")]
    pub run: bool,
    /// Verify a ladder of transpose kernels, count their memory accesses, and measure them on a
    /// GPU. Default size: 8192 x 8192.
    #[arg(long, conflicts_with_all = ["alpha", "beta", "batch", "lda", "ldc", "ldd", "rung", "desc", "seed", "a_file", "c_file", "out", "checked", "explain"])]
    pub ladder: bool,
}

/// The flags that describe a kernel. The resolver selects a value for each absent flag.
#[derive(Args, Debug)]
pub struct KernelArgs {
    #[command(flatten)]
    #[allow(missing_docs, reason = "each flag has its own help text")]
    pub class: ClassArgs,
    #[command(flatten)]
    #[allow(missing_docs, reason = "each flag has its own help text")]
    pub knobs: KnobFlags,
}

/// The flags that all kernels of one GEMM share. The resolver selects a value for each absent flag.
#[derive(Args, Debug)]
pub struct ClassArgs {
    /// Element type and layout of A, such as f16:row or bf16:col. Default: row-major, with
    /// f32 or a type that fits the other operands.
    #[arg(long, value_name = "TYPE:ORDER")]
    pub a: Option<MatrixType>,
    /// Element type and layout of B. Default: row-major, with a type that fits the other operands.
    #[arg(long, value_name = "TYPE:ORDER")]
    pub b: Option<MatrixType>,
    /// Element type and layout of C and D. Default: row-major, with a type that fits A and B.
    #[arg(long, value_name = "TYPE:ORDER")]
    pub c: Option<MatrixType>,
    /// Element type of the accumulators. Default: the first type that supports A, B, and C.
    #[arg(long, value_name = "TYPE", value_parser = element)]
    pub acc: Option<ElementKind>,
    /// Units that multiply: CUDA cores (simt), tensor cores (tensorop), or the fastest units that
    /// multiply the types without emulation (best). Default: best.
    #[arg(long, value_parser = PossibleValuesParser::new(OpRequest::ALL.map(OpRequest::name)).map(op))]
    pub op: Option<OpRequest>,
    /// Architecture whose instructions the kernel may use. Default: the architecture of the GPU,
    /// or sm90 on the CPU.
    #[arg(long, value_parser = PossibleValuesParser::new(ArchKind::ALL.map(ArchKind::name)).map(arch))]
    pub arch: Option<ArchKind>,
    /// Kernel description as JSON or a JSON file: all types and knobs. The flag accepts
    /// the output of --json.
    #[arg(long, value_name = "FILE|JSON")]
    pub desc: Option<String>,
}

/// Flags of other programs, which the command refuses by name.
#[derive(Args, Debug)]
pub struct LaterArgs {
    /// The command refuses --order, because `--swizzle` selects the order of tiles.
    #[arg(long, hide = true)]
    pub order: Option<String>,
}

/// The flags of `falchion banks`.
#[derive(Args, Debug)]
pub struct BanksArgs {
    /// Layout of the data in shared memory, in elements: '(32,32):(33,1)'.
    #[arg(long, value_name = "LAYOUT", requires = "threads", help_heading = "One access")]
    pub layout: Option<String>,
    /// Layout of the lanes: the first data index of each lane. '32:1' runs through the first mode.
    #[arg(long, value_name = "LAYOUT", requires = "layout", help_heading = "One access")]
    pub threads: Option<String>,
    /// Element type of the data. Default: f32.
    #[arg(long, value_name = "TYPE", value_parser = element, requires = "layout", help_heading = "One access")]
    pub element: Option<ElementKind>,
    /// Consecutive elements that each lane accesses. Default: 1.
    #[arg(long, value_name = "N", value_parser = elements, allow_hyphen_values = true, requires = "layout", help_heading = "One access")]
    pub access: Option<u32>,
    /// Count a store instead of a load.
    #[arg(long, requires = "layout", help_heading = "One access")]
    pub store: bool,
    #[command(flatten)]
    #[allow(missing_docs, reason = "each flag has its own help text")]
    pub kernel: KernelArgs,
    /// Draw the access, or the worst access of each step, to an SVG file. If FILE is -, the SVG
    /// goes to stdout.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Run the test accesses on a GPU, one launch each, and list the predicted wavefronts: see
    /// scripts/banks.sh.
    #[arg(long, hide = true)]
    pub probe: bool,
}

/// The flags of `falchion bench`.
#[derive(Args, Debug)]
pub struct BenchArgs {
    /// Suite to measure: a file with one JSON problem per line.
    #[arg(long, value_name = "FILE")]
    pub suite: PathBuf,
    /// Library to compare Falchion with.
    #[arg(long, value_delimiter = ',', value_parser = ["cublaslt", "none"], default_value = "cublaslt")]
    pub peers: Vec<String>,
    /// Path of the cuBLASLt to compare with. Default: the library that `falchion doctor` finds.
    #[arg(long, value_name = "FILE")]
    pub peer_library: Option<PathBuf>,
    /// Maximum seconds per problem. Fewer seconds make more ratios noisy. Default: 3.
    #[arg(long, value_name = "N", value_parser = elements)]
    pub seconds: Option<u32>,
    /// Compile the suite's kernels into the kernel cache for a compute capability, such as 90 for
    /// sm_90, and measure nothing. --compile needs NVRTC, but no GPU.
    #[arg(long, value_name = "SM", value_parser = elements)]
    pub compile: Option<u32>,
    /// Write one JSON line per problem to this file, and a Markdown page to the same path with .md.
    /// Default: docs/performance/SUITE.jsonl.
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// The flags of `falchion ladder`.
#[derive(Args, Debug)]
pub struct LadderArgs {
    /// Value of M, N, and K, a multiple of 256.
    #[arg(long, value_name = "N", default_value_t = 2048, value_parser = whole, allow_hyphen_values = true)]
    pub size: usize,
    /// Device that runs the kernels. A GPU verifies and measures the kernels. The CPU verifies the
    /// kernels, and predicts speed from memory accesses.
    #[arg(long, value_enum, default_value_t)]
    pub on: On,
    /// Draw the chart to an SVG file. If FILE is -, the SVG goes to stdout.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
}

/// The flags of `falchion layout`.
#[derive(Args, Debug)]
pub struct LayoutArgs {
    /// A layout, a function of layouts, or a layout applied to a coordinate:
    /// 'compose((6,2):(8,2), (4,3):(3,1))'.
    #[arg(value_name = "EXPR", allow_hyphen_values = true)]
    pub expression: String,
    /// Print the table of offsets instead of the layout.
    #[arg(long)]
    pub table: bool,
    /// Draw the layout to an SVG file. If FILE is -, the SVG goes to stdout.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Layout of threads that colors the drawing. The layout repeats over all cells.
    #[arg(long, value_name = "EXPR", requires = "svg")]
    pub threads: Option<String>,
    /// Show the shared-memory banks in the drawing, for elements of N bytes.
    #[arg(long, value_name = "N", value_parser = elements, requires = "svg")]
    pub element_bytes: Option<u32>,
    /// Title of the drawing. Default: the result of the expression.
    #[arg(long, requires = "svg")]
    pub title: Option<String>,
}

fn op(name: String) -> OpRequest {
    name.parse().unwrap_or_default()
}

fn arch(name: String) -> ArchKind {
    ArchKind::ALL.into_iter().find(|arch| arch.name() == name).unwrap_or(ArchKind::Sm80)
}

fn gates(name: String) -> GateColumns {
    name.parse().unwrap_or(GateColumns::Halves)
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
    name.parse().map_err(|error: falchion::Error| format!("the type {}", error.because()))
}

/// Parses a whole number.
pub fn whole(text: &str) -> Result<usize, String> {
    text.parse().map_err(|_| format!("the value must be a whole number from 0 to {}", usize::MAX))
}

fn elements(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| format!("the value must be a whole number from 0 to {}", u32::MAX))
}

/// Parses a seed.
pub fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("the value must be a whole number from 0 to {}", u64::MAX))
}

fn number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "the value must be a number, such as -0.5 or 1e-3".to_owned())
}
