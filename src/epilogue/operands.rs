//! The C++ struct of an epilogue: it reads the operands, and computes an element of D.
//!
//! A thread reads the operands of all its elements of a subtile before the first element, so it
//! waits for memory once. A store to shared memory between two elements would keep the compiler
//! from moving the loads.
//!
//! Twin: `kernels/epilogue/operands.cuh`.

use super::{
    desc::EpilogueDesc,
    results::{INLINE, ResultMembers},
    spell::expression,
};
use crate::{
    numeric::{ComputeKind, ElementKind},
    shape::{EpilogueOperand, OperandKind},
};

/// Returns the members of the C++ struct of an epilogue:
///
/// - `Operands<R, W>` holds the elements of the operands, except C, for `R` rows and `W` columns of
///   D. Its constructor reads all inputs.
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
    let (fields, reads) = operands(desc, (compute, d), scatter);
    let expression = expression(desc, compute);
    let accumulator = if desc.is_gated() { "epilogue::Gates<Compute>" } else { "Compute" };
    let results = ResultMembers::new(desc, (compute, d), scatter);
    let (written, writes, members) = (&results.fields, &results.writes, &results.members);
    // Results are part of the operands of a thread.
    let constness = if written.is_empty() { " const" } else { "" };
    let operands = format!(
        "{members}  template <int R, int W>\n  struct Operands {{\n{fields}{written}    template <class Params>\n    {INLINE} Operands(Params const& params, unsigned product, epilogue::Coordinates<R> const& rows, epilogue::Coordinates<W> const& columns) {{\n{reads}    }}\n{writes}  }};\n"
    );
    let apply = format!(
        "  template <class Operands>\n  static {INLINE} Compute apply({accumulator} accumulator, Compute source, Compute const (&scalar)[8], Operands{constness}& operands, int r, int w) {{\n{expression}  }}\n"
    );
    operands + &apply
}

/// Returns the fields of the inputs except C, and the statements that read them.
fn operands(
    desc: &EpilogueDesc,
    types: (ComputeKind, ElementKind),
    scatter: Option<&str>,
) -> (String, String) {
    let (mut fields, mut reads) = (String::new(), String::new());
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
        fields.push_str(&format!("    Compute {operand}{extents};\n"));
        reads.push_str(&format!("      epilogue::{function}{read};\n"));
    }
    (fields, reads)
}
