//! A matrix that owns its elements.

use crate::{
    Error,
    device::{Host, MatMut, MatRef, Space, ViewGeometry},
    layout::Order,
    numeric::Element,
    refusal::Refusal,
};
use core::fmt;

/// A packed row-major matrix, in host memory or on a device.
///
/// ```
/// use falchion::prelude::*;
///
/// let identity = Mat::from_fn((2, 2), |row, column| f32::from(u8::from(row == column)))?;
/// let product = falchion::matmul(&[[1.0f32, 2.0], [3.0, 4.0]], &identity)?;
/// assert_eq!(product.elements(), [1.0, 2.0, 3.0, 4.0]);
/// # Ok::<(), falchion::Error>(())
/// ```
pub struct Mat<T: Element, S: Space = Host> {
    pub(crate) elements: S::Owned<T>,
    pub(crate) shape: (usize, usize),
}

impl<T: Element, S: Space> Mat<T, S> {
    /// Creates a matrix of zeros for work in a queue.
    ///
    /// # Errors
    /// [`Refusal`] if the number of elements overflows. The errors of [`Space::zeros`].
    pub(crate) fn zeros_in(queue: &S::Queue, shape: (usize, usize)) -> Result<Self, Error> {
        Ok(Self { elements: S::zeros(queue, length::<T>(shape)?)?, shape })
    }

    /// Returns the number of rows and the number of columns.
    pub fn shape(&self) -> (usize, usize) {
        self.shape
    }

    /// Returns a view of the matrix.
    pub fn view(&self) -> MatRef<'_, T, S> {
        let geometry = ViewGeometry::packed(self.shape, Order::Row);
        MatRef { memory: S::owned(&self.elements), geometry }
    }

    /// Returns a view that a call may write.
    pub fn view_mut(&mut self) -> MatMut<'_, T, S> {
        let geometry = ViewGeometry::packed(self.shape, Order::Row);
        MatMut { memory: S::owned_mut(&mut self.elements), geometry }
    }
}

impl<T: Element> Mat<T> {
    /// Creates a matrix of zeros.
    ///
    /// # Errors
    /// [`Refusal`] if the matrix cannot be allocated.
    pub fn zeros((rows, columns): (usize, usize)) -> Result<Self, Refusal> {
        let refusal = Refusal::matrix_too_large([rows, columns], T::KIND);
        Self::zeros_in(&(), (rows, columns)).map_err(|_| refusal)
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
    /// [`Refusal`] if the number of elements is not `rows * columns`.
    pub fn from_vec(elements: Vec<T>, (rows, columns): (usize, usize)) -> Result<Self, Refusal> {
        if Some(elements.len()) == rows.checked_mul(columns) {
            return Ok(Self { elements, shape: (rows, columns) });
        }
        Err(Refusal::wrong_length(elements.len(), [rows, columns]))
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
}

/// Returns the number of elements of a matrix.
///
/// # Errors
/// [`Refusal`] if the number overflows.
fn length<T: Element>((rows, columns): (usize, usize)) -> Result<usize, Refusal> {
    let refusal = Refusal::matrix_too_large([rows, columns], T::KIND);
    rows.checked_mul(columns).ok_or(refusal)
}

impl<T: Element> Clone for Mat<T> {
    fn clone(&self) -> Self {
        Self { elements: self.elements.clone(), shape: self.shape }
    }
}

impl<T: Element + PartialEq> PartialEq for Mat<T> {
    fn eq(&self, other: &Self) -> bool {
        self.shape == other.shape && self.elements == other.elements
    }
}

impl<T: Element, S: Space> fmt::Debug for Mat<T, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Mat").field(&self.view()).finish()
    }
}

impl<'a, T: Element, S: Space> From<&'a Mat<T, S>> for MatRef<'a, T, S> {
    fn from(mat: &'a Mat<T, S>) -> Self {
        mat.view()
    }
}

impl<'a, T: Element, S: Space> From<&'a mut Mat<T, S>> for MatMut<'a, T, S> {
    fn from(mat: &'a mut Mat<T, S>) -> Self {
        mat.view_mut()
    }
}
