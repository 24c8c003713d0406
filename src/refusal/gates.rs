//! Refusals of epilogues with a gate, which combine two columns of B.

use super::{Advice, Because, Field, Operand, Refusal, Rule, Value};
use crate::{layout::Order, numeric::EmulationKind, shape::Axis};

/// The limit of these refusals.
const GATES: Value = Value::Word("an epilogue with a gate");

/// Epilogues with a gate.
#[doc(hidden)]
impl Refusal {
    /// The kernel computes the transposed GEMM, or a column-major D.
    pub const fn gates_swapped(order: Order) -> Self {
        Self::new(Rule::Supported, Field::Layout(Operand::D), Value::Order(order), GATES)
            .because(Because::Words(
                "the kernel would compute the transposed GEMM, with gates along M",
            ))
            .advise(Advice::Words("use a row-major D, and strides_d for its place"))
    }

    /// The GEMMs of a pointer array have their own matrices.
    pub const GATES_OF_ARRAY: Self = Self::without_value(Rule::Supported, Field::Products, GATES)
        .because(Because::Words("a record of a pointer array has one address of B"))
        .advise(Advice::Words("use a batch, or a call per GEMM"));

    /// Groups divide the columns of B.
    pub const GATES_OF_GROUPS: Self = Self::without_value(Rule::Supported, Field::Groups, GATES)
        .because(Because::Words("a group of columns would divide the two matrices of B"))
        .advise(Advice::Words("use groups of rows"));

    /// An index list selects columns of B.
    pub const GATES_OF_INDEX: Self =
        Self::without_value(Rule::Supported, Field::IndicesOf(Operand::B), GATES)
            .because(Because::Words("a list has one index per column of D"))
            .advise(Advice::Words("copy the columns first"));

    /// The checked machine models TMA copies of a single matrix B.
    pub const GATES_NOT_CHECKED: Self =
        Self::new(Rule::Supported, Field::Mode, Value::Word("checked"), GATES)
            .because(Because::Words("the machine models TMA copies of a single matrix B"))
            .advise(Advice::Words("use the fast mode, or mainloop = multistage"));

    /// A pass decomposes B.
    pub const fn gates_of_terms(emulation: EmulationKind) -> Self {
        Self::new(Rule::Supported, Field::Emulation, Value::Word(emulation.name()), GATES)
            .because(Because::Words("a pass decomposes one matrix B"))
            .advise(Advice::Words("use emulation = tf32x3, or true f32"))
    }

    /// The columns of a gate are interleaved in a B that is contiguous along N.
    pub const fn gates_apart(strides: [usize; 2]) -> Self {
        let strides = [strides[0] as isize, strides[1] as isize];
        Self::new(
            Rule::Contiguous,
            Field::StridesOf(Operand::B),
            Value::Strides(strides),
            Value::None,
        )
        .because(Because::Words("copies to shared memory move neighboring columns"))
        .advise(Advice::Words("use a column-major B, or halves of B"))
    }

    /// The two matrices of B have unlike strides.
    pub const fn strides_of_up(up: [usize; 2], b: [usize; 2]) -> Self {
        let up = Value::Strides([up[0] as isize, up[1] as isize]);
        let b = Value::Strides([b[0] as isize, b[1] as isize]);
        Self::new(Rule::Equal, Field::StridesOf(Operand::Up), up, b)
            .because(Because::Words("strides of B"))
            .advise(Advice::Words("give both matrices the layout and the strides of B"))
    }

    /// A warp tile has no whole number of pairs of the columns that a thread stores.
    pub const fn gates_of_warp(warp_n: u32, of: u32) -> Self {
        let nearest = (warp_n / of + 1) * of;
        Self::not_multiple(Field::Warp(Axis::N), warp_n as u64, of as u64, nearest as u64)
            .because(Because::Words("half of a warp tile has the gate's columns"))
    }
}
