//! The members of the C++ struct of an epilogue that write results beside D: auxiliary matrices,
//! and reductions.
//!
//! A thread holds the values of its elements of a subtile until the last element is computed. It
//! then writes matrices, and adds the values to its reductions. Lanes of a warpgroup exchange
//! elements before they write a matrix
//! ([`QuadTranspose`](crate::warp::quad_transpose::QuadTranspose)). Lanes that share rows or
//! columns join their reductions, and one of them writes the result, after the last element of the
//! rows, of the columns, or of the tile. Atomic instructions join the maxima of warps, so their
//! order does not change the result. All maxima are 0 before the kernel. [`sums`](super::sums)
//! fixes the order of the additions in sums.
//!
//! Twin: `kernels/epilogue/results.cuh`.

use super::{desc::EpilogueDesc, sums::SUM_FACTS};
use crate::{
    codegen::facts::facts,
    numeric::{ComputeKind, ElementKind},
    shape::OperandKind,
};

/// Members of the struct of an epilogue that write results.
pub(super) struct ResultMembers {
    /// Fields of the operands of a thread: the values that it writes.
    pub fields: String,
    /// Functions of the operands of a thread.
    pub writes: String,
    /// Members of the epilogue itself.
    pub members: String,
}

/// Attributes of a C++ function of an epilogue.
pub(super) const INLINE: &str = "__device__ __forceinline__";

impl ResultMembers {
    /// Returns the members of an epilogue. D has elements of type `d`. `scatter` is the axis of D
    /// with an index list, in C++.
    pub fn new(
        desc: &EpilogueDesc,
        types: (ComputeKind, ElementKind),
        scatter: Option<&str>,
    ) -> Self {
        if desc.written().next().is_none() {
            let members = "  static constexpr bool kWrites = false;\n  template <int Rows, int Columns, int Joined>\n  struct TileResults {};\n".to_owned();
            return Self { fields: String::new(), writes: String::new(), members };
        }
        let elements = desc.operands(types);
        let scatter = scatter.unwrap_or("threadblock::Scatter::None");
        let (mut fields, mut so_far, mut sums) = (String::new(), String::new(), String::new());
        let [mut now, mut after_rows, mut after_columns, mut after_tile] =
            [const { String::new() }; 4];
        for operand in desc.written() {
            let results = format!("params.operands[{}]", desc.position(operand));
            fields.push_str(&format!("    Compute {operand}[R][W];\n"));
            let (reduction, to) = match desc.sum_number(operand) {
                Some(number) => {
                    let sum = format!("params.sums[{number}]");
                    sums.push_str(&format!("    if (add({sum}, {results})) return;\n"));
                    let squares = operand.sums_squares();
                    (if squares { "TotalOfSquares" } else { "Total" }, sum)
                }
                None => ("Maximum", results.clone()),
            };
            match operand.side() {
                None if operand.is_reduction() => {
                    so_far.push_str(&format!("    Compute {operand} = Compute(0);\n"));
                    now.push_str(&format!(
                        "      epilogue::add_to_maximum(so_far.{operand}, {operand}, elements);\n"
                    ));
                    after_tile.push_str(&format!(
                        "    epilogue::write_maximum<Lanes>(so_far.{operand}, {to}, product);\n"
                    ));
                }
                Some(OperandKind::A) => {
                    so_far.push_str(&format!("    Compute {operand}[Rows] = {{}};\n"));
                    now.push_str(&format!(
                        "      epilogue::add_to_rows<epilogue::{reduction}>(so_far.{operand}, row, {operand}, elements);\n"
                    ));
                    after_rows.push_str(&format!(
                        "    epilogue::write_rows<epilogue::{reduction}, Lanes>(so_far.{operand}, {to}, product, rows, column, lines, params);\n"
                    ));
                }
                Some(OperandKind::B) => {
                    so_far.push_str(&format!(
                        "    epilogue::ColumnResults<Compute, Columns, Joined> {operand};\n"
                    ));
                    now.push_str(&format!(
                        "      epilogue::add_to_columns<epilogue::{reduction}>(so_far.{operand}, column, {operand}, elements);\n"
                    ));
                    after_columns.push_str(&format!(
                        "    epilogue::write_columns<epilogue::{reduction}, Lanes, ColumnOf>(so_far.{operand}, step, {to}, product, row, column, lines, params);\n"
                    ));
                }
                None => {
                    let to = elements.get(operand).copied().unwrap_or(types.1).cuda();
                    now.push_str(&format!(
                        "      epilogue::write_matrix<{to}, {scatter}, Lanes>({operand}, {results}, product, elements, params);\n"
                    ));
                }
            }
        }
        let writes = format!(
            "    template <class Lanes = epilogue::UnsharedLines, class Params, int Rows, int Columns, int Joined>\n    {INLINE} void write(Params const& params, unsigned product, epilogue::ResultElements<R, W> const& elements, TileResults<Rows, Columns, Joined>& so_far, int row, int column) const {{\n{now}    }}\n"
        );
        let after = |name: &str, types: &str, arguments: &str, text: &str| {
            format!(
                "  template <class Lanes, {types}int Rows, int Columns, int Joined>\n  static {INLINE} void {name}(Params const& params, unsigned product, {arguments}TileResults<Rows, Columns, Joined>& so_far) {{\n{text}  }}\n"
            )
        };
        let members = [
            format!(
                "  static constexpr bool kWrites = true;\n  template <int Rows, int Columns, int Joined>\n  struct TileResults {{\n{so_far}  }};\n"
            ),
            after(
                "write_rows",
                "class Params, class Lines, ",
                "epilogue::Coordinates<Rows> const& rows, unsigned column, Lines const& lines, ",
                &after_rows,
            ),
            after(
                "write_columns",
                "class ColumnOf, class Step, class Params, class Lines, ",
                "unsigned row, unsigned column, Step const& step, Lines const& lines, ",
                &after_columns,
            ),
            after("write_tile", "class Params, ", "", &after_tile),
            format!(
                "{}  template <class Params, class Add>\n  static {INLINE} void each_sum(Params const& params, Add add) {{\n{sums}  }}\n",
                if sums.is_empty() { String::new() } else { facts("unsigned", &SUM_FACTS) }
            ),
        ]
        .concat();
        Self { fields, writes, members }
    }
}
