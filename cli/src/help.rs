//! The text of `--help` below the flags: examples, file formats, and the meaning of the output.
//!
//! A test runs each example that is indented by two spaces. Commands that need a GPU or NVRTC are
//! indented by four.

/// The text of `falchion --help`.
pub const FALCHION: &str = "\
Examples:
  falchion gemm --m 1000 --n 1234 --k 777 --verify
  falchion gemm --m 4096 --n 4096 --k 4096 --a bf16:row --b bf16:col --c bf16:row --explain --for h200

Exit codes: 0 done, and verified if requested; 1 verification failed; 2 refused, or the output could
not be written, with one sentence on stderr.";

/// The text of `falchion gemm --help`.
pub const GEMM: &str = "\
Types are f64, f32, tf32, f16, bf16, e4m3, e5m2, i32, i8, and u8. Layouts are row and col. Without
files, the operands are random numbers from --seed. .npy files hold f64, f32, f16, i32, i8, or u8.

Examples:
  falchion gemm --m 1000 --n 1234 --k 777 --verify
  falchion gemm --a-file a.npy --b-file b.npy --out d.npy
  falchion gemm --a-file a.npy --b-file b.npy --epilogue 'relu(alpha * acc + bias_n)' --vector bias_n=bias.npy --out d.npy
  falchion gemm --group-rows 100,0,37 --n 64 --k 32 --verify
  falchion gemm --m 4096 --n 4096 --k 4096 --a bf16:row --b bf16:col --c bf16:row --explain --for h200
  falchion gemm --m 64 --n 64 --k 64 --stages 3 --json > kernel.json
  falchion gemm --m 64 --n 64 --k 64 --desc kernel.json --verify

With the same description, the host and the GPU return the same bits: name the architecture, such as
--arch sm90, to compute a GPU's result on the CPU.";

/// The text of `falchion banks --help`.
pub const BANKS: &str = "\
Without --layout, the table lists every access of one CTA to shared memory per k-tile. ideal is the
number of wavefronts without bank conflicts.

Examples:
  falchion banks --layout '(32,32):(32,1)' --threads '32:1'
  falchion banks --a bf16:row --b bf16:col --c bf16:row --arch sm80";

/// The text of `falchion transpose --help`.
pub const TRANSPOSE: &str = "\
A has --rows rows and --cols columns. B and D have --cols rows and --rows columns. All matrices are
row-major. A transpose without factors keeps every bit. With factors, each of the two products and
their sum is rounded to nearest even. A factor of 0 means that its matrix is not read.

Examples:
  falchion transpose --rows 1000 --cols 300 --on host --verify
  falchion transpose --rows 1000 --cols 300 --type f64 --alpha 2 --beta -0.5 --lda 304 --on host
  falchion transpose --a-file a.npy --out d.npy
  falchion transpose --explain --rung padded
  falchion transpose --rows 1000 --cols 300 --on host --json > kernel.json
  falchion transpose --rows 1000 --cols 300 --on host --desc kernel.json
  falchion transpose --ladder --on host --rows 1024 --cols 1024

--json prints on, rows, cols, batch, type, seconds, gbytes_per_second (bytes read and written),
verified, elements_checked, error_over_bound (null if elements only move), config, and description.

config names the kernel, such as 64x64_t256_a4x4x4_x3.2.2_o0_b4_w:
  64x64       rows and columns of A per tile
  t256        threads per CTA
  a4x4x4      elements per access to A, rows of A that a thread transposes in registers, elements per
              access to D
  x3.2.2      XOR swizzle of the tile in shared memory (bits, base, shift); p1 is padding by 1
              element, direct is no shared memory, gathered is rows at any alignment
  across      lanes run across the rows of D
  o0          order of tiles: groups of N columns, 0 for rows, r8 for groups of 8 rows, h for hilbert
  b4          CTAs that a multiprocessor holds at once, at least
  r, w        reads bypass the L1 cache; writes are streaming

The ladder has five kernels, and each adds one idea:
  naive       each lane writes its own row of D
  tiled       the tile passes through shared memory
  coalesced   lanes write neighbours of D
  padded      padding avoids the bank conflicts
  vectorized  accesses of 16 bytes, and a swizzle instead of padding";

/// The text of `falchion bench --help`.
pub const BENCH: &str = "\
A problem is a JSON object, such as
  {\"m\":4096,\"n\":4096,\"k\":4096,\"a\":\"bf16:row\",\"b\":\"bf16:col\",\"c\":\"bf16:row\",\"op\":\"tensorop\"}

On a GPU:
    falchion bench --suite benches/suites/hopper.jsonl
On a machine with NVRTC:
    falchion bench --suite benches/suites/hopper.jsonl --compile 90";

/// The text of `falchion explore --help`.
pub const EXPLORE: &str = "\
A search space is a list of families of kernels, and each family has a list of values per knob. Each
combination is a point. A point is a kernel if the library accepts its description. Without --space,
the families are those of the main loops that the types can use. A knob's flag replaces its values in
every family that has the knob; --mainloop keeps the families of these main loops. 2-5 is 2,3,4,5.

Count, without a GPU. With --size, kernels must fit the problem, and the best by predicted time are
listed, relative to the first. The table of refusals has # for each number.
  falchion explore --dry-run --arch sm80 --a f32:row --b f32:row --c f32:row --mainloop multistage --threadblock 128x128x8,256x128x8 --warp 64x64x8 --stages 3,4
  falchion explore --dry-run --arch sm90 --a bf16:row --b bf16:col --c bf16:row --size 4096x4096x4096 --threadblock 128x128x64,128x256x64
  falchion explore --dry-run --space '[{\"stages\": [2, 3], \"threadblock\": \"128x128x8\"}, {\"mainloop\": \"pipelined\", \"stages\": 2}]'

Compile ahead, with NVRTC. Take the folder of FALCHION_CACHE_DIR to the machine with the GPU. Exit
code 2 says that a kernel could not be written to the cache.
    falchion explore --compile 90 --trials 100 --a f32:row

On a GPU:
    falchion explore --size 4096x4096x4096 --a f32:row --b f32:row --c f32:row --trials 200 --log explore.jsonl

  1. --trials random kernels are selected by --seed. A larger number starts with the same kernels.
  2. Sixteen at a time are compiled. Kernels that spill are skipped, unless --spills allowed.
  3. Each is verified with whole numbers and random numbers; wrong kernels are not timed.
  4. The sixteen are timed in the same rounds as cuBLASLt and ranked by the ratio.
  5. The best --finalists kernels are measured with the protocol of falchion bench.

The table lists the knobs in which the best kernels differ, microseconds per launch, TFLOP/s, and the
peer's time over the kernel's. ~ marks kernels that were only screened.

Names of kernels, such as multistage 256x128x8_64x64x8_s4_b1_1:
  256x128x8   --threadblock
  64x64x8     --warp; mma.sync kernels have --instruction behind it
  s4          --stages
  b1          --blocks-per-sm
  1           --swizzle: groups of N columns, 0 for horizontal, r8 for grouped:8, h for hilbert
  promoted, bf16x6 and others, registers, p0: --promotion, --emulation, --a-operand, --pending
Several kernels can share a name: types, layouts, alignments, shared-memory layouts, clusters, and
split-K are not in it. The description in the log tells them apart, and --desc accepts it.

The log has one JSON line per trial: description, problem, and outcome (compile_failed, spilled,
wrong, or timed). Lines of kind final hold the best. The first line holds the types, sizes, GPU, driver, and
commit. A log with another first line is refused and stays as it is.";

/// The text of `falchion layout --help`.
pub const LAYOUT: &str = "\
Layouts are in CuTe's notation, shape:stride. Functions include compose, complement, coalesce,
logical_divide, zipped_divide, logical_product, right_inverse, and left_inverse.

Examples:
  falchion layout '(4,8):(8,1)' --table
  falchion layout 'compose((6,2):(8,2), (4,3):(3,1))'
  falchion layout '(4,8):(8,1)(2,3)'";
