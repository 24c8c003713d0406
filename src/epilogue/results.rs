//! The members of the C++ struct of an epilogue that write results beside D: auxiliary matrices,
//! and reductions.
//!
//! A thread holds the values of its elements of a subtile until the last element is computed.
//! Matrices, and the reductions of columns, are then written. A maximum of rows stays in registers
//! from subtile to subtile, and is written after the last subtile of its rows. The maximum of all
//! values is written once per tile. Atomic instructions join the maxima of threads, so their order
//! does not change the result. All maxima are 0 before the kernel.
//!
//! Twin: `kernels/epilogue/results.cuh`.

use super::desc::EpilogueDesc;
use crate::{
    numeric::{ComputeKind, ElementKind},
    shape::EpilogueOperand,
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
            let members = "  static constexpr bool kWrites = false;\n  template <int R>\n  struct TileResults {};\n".to_owned();
            return Self { fields: String::new(), writes: String::new(), members };
        }
        let elements = desc.operands(types);
        let scatter = scatter.unwrap_or("threadblock::Scatter::None");
        let (mut fields, mut so_far) = (String::new(), String::new());
        let [mut now, mut after_rows, mut after_tile] = [const { String::new() }; 3];
        for operand in desc.written() {
            let results = format!("params.operands[{}]", desc.position(operand));
            fields.push_str(&format!("    Compute {operand}[R][W];\n"));
            match operand {
                EpilogueOperand::Amax => {
                    so_far.push_str(&format!("    Compute {operand} = Compute(0);\n"));
                    now.push_str(&format!(
                        "      epilogue::add_maximum(so_far.{operand}, {operand}, elements);\n"
                    ));
                    after_tile.push_str(&format!(
                        "    epilogue::write_maximum<Shared>(so_far.{operand}, {results}, product);\n"
                    ));
                }
                EpilogueOperand::RowAmax => {
                    so_far.push_str(&format!("    Compute {operand}[R] = {{}};\n"));
                    now.push_str(&format!(
                        "      epilogue::add_row_maxima(so_far.{operand}, {operand}, elements);\n"
                    ));
                    after_rows.push_str(&format!(
                        "    epilogue::write_row_maxima<Shared>(so_far.{operand}, {results}, product, rows, lines, params);\n"
                    ));
                }
                EpilogueOperand::ColAmax => now.push_str(&format!(
                    "      epilogue::write_column_maxima<Shared>({operand}, {results}, product, elements);\n"
                )),
                _ => {
                    let to = elements.get(operand).copied().unwrap_or(types.1).cuda();
                    now.push_str(&format!(
                        "      epilogue::write_matrix<{to}, {scatter}>({operand}, {results}, product, elements, params);\n"
                    ));
                }
            }
        }
        let writes = format!(
            "    template <class Shared, class Params>\n    {INLINE} void write(Params const& params, unsigned product, epilogue::ResultElements<R, W> const& elements, TileResults<R>& so_far) const {{\n{now}    }}\n"
        );
        let members = format!(
            "  static constexpr bool kWrites = true;\n  template <int R>\n  struct TileResults {{\n{so_far}  }};\n  template <class Shared, class Params, class Lines, int R>\n  static {INLINE} void write_rows(Params const& params, unsigned product, epilogue::Coordinates<R> const& rows, Lines const& lines, TileResults<R>& so_far) {{\n{after_rows}  }}\n  template <class Shared, class Params, int R>\n  static {INLINE} void write_tile(Params const& params, unsigned product, TileResults<R>& so_far) {{\n{after_tile}  }}\n"
        );
        Self { fields, writes, members }
    }
}
