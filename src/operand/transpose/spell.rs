//! The C++ source of a transpose: `config.cuh`, and the translation unit around
//! `kernels/operand/transpose.cuh`.

use crate::{
    codegen::{TranslationUnit, TransposeParams, facts::facts, fingerprints_of, order_header},
    operand::{
        transpose::{
            TransposeProgram,
            desc::{Combine, Lanes, TransposeDesc},
        },
        unit_of,
    },
    schedule::{Schedule, Step},
};

impl TransposeDesc {
    /// Returns the schedule of a tile, through shared memory or only through registers.
    pub fn schedule(&self) -> Schedule {
        let staged = vec![Step::Fetch, Step::Store, Step::Barrier, Step::Write];
        Schedule {
            body: if self.is_staged() { staged } else { vec![Step::Fetch, Step::Write] },
            ..Schedule::default()
        }
    }
}

/// Returns the C++ of `alpha x + beta y` on the words of an access. Operands that are not read are
/// not added.
fn combination(desc: &TransposeDesc) -> String {
    let (scalar, times, plus, words) = match desc.combine {
        Combine::Move => return String::new(),
        Combine::F32 => ("float", "__fmul_rn", "__fadd_rn", 1),
        Combine::F64 => ("double", "__dmul_rn", "__dadd_rn", 2),
    };
    // Elements are converted between registers and numbers bit by bit.
    let (from, to) = match words {
        1 => ("__uint_as_float(x.word[i])", "x.word[i] = __float_as_uint(sum);"),
        _ => (
            "__hiloint2double(x.word[2 * i + 1], x.word[2 * i])",
            "x.word[2 * i] = __double2loint(sum), x.word[2 * i + 1] = __double2hiint(sum);",
        ),
    };
    let other = from.replace("x.word", "y.word");
    format!(
        "struct Combine {{
  template <class Piece>
  static __device__ __forceinline__ Piece apply(Piece x, Piece const& y, TransposeParams const& params) {{
    using Scalar = {scalar};
    Scalar const alpha = Scalar(params.alpha), beta = Scalar(params.beta);
#pragma unroll
    for (int i = 0; i < Piece::kCount / {words}; ++i) {{
      Scalar sum = 0;
      if (params.reads_a) sum = {times}(alpha, {from});
      if (params.reads_c) {{
        Scalar const other = {times}(beta, {other});
        sum = params.reads_a ? {plus}(sum, other) : other;
      }}
      {to}
    }}
    return x;
  }}
}};
"
    )
}

/// Returns `config.cuh`: a description and its schedule for the C++ templates.
pub fn header(d: &TransposeDesc) -> String {
    let smem = d.smem();
    let own = [
        ("kElementBytes", d.element_bytes),
        ("kTileRows", d.rows),
        ("kTileColumns", d.columns),
        ("kThreads", d.threads),
        ("kAccessA", d.access_a),
        ("kThreadRows", d.thread_rows),
        ("kAccessD", d.access_d),
        ("kWriteAlignment", d.write_alignment()),
        ("kStored", d.stored()),
        ("kBlocksPerSm", d.blocks_per_sm),
    ];
    let flags = [
        ("kStaged", d.is_staged()),
        ("kAcross", matches!(d.lanes, Lanes::Across)),
        ("kLinear", d.combine.kind().is_some()),
        ("kGathered", d.is_gathered()),
        ("kRotates", d.rotates()),
        ("kSharesAddresses", d.shares_addresses()),
        ("kReadOnce", d.read_once),
        ("kWriteStream", d.write_stream),
    ];
    let mut text = String::from("#pragma once\n#include \"schedule.cuh\"\n");
    text.push_str(&TransposeParams::declaration());
    text.push_str(&order_header(d.order));
    text.push_str(&d.schedule().header());
    text.push_str(&combination(d));
    text.push_str("struct TileInSharedMemory {\n  static constexpr bool kAlongK = false;\n");
    text.push_str(&facts("int", &smem.facts()));
    text.push_str(
        "};\nstruct Config {\n  using Schedule = ::Schedule;\n  using Order = ::Order;\n  using Tile = TileInSharedMemory;\n",
    );
    if d.combine.kind().is_some() {
        text.push_str("  using Combine = ::Combine;\n");
    }
    text.push_str(&facts("int", &own));
    text.push_str(&facts("bool", &flags));
    text.push_str("};\n");
    text
}

/// Returns the source of a description's kernel. Fingerprints are for test builds: they cost
/// compile time and no run time.
pub fn translation_unit(d: &TransposeDesc, with_fingerprints: bool) -> TranslationUnit {
    let fingerprints = if with_fingerprints {
        fingerprints_of(&TransposeProgram::new(d).mirrored(), d.order)
    } else {
        String::new()
    };
    unit_of("transpose", ("TransposeParams", "Config::kBlocksPerSm"), header(d), &fingerprints)
}
