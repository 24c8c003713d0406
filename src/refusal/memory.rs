//! Refusals of operand memory: lengths, strides, addresses, overlaps, and devices.

use super::{Advice, Because, Field, Operand, Refusal, Route, Rule, Value};
use crate::{layout::Order, numeric::ElementKind};

/// Strides and lengths.
#[doc(hidden)]
impl Refusal {
    /// A leading dimension is less than the contiguous extent.
    pub const fn leading_dimension(
        operand: Operand,
        value: usize,
        least: usize,
        order: Order,
    ) -> Self {
        let (field, limit) = (Field::LeadingDimensionOf(operand), Value::Number(least as u64));
        Self::number(Rule::AtLeast, field, value as u64, limit, least as u64)
            .because(Because::Extent(order))
    }

    /// Memory has fewer elements than its matrices.
    pub const fn too_short(operand: Operand, length: usize, needed: u64, because: Because) -> Self {
        let (value, limit) = (Value::Elements(length as u64), Value::Elements(needed));
        Self::new(Rule::AtLeast, Field::Length(operand), value, limit).because(because)
    }

    /// The size of matrices exceeds 64 bits.
    pub const fn overflow(operand: Operand, because: Because) -> Self {
        Self::without_value(Rule::AtMost, Field::SizeOf(operand), Value::Word("64 bits"))
            .because(because)
    }

    /// Neither stride is 1, or the stride of 1 belongs to another order.
    pub const fn strides(
        operand: Operand,
        [rows, columns]: [usize; 2],
        order: Option<Order>,
    ) -> Self {
        let (field, value) =
            (Field::StridesOf(operand), Value::Strides([rows as isize, columns as isize]));
        match order {
            None => Self::new(Rule::Contiguous, field, value, Value::None)
                .because(Because::Words("one of the strides must be 1")),
            Some(order) => Self::new(Rule::Ordered, field, value, Value::Order(order))
                .because(Because::UnitStride(order)),
        }
    }

    /// Two elements of a written matrix have one address.
    pub const fn strides_overlap(operand: Operand, [rows, columns]: [usize; 2]) -> Self {
        let value = Value::Strides([rows as isize, columns as isize]);
        Self::new(Rule::Injective, Field::StridesOf(operand), value, Value::None)
            .advise(Advice::Words("let one stride exceed the reach of the other"))
    }

    /// An axis has a split and an index list.
    pub const fn split_of_index(operand: Operand) -> Self {
        Self::without_value(Rule::Supported, Field::SplitOf(operand), Value::Word("an index list"))
            .because(Because::Words("the list gives each line its own place"))
            .advise(Advice::Words("state the places in the list"))
    }

    /// A pass, a transpose, or an epilogue does not read a matrix with a split.
    pub const fn split_of_others(operand: Operand, others: &'static str) -> Self {
        Self::without_value(Rule::Supported, Field::SplitOf(operand), Value::Word(others))
            .advise(Advice::Words("copy the matrix first"))
    }

    /// A stride of a view is negative.
    pub const fn negative_stride(operand: Operand, strides: [isize; 2]) -> Self {
        Self::new(Rule::Positive, Field::StridesOf(operand), Value::Strides(strides), Value::None)
            .advise(Advice::Words("copy the matrix in ascending order"))
    }

    /// A call sets strides of a view, which has strides.
    pub const fn strides_of_view(operand: Operand) -> Self {
        Self::without_value(Rule::SetOnce, Field::StridesOf(operand), Value::None)
            .advise(Advice::Words("set the strides of the view only"))
    }

    /// A view has another shape than its operand.
    pub const fn shape(operand: Operand, given: [usize; 2], wanted: [usize; 2]) -> Self {
        let (value, limit) = (Value::Extents(given), Value::Extents(wanted));
        Self::new(Rule::Equal, Field::ShapeOf(operand), value, limit)
    }

    /// A and B differ in K.
    pub const fn inner_extents(columns_of_a: usize, rows_of_b: usize) -> Self {
        let (value, limit) = (Value::Number(columns_of_a as u64), Value::Number(rows_of_b as u64));
        Self::new(Rule::Equal, Field::ColumnsOf(Operand::A), value, limit)
            .because(Because::Words("rows of B"))
    }

    /// A vector of elements does not have the length of its shape.
    pub const fn wrong_length(length: usize, extents: [usize; 2]) -> Self {
        let (value, limit) = (Value::Elements(length as u64), Value::Extents(extents));
        Self::new(Rule::Equal, Field::Length(Operand::Tensor), value, limit)
    }

    /// The stride of a batch makes outputs overlap.
    pub const fn batch_overlaps(value: usize, nearest: u64) -> Self {
        let (field, limit) = (Field::BatchStrideOf(Operand::D), Value::Number(nearest));
        Self::number(Rule::AtLeast, field, value as u64, limit, nearest)
            .because(Because::Words("matrices of the batch overlap"))
    }
}

/// Element types and addresses.
#[doc(hidden)]
impl Refusal {
    /// An operand has another element type than the kernel.
    pub const fn element_type(operand: Operand, given: ElementKind, wanted: ElementKind) -> Self {
        let (value, limit) = (Value::Element(given), Value::Element(wanted));
        Self::new(Rule::Equal, Field::ElementTypeOf(operand), value, limit)
    }

    /// The elements of a transpose have another size than the kernel's.
    pub const fn element_bytes(given: ElementKind, bytes: u32) -> Self {
        let (value, limit) = (Value::Element(given), Value::Bytes(bytes as u64));
        Self::new(Rule::Equal, Field::ElementTypeOf(Operand::Tensor), value, limit)
    }

    /// The address is not a multiple of the element's size.
    pub const fn element_address(
        operand: Operand,
        element: ElementKind,
        beyond: u64,
        bytes: u64,
    ) -> Self {
        Self::without_value(Rule::Multiple, Field::AddressOf(operand), Value::Bytes(bytes))
            .because(Because::Remainder(beyond, element))
    }

    /// Memory with elements has the address 0.
    pub const fn null_pointer(length: usize) -> Self {
        Self::without_value(Rule::Null, Field::AddressOf(Operand::Tensor), Value::None)
            .because(Because::Elements(length))
            .advise(Advice::Words("pass the address of an allocation"))
    }

    /// A stride of a tensor map is not a multiple of 16 bytes.
    pub const fn tensor_stride(field: Field, value: u64, of: u64, nearest: u64) -> Self {
        Self::number(Rule::Multiple, field, value, Value::Elements(of), nearest)
            .because(Because::Words("strides of TMA are multiples of 16 bytes"))
    }

    /// A box of TMA begins at another multiple than 16 bytes.
    pub const fn tensor_corner(value: i32, of: u32, nearest: i32) -> Self {
        let limit = Value::Elements(of as u64);
        Self::new(Rule::Multiple, Field::TensorCorner, Value::Signed(value as i64), limit)
            .because(Because::Words("rows of TMA begin at multiples of 16 bytes"))
            .advise(Advice::Value(Value::Signed(nearest as i64)))
    }
}

/// Overlaps and devices.
#[doc(hidden)]
impl Refusal {
    /// An output overlaps an input.
    pub const fn overlap(written: Operand, read: Operand) -> Self {
        Self::without_value(Rule::Apart, Field::Operand(written), Value::Operand(read))
            .because(Because::Words("the kernel reads and writes at once"))
            .advise(Advice::Words("use separate memory"))
    }

    /// D and C overlap, but are not one matrix.
    pub const fn partly_shared(operand: Operand) -> Self {
        Self::without_value(Rule::Apart, Field::Operand(Operand::D), Value::Operand(operand))
            .because(Because::Words("in a part only"))
            .advise(Advice::Words("use one matrix, or separate memory"))
    }

    /// The outputs of two GEMMs of an array overlap.
    pub const fn array_overlaps(product: usize, other: usize) -> Self {
        Self::without_value(Rule::Apart, Field::OutputOfGemm(product), Value::OutputOfGemm(other))
            .advise(Advice::Words("use separate memory"))
    }

    /// An operand is on another device than D.
    pub const fn other_device(operand: Operand) -> Self {
        let limit = match operand {
            // Another D of a pointer array.
            Operand::D => Value::OutputOfGemm(0),
            _ => Value::Operand(Operand::D),
        };
        Self::without_value(Rule::SameDevice, Field::Operand(operand), limit)
    }

    /// An operand is on another device than the stream.
    pub const fn not_on_stream(operand: Operand) -> Self {
        Self::without_value(Rule::SameDevice, Field::Operand(operand), Value::Word("the stream"))
            .advise(Advice::Words("use a stream of the device of both"))
    }

    /// The workspace is smaller than its contents.
    pub const fn workspace(given: u64, needed: u64, [a, b]: [Route; 2], partials: bool) -> Self {
        Self::new(Rule::AtLeast, Field::Workspace, Value::Bytes(given), Value::Bytes(needed))
            .because(Because::Workspace { a, b, partials })
    }
}
