//! Refusals of descriptions: element types, knobs, tiles, and epilogues.

use super::{
    Advice, Because, Field, Legal, Malformed, Operand, Part, Refusal, Rule, Ungathered, Value,
};
use crate::{
    arch::{ArchKind, OpKind},
    numeric::{Combined, ComputeKind, ElementKind},
    shape::Axis,
};

/// Units in sentences.
const fn units(op: OpKind) -> &'static str {
    match op {
        OpKind::Simt => "on CUDA cores",
        OpKind::TensorOp => "on tensor cores",
    }
}

/// Index lists.
#[doc(hidden)]
impl Refusal {
    /// A TMA ring does not read an operand by an index, unless its producer gathers lines along K
    /// for `wgmma`.
    pub const fn index_of_tma(operand: Operand, mainloop: &'static str) -> Self {
        Self::without_value(Rule::Supported, Field::IndicesOf(operand), Value::Mainloop(mainloop))
            .because(Because::Words("TMA copies boxes of neighboring rows"))
            .advise(Advice::Words("pass the indices to the call, whose pass gathers the rows"))
    }

    pub const INDEX_ALONG_K: Self =
        Self::new(Rule::OneOf, Field::IndicesOf(Operand::D), Value::Word("K"), Value::Word("M, N"))
            .advise(Advice::Value(Value::Word("M")));
}

/// Element types.
#[doc(hidden)]
impl Refusal {
    /// No units multiply the element types.
    pub const fn no_such_combination(types: Combined, nearest: Combined) -> Self {
        let refusal = Self::new(Rule::Multiplied, Field::Types, Value::Types(types), Value::None);
        refusal.advise(Advice::Value(if types.differ_in_output(nearest) {
            Value::Outputs(types)
        } else {
            Value::Types(nearest)
        }))
    }

    /// Other units multiply the element types.
    pub const fn other_units(types: Combined, op: OpKind, other: OpKind) -> Self {
        Self::new(Rule::Multiplied, Field::Types, Value::Types(types), Value::Word(units(op)))
            .advise(Advice::Other(Field::Op, Value::Word(other.name())))
    }

    /// These units multiply the element types on another architecture.
    pub const fn no_such_operation(
        types: Combined,
        op: OpKind,
        arch: ArchKind,
        nearest: ArchKind,
    ) -> Self {
        Self::new(Rule::Multiplied, Field::Types, Value::Types(types), Value::Word(units(op)))
            .because(Because::Words(arch.name()))
            .advise(Advice::Other(Field::Arch, Value::Word(nearest.name())))
    }

    /// An epilogue between these types computes in another type.
    pub const fn compute(
        compute: ComputeKind,
        accumulator: ElementKind,
        c: ElementKind,
        nearest: ComputeKind,
    ) -> Self {
        let types = if accumulator.is_integer() && c.is_integer() {
            "integer accumulators and outputs"
        } else {
            "floating-point accumulators or outputs"
        };
        Self::new(Rule::Supported, Field::Compute, word(compute.name()), word(types))
            .advise(Advice::Value(word(nearest.name())))
    }
}

/// Knobs.
#[doc(hidden)]
impl Refusal {
    /// Another main loop has the knob.
    pub const fn knob_of_another_kernel(
        knob: &'static str,
        mainloop: &'static str,
        other: &'static str,
    ) -> Self {
        let refusal =
            Self::new(Rule::Knob, Field::Knob(knob), Value::None, Value::Mainloop(mainloop));
        refusal.advise(Advice::Other(Field::Mainloop, word(other)))
    }

    /// A description has a value of a knob that its kernel lacks.
    pub const fn knob_of_no_kernel(knob: &'static str, mainloop: &'static str) -> Self {
        Self::new(Rule::Knob, Field::Knob(knob), Value::None, Value::Mainloop(mainloop))
    }

    /// Kernels on other units have the knob.
    pub const fn knob_of_other_units(knob: &'static str, op: OpKind, other: OpKind) -> Self {
        let kernels = match op {
            OpKind::Simt => "CUDA-core kernels",
            OpKind::TensorOp => "tensor-core kernels",
        };
        Self::new(Rule::Knob, Field::Knob(knob), Value::None, word(kernels))
            .advise(Advice::Other(Field::Op, word(other.name())))
    }

    /// No kernel of the element types has the main loop with these units on this architecture.
    pub const fn other_mainloop(
        mainloop: &'static str,
        op: OpKind,
        arch: ArchKind,
        nearest: &'static str,
    ) -> Self {
        Self::new(Rule::Supported, Field::Mainloop, word(mainloop), word(arch.name()))
            .because(Because::Words(units(op)))
            .advise(Advice::Value(word(nearest)))
    }

    /// The main loop does not feed the MMA.
    pub const fn not_fed(mainloop: &'static str, mma: &'static str, nearest: &'static str) -> Self {
        Self::new(Rule::Supported, Field::Mainloop, word(mainloop), word(mma))
            .advise(Advice::Value(word(nearest)))
    }

    /// The main loop does not support a value of a knob.
    pub const fn unsupported(
        field: Field,
        value: &'static str,
        mainloop: &'static str,
        nearest: &'static str,
    ) -> Self {
        Self::new(Rule::Supported, field, word(value), Value::Mainloop(mainloop))
            .advise(Advice::Value(word(nearest)))
    }

    /// The warp-specialized main loop needs instructions of Hopper.
    pub const fn hopper_only(mainloop: &'static str, arch: ArchKind) -> Self {
        Self::new(Rule::Supported, Field::Mainloop, word(mainloop), word(arch.name()))
            .advise(Advice::Other(Field::Arch, word("sm90")))
    }

    /// The main loop multiplies these element types on tensor cores only.
    pub const fn tensor_cores_only(mainloop: &'static str) -> Self {
        Self::new(Rule::Supported, Field::Mainloop, word(mainloop), word("CUDA cores"))
            .because(Because::Words("element types other than f32"))
            .advise(Advice::Other(Field::Op, word("tensorop")))
    }

    /// A program of one schedule does not run a warp-specialized kernel.
    pub const fn warp_specialized(mainloop: &'static str, nearest: &'static str) -> Self {
        Self::new(
            Rule::Supported,
            Field::Mainloop,
            word(mainloop),
            word("a program of one schedule"),
        )
        .advise(Advice::Value(word(nearest)))
    }

    /// The pipelined main loop has two stages. `other` advises a main loop with more stages.
    pub const fn pipelined_stages(stages: u32, other: Option<&'static str>) -> Self {
        Self::new(Rule::Equal, Field::Stages, number(stages), number(2))
            .because(Because::Words("pipelined main loop"))
            .advise(match other {
                Some(words) => Advice::ValueOr(2, words),
                None => Advice::Value(number(2)),
            })
    }

    /// The architecture has no asynchronous copies for the multistage main loop. `other` advises a
    /// newer architecture or another main loop.
    pub const fn no_asynchronous_copy(arch: ArchKind, other: Option<&'static str>) -> Self {
        Self::new(Rule::Supported, Field::Mainloop, word("multistage"), word(arch.name()))
            .because(Because::Words("asynchronous copies need sm80"))
            .advise(match other {
                Some(words) => Advice::Words(words),
                None => Advice::Other(Field::Arch, word("sm80")),
            })
    }

    /// Only the single-stage main loop has an inner loop to unroll.
    pub const fn no_loop_to_unroll(groups: u32, mainloop: &'static str) -> Self {
        Self::new(Rule::Supported, Field::Unroll, number(groups), Value::Mainloop(mainloop))
            .advise(Advice::Value(word("full")))
    }

    /// Saturation needs integer accumulators.
    pub const fn nothing_to_saturate(accumulator: ElementKind) -> Self {
        Self::new(Rule::Supported, Field::Saturate, word("on"), Value::Element(accumulator))
            .because(Because::Words("accumulators are not integers"))
            .advise(Advice::Value(word("off")))
    }

    /// A cluster shares operands along one axis.
    pub const fn cluster_along_both_axes(m: u32, n: u32) -> Self {
        let field = Field::Cluster(Axis::N);
        Self::new(Rule::Equal, field, number(n), number(1))
            .because(Because::Cluster { m })
            .advise(Advice::Value(number(1)))
    }

    /// The CTAs of a cluster do not divide the boxes of a tile evenly.
    pub const fn uneven_boxes(axis: Axis, blocks: u32, boxes: u32, nearest: u32) -> Self {
        let limit = Value::Part(Part::BoxesOfATile, boxes);
        Self::number(Rule::Divides, Field::Cluster(axis), blocks as u64, limit, nearest as u64)
    }
}

/// Modes of pointer arrays and groups.
#[doc(hidden)]
impl Refusal {
    pub const GROUPS_NOT_STREAMED: Self =
        Self::new(Rule::Supported, Field::Decomposition, word("streamk"), word("grouped GEMM"))
            .advise(Advice::Value(word("splitk")));

    pub const ARRAYS_NOT_STREAMED: Self = Self::new(
        Rule::Supported,
        Field::Decomposition,
        word("streamk"),
        word("kernels for pointer arrays"),
    )
    .advise(Advice::Value(word("splitk")));

    pub const NO_ARRAYS: Self =
        Self::new(Rule::Supported, Field::Mode, word("array"), word("kernels with a pass"))
            .advise(Advice::Value(word("gemm")));
}

/// Tiles and accesses.
#[doc(hidden)]
impl Refusal {
    /// A tile or a block is not a whole number of its parts.
    pub const fn does_not_nest(
        field: Field,
        inner: Part,
        value: u32,
        of: u32,
        nearest: u32,
    ) -> Self {
        let limit = Value::Part(inner, of);
        Self::number(Rule::Multiple, field, value as u64, limit, nearest as u64)
    }

    /// The number is not one of a list.
    pub const fn not_one_of(field: Field, value: u64, legal: Legal, nearest: u64) -> Self {
        Self::number(Rule::OneOf, field, value, Value::OneOf(legal), nearest)
    }

    /// The number is outside of a range.
    pub const fn out_of_range(field: Field, value: u64, least: u64, most: u64) -> Self {
        let nearest = if value < least { least } else { most };
        Self::number(Rule::Within, field, value, Value::Range(least, most), nearest)
    }

    /// The number is not a multiple.
    pub const fn not_multiple(field: Field, value: u64, of: u64, nearest: u64) -> Self {
        Self::number(Rule::Multiple, field, value, Value::Number(of), nearest)
    }

    /// An asynchronous copy moves 4, 8, or 16 bytes. `nearest` is 0 if no alignment helps. `other`
    /// is the name of a main loop that supports the access, and the advice to use it.
    pub const fn copy_width(
        operand: Operand,
        bytes: u32,
        nearest: u32,
        other: Option<[&'static str; 2]>,
    ) -> Self {
        Self::new(
            Rule::OneOf,
            Field::CopyBytes(operand),
            Value::Bytes(bytes as u64),
            Value::OneOf(Legal::OneOf(&[4, 8, 16])),
        )
        .advise(match (nearest, other) {
            (0, Some([name, _])) => Advice::Other(Field::Mainloop, word(name)),
            (0, None) => Advice::None,
            (_, Some([_, words])) => Advice::OtherOr(Field::Alignment(operand), nearest, words),
            (_, None) => Advice::Other(Field::Alignment(operand), number(nearest)),
        })
    }

    /// An asynchronous copy moves adjacent elements of shared memory. `nearest` is 0 if no
    /// alignment helps. `other` then advises another layout or main loop.
    pub const fn copy_not_whole(
        operand: Operand,
        access: u32,
        run: u32,
        nearest: u32,
        other: Option<&'static str>,
    ) -> Self {
        let (value, limit) = (Value::Elements(access as u64), Value::Elements(run as u64));
        Self::new(Rule::AtMost, Field::CopyElements(operand), value, limit)
            .because(Because::Words("adjacent elements in shared memory"))
            .advise(match (nearest, other) {
                (0, Some(words)) => Advice::Words(words),
                (0, None) => Advice::Words("use another layout of shared memory"),
                _ => Advice::Other(Field::Alignment(operand), number(nearest)),
            })
    }

    /// An access does not divide the contiguous extent of the operand's tile.
    pub const fn access_does_not_divide_tile(
        operand: Operand,
        access: u32,
        extent: u32,
        nearest: u32,
    ) -> Self {
        let limit = Value::Part(Part::ContiguousElements, extent);
        let field = Field::Alignment(operand);
        Self::number(Rule::Divides, field, access as u64, limit, nearest as u64)
    }

    /// An access has more elements than are adjacent in shared memory.
    pub const fn access_apart(field: Field, access: u32, run: u32) -> Self {
        Self::number(Rule::AtMost, field, access as u64, Value::Elements(run as u64), run as u64)
            .because(Because::Words("adjacent elements in shared memory"))
    }

    /// A transpose cannot gather the written elements.
    pub const fn not_gathered(why: Ungathered) -> Self {
        Self::without_value(Rule::Possible, Field::Gather, Value::None)
            .because(Because::Words(why.name()))
            .advise(Advice::Words("use staging by padding, or swizzled staging"))
    }

    /// The block of a swizzle does not divide a row of the tile.
    pub const fn swizzle_beyond_row(operand: Operand, chunk: u32, row: u32) -> Self {
        let (value, limit) = (Value::Elements(chunk as u64), Value::Elements(row as u64));
        Self::new(Rule::Divides, Field::SwizzleBlock(operand), value, limit)
            .because(Because::Words("row of the tile"))
    }
}

/// Epilogues.
#[doc(hidden)]
impl Refusal {
    /// An expression is malformed.
    pub const fn epilogue(why: Malformed) -> Self {
        Self::without_value(Rule::Formed, Field::Epilogue, Value::None)
            .because(Because::Words(why.name()))
    }

    /// An operand has elements that the epilogue's type does not represent.
    pub const fn unreadable(operand: Operand, element: ElementKind, compute: ComputeKind) -> Self {
        Self::new(
            Rule::Supported,
            Field::ElementTypeOf(operand),
            word(element.name()),
            word(compute.name()),
        )
        .because(Because::Words("compute type of the epilogue"))
    }

    /// An operand has 8-bit floating-point elements, which the architecture cannot convert.
    pub const fn fp8_operand(operand: Operand, element: ElementKind, arch: ArchKind) -> Self {
        let (value, limit) = (word(element.name()), word(arch.name()));
        Self::new(Rule::Supported, Field::ElementTypeOf(operand), value, limit)
            .because(Because::Words("conversions of fp8 need sm89"))
    }

    /// The process has no function for the node.
    pub const fn unknown_node(id: u64) -> Self {
        Self::new(Rule::Registered, Field::Node, Value::Node(id), Value::None)
            .advise(Advice::Words("call epilogue::register first"))
    }

    /// A mathematical function does not exist for the compute type.
    pub const fn not_computed(function: &'static str, compute: ComputeKind) -> Self {
        Self::new(Rule::Supported, Field::Node, word(function), word(compute.name())).because(
            Because::Words(match compute {
                ComputeKind::F64 => "its approximation has the precision of f32",
                _ => "integers have no such function",
            }),
        )
    }

    /// A node of f32 does not represent every number of the epilogue's type.
    pub const fn node_of_f32(node: &'static str, compute: ComputeKind) -> Self {
        Self::new(Rule::Supported, Field::Node, word(node), word(compute.name()))
            .because(Because::Words("the node is a function of f32"))
            .advise(Advice::Words("define the constant F64 of its Function"))
    }
}

/// A word as a value.
pub(super) const fn word(word: &'static str) -> Value {
    Value::Word(word)
}

/// A number as a value.
const fn number(n: u32) -> Value {
    Value::Number(n as u64)
}
