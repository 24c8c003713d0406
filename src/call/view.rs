//! One matrix of a call: its memory, and where in that each element lies.

use crate::{layout::Order, numeric::ElementKind, operand::OperandKind};

/// Memory of some elements.
pub trait Memory {
    /// How many there are.
    fn length(&self) -> usize;
    /// The address of the first.
    fn address(&self) -> u64;
    /// The memory from one of the elements on.
    #[must_use]
    fn skip(self, elements: usize) -> Self
    where
        Self: Sized;
    /// Whether a launch takes the elements by value: they have no address where it runs.
    fn by_value(&self) -> bool {
        false
    }
    /// Type of the elements. `None` if a problem does not state the type.
    fn kind(&self) -> Option<ElementKind>;
}

/// Gives memory that has a number of elements, an address and a type as fields or functions of its
/// own the traits.
macro_rules! memory {
    ($($Memory:ty),*) => {
        $(impl $crate::call::Memory for $Memory {
            fn length(&self) -> usize {
                self.length()
            }

            fn address(&self) -> u64 {
                self.address()
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

/// So many elements at an address: all that is known of the memory of a problem without its data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Elements {
    /// How many.
    pub length: usize,
    /// The address of the first; 0 where allocations begin.
    pub address: u64,
    /// Type of the elements. `None` if the problem does not state the type.
    pub kind: Option<ElementKind>,
}

impl Elements {
    /// As many as anybody asks for.
    pub const ALL: Self = Self::of(usize::MAX);

    /// So many, where allocations begin.
    pub const fn of(length: usize) -> Self {
        Self { length, address: 0, kind: None }
    }

    /// Elements of a type, where allocations begin.
    pub const fn of_kind(length: usize, kind: ElementKind) -> Self {
        Self { kind: Some(kind), ..Self::of(length) }
    }
}

impl Memory for Elements {
    fn length(&self) -> usize {
        self.length
    }

    fn address(&self) -> u64 {
        self.address
    }

    /// The address stays, because elements without data have no size.
    fn skip(self, elements: usize) -> Self {
        Self { length: self.length.saturating_sub(elements), ..self }
    }

    fn kind(&self) -> Option<ElementKind> {
        self.kind
    }
}

/// A matrix in memory, or a batch of them: element (i, j) of matrix `b` lies `i * strides[0] + j *
/// strides[1] + b * batch_stride` elements behind the first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct View<M> {
    /// Its elements.
    pub memory: M,
    /// Elements from one row to the next, and from one column to the next.
    pub strides: [usize; 2],
    /// Elements from one matrix of a batch to the next; 0 where all are one.
    pub batch_stride: usize,
}

impl<M> View<M> {
    /// A matrix of this order, whose rows or columns are so many elements apart.
    pub const fn new(memory: M, order: Order, leading: usize) -> Self {
        Self {
            memory,
            strides: if order.is_row() { [leading, 1] } else { [1, leading] },
            batch_stride: 0,
        }
    }

    /// A matrix of this order and extents: packed, or of the leading dimension that is given. Those
    /// of a batch lie one behind another.
    pub fn packed(
        memory: M,
        order: Order,
        (rows, columns): (usize, usize),
        leading: Option<usize>,
    ) -> Self {
        Self::new(memory, order, leading.unwrap_or(order.packed(rows, columns)))
            .one_behind_another((rows, columns))
    }

    /// A matrix whose rows, and columns, are so many elements apart. Where there is one of either,
    /// the distance to the next is whatever makes the rest a matrix of this order, or of the other.
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
        Self { memory, strides, batch_stride: 0 }
    }

    /// A vector of an epilogue, as an m x n matrix: of one value a row of A its columns are all
    /// alike, of one a column of B its rows.
    pub const fn vector(memory: M, side: OperandKind) -> Self {
        Self {
            memory,
            strides: if matches!(side, OperandKind::A) { [1, 0] } else { [0, 1] },
            batch_stride: 0,
        }
    }

    /// The same matrix, and the others of its batch one behind another.
    #[must_use]
    pub fn one_behind_another(self, (rows, columns): (usize, usize)) -> Self {
        let [down, across] = self.strides;
        self.batched(rows.saturating_mul(down).max(columns.saturating_mul(across)))
    }

    /// The same matrix, and others of its batch so many elements apart.
    #[must_use]
    pub fn batched(self, batch_stride: usize) -> Self {
        Self { batch_stride, ..self }
    }

    /// The same matrix in other memory.
    pub fn with<N>(&self, memory: N) -> View<N> {
        View { memory, strides: self.strides, batch_stride: self.batch_stride }
    }

    /// The transpose of the same bytes.
    #[must_use]
    pub fn transposed(self) -> Self {
        Self { strides: [self.strides[1], self.strides[0]], ..self }
    }

    /// Elements between its rows, or columns, as a matrix of this order.
    pub const fn leading(&self, order: Order) -> usize {
        self.strides[if order.is_row() { 0 } else { 1 }]
    }

    /// The order in which neighbours of a `rows` x `columns` matrix lie side by side: `preferred`
    /// where they do in both, as one row or column may; `None` where they do in neither.
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

    /// Whether it is a matrix of this order: lines are contiguous and do not overlap.
    const fn is_of(&self, order: Order, (rows, columns): (usize, usize)) -> bool {
        self.leading(order.transposed()) == 1 && self.leading(order) >= order.packed(rows, columns)
    }

    /// Elements from the first of a batch of `rows` x `columns` matrices to the last.
    pub const fn elements(&self, (rows, columns): (usize, usize), batch: usize) -> u128 {
        if rows == 0 || columns == 0 || batch == 0 {
            return 0;
        }
        let [down, across] = self.strides;
        let (down, across) =
            ((rows as u128 - 1) * down as u128, (columns as u128 - 1) * across as u128);
        let before = (batch as u128 - 1) * self.batch_stride as u128;
        before.saturating_add(down).saturating_add(across).saturating_add(1)
    }

    /// Bytes from the first matrix of a batch to another.
    pub(crate) fn first_byte(&self, kind: ElementKind, number: usize) -> u64 {
        kind.matrix_bytes((number as u64).saturating_mul(self.batch_stride as u64))
    }

    /// Whether two matrices of a batch, which are contiguous along rows or columns, share an
    /// element: they may lie one behind another, and their rows or columns side by side.
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

    /// Where element (`row`, `column`) lies, in elements from the first on.
    pub const fn offset(&self, row: usize, column: usize) -> usize {
        row * self.strides[0] + column * self.strides[1]
    }
}

impl<M: Memory> View<M> {
    /// The same matrix without its data.
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

    /// `overlaps` is false of matrices alone that share no element, in either order, and of all
    /// that lie one behind another or side by side; the last element of a batch is where its offset
    /// says.
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
