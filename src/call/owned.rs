//! A matrix that owns its elements.

use super::{MatMut, MatRef};
use crate::{numeric::Element, refusal::Refusal};

/// A packed row-major matrix in host memory.
///
/// ```
/// use falchion::prelude::*;
///
/// let identity = Mat::from_fn((2, 2), |row, column| f32::from(u8::from(row == column)))?;
/// let product = falchion::matmul(&[[1.0f32, 2.0], [3.0, 4.0]], &identity)?;
/// assert_eq!(product.elements(), [1.0, 2.0, 3.0, 4.0]);
/// # Ok::<(), falchion::Error>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Mat<T> {
    elements: Vec<T>,
    shape: (usize, usize),
}

impl<T: Element> Mat<T> {
    /// Creates a matrix of zeros.
    ///
    /// # Errors
    /// [`Refusal::MatrixTooLarge`] if the matrix cannot be allocated.
    pub fn zeros((rows, columns): (usize, usize)) -> Result<Self, Refusal> {
        let refusal = Refusal::MatrixTooLarge { extents: [rows, columns], element: T::KIND };
        let length = rows.checked_mul(columns).ok_or(refusal)?;
        let elements = bytemuck::allocation::try_zeroed_slice_box(length).map_err(|()| refusal)?;
        Ok(Self { elements: elements.into_vec(), shape: (rows, columns) })
    }

    /// Creates a matrix from a function of row and column.
    ///
    /// # Errors
    /// The errors of [`zeros`](Self::zeros).
    pub fn from_fn(
        shape: (usize, usize),
        element: impl Fn(usize, usize) -> T,
    ) -> Result<Self, Refusal> {
        let mut mat = Self::zeros(shape)?;
        for (index, to) in mat.elements.iter_mut().enumerate() {
            *to = element(index / shape.1, index % shape.1);
        }
        Ok(mat)
    }

    /// Creates a matrix from its elements, row by row.
    ///
    /// # Errors
    /// [`Refusal::WrongLength`] if the number of elements is not `rows * columns`.
    pub fn from_vec(elements: Vec<T>, (rows, columns): (usize, usize)) -> Result<Self, Refusal> {
        if Some(elements.len()) == rows.checked_mul(columns) {
            return Ok(Self { elements, shape: (rows, columns) });
        }
        Err(Refusal::WrongLength { length: elements.len(), extents: [rows, columns] })
    }

    /// Returns the number of rows and the number of columns.
    pub fn shape(&self) -> (usize, usize) {
        self.shape
    }

    /// Returns the elements, row by row.
    pub fn elements(&self) -> &[T] {
        &self.elements
    }

    /// Returns the elements, row by row.
    pub fn into_vec(self) -> Vec<T> {
        self.elements
    }

    /// Returns an element. `None` outside the matrix.
    pub fn get(&self, row: usize, column: usize) -> Option<T> {
        self.view().get(row, column)
    }

    /// Returns a view of the matrix.
    pub fn view(&self) -> MatRef<'_, T> {
        MatRef::new(&self.elements, self.shape)
    }

    /// Returns a view that a call may write.
    pub fn view_mut(&mut self) -> MatMut<'_, T> {
        MatMut::new(&mut self.elements, self.shape)
    }
}

impl<'a, T: Element> From<&'a Mat<T>> for MatRef<'a, T> {
    fn from(mat: &'a Mat<T>) -> Self {
        mat.view()
    }
}

impl<'a, T: Element> From<&'a mut Mat<T>> for MatMut<'a, T> {
    fn from(mat: &'a mut Mat<T>) -> Self {
        mat.view_mut()
    }
}
