//! Matrices of a call: memory and strides.

use super::AxisSplit;
use crate::{
    layout::Order,
    numeric::ElementKind,
    shape::{EpilogueOperand, OperandKind},
};

/// Memory of elements.
pub trait Memory {
    /// Returns the number of elements.
    fn length(&self) -> usize;
    /// Returns the address of the first element.
    fn address(&self) -> u64;
    /// Returns memory without elements.
    fn empty() -> Self
    where
        Self: Sized;
    /// Returns the memory without its first `elements` elements.
    #[must_use]
    fn skip(self, elements: usize) -> Self
    where
        Self: Sized;
    /// Returns whether kernel parameters carry the elements. Such elements have no device address.
    fn by_value(&self) -> bool {
        false
    }
    /// Returns the element type, or `None` if a problem does not state the type.
    fn kind(&self) -> Option<ElementKind>;
}

/// Implements [`Memory`] for types with methods of the same names.
macro_rules! memory {
    ($($Memory:ty),*) => {
        $(impl $crate::operand::Memory for $Memory {
            fn length(&self) -> usize {
                self.length()
            }

            fn address(&self) -> u64 {
                self.address()
            }

            fn empty() -> Self {
                Self::empty()
            }

            fn skip(self, elements: usize) -> Self {
                self.skip(elements)
            }

            fn kind(&self) -> Option<$crate::numeric::ElementKind> {
                Some(self.kind())
            }
        })*
    };
}
pub(crate) use memory;

/// Number, address, and type of elements. A problem without data has this memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Elements {
    /// Number of elements.
    pub length: usize,
    /// Address of the first element. 0 stands for the beginning of an allocation.
    pub address: u64,
    /// Element type, or `None` if the problem does not state the type.
    pub kind: Option<ElementKind>,
}

impl Elements {
    /// Memory that is large enough for every problem.
    pub const ALL: Self = Self::new(usize::MAX);

    /// Returns `length` elements at the beginning of an allocation.
    pub const fn new(length: usize) -> Self {
        Self { length, address: 0, kind: None }
    }

    /// Returns `length` elements of a type at the beginning of an allocation.
    pub const fn with_kind(length: usize, kind: ElementKind) -> Self {
        Self { kind: Some(kind), ..Self::new(length) }
    }
}

impl Memory for Elements {
    fn length(&self) -> usize {
        self.length
    }

    fn address(&self) -> u64 {
        self.address
    }

    fn empty() -> Self {
        Self::new(0)
    }

    /// The address stays, because elements without data have no size.
    fn skip(self, elements: usize) -> Self {
        Self { length: self.length.saturating_sub(elements), ..self }
    }

    fn kind(&self) -> Option<ElementKind> {
        self.kind
    }
}

/// A matrix in memory, or a batch of matrices. Element (i, j) of matrix `b` is
/// `i * strides[0] + j * strides[1] + b * batch_stride` elements after the first element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct View<M> {
    /// Memory from the first element on.
    pub memory: M,
    /// Elements between neighboring rows, and between neighboring columns.
    pub strides: [usize; 2],
    /// Elements between neighboring matrices of a batch. 0 if all GEMMs share the matrix.
    pub batch_stride: usize,
    /// Whether rows or columns of an input may overlap: the caller has set both strides.
    pub overlapping: bool,
    /// Splits of the rows, and of the columns.
    pub splits: [AxisSplit; 2],
}

impl<M> View<M> {
    /// Creates a matrix with an order and a leading dimension in elements.
    pub const fn new(memory: M, order: Order, leading: usize) -> Self {
        Self {
            memory,
            strides: if order.is_row() { [leading, 1] } else { [1, leading] },
            batch_stride: 0,
            overlapping: false,
            splits: [AxisSplit::NONE; 2],
        }
    }

    /// Creates a matrix with an order and a shape. Without `leading`, the matrix is packed. The
    /// matrices of a batch are consecutive.
    pub fn packed(
        memory: M,
        order: Order,
        (rows, columns): (usize, usize),
        leading: Option<usize>,
    ) -> Self {
        Self::new(memory, order, leading.unwrap_or(order.packed(rows, columns)))
            .one_behind_another((rows, columns))
    }

    /// Creates a matrix with the given strides in elements. A single row or column has no
    /// meaningful stride to the next one. The function then selects a stride that gives the matrix
    /// the order `order` if possible, else the other order.
    pub fn strided(
        memory: M,
        [down, across]: [usize; 2],
        order: Order,
        (rows, columns): (usize, usize),
    ) -> Self {
        let strides = match (rows, columns) {
            (1, 1) => [1, 1],
            (1, _) if across == 1 && order.is_row() => [columns, 1],
            (1, _) => [1, across],
            (_, 1) if down == 1 && !order.is_row() => [1, rows],
            (_, 1) => [down, 1],
            _ => [down, across],
        };
        Self { memory, strides, batch_stride: 0, overlapping: false, splits: [AxisSplit::NONE; 2] }
    }

    /// Creates an epilogue vector as an m x n matrix. A vector with one value per row of A has
    /// equal columns. A vector with one value per column of B has equal rows.
    pub const fn vector(memory: M, side: OperandKind) -> Self {
        Self {
            memory,
            strides: if matches!(side, OperandKind::A) { [1, 0] } else { [0, 1] },
            batch_stride: 0,
            overlapping: true,
            splits: [AxisSplit::NONE; 2],
        }
    }

    /// Creates the results of a reduction over D, one behind another: a value per row of D, per
    /// column, or per GEMM of a batch. As an m x n matrix, the results have a stride of 0. A scalar
    /// in memory has one value per GEMM, too.
    pub fn reduction(memory: M, operand: EpilogueOperand, (m, n): (usize, usize)) -> Self {
        let (strides, count) = match operand.side() {
            Some(OperandKind::A) => ([1, 0], m),
            Some(OperandKind::B) => ([0, 1], n),
            None => ([0, 0], 1),
        };
        let all = Self::vector(memory, OperandKind::A);
        Self { strides, ..all.batched(count) }
    }

    /// Creates an operand of an epilogue beside D: a [vector](Self::vector), a
    /// [reduction](Self::reduction), or a packed matrix of the extents of D with one matrix per
    /// GEMM.
    pub fn beside(
        memory: M,
        operand: EpilogueOperand,
        (order, extents): (Order, (usize, usize)),
    ) -> Self {
        match operand.side() {
            _ if operand.is_reduction() || operand.is_scalar() => {
                Self::reduction(memory, operand, extents)
            }
            Some(side) => Self::vector(memory, side),
            None => Self::packed(memory, order, extents, None),
        }
    }

    /// Sets the batch stride so that the matrices of the batch are consecutive.
    #[must_use]
    pub fn one_behind_another(self, (rows, columns): (usize, usize)) -> Self {
        if self.is_split() {
            let elements = self.elements((rows, columns), 1);
            return self.batched(usize::try_from(elements).unwrap_or(usize::MAX));
        }
        let [down, across] = self.strides;
        self.batched(rows.saturating_mul(down).max(columns.saturating_mul(across)))
    }

    /// Sets the batch stride in elements.
    #[must_use]
    pub fn batched(self, batch_stride: usize) -> Self {
        Self { batch_stride, ..self }
    }

    /// Returns the matrix with other memory.
    pub fn with<N>(&self, memory: N) -> View<N> {
        let Self { strides, batch_stride, overlapping, splits, .. } = *self;
        View { memory, strides, batch_stride, overlapping, splits }
    }

    /// Returns whether rows or columns are split.
    pub const fn is_split(&self) -> bool {
        self.splits[0].is_some() || self.splits[1].is_some()
    }

    /// Returns the matrix with splits of its rows and of its columns.
    #[must_use]
    pub fn with_splits(self, splits: [AxisSplit; 2]) -> Self {
        let overlapping = self.overlapping || splits != [AxisSplit::NONE; 2];
        Self { splits, overlapping, ..self }
    }

    /// Returns the transpose on the same bytes.
    #[must_use]
    pub fn transposed(self) -> Self {
        let ([down, across], [rows, columns]) = (self.strides, self.splits);
        Self { strides: [across, down], splits: [columns, rows], ..self }
    }

    /// Returns the leading dimension in elements if the matrix has this order.
    pub const fn leading(&self, order: Order) -> usize {
        self.strides[if order.is_row() { 0 } else { 1 }]
    }

    /// Returns the order in which the `rows` x `columns` matrix is contiguous. Returns `preferred`
    /// if both orders are possible, as for a single row or column. Returns `None` if neither stride
    /// is 1.
    pub const fn order(&self, preferred: Order, (rows, columns): (usize, usize)) -> Option<Order> {
        let other = preferred.transposed();
        if self.is_of(preferred, (rows, columns))
            || self.leading(other) == 1 && !self.is_of(other, (rows, columns))
        {
            return Some(preferred);
        }
        if self.is_of(other, (rows, columns)) || self.leading(preferred) == 1 {
            Some(other)
        } else {
            None
        }
    }

    /// Returns whether the matrix has this order, with contiguous lines that do not overlap.
    const fn is_of(&self, order: Order, (rows, columns): (usize, usize)) -> bool {
        self.leading(order.transposed()) == 1 && self.leading(order) >= order.packed(rows, columns)
    }

    /// Returns the number of elements from the first to the last of a batch of `rows` x `columns`
    /// matrices.
    pub const fn elements(&self, (rows, columns): (usize, usize), batch: usize) -> u128 {
        if rows == 0 || columns == 0 || batch == 0 {
            return 0;
        }
        let [down, across] = self.strides;
        let (down, across) =
            (self.splits[0].reach(rows, down), self.splits[1].reach(columns, across));
        let before = (batch as u128 - 1) * self.batch_stride as u128;
        before.saturating_add(down).saturating_add(across).saturating_add(1)
    }

    /// Returns the offset in bytes of matrix `number` of the batch.
    pub(crate) fn first_byte(&self, kind: ElementKind, number: usize) -> u64 {
        kind.matrix_bytes((number as u64).saturating_mul(self.batch_stride as u64))
    }

    /// Returns whether two matrices of a batch may share an element. Batches without overlap are
    /// consecutive matrices, and matrices whose lines interleave within one leading dimension.
    pub const fn overlaps(&self, (rows, columns): (usize, usize), batch: usize) -> bool {
        if rows == 0 || columns == 0 || batch < 2 {
            return false;
        }
        let order = match self.order(Order::Row, (rows, columns)) {
            Some(order) => order,
            None => Order::Row,
        };
        let (line, stride) = (order.packed(rows, columns), self.batch_stride as u128);
        let behind = stride >= self.elements((rows, columns), 1);
        let side_by_side = stride >= line as u128
            && (batch as u128 - 1) * stride + line as u128 <= self.leading(order) as u128;
        !behind && !side_by_side
    }

    /// Returns the offset of element (`row`, `column`) in elements.
    pub const fn offset(&self, row: usize, column: usize) -> usize {
        self.splits[0].offset(row, self.strides[0]) + self.splits[1].offset(column, self.strides[1])
    }
}

impl<M: Memory> View<M> {
    /// Returns the matrix without its data.
    pub fn without_data(&self) -> View<Elements> {
        let memory = &self.memory;
        let (length, address, kind) = (memory.length(), memory.address(), memory.kind());
        self.with(Elements { length, address, kind })
    }
}

#[cfg(test)]
mod tests {
    use super::View;
    use crate::layout::Order;
    use std::collections::BTreeSet;

    /// `overlaps` is false only for matrices that share no element, in either order. It is false
    /// for all consecutive and all interleaved matrices. `elements` agrees with the largest offset
    /// of a batch.
    #[test]
    fn matrices_of_a_batch_share_no_element_or_overlap() {
        let (mut apart, mut shared) = (0, 0);
        for (rows, columns, batch) in
            [(1, 1, 2), (2, 3, 1), (2, 3, 2), (3, 2, 3), (4, 1, 3), (1, 4, 2), (0, 3, 2), (3, 3, 0)]
        {
            for (leading, stride) in (columns..columns + 9)
                .flat_map(|leading| (0..40).map(move |stride| (leading, stride)))
            {
                let view = View::new((), Order::Row, leading).batched(stride);
                let offsets: Vec<usize> = (0..batch * rows * columns)
                    .map(|i| {
                        i / columns / rows * stride + view.offset(i / columns % rows, i % columns)
                    })
                    .collect();
                let distinct = offsets.iter().collect::<BTreeSet<_>>().len() == offsets.len();
                let overlaps = view.overlaps((rows, columns), batch);
                assert_eq!(overlaps, view.transposed().overlaps((columns, rows), batch));
                assert!(distinct || overlaps, "{view:?} {rows} x {columns}, {batch}");
                let behind = stride >= (rows * leading).max(1);
                assert!(
                    !(overlaps && (behind || stride >= columns && batch * stride <= leading)),
                    "{view:?}"
                );
                assert_eq!(
                    view.elements((rows, columns), batch),
                    offsets.iter().max().map_or(0, |&last| last as u128 + 1)
                );
                *if overlaps { &mut shared } else { &mut apart } += 1;
            }
        }
        assert!(apart > 2000 && shared > 300, "{apart} {shared}");
        let packed = View::packed((), Order::Col, (3, 5), Some(4));
        assert_eq!((packed.strides, packed.batch_stride), ([1, 4], 20));
        assert!(!packed.overlaps((3, 5), 9) && packed.batched(18).overlaps((3, 5), 9));
    }
}
