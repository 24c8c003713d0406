//! Views of matrices in host or device memory.

use crate::{
    device::{
        AnySlice, AnySliceMut, EpilogueMemory, Host, OperandView, Readable, Space, ViewGeometry,
        Writable,
        space::{EpilogueInput, EpilogueOutput, OperandA, OperandB, OperandC, OperandD},
    },
    layout::Order,
    numeric::{Element, MathType},
    refusal::Refusal,
};
use core::{fmt, ops::RangeBounds};

macro_rules! views {
    ($($(#[$doc:meta])* $View:ident of $view:ident, $Memory:ident, $shorter:ident;)*) => {
        $($(#[$doc])*
        pub struct $View<'a, T: Element, S: Space = Host> {
            pub(crate) memory: S::$view<'a, T>,
            pub(crate) geometry: ViewGeometry,
        }

        impl<'a, T: Element, S: Space> $View<'a, T, S> {
            /// Creates the view of a packed row-major matrix of `rows` x `columns` elements. A call
            /// refuses memory that is too short.
            pub fn new(
                memory: impl $Memory<'a, T, In = S>,
                (rows, columns): (usize, usize),
            ) -> Self {
                let geometry = ViewGeometry::packed((rows, columns), Order::Row);
                Self { memory: memory.view(), geometry }
            }

            /// Creates the view of a packed column-major matrix of `rows` x `columns` elements.
            pub fn col_major(
                memory: impl $Memory<'a, T, In = S>,
                (rows, columns): (usize, usize),
            ) -> Self {
                let geometry = ViewGeometry::packed((rows, columns), Order::Col);
                Self { memory: memory.view(), geometry }
            }

            /// Sets the leading dimension in elements: the distance between the rows of a row-major
            /// matrix, or between the columns of a column-major matrix.
            #[must_use]
            pub fn ld(mut self, elements: usize) -> Self {
                self.geometry = self.geometry.with_leading(elements);
                self
            }

            /// Sets the strides in elements: from a row to the next, and from a column to the next.
            /// A call requires that one stride of A and of B is 1, and refuses a negative stride.
            /// Rows or columns of A and B may overlap; a stride of 0 repeats one row or column.
            #[must_use]
            pub fn strides(mut self, rows: isize, columns: isize) -> Self {
                self.geometry = self.geometry.with_strides([rows, columns]);
                self
            }

            /// Splits the rows in groups of `inner` rows. Neighboring groups are `outer` elements
            /// apart, and neighboring rows of a group are one row stride apart. With
            /// [`split_columns`](Self::split_columns), a permuted tensor is a matrix, as of
            /// CUTLASS's `PermuteDLayout`.
            ///
            /// ```
            /// use falchion::prelude::*;
            ///
            /// // D has 2 batches of 2 tokens, and 2 heads of 1 feature. It is stored as
            /// // (batch, head, token, feature), so tokens are 1 and heads are 2 elements apart.
            /// let (a, b, mut d) = ([1.0f32, 2.0, 3.0, 4.0], [1.0f32, 10.0], [0.0f32; 8]);
            /// let view = MatMut::new(&mut d, (4, 2)).strides(1, 2).split_rows(2, 4);
            /// falchion::gemm(MatRef::new(&a, (4, 1)), MatRef::new(&b, (1, 2)), view)?;
            /// assert_eq!(d, [1.0, 2.0, 10.0, 20.0, 3.0, 4.0, 30.0, 40.0]);
            /// # Ok::<(), falchion::Error>(())
            /// ```
            #[doc(alias = "permute")]
            #[must_use]
            pub fn split_rows(mut self, inner: usize, outer: usize) -> Self {
                self.geometry = self.geometry.with_split(0, inner, outer);
                self
            }

            /// Splits the columns in groups of `inner` columns, as
            /// [`split_rows`](Self::split_rows) splits rows.
            #[must_use]
            pub fn split_columns(mut self, inner: usize, outer: usize) -> Self {
                self.geometry = self.geometry.with_split(1, inner, outer);
                self
            }

            /// Returns the transpose. No element moves.
            #[must_use]
            pub fn t(mut self) -> Self {
                self.geometry = self.geometry.transposed();
                self
            }

            /// Returns a view of some of the rows.
            ///
            /// # Errors
            /// [`Refusal`] if the range is not inside the matrix.
            pub fn rows(mut self, rows: impl RangeBounds<usize>) -> Result<Self, Refusal> {
                self.geometry = self.geometry.rows(rows)?;
                Ok(self)
            }

            /// Returns a view of some of the columns.
            ///
            /// # Errors
            /// [`Refusal`] if the range is not inside the matrix.
            pub fn columns(mut self, columns: impl RangeBounds<usize>) -> Result<Self, Refusal> {
                self.geometry = self.geometry.columns(columns)?;
                Ok(self)
            }

            /// Returns the view with a shorter lifetime.
            pub(crate) fn shorter<'s>(self) -> $View<'s, T, S>
            where
                'a: 's,
            {
                $View { memory: S::$shorter(self.memory), geometry: self.geometry }
            }

            /// Returns the number of rows and the number of columns.
            pub fn shape(&self) -> (usize, usize) {
                self.geometry.shape
            }
        }

        impl<T: Element, S: Space> fmt::Debug for $View<'_, T, S> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($View))
                    .field("shape", &self.geometry.shape)
                    .field("strides", &self.geometry.strides)
                    .field("element", &T::KIND)
                    .finish_non_exhaustive()
            }
        })*
    };
}

views! {
    /// A matrix that a call reads: memory, shape, and strides.
    ///
    /// ```
    /// use falchion::prelude::*;
    ///
    /// // The middle columns of a 2 x 4 matrix, transposed.
    /// let a = [1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0];
    /// let view = MatRef::new(&a, (2, 4)).columns(1..3)?.t();
    /// assert_eq!((view.shape(), view.get(1, 0)), ((2, 2), Some(3.0)));
    /// # Ok::<(), falchion::Refusal>(())
    /// ```
    MatRef of Ref, Readable, shorter;
    /// A matrix that a call writes, like [`MatRef`].
    MatMut of Mut, Writable, shorter_mut;
}

impl<T: Element, S: Space> Clone for MatRef<'_, T, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Element, S: Space> Copy for MatRef<'_, T, S> {}

impl<T: Element> MatRef<'_, T> {
    /// Returns an element. `None` outside the matrix or beyond its memory.
    pub fn get(&self, row: usize, column: usize) -> Option<T> {
        self.memory.get(self.geometry.index(row, column)?).copied()
    }
}

impl<T: Element> MatMut<'_, T> {
    /// Returns an element. `None` outside the matrix or beyond its memory.
    pub fn get(&self, row: usize, column: usize) -> Option<T> {
        self.memory.get(self.geometry.index(row, column)?).copied()
    }

    /// Returns the view with a shorter lifetime, for several calls with the same D.
    ///
    /// ```
    /// use falchion::prelude::*;
    /// let (a, mut d) = ([1.0f32, 2.0, 3.0, 4.0], [0.0f32; 4]);
    /// let (x, mut y) = (MatRef::new(&a, (2, 2)), MatMut::new(&mut d, (2, 2)));
    /// falchion::gemm(x, x, y.reborrow())?;
    /// assert_eq!(y.get(1, 1), Some(22.0));
    /// falchion::gemm(x, x, y)?;
    /// # Ok::<(), falchion::Error>(())
    /// ```
    pub fn reborrow(&mut self) -> MatMut<'_, T> {
        MatMut { memory: &mut *self.memory, geometry: self.geometry }
    }
}

impl<'a, T: Element, const ROWS: usize, const COLUMNS: usize> From<&'a [[T; COLUMNS]; ROWS]>
    for MatRef<'a, T>
{
    fn from(rows: &'a [[T; COLUMNS]; ROWS]) -> Self {
        Self::new(rows.as_flattened(), (ROWS, COLUMNS))
    }
}

impl<'a, T: Element, const ROWS: usize, const COLUMNS: usize> From<&'a mut [[T; COLUMNS]; ROWS]>
    for MatMut<'a, T>
{
    fn from(rows: &'a mut [[T; COLUMNS]; ROWS]) -> Self {
        Self::new(rows.as_flattened_mut(), (ROWS, COLUMNS))
    }
}

/// Implements the operand traits for views.
macro_rules! operands {
    ($($Operand:ident from $View:ident as $view:ident;)*) => {
        // Without the attribute, the compiler recommends a view for every invalid operand.
        $(#[diagnostic::do_not_recommend]
        impl<'a, 'b: 'a, T: Element, E: MathType<Storage = T>, S: Space> $Operand<'a, E, S>
            for $View<'b, T, S>
        {
            fn placed(self) -> OperandView<S::$view<'a, T>> {
                let view = self.shorter();
                OperandView::new(view.memory, Some(view.geometry))
            }
        })*
    };
}

#[diagnostic::do_not_recommend]
impl<'a, 'b: 'a, T: Element, S: Space> EpilogueInput<'a, S> for MatRef<'b, T, S> {
    fn placed(self) -> OperandView<EpilogueMemory<'a, S>> {
        let view = self.shorter();
        let memory = EpilogueMemory::Read(AnySlice::from_matrix::<T>(view.memory));
        OperandView::new(memory, Some(view.geometry))
    }
}

#[diagnostic::do_not_recommend]
impl<'a, 'b: 'a, T: Element, S: Space> EpilogueOutput<'a, S> for MatMut<'b, T, S> {
    fn placed(self) -> OperandView<EpilogueMemory<'a, S>> {
        let view = self.shorter();
        let memory = EpilogueMemory::Written(Some(AnySliceMut::from_matrix::<T>(view.memory)));
        OperandView::new(memory, Some(view.geometry))
    }
}

operands! {
    OperandA from MatRef as Ref;
    OperandB from MatRef as Ref;
    OperandC from MatRef as Ref;
    OperandD from MatMut as Mut;
}
