//! Refusals of a call: its extents, its arguments, and its arrays and groups.

use super::{Advice, Because, Field, IndexEntry, Operand, Refusal, Rule, Scalar, Value};
use crate::numeric::EmulationKind;

/// The reader of operands and scalars of an epilogue.
const EPILOGUE: Value = Value::Word("the epilogue");

/// Extents.
#[doc(hidden)]
impl Refusal {
    /// An extent exceeds the largest extent.
    pub const fn extent_too_large(field: Field, value: usize, most: u64) -> Self {
        Self::new(Rule::AtMost, field, Value::Number(value as u64), Value::Number(most))
    }

    /// A problem has more tiles than a grid has thread blocks.
    pub const fn too_many_tiles(tiles: u64, most: u64, batch: u64) -> Self {
        Self::new(Rule::AtMost, Field::Tiles, Value::Number(tiles), Value::Number(most))
            .because(Because::Words("thread blocks of a grid"))
            // A larger tile cannot help if each GEMM is one tile.
            .advise(Advice::Words(if batch == tiles {
                "split the batch into several calls"
            } else {
                "use a larger tile"
            }))
    }
}

/// Arguments.
#[doc(hidden)]
impl Refusal {
    /// The kernel reads an operand that the call does not pass.
    pub const fn missing_operand(operand: Operand) -> Self {
        Self::without_value(Rule::Given, Field::Operand(operand), Value::None)
            .because(Because::Words("the kernel reads it"))
    }

    /// The kernel writes a result that the call does not pass memory for.
    pub const fn missing_result(operand: Operand) -> Self {
        Self::without_value(Rule::Given, Field::Operand(operand), Value::None)
            .because(Because::Words("the kernel writes it"))
    }

    /// The epilogue does not read an operand.
    pub const fn unread_operand(operand: Operand) -> Self {
        Self::without_value(Rule::Read, Field::Operand(operand), EPILOGUE)
            .advise(Advice::Words("add it to the epilogue, or do not pass it"))
    }

    /// The epilogue does not write a result that the call passes memory for.
    pub const fn unwritten_operand(operand: Operand) -> Self {
        Self::without_value(Rule::Written, Field::Operand(operand), EPILOGUE)
            .advise(Advice::Words("write it in the epilogue, or do not pass it"))
    }

    /// The call passes an operand that the epilogue reads as a result, or the reverse.
    pub const fn passed_as(operand: Operand, result: bool) -> Self {
        let (rule, advice) = if result {
            (Rule::Written, "pass it as an input")
        } else {
            (Rule::Read, "pass it as a result")
        };
        Self::without_value(rule, Field::Operand(operand), EPILOGUE).advise(Advice::Words(advice))
    }

    /// The epilogue of a pointer array writes an operand beside D.
    pub const fn written_in_array(operand: Operand) -> Self {
        let arrays = Value::Word("pointer arrays");
        Self::without_value(Rule::Supported, Field::Operand(operand), arrays)
            .because(Because::Words("it is a result beside D"))
            .advise(Advice::Words("use a batch, or one call per GEMM"))
    }

    /// The epilogue writes a sum along the axis of the groups.
    pub const fn sum_of_groups(operand: Operand) -> Self {
        let groups = Value::Word("groups along the axis of the sum");
        Self::without_value(Rule::Supported, Field::Operand(operand), groups)
            .because(Because::Words("its order would depend on the groups"))
            .advise(Advice::Words("sum the other axis, or use a call per group"))
    }

    /// The epilogue does not read C.
    pub const fn unread_source(beta: f64) -> Self {
        Self::without_value(Rule::Read, Field::Operand(Operand::C), EPILOGUE)
            .because(Because::Beta(beta))
            .advise(Advice::Words("add beta * C to the epilogue, or pass beta = 0"))
    }

    /// The epilogue does not read a scalar.
    pub const fn unread_scalar(scalar: Scalar, value: f64, neutral: f64) -> Self {
        Self::new(Rule::Read, Field::Scalar(scalar), Value::Real(value), EPILOGUE)
            .advise(Advice::Value(Value::Real(neutral)))
    }

    /// An epilogue of integers has a scalar that is not finite.
    pub const fn not_finite(scalar: Scalar) -> Self {
        Self::without_value(Rule::Finite, Field::Scalar(scalar), Value::None)
            .because(Because::Words("the epilogue computes in integers"))
    }

    /// A transpose that moves elements does not scale.
    pub const fn not_scaled(scalar: Scalar) -> Self {
        Self::without_value(
            Rule::Supported,
            Field::Scalar(scalar),
            Value::Word("a kernel that moves elements"),
        )
        .advise(Advice::Words("use a kernel that combines in f32 or f64"))
    }
}

/// Pointer arrays and groups.
#[doc(hidden)]
impl Refusal {
    /// An operand has another number of matrices than D.
    pub const fn array_length(operand: Operand, length: usize, products: usize) -> Self {
        let limit = Value::Number(products as u64);
        Self::number(Rule::Equal, Field::MatricesOf(operand), length as u64, limit, products as u64)
            .because(Because::Words("number of Ds"))
    }

    /// A GEMM of an array differs from GEMM 0 in more than addresses.
    pub const fn array_unlike(product: usize) -> Self {
        Self::without_value(Rule::Alike, Field::GemmOfArray(product), Value::Gemm(0))
            .because(Because::Words("extents, strides, operands of the epilogue, or scalars"))
    }

    pub const ARRAY_OF_BATCHES: Self =
        Self::without_value(Rule::Supported, Field::Batch, Value::Word("pointer arrays"))
            .advise(Advice::Words("do not set batch or groups"));

    pub const GROUPS_OF_BATCHES: Self =
        Self::without_value(Rule::Supported, Field::Batch, Value::Word("grouped GEMM"))
            .advise(Advice::Words("do not set batch"));

    pub const INDICES_OF_ARRAY: Self =
        Self::without_value(Rule::Supported, Field::Indices, Value::Word("pointer arrays"))
            .because(Because::Words("the GEMMs would share one list"))
            .advise(Advice::Words("use a batch, or a call per GEMM"));

    pub const INDICES_OF_TRANSPOSE: Self =
        Self::without_value(Rule::Supported, Field::Indices, Value::Word("a transpose"))
            .advise(Advice::Words("do not pass indices"));

    /// Two lines of D have the same index.
    pub const fn repeated_index(entry: IndexEntry, index: u32, first: u32) -> Self {
        let (value, limit) = (Value::Number(index as u64), Value::Index(first));
        Self::new(Rule::Distinct, Field::Index(entry), value, limit)
            .because(Because::Words("both lines would be stored at one place"))
            .advise(Advice::Words("give each line of D its own index"))
    }

    /// A pass decomposes the operand, and reads no index list.
    pub const fn index_of_terms(operand: Operand, emulation: EmulationKind) -> Self {
        Self::without_value(
            Rule::Supported,
            Field::IndicesOf(operand),
            Value::Word(emulation.name()),
        )
        .because(Because::Words("its pass decomposes neighboring rows"))
        .advise(Advice::Words("copy the rows first, or use emulation = tf32x3"))
    }

    pub const GROUPS_OF_TRANSPOSE: Self =
        Self::without_value(Rule::Supported, Field::Groups, Value::Word("a transpose"))
            .advise(Advice::Words("transpose each group in a call of its own"));
}
