//! The C++ struct of an epilogue: it reads the operands, and computes an element of D.
//!
//! A thread reads the operands of all its elements of a subtile before the first element, so it
//! waits for memory once. A store to shared memory between two elements would keep the compiler
//! from moving the loads. Consumers of `wgmma` stage [vectors](super::vectors) in shared memory.
//!
//! Twin: `kernels/epilogue/operands.cuh`.

use super::{
    desc::EpilogueDesc,
    results::{INLINE, ResultMembers},
    spell::expression,
    vectors::VectorsBefore,
};
use crate::{
    numeric::{ComputeKind, ElementKind},
    shape::{EpilogueOperand, OperandKind},
};

/// Returns the members of the C++ struct of an epilogue:
///
/// - `Operands<R, W>` holds the elements of the operands, except C, for `R` rows and `W` columns of
///   D. Its constructors read all inputs: from global memory, or vectors from shared memory.
/// - `stage_vectors` stages the vectors of a consumer's part of a tile, which take `vector_bytes`.
/// - `apply` computes one element of D, and the values of the results beside D, from row `r` and
///   column `w` of `operands`.
/// - [`ResultMembers`] write the results.
///
/// D has elements of type `d`. `scatter` is the axis of D with an index list, in C++.
pub(crate) fn members(
    desc: &EpilogueDesc,
    (compute, d): (ComputeKind, ElementKind),
    scatter: Option<&str>,
) -> String {
    let Inputs { fields, reads, staged_reads, stages, vectors } =
        inputs(desc, (compute, d), scatter);
    let expression = expression(desc, compute);
    let accumulator = if desc.is_gated() { "epilogue::Gates<Compute>" } else { "Compute" };
    let results = ResultMembers::new(desc, (compute, d), scatter);
    let (written, writes, members) = (&results.fields, &results.writes, &results.members);
    // Results are part of the operands of a thread.
    let constness = if written.is_empty() { " const" } else { "" };
    let constructor = |types: &str, from: &str, reads: &str| {
        format!(
            "    template <{types}class Params>\n    {INLINE} Operands({from}Params const& params, unsigned product, epilogue::Coordinates<R> const& rows, epilogue::Coordinates<W> const& columns) {{\n{reads}    }}\n"
        )
    };
    let constructors = constructor("", "", &reads)
        + &constructor("class Staged, ", "Staged const& staged, ", &staged_reads);
    let operands = format!(
        "{members}  template <int R, int W>\n  struct Operands {{\n{fields}{written}{constructors}{writes}  }};\n  template <class Staged>\n  static constexpr unsigned vector_bytes() {{ return Staged::template bytes<Compute>({vectors}); }}\n  template <class Staged, class Params>\n  static {INLINE} void stage_vectors(Staged const& staged, Params const& params, unsigned product, unsigned thread) {{\n{stages}  }}\n"
    );
    let apply = format!(
        "  template <class Operands>\n  static {INLINE} Compute apply({accumulator} accumulator, Compute source, Compute const (&scalar)[8], Operands{constness}& operands, int r, int w) {{\n{expression}  }}\n"
    );
    operands + &apply
}

/// Text of the inputs of an epilogue except C.
#[derive(Default)]
struct Inputs {
    /// Fields of `Operands`.
    fields: String,
    /// Statements that read the inputs from global memory.
    reads: String,
    /// Statements that read the staged vectors, and other inputs from global memory.
    staged_reads: String,
    /// Statements that stage the vectors.
    stages: String,
    /// Numbers of vectors along M and along N, and of scalars.
    vectors: String,
}

/// Returns the text of the inputs except C.
fn inputs(desc: &EpilogueDesc, types: (ComputeKind, ElementKind), scatter: Option<&str>) -> Inputs {
    let (mut inputs, mut before) = (Inputs::default(), VectorsBefore::default());
    let all = desc.operands(types);
    for (operand, element) in all.iter().filter(|(operand, _)| !desc.writes(*operand)) {
        let (element, from) =
            (element.cuda(), format!("params.operands[{}]", desc.position(operand)));
        let (extents, read) = match operand.side() {
            _ if operand == EpilogueOperand::Source => continue,
            Some(OperandKind::A) => ("[R]", format!("({operand}, {from}, rows, params.m)")),
            None if operand.is_scalar() => ("", format!("({operand}, {from}, product)")),
            Some(OperandKind::B) => ("[W]", format!("({operand}, {from}, columns, params.n)")),
            None => ("[R][W]", format!("({operand}, {from}, product, rows, columns, params)")),
        };
        let function = match (operand.side(), scatter) {
            _ if operand.is_scalar() => format!("read_scalar<{element}>"),
            (Some(_), _) => format!("read_vector<{element}>"),
            (None, None) => format!("read_matrix<{element}>"),
            (None, Some(axis)) => format!("read_scattered<{element}, {axis}>"),
        };
        inputs.fields.push_str(&format!("    Compute {operand}{extents};\n"));
        let read = format!("      epilogue::{function}{read};\n");
        inputs.reads.push_str(&read);
        let at =
            format!("staged.address + Staged::template bytes<Compute>({})", before.arguments());
        if !before.add(operand) {
            inputs.staged_reads.push_str(&read);
            continue;
        }
        let (staged_read, stage) = match operand.side() {
            Some(OperandKind::A) => (
                format!("read_staged_rows({operand}, {at}, rows, staged.row)"),
                format!(
                    "stage_vector<{element}, Compute, Staged::kRows>({at}, {from}, staged.row, params.m, thread)"
                ),
            ),
            Some(OperandKind::B) => (
                format!("read_staged_columns({operand}, {at}, columns, staged.column)"),
                format!(
                    "stage_vector<{element}, Compute, Staged::kColumns>({at}, {from}, staged.column, params.n, thread)"
                ),
            ),
            None => (
                format!("read_staged_scalar({operand}, {at})"),
                format!("stage_scalar<{element}, Compute>({at}, {from}, product, thread)"),
            ),
        };
        inputs.staged_reads.push_str(&format!("      epilogue::{staged_read};\n"));
        inputs.stages.push_str(&format!("    epilogue::{stage};\n"));
    }
    inputs.vectors = before.arguments();
    inputs
}
