//! A matrix in host memory whose element type is a value.

use super::{
    arguments::MatrixShape,
    space::{HostSlice, HostSliceMut},
};
use crate::{
    layout::Order,
    numeric::{Bf16, ElementKind, F16, Narrow, Tf32, Widen},
    refusal::Refusal,
    sys::memory::available_bytes,
};

/// Elements of a type known when the program runs.
#[derive(Clone, Debug)]
enum Elements {
    F64(Vec<f64>),
    F32(Vec<f32>),
    Tf32(Vec<f32>),
    F16(Vec<F16>),
    Bf16(Vec<Bf16>),
    I8(Vec<i8>),
    U8(Vec<u8>),
    I32(Vec<i32>),
}

/// Does one thing to the elements, whatever their type is: `$element` is the type, `$x` the vector.
macro_rules! with_elements {
    ($elements:expr, $element:ident, $x:ident => $do:expr) => {
        with_elements! { @ $elements, $element, $x => $do;
            F64(f64) F32(f32) Tf32(Tf32) F16(F16) Bf16(Bf16) I8(i8) U8(u8) I32(i32) }
    };
    (@ $elements:expr, $element:ident, $x:ident => $do:expr; F64($f64:ty) $($kind:ident($type:ty))*) => {
        match $elements {
            Elements::F64($x) => { type $element = $f64; $do }
            $(Elements::$kind($x) => { type $element = $type; $do })*
        }
    };
}

/// A `rows` x `columns` matrix with its memory.
#[derive(Clone, Debug)]
pub struct HostMatrix {
    kind: ElementKind,
    order: Order,
    rows: usize,
    columns: usize,
    leading: usize,
    elements: Elements,
}

impl HostMatrix {
    /// A matrix of zeros, as is what lies between its lines.
    ///
    /// # Errors
    ///
    /// [`Refusal::OutOfMemory`] when there is no room, [`Refusal::NoSuchCombination`] for elements that no kernel takes.
    pub fn zeros(kind: ElementKind, (rows, columns): (usize, usize), order: Order, leading: usize) -> Result<Self, Refusal> {
        let count = MatrixShape { order, leading, length: 0 }.elements(rows, columns);
        let needed = count.saturating_mul(u128::from(kind.bytes()));
        let too_much = || Refusal::OutOfMemory {
            needed: u64::try_from(needed).unwrap_or(u64::MAX),
            available: available_bytes().unwrap_or(isize::MAX as u64),
        };
        let count = usize::try_from(count).map_err(|_| too_much())?;
        fn room<T: Copy + Default>(count: usize, too_much: impl Fn() -> Refusal) -> Result<Vec<T>, Refusal> {
            let mut elements = Vec::new();
            elements.try_reserve_exact(count).map_err(|_| too_much())?;
            elements.resize(count, T::default());
            Ok(elements)
        }
        let elements = match kind {
            ElementKind::F64 => Elements::F64(room(count, too_much)?),
            ElementKind::F32 => Elements::F32(room(count, too_much)?),
            ElementKind::Tf32 => Elements::Tf32(room(count, too_much)?),
            ElementKind::F16 => Elements::F16(room(count, too_much)?),
            ElementKind::Bf16 => Elements::Bf16(room(count, too_much)?),
            ElementKind::I8 => Elements::I8(room(count, too_much)?),
            ElementKind::U8 => Elements::U8(room(count, too_much)?),
            ElementKind::I32 => Elements::I32(room(count, too_much)?),
            ElementKind::E4m3 | ElementKind::E5m2 => {
                return Err(Refusal::NoSuchCombination { a: kind, b: kind, accumulator: kind, c: kind });
            }
        };
        Ok(Self { kind, order, rows, columns, leading, elements })
    }

    /// The type of the elements.
    pub fn kind(&self) -> ElementKind {
        self.kind
    }

    /// Rows and columns.
    pub fn extents(&self) -> (usize, usize) {
        (self.rows, self.columns)
    }

    /// Layout, leading dimension, and how many elements there are.
    pub fn shape(&self) -> MatrixShape {
        let length = with_elements!(&self.elements, _Element, x => x.len());
        MatrixShape { order: self.order, leading: self.leading, length }
    }

    /// The elements, to be read.
    pub fn slice(&self) -> HostSlice<'_> {
        with_elements!(&self.elements, E, x => HostSlice::new::<E>(x))
    }

    /// The elements, to be written.
    pub fn slice_mut(&mut self) -> HostSliceMut<'_> {
        with_elements!(&mut self.elements, E, x => HostSliceMut::new::<E>(x))
    }

    /// Sets every element, rounded to nearest even, integers saturating: `next(row, column)` is called line by line of
    /// `order`, which need not be the matrix's.
    ///
    /// # Errors
    ///
    /// The first that `next` returns; the elements before it are set.
    pub fn try_fill<F>(&mut self, order: Order, mut next: impl FnMut(usize, usize) -> Result<f64, F>) -> Result<(), F> {
        let (lines, length) = (order.packed(self.columns, self.rows), order.packed(self.rows, self.columns));
        with_elements!(&mut self.elements, _Element, x => {
            for line in 0..lines {
                for along in 0..length {
                    let (row, column) = if order.is_row() { (line, along) } else { (along, line) };
                    let value = next(row, column)?;
                    if let Some(to) = x.get_mut(self.order.offset(row, column, self.leading)) {
                        *to = Narrow::narrow(value);
                    }
                }
            }
        });
        Ok(())
    }

    /// Every element, line by line of `order`, which need not be the matrix's.
    ///
    /// # Errors
    ///
    /// The first that `visit` returns.
    pub fn try_each<F>(&self, order: Order, mut visit: impl FnMut(f64) -> Result<(), F>) -> Result<(), F> {
        let (lines, length) = (order.packed(self.columns, self.rows), order.packed(self.rows, self.columns));
        with_elements!(&self.elements, _Element, x => {
            for line in 0..lines {
                for along in 0..length {
                    let (row, column) = if order.is_row() { (line, along) } else { (along, line) };
                    if let Some(&value) = x.get(self.order.offset(row, column, self.leading)) {
                        visit(Widen::<f64>::widen(value))?;
                    }
                }
            }
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::convert::Infallible;

    fn filled(kind: ElementKind, order: Order, values: &[f64]) -> HostMatrix {
        let mut matrix = HostMatrix::zeros(kind, (2, 3), order, 5).unwrap();
        matrix.try_fill(Order::Row, |row, column| Ok::<_, Infallible>(values[row * 3 + column])).unwrap();
        matrix
    }

    fn read(matrix: &HostMatrix, order: Order) -> Vec<f64> {
        let mut values = Vec::new();
        matrix
            .try_each(order, |x| {
                values.push(x);
                Ok::<_, Infallible>(())
            })
            .unwrap();
        values
    }

    #[test]
    fn elements_read_back_in_either_order() {
        for kind in ElementKind::ALL.into_iter().filter(|kind| !["e4m3", "e5m2"].contains(&kind.name())) {
            for order in [Order::Row, Order::Col] {
                let matrix = filled(kind, order, &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
                assert_eq!(read(&matrix, Order::Row), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
                assert_eq!(read(&matrix, Order::Col), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
                assert_eq!((matrix.slice().kind(), matrix.slice().length()), (kind, matrix.shape().length));
            }
        }
    }

    #[test]
    fn numbers_round_once_to_nearest_even() {
        // A hair above the tie between two binary16 numbers: binary32 would fall on the tie, and then to even.
        let above = 1.0 + 2f64.powi(-11) + 2f64.powi(-40);
        let values = [above, 1.0 + 2f64.powi(-11), 1.0 + 3.0 * 2f64.powi(-11), -above, 1e9, f64::NAN];
        let got = read(&filled(ElementKind::F16, Order::Row, &values), Order::Row);
        let step = 2f64.powi(-10);
        assert_eq!(got[..5], [1.0 + step, 1.0, 1.0 + 2.0 * step, -1.0 - step, f64::INFINITY]);
        assert!(got[5].is_nan());
        let got = read(&filled(ElementKind::I8, Order::Row, &[0.5, 1.5, -2.5, 300.0, -300.0, f64::NAN]), Order::Row);
        assert_eq!(got, [0.0, 2.0, -2.0, 127.0, -128.0, 0.0]);
    }

    #[test]
    fn a_matrix_without_room_is_refused() {
        for extents in [(usize::MAX, usize::MAX), (1 << 40, 1 << 20), (1 << 31, 1 << 31)] {
            let refusal = HostMatrix::zeros(ElementKind::F64, extents, Order::Row, extents.1).unwrap_err();
            assert!(matches!(refusal, Refusal::OutOfMemory { .. }), "{refusal}");
        }
        assert_eq!(HostMatrix::zeros(ElementKind::F64, (0, 1 << 40), Order::Row, 1 << 40).unwrap().shape().length, 0);
    }
}
