//! Tensors: elements behind a layout, and CuTe's `copy` and `gemm` on the host.

use core::ops::{AddAssign, Deref, DerefMut, Mul};
use falchion::layout::algebra::{Coordinate, Layout, LayoutError};

/// Elements with the layout that addresses them: `engine[offset + layout(c)]`. The engine is
/// `&[T]`, or `&mut [T]` for writing.
///
/// ```
/// use falchion_lab::layout::tensor::{Tensor, copy};
/// let (from, mut to) = ([0, 1, 2, 3, 4, 5], [0; 6]);
/// let rows = Tensor::new(&from[..], "(2,3):(3,1)".parse()?)?;
/// copy(&rows, &mut Tensor::new(&mut to[..], "(2,3):(1,2)".parse()?)?)?;
/// assert_eq!(to, [0, 3, 1, 4, 2, 5]);
/// # Ok::<(), falchion::layout::algebra::LayoutError>(())
/// ```
#[derive(Debug)]
pub struct Tensor<E> {
    engine: E,
    offset: u64,
    layout: Layout,
}

impl<T, E: Deref<Target = [T]>> Tensor<E> {
    /// Returns the tensor of some elements.
    ///
    /// # Errors
    /// [`LayoutError`] if the layout extends beyond the elements.
    pub fn new(engine: E, layout: Layout) -> Result<Self, LayoutError> {
        let (length, cosize) = (engine.len() as u64, layout.cosize());
        if length < cosize {
            return Err(LayoutError::TensorTooShort { length, cosize });
        }
        Ok(Self { engine, offset: 0, layout })
    }

    /// Returns the element at a coordinate.
    ///
    /// # Errors
    /// [`LayoutError`] if the coordinate does not fit the shape, or is outside of it.
    pub fn get(&self, coordinate: impl Into<Coordinate>) -> Result<&T, LayoutError> {
        let offset = self.offset + self.layout.offset(coordinate)?;
        let length = self.engine.len() as u64;
        self.engine
            .get(offset as usize)
            .ok_or(LayoutError::TensorTooShort { length, cosize: offset.saturating_add(1) })
    }

    /// Borrows the elements with another layout and an offset, as [`Layout::local_partition`] and
    /// similar functions return them.
    ///
    /// # Errors
    /// [`LayoutError`] if the layout extends beyond the elements.
    pub fn view(&self, (layout, offset): (Layout, u64)) -> Result<Tensor<&[T]>, LayoutError> {
        let offset = self
            .offset
            .checked_add(offset)
            .ok_or(LayoutError::Overflow { what: "the offset of the tensor" })?;
        let elements: &[T] = &self.engine;
        let reach = offset
            .checked_add(layout.cosize())
            .ok_or(LayoutError::Overflow { what: "the reach of the tensor" })?;
        if reach > elements.len() as u64 {
            return Err(LayoutError::TensorTooShort {
                length: elements.len() as u64,
                cosize: reach,
            });
        }
        Ok(Tensor { engine: elements, offset, layout })
    }

    /// Returns the modes that the coordinate marks with `_`, for example `tAgA(_,_,k)`.
    ///
    /// # Errors
    /// The errors of [`Layout::slice`], and [`LayoutError`] for a coordinate without a `_`.
    pub fn slice(&self, coordinate: &Coordinate) -> Result<Tensor<&[T]>, LayoutError> {
        let (layout, offset) = self.layout.slice(coordinate)?;
        self.view((layout.ok_or(LayoutError::EmptyTuple)?, offset))
    }
}

impl<T, E: DerefMut<Target = [T]>> Tensor<E> {
    /// Returns the element at a coordinate for writing.
    ///
    /// # Errors
    /// [`LayoutError`] if the coordinate does not fit the shape, or is outside of it.
    pub fn get_mut(&mut self, coordinate: impl Into<Coordinate>) -> Result<&mut T, LayoutError> {
        let offset = self.offset + self.layout.offset(coordinate)?;
        let length = self.engine.len() as u64;
        self.engine
            .as_mut()
            .get_mut(offset as usize)
            .ok_or(LayoutError::TensorTooShort { length, cosize: offset.saturating_add(1) })
    }

    /// Borrows the elements for writing, as [`view`](Self::view) does for reading.
    ///
    /// # Errors
    /// [`LayoutError`] if the layout extends beyond the elements.
    pub fn view_mut(
        &mut self,
        (layout, offset): (Layout, u64),
    ) -> Result<Tensor<&mut [T]>, LayoutError> {
        let view = self.view((layout, offset))?;
        let (offset, layout) = (view.offset, view.layout);
        Ok(Tensor { engine: &mut *self.engine, offset, layout })
    }
}

/// Computes `to(i) = from(i)` for every integer `i` below their common size.
///
/// # Errors
/// [`LayoutError`] if the sizes differ.
pub fn copy<T: Clone, S: Deref<Target = [T]>, D: DerefMut<Target = [T]>>(
    from: &Tensor<S>,
    to: &mut Tensor<D>,
) -> Result<(), LayoutError> {
    let (left, right) = (from.layout.size(), to.layout.size());
    if left != right {
        return Err(LayoutError::SizesDiffer {
            what: "the sizes of the two sides of a copy",
            left,
            right,
        });
    }
    for index in 0..left {
        *to.get_mut(index)? = from.get(index)?.clone();
    }
    Ok(())
}

/// Computes `C(m, n) += sum over k of A(m, k) * B(n, k)`, for A `(M,K)`, B `(N,K)`, and C `(M,N)`.
/// This is CuTe's convention for B.
///
/// # Errors
/// [`LayoutError`] if a tensor does not have rank 2, or if extents differ.
pub fn gemm<T, A, B, C>(a: &Tensor<A>, b: &Tensor<B>, c: &mut Tensor<C>) -> Result<(), LayoutError>
where
    T: Copy + Mul<Output = T> + AddAssign,
    A: Deref<Target = [T]>,
    B: Deref<Target = [T]>,
    C: DerefMut<Target = [T]>,
{
    let ((m, k), (n, k_of_b), (m_of_c, n_of_c)) =
        (extents(&a.layout)?, extents(&b.layout)?, extents(&c.layout)?);
    for (what, left, right) in
        [("M of A and C", m, m_of_c), ("N of B and C", n, n_of_c), ("K of A and B", k, k_of_b)]
    {
        if left != right {
            return Err(LayoutError::SizesDiffer { what, left, right });
        }
    }
    for l in 0..k {
        for j in 0..n {
            for i in 0..m {
                *c.get_mut([i, j])? += *a.get([i, l])? * *b.get([j, l])?;
            }
        }
    }
    Ok(())
}

/// Returns the sizes of the two modes.
fn extents(layout: &Layout) -> Result<(u64, u64), LayoutError> {
    match layout.modes() {
        [rows, columns] => Ok((rows.size(), columns.size())),
        modes => Err(LayoutError::Rank {
            what: "gemm",
            layout: layout.to_string(),
            rank: modes.len(),
            wanted: 2,
        }),
    }
}
