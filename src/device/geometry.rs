//! Geometry of a view: the index of each element in memory.

use crate::{
    layout::Order,
    operand::{AxisSplit, View},
    refusal::{Field, Operand, Refusal},
};
use core::ops::{Bound, Range, RangeBounds};

/// Geometry of a view. Element (i, j) has the index `first + i * strides[0] + j * strides[1]` in
/// the memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ViewGeometry {
    /// Index of element (0, 0) in the memory.
    pub first: usize,
    /// Rows and columns.
    pub shape: (usize, usize),
    /// Elements between neighboring rows, and between neighboring columns.
    pub strides: [isize; 2],
    /// Order of the view if its strides allow both orders, for example with one row or one column.
    pub order: Order,
    /// Whether lines of an input may overlap: the strides were set one by one.
    pub overlapping: bool,
    /// Splits of the rows, and of the columns.
    pub splits: [AxisSplit; 2],
}

/// Converts a stride to a signed number. No memory has more than `isize::MAX` elements.
fn signed(elements: usize) -> isize {
    isize::try_from(elements).unwrap_or(isize::MAX)
}

impl ViewGeometry {
    /// Returns the geometry of a packed matrix.
    pub fn packed((rows, columns): (usize, usize), order: Order) -> Self {
        let leading = signed(order.packed(rows, columns));
        let strides = if order.is_row() { [leading, 1] } else { [1, leading] };
        let splits = [AxisSplit::NONE; 2];
        Self { first: 0, shape: (rows, columns), strides, order, overlapping: false, splits }
    }

    /// Sets the leading dimension: the elements between rows of a row-major matrix, or between
    /// columns of a column-major one.
    pub fn with_leading(mut self, elements: usize) -> Self {
        self.strides[if self.order.is_row() { 0 } else { 1 }] = signed(elements);
        self
    }

    /// Sets the strides in elements. A single stride of 1 determines the order.
    pub fn with_strides(self, strides: [isize; 2]) -> Self {
        let order = match strides {
            [1, across] if across != 1 => Order::Col,
            [down, 1] if down != 1 => Order::Row,
            _ => self.order,
        };
        Self { strides, order, overlapping: true, ..self }
    }

    /// Splits the rows or the columns in groups of `inner` lines, which are `outer` elements apart.
    pub const fn with_split(mut self, axis: usize, inner: usize, outer: usize) -> Self {
        self.splits[axis] = AxisSplit { inner, outer };
        self
    }

    /// Returns whether rows or columns are split.
    pub const fn is_split(&self) -> bool {
        self.splits[0].is_some() || self.splits[1].is_some()
    }

    /// Returns the geometry of the transpose.
    pub const fn transposed(self) -> Self {
        let ((rows, columns), [down, across]) = (self.shape, self.strides);
        let (shape, strides) = ((columns, rows), [across, down]);
        let splits = [self.splits[1], self.splits[0]];
        Self { shape, strides, order: self.order.transposed(), splits, ..self }
    }

    /// Returns the geometry of some of the rows.
    ///
    /// # Errors
    /// [`Refusal`] if the range is not inside the matrix.
    pub fn rows(self, rows: impl RangeBounds<usize>) -> Result<Self, Refusal> {
        let range = inside(Field::RowsOfView, rows, self.shape.0)?;
        self.splits[0].check_start(Field::RowsOfView, range.start, self.shape.0)?;
        Ok(Self { shape: (range.len(), self.shape.1), ..self.at_index(range.start, 0) })
    }

    /// Returns the geometry of some of the columns.
    ///
    /// # Errors
    /// [`Refusal`] if the range is not inside the matrix.
    pub fn columns(self, columns: impl RangeBounds<usize>) -> Result<Self, Refusal> {
        let range = inside(Field::ColumnsOfView, columns, self.shape.1)?;
        self.splits[1].check_start(Field::ColumnsOfView, range.start, self.shape.1)?;
        Ok(Self { shape: (self.shape.0, range.len()), ..self.at_index(0, range.start) })
    }

    /// Returns the leading dimension in an order. `None` if the view does not have this order.
    pub fn leading(&self, order: Order) -> Option<usize> {
        let view = View::strided((), self.unsigned_strides(), order, self.shape);
        (view.order(order, self.shape) == Some(order)).then(|| view.leading(order))
    }

    /// Returns the order in which the elements are contiguous. If neither stride is 1, returns the
    /// order of the view; a call refuses such an A or B.
    pub fn contiguous_order(&self) -> Order {
        let view = View::strided((), self.unsigned_strides(), self.order, self.shape);
        view.order(self.order, self.shape).unwrap_or(self.order)
    }

    /// Returns the strides without their signs. [`check`](Self::check) refuses negative strides.
    pub fn unsigned_strides(&self) -> [usize; 2] {
        self.strides.map(isize::unsigned_abs)
    }

    /// Checks that the view has the shape of its operand, and that the call sets no strides for it.
    /// Strides must not be negative, except the stride of a single row or column.
    ///
    /// # Errors
    /// [`Refusal`] of a shape, of a negative stride, or of strides of a view.
    pub fn check(
        &self,
        operand: Operand,
        wanted: (usize, usize),
        set_by_call: bool,
    ) -> Result<(), Refusal> {
        let Self { shape, strides, .. } = *self;
        if shape != wanted {
            let [given, wanted] = [shape, wanted].map(|(rows, columns)| [rows, columns]);
            Err(Refusal::shape(operand, given, wanted))
        } else if strides[0] < 0 && shape.0 > 1 || strides[1] < 0 && shape.1 > 1 {
            // The kernel does not read the stride of a single row or column.
            Err(Refusal::negative_stride(operand, strides))
        } else if set_by_call {
            Err(Refusal::strides_of_view(operand))
        } else {
            Ok(())
        }
    }

    /// Returns the index of an element in the memory. `None` outside the matrix.
    pub fn index(&self, row: usize, column: usize) -> Option<usize> {
        let inside = row < self.shape.0 && column < self.shape.1;
        let [(groups, row), (runs, column)] =
            [self.splits[0].place(row), self.splits[1].place(column)];
        let down = signed(row).checked_mul(self.strides[0])?.checked_add(signed(groups))?;
        let across = signed(column).checked_mul(self.strides[1])?.checked_add(signed(runs))?;
        self.first.checked_add_signed(down.checked_add(across)?).filter(|_| inside)
    }

    fn at_index(self, row: usize, column: usize) -> Self {
        let [(groups, row), (runs, column)] =
            [self.splits[0].place(row), self.splits[1].place(column)];
        let down = signed(row).saturating_mul(self.strides[0]).saturating_add(signed(groups));
        let across = signed(column).saturating_mul(self.strides[1]).saturating_add(signed(runs));
        Self { first: self.first.saturating_add_signed(down.saturating_add(across)), ..self }
    }
}

/// Converts a range of lines to its start and its end, which must be inside `extent` lines.
fn inside(
    field: Field,
    range: impl RangeBounds<usize>,
    extent: usize,
) -> Result<Range<usize>, Refusal> {
    let start = match range.start_bound() {
        Bound::Included(&start) => start,
        Bound::Excluded(&before) => before.saturating_add(1),
        Bound::Unbounded => 0,
    };
    let end = match range.end_bound() {
        Bound::Included(&last) => last.saturating_add(1),
        Bound::Excluded(&end) => end,
        Bound::Unbounded => extent,
    };
    let out = |value: usize, least: usize| {
        Refusal::out_of_range(field, value as u64, least as u64, extent as u64)
    };
    if start > extent {
        Err(out(start, 0))
    } else if end < start || end > extent {
        Err(out(end, start))
    } else {
        Ok(start..end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every composition of sub-views and transposes addresses the elements of the matrix.
    #[test]
    fn sub_views_address_the_elements_of_the_matrix() {
        let whole = ViewGeometry::packed((7, 5), Order::Row).with_leading(9);
        let view = whole.rows(2..6).unwrap().columns(1..).unwrap();
        assert_eq!(view.shape, (4, 4));
        for (row, column) in (0..4).flat_map(|row| (0..4).map(move |column| (row, column))) {
            let index = Some((row + 2) * 9 + column + 1);
            assert_eq!(view.index(row, column), index);
            assert_eq!(view.transposed().index(column, row), index);
            let element = view.transposed().rows(column..=column).unwrap().columns(row..).unwrap();
            assert_eq!(element.index(0, 0), index);
        }
        assert_eq!([view.index(4, 0), view.index(0, 4)], [None; 2]);
        let reversed = ViewGeometry { first: 54, ..whole }.with_strides([-9, 1]);
        assert_eq!(reversed.rows(1..).unwrap().index(5, 4), Some(4));
        assert_eq!(whole.with_strides([1, 1]).order, Order::Row);
        assert_eq!(whole.with_strides([1, 7]).order, Order::Col);
    }

    #[test]
    fn ranges_outside_a_matrix_are_refused() {
        let whole = ViewGeometry::packed((7, 5), Order::Col);
        let range = |field, value, least, most| Refusal::out_of_range(field, value, least, most);
        assert_eq!(whole.rows(3..8), Err(range(Field::RowsOfView, 8, 3, 7)));
        assert_eq!(whole.columns(6..), Err(range(Field::ColumnsOfView, 6, 0, 5)));
        let (start, end) = (4, 2);
        assert_eq!(whole.columns(start..end), Err(range(Field::ColumnsOfView, 2, 4, 5)));
        assert_eq!(whole.rows(..=usize::MAX), Err(range(Field::RowsOfView, u64::MAX, 0, 7)));
        assert_eq!(whole.rows(7..).map(|view| view.shape), Ok((0, 5)));
    }
}
