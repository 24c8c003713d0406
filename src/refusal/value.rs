//! Values, limits, reasons, and advice of refusals.

use super::{Legal, Operand, OperandLine, Part, Route};
use crate::{
    layout::Order,
    numeric::{Combined, ElementKind, TransformId},
    refusal::const_sentence::{Sentence, append},
    shape::OperandKind,
};

/// The value of a field, or the limit of a rule.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub enum Value {
    /// No value: the rule speaks of the field alone.
    None,
    /// A number without a unit.
    Number(u64),
    /// A number that may be negative.
    Signed(i64),
    /// A real number.
    Real(f64),
    /// A number of bytes.
    Bytes(u64),
    /// A number of elements.
    Elements(u64),
    /// The least and the greatest number.
    Range(u64, u64),
    /// A list of numbers.
    OneOf(Legal),
    /// The size of a part, of which the field must be a multiple.
    Part(Part, u32),
    /// A word of a flag, a type, or an architecture.
    Word(&'static str),
    /// A main loop.
    Mainloop(&'static str),
    /// The number of a GEMM of a pointer array.
    Gemm(usize),
    /// D of a GEMM of a pointer array.
    OutputOfGemm(usize),
    /// The number of an index of a list.
    Index(u32),
    /// The identifier of an epilogue node.
    Node(u64),
    /// A number of terms.
    Terms(u32),
    /// The identifier of a transform.
    Transform(TransformId),
    /// The identifier of an order of tiles.
    Swizzle(u64),
    /// Rows and columns.
    Extents([usize; 2]),
    /// Elements between rows, and between columns.
    Strides([isize; 2]),
    /// An order of a matrix.
    Order(Order),
    /// An operand of the call.
    Operand(Operand),
    /// An element type.
    Element(ElementKind),
    /// Element types of A, B, the accumulator, and D.
    Types(Combined),
    /// The element types of D for these types of A, B, and the accumulator.
    Outputs(Combined),
}

impl Value {
    /// Appends the value to a sentence.
    pub(super) const fn append_to(self, s: Sentence) -> Sentence {
        match self {
            Self::None => s,
            Self::Number(n) => s.number(n),
            Self::Signed(n) => signed(s, n),
            Self::Real(x) => s.real(x),
            Self::Bytes(n) => append!(s, number n, word if n == 1 { " byte" } else { " bytes" }),
            Self::Elements(n) => {
                append!(s, number n, word if n == 1 { " element" } else { " elements" })
            }
            Self::Range(least, most) => append!(s, number least, " to ", number most),
            Self::OneOf(legal) => legal.append_to(s),
            Self::Part(part, size) => append!(s, number size, " (", word part.name(), ")"),
            Self::Word(word) => s.push(word),
            Self::Mainloop(name) => append!(s, "the ", word name, " main loop"),
            Self::Gemm(number) => append!(s, "GEMM ", number number),
            Self::OutputOfGemm(number) => append!(s, "D of GEMM ", number number),
            Self::Index(number) => append!(s, "index ", number number),
            Self::Node(id) => append!(s, "user_", hex id),
            Self::Terms(n) => append!(s, number n, word if n == 1 { " term" } else { " terms" }),
            Self::Transform(id) => {
                append!(s, "transform_", hex id.hash, ":", word id.stored.name(), ":", word id.multiplied.name())
            }
            Self::Swizzle(id) => append!(s, "swizzle_", hex id),
            Self::Extents([rows, columns]) => append!(s, number rows, " x ", number columns),
            Self::Strides([rows, columns]) => {
                signed(signed(s, rows as i64).push(" and "), columns as i64)
            }
            Self::Order(order) => s.push(if order.is_row() { "row-major" } else { "column-major" }),
            Self::Operand(operand) => s.push(operand.name()),
            Self::Element(kind) => s.push(kind.name()),
            Self::Types(types) => types.append_to(s),
            Self::Outputs(types) => types.outputs_said_by(s.push("D of ")),
        }
    }

    /// The value in the other frame.
    pub(super) const fn swapped(self) -> Self {
        match self {
            Self::Extents([rows, columns]) => Self::Extents([columns, rows]),
            Self::Strides([rows, columns]) => Self::Strides([columns, rows]),
            Self::Order(order) => Self::Order(order.transposed()),
            Self::Operand(operand) => Self::Operand(operand.swapped()),
            Self::Types(types) => Self::Types(types.swapped()),
            other => other,
        }
    }
}

/// The reason for a limit.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
#[allow(missing_docs, reason = "each variant says what its fields are")]
pub enum Because {
    /// The rule needs no reason.
    None,
    /// A reason without numbers.
    Words(&'static str),
    /// Threads per block, and blocks per multiprocessor.
    Block { threads: u32, blocks: u32 },
    /// Stages, bytes per stage, bytes beside the stages, blocks per multiprocessor, and compute
    /// capability.
    Stages { stages: u32, stage: u32, beside: u32, blocks: u32, sm: u32 },
    /// Bytes of partials that share the memory of the stages, blocks per multiprocessor, and
    /// compute capability.
    Partials { partials: u32, blocks: u32, sm: u32 },
    /// CTAs of a cluster along M.
    Cluster { m: u32 },
    /// The factor of C.
    Beta(f64),
    /// The result of a transform of 0, with which k-tiles are padded.
    Zero(f64),
    /// A number of elements.
    Elements(usize),
    /// The contiguous extent of a matrix in this order.
    Extent(Order),
    /// The stride that is 1 in this order.
    UnitStride(Order),
    /// A number of bytes that exist.
    Has(u64),
    /// The remainder of an address, and the element type at the address.
    Remainder(u64, ElementKind),
    /// Extents of a matrix, its leading dimension, and the number and stride of a batch.
    Matrices { extents: [usize; 2], leading: usize, batch: [usize; 2] },
    /// Routes of A and B, and whether a call stores split-K partials.
    Workspace { a: Route, b: Route, partials: bool },
    /// A row of A or a column of B.
    Line(OperandLine),
    /// An operand that is contiguous along K, or along M or N.
    Major { operand: OperandKind, along_k: bool },
}

impl Because {
    /// Appends the reason to a sentence, in parentheses.
    pub(super) const fn append_to(self, s: Sentence) -> Sentence {
        match self {
            Self::None => s,
            Self::Words(words) => append!(s, " (", word words, ")"),
            Self::Block { threads, blocks } => {
                append!(s, " (", number threads, " threads per block, ", number blocks, word if blocks == 1 { " block" } else { " blocks" }, " per multiprocessor)")
            }
            Self::Stages { stages, stage, beside, blocks, sm } => {
                let s = append!(s, " (", number stages, " stages of ", number stage);
                let s = if beside > 0 { append!(s, " and ", number beside) } else { s };
                append!(s, "; sm_", number sm, " with ", number blocks, word if blocks == 1 { " block" } else { " blocks" }, " per multiprocessor)")
            }
            Self::Partials { partials, blocks, sm } => {
                append!(s, " (split-K partials of ", number partials, "; sm_", number sm, " with ", number blocks, word if blocks == 1 { " block" } else { " blocks" }, " per multiprocessor)")
            }
            Self::Cluster { m } => {
                append!(s, " (cluster M = ", number m, "; a cluster shares operands along one axis)")
            }
            Self::Zero(x) => {
                append!(s, " (padded with zeros, which it maps to ", real x, ")")
            }
            Self::Beta(beta) => append!(s, " (beta = ", real beta, ")"),
            Self::Elements(length) => append!(s, " (", number length, " elements)"),
            Self::Remainder(bytes, element) => {
                append!(s, " (remainder ", number bytes, "; ", word element.name(), ")")
            }
            Self::Extent(order) => {
                s.push(if order.is_row() { " (number of columns)" } else { " (number of rows)" })
            }
            Self::UnitStride(order) => {
                let between = if order.is_row() { "columns" } else { "rows" };
                append!(s, " (the stride between ", word between, " must be 1)")
            }
            Self::Has(bytes) => append!(s, " (", number bytes, " bytes exist)"),
            Self::Matrices { extents: [rows, columns], leading, batch: [count, stride] } => {
                let s = append!(s, " (", number rows, " x ", number columns, ", leading dimension ", number leading);
                let s = if count == 1 {
                    s
                } else {
                    append!(s, ", batch of ", number count, ", batch stride ", number stride)
                };
                s.push(")")
            }
            Self::Workspace { a, b, partials } => {
                let s = routed(s.push(" ("), "A", a);
                let s =
                    routed(if a.is_direct() || b.is_direct() { s } else { s.push(", ") }, "B", b);
                let copies = !a.is_direct() || !b.is_direct();
                let s = match (partials, copies) {
                    (true, true) => s.push(", split-K partials"),
                    (true, false) => s.push("split-K partials"),
                    (false, true) => s,
                    (false, false) => s.push("group offsets or indices"),
                };
                s.push(")")
            }
            Self::Line(line) => line.append_to(s.push(" (")).push(")"),
            Self::Major { operand, along_k } => {
                let along = if along_k { "K" } else { operand.axis().name() };
                append!(s, " (", word operand.name(), " is ", word along, "-major)")
            }
        }
    }

    /// The reason in the other frame.
    pub(super) const fn swapped(self) -> Self {
        match self {
            Self::Matrices { extents: [rows, columns], leading, batch } => {
                Self::Matrices { extents: [columns, rows], leading, batch }
            }
            Self::Extent(order) => Self::Extent(order.transposed()),
            Self::UnitStride(order) => Self::UnitStride(order.transposed()),
            Self::Workspace { a, b, partials } => Self::Workspace { a: b, b: a, partials },
            Self::Line(line) => Self::Line(line.swapped()),
            Self::Major { operand, along_k } => Self::Major { operand: operand.other(), along_k },
            other => other,
        }
    }
}

/// Appends the pass of an operand, unless the kernel reads the operand in place.
const fn routed(s: Sentence, operand: &'static str, route: Route) -> Sentence {
    match route {
        Route::Direct => s,
        Route::Repacked => append!(s, word operand, " repacked"),
        Route::Transposed => append!(s, word operand, " transposed"),
        Route::Decomposed => append!(s, word operand, " decomposed"),
        Route::Gathered => append!(s, word operand, " gathered"),
    }
}

/// Appends a number with its sign, if it is negative.
const fn signed(s: Sentence, value: i64) -> Sentence {
    if value < 0 { s.push("-") } else { s }.number(value.unsigned_abs())
}

/// A change after which the rule holds.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub enum Advice {
    /// No single change is known.
    None,
    /// Another value of the field.
    Value(Value),
    /// A value of another field.
    Other(super::Field, Value),
    /// An action in words.
    Words(&'static str),
    /// Another value of the field, or an action in words.
    ValueOr(u64, &'static str),
    /// A value of another field, or an action in words.
    OtherOr(super::Field, u32, &'static str),
}

impl Advice {
    /// Returns the advice in the other frame.
    pub(super) const fn swapped(self) -> Self {
        match self {
            Self::Value(value) => Self::Value(value.swapped()),
            Self::Other(field, value) => Self::Other(field.swapped(), value.swapped()),
            Self::OtherOr(field, value, words) => Self::OtherOr(field.swapped(), value, words),
            other => other,
        }
    }
}
