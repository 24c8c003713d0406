//! A matrix in host memory whose element type is a run-time value.

use crate::resources::available_bytes;
use crate::verify::{
    Distribution, HostBuffer, batch_extents,
    number::{Number, with_element},
};
use falchion::{
    Error,
    internals::operand::{Elements, HostSlice, HostSliceMut, View},
    layout::Order,
    numeric::ElementKind,
    refusal::{Because, Operand, Refusal},
};

/// A `rows` x `columns` matrix with its memory, or a batch of consecutive matrices.
#[derive(Clone, Debug)]
pub struct HostMatrix {
    buffer: HostBuffer,
    order: Order,
    batch: usize,
    rows: usize,
    columns: usize,
    leading: usize,
}

impl HostMatrix {
    /// Returns a matrix of poison, including its gaps: NaN, or an integer at the end of the type's
    /// range.
    ///
    /// # Errors
    /// [`Refusal`] if the memory is not available.
    pub fn poisoned(
        kind: ElementKind,
        extents: (usize, usize),
        order: Order,
        leading: usize,
    ) -> Result<Self, Error> {
        Self::batch_of(1, kind, extents, order, leading)
    }

    /// Returns a batch of `batch` matrices of poison.
    ///
    /// # Errors
    /// The errors of [`poisoned`](Self::poisoned).
    pub fn batch_of(
        batch: usize,
        kind: ElementKind,
        (rows, columns): (usize, usize),
        order: Order,
        leading: usize,
    ) -> Result<Self, Error> {
        let count = View::packed((), order, (rows, columns), Some(leading))
            .elements((rows, columns), batch);
        let length = usize::try_from(count).map_err(|_| {
            Refusal::out_of_memory(u64::MAX, available_bytes().unwrap_or(isize::MAX as u64))
        })?;
        Ok(Self {
            buffer: HostBuffer::poisoned(kind, length)?,
            order,
            batch,
            rows,
            columns,
            leading,
        })
    }

    /// Returns the element type.
    pub fn kind(&self) -> ElementKind {
        self.buffer.kind()
    }

    /// Returns the number of matrices.
    pub fn batch(&self) -> usize {
        self.batch
    }

    /// Returns the rows and columns of a matrix.
    pub fn extents(&self) -> (usize, usize) {
        (self.rows, self.columns)
    }

    /// Returns the order of the elements.
    pub fn order(&self) -> Order {
        self.order
    }

    /// Returns the view of the elements. A single matrix is shared by all GEMMs of a batch.
    pub fn view(&self) -> View<Elements> {
        let one = View::new(Elements::new(self.buffer.length()), self.order, self.leading);
        if self.batch == 1 { one } else { one.one_behind_another(self.extents()) }
    }

    /// Returns the elements for reading.
    ///
    /// # Errors
    /// The errors of [`HostBuffer::slice`].
    pub fn slice(&self) -> Result<HostSlice<'_>, Error> {
        self.buffer.whole()
    }

    /// Returns the elements for writing.
    ///
    /// # Errors
    /// The errors of [`HostBuffer::slice_mut`].
    pub fn slice_mut(&mut self) -> Result<HostSliceMut<'_>, Error> {
        self.buffer.whole_mut()
    }

    /// Fills the matrix with random elements from a seed. The matrix is the same in every layout.
    ///
    /// # Errors
    /// The errors of [`Distribution::fill`].
    pub fn draw(&mut self, from: Distribution, seed: u64) -> Result<(), Error> {
        let view = self.view();
        let extents = batch_extents(&view, self.extents(), self.batch);
        from.fill(seed, self.slice_mut()?, &view, extents)
    }

    /// Returns a packed copy of some rows and columns, or of all. Row `i` of the copy is row
    /// `rows[i]`.
    ///
    /// # Errors
    /// The errors of [`poisoned`](Self::poisoned), and [`Refusal`] of a row or column beyond the
    /// matrix.
    pub fn selected(&self, rows: Option<&[u32]>, columns: Option<&[u32]>) -> Result<Self, Error> {
        let (kind, of) = (self.kind(), self.view());
        let count = |all: usize, list: Option<&[u32]>| list.map_or(all, <[u32]>::len);
        let extents = (count(self.rows, rows), count(self.columns, columns));
        let leading = self.order.packed(extents.0, extents.1);
        let mut copy = Self::batch_of(self.batch, kind, extents, self.order, leading)?;
        let (view, from) = (copy.view(), self.slice()?);
        let mut to = copy.slice_mut()?;
        let line = |list: Option<&[u32]>, i: usize| list.map_or(i, |list| list[i] as usize);
        let element = |first: usize| {
            let byte = |element: usize| kind.matrix_bytes(element as u64) as usize;
            byte(first)..byte(first + 1)
        };
        for number in 0..self.batch {
            for (i, j) in (0..extents.0).flat_map(|i| (0..extents.1).map(move |j| (i, j))) {
                let place = of.offset(line(rows, i), line(columns, j)) + number * of.batch_stride;
                let beyond = Refusal::overflow(Operand::Tensor, Because::None);
                let bytes = from.bytes().get(element(place)).ok_or(beyond)?;
                let place = view.offset(i, j) + number * view.batch_stride;
                to.bytes_mut()[element(place)].copy_from_slice(bytes);
            }
        }
        Ok(copy)
    }

    /// Returns the row, the column, and the place of every element. The indices (matrix, row,
    /// column) follow numpy's C order ([`Order::Row`]) or Fortran order, which may differ from the
    /// order of the matrix.
    fn places(&self, order: Order) -> impl Iterator<Item = (usize, usize, usize)> + use<> {
        let (by_row, view) = (order.is_row(), self.view());
        let Self { batch, rows, columns, .. } = *self;
        let (outer, inner) = if by_row { (batch, columns) } else { (columns, batch) };
        (0..outer).flat_map(move |first| {
            (0..rows).flat_map(move |row| {
                (0..inner).map(move |last| {
                    let (number, column) = if by_row { (first, last) } else { (last, first) };
                    (row, column, view.offset(row, column) + number * view.batch_stride)
                })
            })
        })
    }

    /// Sets every element, rounded to nearest even. Integers saturate, and infinities stay
    /// infinite. Calls `next(row, column)` in C order or in Fortran order, which may differ from
    /// the order of the matrix. Returns the number of elements that rounding changed.
    ///
    /// # Errors
    /// The first error of `next`. The elements before it are set.
    pub fn try_fill<F: From<Error> + From<Refusal>>(
        &mut self,
        order: Order,
        mut next: impl FnMut(usize, usize) -> Result<f64, F>,
    ) -> Result<u64, F> {
        let (kind, places) = (self.kind(), self.places(order));
        let slice = self.slice_mut()?;
        let set = |elements: &mut dyn FnMut(usize, f64) -> bool| {
            let mut rounded = 0;
            for (row, column, place) in places {
                rounded += u64::from(elements(place, next(row, column)?));
            }
            Ok(rounded)
        };
        // Sets an element, and returns whether rounding changed it.
        fn writer<E: Number>(
            slice: HostSliceMut<'_>,
        ) -> Result<impl FnMut(usize, f64) -> bool, Error> {
            let elements = slice.elements::<E>()?;
            Ok(|place: usize, x: f64| match elements.get_mut(place) {
                Some(element) => {
                    *element = E::given(x);
                    E::exact(*element) != x && !x.is_nan()
                }
                None => false,
            })
        }
        with_element!(kind, E => set(&mut writer::<E>(slice)?))
    }

    /// Visits every element in C order or in Fortran order, which may differ from the order of the
    /// matrix.
    ///
    /// # Errors
    /// The first error of `visit`.
    pub fn try_each<F: From<Error> + From<Refusal>>(
        &self,
        order: Order,
        mut visit: impl FnMut(f64) -> Result<(), F>,
    ) -> Result<(), F> {
        let (slice, places) = (self.slice()?, self.places(order));
        let each = |element: &dyn Fn(usize) -> Option<f64>| {
            for (_, _, place) in places {
                if let Some(x) = element(place) {
                    visit(x)?;
                }
            }
            Ok(())
        };
        fn reader<E: Number>(slice: HostSlice<'_>) -> Result<impl Fn(usize) -> Option<f64>, Error> {
            let elements = slice.elements::<E>()?;
            Ok(|place: usize| elements.get(place).map(|&x| E::exact(x)))
        }
        with_element!(self.kind(), E => each(&reader::<E>(slice)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use falchion::refusal::Field;

    fn filled(kind: ElementKind, order: Order, values: &[f64]) -> HostMatrix {
        let mut matrix = HostMatrix::poisoned(kind, (2, 3), order, 5).unwrap();
        matrix
            .try_fill(Order::Row, |row, column| Ok::<_, Error>(values[row * 3 + column]))
            .unwrap();
        matrix
    }

    fn read(matrix: &HostMatrix, order: Order) -> Vec<f64> {
        let mut values = Vec::new();
        matrix
            .try_each(order, |x| {
                values.push(x);
                Ok::<_, Error>(())
            })
            .unwrap();
        values
    }

    #[test]
    fn elements_read_back_in_either_order() {
        for kind in ElementKind::ALL {
            for order in [Order::Row, Order::Col] {
                let matrix = filled(kind, order, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
                assert_eq!(read(&matrix, Order::Row), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
                assert_eq!(read(&matrix, Order::Col), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
                assert_eq!(
                    (matrix.slice().unwrap().kind(), matrix.slice().unwrap().length()),
                    (kind, matrix.view().memory.length)
                );
            }
        }
    }

    #[test]
    fn numbers_round_once_to_nearest_even() {
        // A number just above the tie between two binary16 numbers. A conversion through binary32
        // would land on the tie, and then round to even.
        let above = 1.0 + 2f64.powi(-11) + 2f64.powi(-40);
        let values =
            [above, 1.0 + 2f64.powi(-11), 1.0 + 3.0 * 2f64.powi(-11), -above, 1e9, f64::NAN];
        let got = read(&filled(ElementKind::F16, Order::Row, &values), Order::Row);
        let step = 2f64.powi(-10);
        assert_eq!(got[..5], [1.0 + step, 1.0, 1.0 + 2.0 * step, -1.0 - step, f64::INFINITY]);
        assert!(got[5].is_nan());
        let got = read(&filled(ElementKind::Tf32, Order::Row, &values), Order::Row);
        assert_eq!(got[..5], [1.0 + step, 1.0, 1.0 + 2.0 * step, -1.0 - step, 999_817_216.0]);
        // Ties of e4m3 are midpoints of eighths, and 448 is the largest number.
        let values = [1.0625 + 2f64.powi(-40), 1.0625, 1.1875, -1e9, f64::INFINITY, f64::NAN];
        let got = read(&filled(ElementKind::E4m3, Order::Row, &values), Order::Row);
        assert_eq!(got[..5], [1.125, 1.0, 1.25, -448.0, 448.0]);
        assert!(got[5].is_nan());
        let got = read(
            &filled(ElementKind::I8, Order::Row, &[0.5, 1.5, -2.5, 300.0, -300.0, f64::NAN]),
            Order::Row,
        );
        assert_eq!(got, [0.0, 2.0, -2.0, 127.0, -128.0, 0.0]);
    }

    /// e4m3 has no infinity.
    #[test]
    fn infinities_stay_infinite_where_the_type_has_them() {
        let values = [f64::INFINITY, f64::NEG_INFINITY, 1e9, -1e9, 57_344.0, 1.0];
        let got = read(&filled(ElementKind::E5m2, Order::Row, &values), Order::Row);
        assert_eq!(got, [f64::INFINITY, f64::NEG_INFINITY, 57_344.0, -57_344.0, 57_344.0, 1.0]);
        let got = read(&filled(ElementKind::E4m3, Order::Row, &values), Order::Row);
        assert_eq!(got[..2], [448.0, -448.0]);
    }

    /// Fills 2 matrices of 2 x 3 with the indices (matrix, row, column), whose last or first index
    /// is the fastest.
    #[test]
    fn a_batch_is_filled_in_c_order_and_in_fortran_order() {
        for own in [Order::Row, Order::Col] {
            let mut batch = HostMatrix::batch_of(2, ElementKind::I32, (2, 3), own, 4).unwrap();
            let mut next = 0.0;
            let mut count = |_, _| {
                next += 1.0;
                Ok::<_, Error>(next)
            };
            batch.try_fill(Order::Row, &mut count).unwrap();
            assert_eq!(read(&batch, Order::Row), (1..=12).map(f64::from).collect::<Vec<_>>());
            assert_eq!(
                read(&batch, Order::Col),
                [1., 7., 4., 10., 2., 8., 5., 11., 3., 9., 6., 12.]
            );
            let [first, second] =
                [0, 1].map(|number| own.offset(1, 2, 4) + number * own.packed(3, 2) * 4);
            let elements = batch.slice().unwrap().elements::<i32>().unwrap();
            assert_eq!((elements[first], elements[second], elements.len()), (6, 12, second + 1));
        }
    }

    #[test]
    fn a_matrix_beyond_the_memory_is_refused() {
        for extents in [(usize::MAX, usize::MAX), (1 << 40, 1 << 20), (1 << 31, 1 << 31)] {
            let error =
                HostMatrix::poisoned(ElementKind::F64, extents, Order::Row, extents.1).unwrap_err();
            assert!(
                error.refusal().is_some_and(|refusal| refusal.field == Field::HostMemory),
                "{error}"
            );
        }
        assert_eq!(
            HostMatrix::poisoned(ElementKind::F64, (0, 1 << 40), Order::Row, 1 << 40)
                .unwrap()
                .view()
                .memory
                .length,
            0
        );
    }
}
