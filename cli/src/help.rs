//! The text of `--help` below the flags: examples, file formats, and the meaning of the output.
//!
//! A test runs each example with an indent of two spaces. Commands that need a GPU or NVRTC have an
//! indent of four spaces.

/// The text of `falchion --help`.
pub const FALCHION: &str = "\
Examples:
  falchion gemm --m 1000 --n 1234 --k 777 --verify
  falchion gemm --m 4096 --n 4096 --k 4096 --a bf16:row --b bf16:col --c bf16:row --explain --for h200

Exit codes:
  0  The command succeeded. A requested verification passed.
  1  The verification failed.
  2  The command refused the request, or could not write the output. stderr has the reason.";

/// The text of `falchion gemm --help`.
pub const GEMM: &str = "\
Types are f64, f32, tf32, f16, bf16, e4m3, e5m2, i32, i8, and u8. Layouts are row and col. Without
files, the operands are random numbers from --seed. A .npy file holds f64, f32, f16, i32, i8, or u8.

Examples:
  falchion gemm --m 1000 --n 1234 --k 777 --verify
  falchion gemm --a-file a.npy --b-file b.npy --out d.npy
  falchion gemm --a-file a.npy --b-file b.npy --epilogue 'relu(alpha * acc + bias_n)' --vector bias_n=bias.npy --out d.npy
  falchion gemm --group-rows 100,0,37 --n 64 --k 32 --verify
  falchion gemm --group-k 100,0,37 --m 64 --n 32 --a bf16:col --b bf16:row --verify
  falchion gemm --m 4096 --n 4096 --k 4096 --a bf16:row --b bf16:col --c bf16:row --explain --for h200
  falchion gemm --m 64 --n 64 --k 64 --stages 3 --json > kernel.json
  falchion gemm --m 64 --n 64 --k 64 --desc kernel.json --verify

The CPU and the GPU return the same bits for the same description. Name the architecture, such as
--arch sm90, in both commands to reproduce a result of --on cuda with --on host.";

/// The text of `falchion banks --help`.
pub const BANKS: &str = "\
Without --layout, the table lists every access of one CTA to shared memory per k-tile. The column
ideal has the number of wavefronts without bank conflicts.

Examples:
  falchion banks --layout '(32,32):(32,1)' --threads '32:1'
  falchion banks --a bf16:row --b bf16:col --c bf16:row --arch sm80";

/// The text of `falchion transpose --help`.
pub const TRANSPOSE: &str = "\
A has --rows rows and --cols columns. B and D have --cols rows and --rows columns. All matrices are
row-major. A transpose without factors keeps every bit. With factors, the kernel rounds each product
and the sum to nearest even. If a factor is 0, the kernel does not read its matrix.

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
  a4x4x4      elements per access to A, rows of A that a thread transposes in registers, and elements
              per access to D
  x3.2.2      XOR swizzle of the tile in shared memory (bits, base, shift); p1 is padding by 1
              element, direct is no shared memory, gathered is rows at any alignment
  across      lanes run across the rows of D
  o0          order of tiles: groups of N columns, 0 for rows, r8 for groups of 8 rows, h for hilbert
  b4          minimum number of CTAs that a multiprocessor holds at once
  r, w        reads bypass the L1 cache; writes are streaming

The ladder has five kernels, and each adds one idea:
  naive       each lane writes its own row of D
  tiled       the tile passes through shared memory
  coalesced   lanes write adjacent elements of D
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
A search space is a list of subspaces. Each subspace has a list of values per knob. Each
combination of values is a point. A point is a kernel if the library accepts its description.
Without --space, the search space has the subspaces of every main loop that supports the types. A
knob's flag replaces the values of the knob in every subspace. --mainloop keeps the subspaces of the
listed main loops. The list 2-5 means 2,3,4,5.

Count kernels without a GPU. With --size, the command counts only kernels that fit the problem. The
command also lists the kernels with the shortest predicted times. Each time is relative to the
shortest time. The table of refusals has # for each number in a message.
  falchion explore --dry-run --arch sm80 --a f32:row --b f32:row --c f32:row --mainloop multistage --threadblock 128x128x8,256x128x8 --warp 64x64x8 --stages 3,4
  falchion explore --dry-run --arch sm90 --a bf16:row --b bf16:col --c bf16:row --size 4096x4096x4096 --threadblock 128x128x64,128x256x64
  falchion explore --dry-run --space '[{\"stages\": [2, 3], \"threadblock\": \"128x128x8\"}, {\"mainloop\": \"pipelined\", \"stages\": 2}]'

Compile kernels ahead of time with NVRTC. Copy the folder FALCHION_CACHE_DIR to the machine with the
GPU. Exit code 2 means that the command could not write a kernel to the cache.
    falchion explore --compile 90 --trials 100 --a f32:row

On a GPU:
    falchion explore --size 4096x4096x4096 --a f32:row --b f32:row --c f32:row --trials 200 --log explore.jsonl

  1. --seed selects --trials random kernels. A larger --trials adds kernels to the same selection.
  2. The command compiles sixteen kernels at a time, and skips kernels that spill registers.
     --spills allowed keeps kernels that spill registers.
  3. The command verifies each kernel with integers and with random numbers, and skips wrong kernels.
  4. The command times the kernels in the same rounds as cuBLASLt, and ranks the kernels by the ratio.
  5. The protocol of falchion bench measures the best --finalists kernels.

The table lists the knobs in which the best kernels differ, the time per launch in microseconds,
TFLOP/s, and the speed relative to the peer. ~ marks kernels without a measurement of step 5.

Names of kernels, such as multistage 256x128x8_64x64x8_s4_b1_1:
  256x128x8   --threadblock
  64x64x8     --warp; names of mma.sync kernels add --instruction
  s4          --stages
  b1          --blocks-per-sm
  1           --swizzle: groups of N columns, 0 for horizontal, r8 for grouped:8, h for hilbert
  promoted, bf16x6 and others, registers, p0: --promotion, --emulation, --a-operand, --pending
Several kernels can share a name. A name omits types, layouts, alignments, shared-memory layouts,
clusters, and split-K. The description in the log identifies a kernel. --desc accepts the
description.

The log has one JSON line per trial: description, problem, and outcome (compile_failed, spilled,
wrong, or timed). Each line of kind final holds the measurement of a finalist. The first line holds
the types, sizes, GPU, driver, and commit. If the first line of a log does not match the run, the
command refuses the log and does not change it.";

/// The text of `falchion layout --help`.
pub const LAYOUT: &str = "\
Layouts use CuTe's notation, shape:stride. Functions include compose, complement, coalesce,
logical_divide, zipped_divide, logical_product, right_inverse, and left_inverse.

Examples:
  falchion layout '(4,8):(8,1)' --table
  falchion layout 'compose((6,2):(8,2), (4,3):(3,1))'
  falchion layout '(4,8):(8,1)(2,3)'";
