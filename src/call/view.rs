//! One matrix of a call: its memory, and where in that each element lies.

use crate::{layout::Order, numeric::ElementKind};

/// Memory of some elements.
pub trait Memory {
    /// How many there are.
    fn length(&self) -> usize;
    /// The address of the first.
    fn address(&self) -> u64;
}

/// Memory whose elements are of a type that is known.
pub trait TypedMemory: Memory {
    /// Their type.
    fn kind(&self) -> ElementKind;
}

/// Gives memory that has a number of elements, an address and a type as fields or functions of its own the traits.
macro_rules! memory {
    ($($Memory:ty),*) => {
        $(impl $crate::call::Memory for $Memory {
            fn length(&self) -> usize {
                self.length()
            }

            fn address(&self) -> u64 {
                self.address()
            }
        }

        impl $crate::call::TypedMemory for $Memory {
            fn kind(&self) -> $crate::numeric::ElementKind {
                self.kind()
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
}

impl Elements {
    /// As many as anybody asks for.
    pub const ALL: Self = Self::of(usize::MAX);

    /// So many, where allocations begin.
    pub const fn of(length: usize) -> Self {
        Self { length, address: 0 }
    }
}

impl Memory for Elements {
    fn length(&self) -> usize {
        self.length
    }

    fn address(&self) -> u64 {
        self.address
    }
}

/// A matrix in memory: element (i, j) lies `i * strides[0] + j * strides[1]` elements behind the first.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct View<M> {
    /// Its elements.
    pub memory: M,
    /// Elements from one row to the next, and from one column to the next.
    pub strides: [usize; 2],
}

impl<M> View<M> {
    /// A matrix of this order, whose rows or columns are so many elements apart.
    pub const fn new(memory: M, order: Order, leading: usize) -> Self {
        Self { memory, strides: if order.is_row() { [leading, 1] } else { [1, leading] } }
    }

    /// A matrix of this order and extents: packed, or of the leading dimension that is given.
    pub fn packed(memory: M, order: Order, (rows, columns): (usize, usize), leading: Option<usize>) -> Self {
        Self::new(memory, order, leading.unwrap_or(order.packed(rows, columns)))
    }

    /// The same matrix in other memory.
    pub fn with<N>(&self, memory: N) -> View<N> {
        View { memory, strides: self.strides }
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

    /// The order in which neighbours of a `rows` x `columns` matrix lie side by side: `preferred` where they do in both, as one row or column may;
    /// `None` where they do in neither.
    pub const fn order(&self, preferred: Order, (rows, columns): (usize, usize)) -> Option<Order> {
        let other = preferred.transposed();
        if self.is_of(preferred, (rows, columns)) || self.leading(other) == 1 && !self.is_of(other, (rows, columns)) {
            return Some(preferred);
        }
        if self.is_of(other, (rows, columns)) || self.leading(preferred) == 1 { Some(other) } else { None }
    }

    /// Whether it is a matrix of this order: lines are contiguous and do not overlap.
    const fn is_of(&self, order: Order, (rows, columns): (usize, usize)) -> bool {
        self.leading(order.transposed()) == 1 && self.leading(order) >= order.packed(rows, columns)
    }

    /// Elements from the first of `rows` x `columns` to the last.
    pub const fn elements(&self, rows: usize, columns: usize) -> u128 {
        if rows == 0 || columns == 0 {
            return 0;
        }
        let [down, across] = self.strides;
        ((rows as u128 - 1) * down as u128).saturating_add((columns as u128 - 1) * across as u128).saturating_add(1)
    }

    /// Where element (`row`, `column`) lies, in elements from the first on.
    pub const fn offset(&self, row: usize, column: usize) -> usize {
        row * self.strides[0] + column * self.strides[1]
    }
}
