//! Index lists of a call: gathered rows of A, gathered columns of B, and scattered rows of D.

use super::{Arguments, MatrixElements, NumberList, Placement, Readable, Space};
use crate::{
    layout::{Order, Orders},
    operand::{Elements, IndexList, Indices, LARGEST, Memory, line_strides, lines_held},
    shape::Axis,
};

/// Setters of the index lists: the matrix, the documentation, and the names of three setters.
macro_rules! index_lists {
    ($($(#[$doc:meta])* [$number:literal] $name:ident, $(#[$checked_doc:meta])* $checked:ident, $(#[$value_doc:meta])* $by_value:ident;)*) => {
        $($(#[$doc])*
        pub fn $name(mut self, indices: impl Readable<'a, u32, In = S>) -> Self {
            self.indices[$number] = Some(NumberList::InSpace(indices.view()));
            self
        }

        $(#[$checked_doc])*
        pub fn $checked(mut self, indices: impl Readable<'a, u32, In = S>) -> Self {
            self.indices[$number] = Some(NumberList::Checked(indices.view()));
            self
        }

        $(#[$value_doc])*
        pub fn $by_value(mut self, indices: &'a [u32]) -> Self {
            self.indices[$number] = Some(NumberList::ByValue(indices));
            self
        })*
    };
}

impl<'a, S: Space, A: MatrixElements, B: MatrixElements, C: MatrixElements>
    Arguments<'a, S, A, B, C>
{
    index_lists! {
        /// Gathers the rows of A: row `i` of the GEMM's A is row `indices[i]` of the matrix that
        /// the call passes. m indices are read, and a longer list is valid. All GEMMs of a batch
        /// share the list. Groups refer to gathered rows.
        ///
        /// The passed matrix has its own number of rows: that of its [`MatRef`], or as many rows as
        /// its memory holds with the leading dimension that the call sets. Without a leading
        /// dimension, the matrix is packed.
        ///
        /// The list is in the memory of the operands. The call checks a list in host memory. Only
        /// the kernel reads a list on a device, so an earlier kernel of a graph may write it. A row
        /// whose index is beyond the matrix is a row of zeros; the kernel reads nothing outside the
        /// matrix. A TMA-fed kernel reads gathered rows from a copy in the
        /// [workspace](Self::workspace).
        ///
        /// ```
        /// use falchion::prelude::*;
        ///
        /// let (table, b, mut d) = ([1.0f32, 2.0, 3.0, 4.0], [10.0f32, 20.0], [0.0f32; 6]);
        /// let gemm = Gemm::<f32>::new();
        /// // Rows 3, 0, and 3 of a table with four rows of one element.
        /// gemm.run(Arguments::new((3, 2, 1), &table, &b, &mut d).gather_a(&[3, 0, 3]))?;
        /// assert_eq!(d, [40.0, 80.0, 10.0, 20.0, 40.0, 80.0]);
        /// # Ok::<(), falchion::Error>(())
        /// ```
        ///
        /// [`MatRef`]: crate::device::MatRef
        #[doc(alias = "gather_A_indices")]
        [0] gather_a,
        /// Gathers the rows of A, as [`gather_a`](Self::gather_a) does, and also checks indices on
        /// a device, as [`groups_checked`](Self::groups_checked) checks offsets. The call refuses
        /// the first index that is beyond the matrix.
        gather_a_checked,
        /// Gathers the rows of A by indices in host memory, for operands in any memory. Kernel
        /// parameters carry the indices, as for [`groups_by_value`](Self::groups_by_value).
        gather_a_by_value;
        /// Gathers the columns of B: column `j` of the GEMM's B is column `indices[j]` of the
        /// matrix that the call passes, as [`gather_a`](Self::gather_a) gathers rows of A.
        #[doc(alias = "gather_B_indices")]
        [1] gather_b,
        /// Gathers the columns of B, and checks indices on a device, as
        /// [`gather_a_checked`](Self::gather_a_checked) does.
        gather_b_checked,
        /// Gathers the columns of B by indices in host memory, as
        /// [`gather_a_by_value`](Self::gather_a_by_value) does.
        gather_b_by_value;
        /// Scatters the rows of D: row `i` of the GEMM is row `indices[i]` of D. The epilogue reads
        /// C and auxiliary matrices at the same row. `bias_m` and `scale_m` have one value per row
        /// of the GEMM. Rows of D that are not in the list keep their values. D has its own number
        /// of rows, as A of [`gather_a`](Self::gather_a), and C has as many.
        ///
        /// The call refuses an index that occurs twice, unless only the kernel reads the list. The
        /// kernel then stores one of the rows. It stores no row whose index is beyond D. The
        /// kernel stores D by threads, not by TMA.
        ///
        /// ```
        /// use falchion::prelude::*;
        ///
        /// let (a, b, mut d) = ([1.0f32, 2.0], [10.0f32, 20.0], [7.0f32; 6]);
        /// let gemm = Gemm::<f32>::new();
        /// gemm.run(Arguments::new((2, 2, 1), &a, &b, &mut d).scatter_d(&[2, 0]))?;
        /// assert_eq!(d, [20.0, 40.0, 7.0, 7.0, 10.0, 20.0]);
        /// let twice = Arguments::new((2, 2, 1), &a, &b, &mut d).scatter_d(&[1, 1]);
        /// let told = gemm.run(twice).unwrap_err().to_string();
        /// assert!(told.starts_with("index 1 of D = 1 repeats index 0"), "{told}");
        /// # Ok::<(), falchion::Error>(())
        /// ```
        #[doc(alias = "scatter_D_indices")]
        [2] scatter_d,
        /// Scatters the rows of D, and checks indices on a device, as
        /// [`gather_a_checked`](Self::gather_a_checked) does. The call also refuses an index that
        /// occurs twice.
        scatter_d_checked,
        /// Scatters the rows of D by indices in host memory, as
        /// [`gather_a_by_value`](Self::gather_a_by_value) does.
        scatter_d_by_value;
    }

    /// Returns the index lists of the problem without data.
    pub(super) fn index_lists(&self, orders: Orders) -> Indices<Elements> {
        let ((_, n, k), [a, b, _, d]) = (self.extents, self.placements());
        let list = |number: usize, extent: &dyn Fn() -> usize| {
            let (length, read) = self.indices[number].as_ref()?.shape();
            Some(IndexList { read, ..IndexList::new(Elements::new(length), extent()) })
        };
        let batch = self.groups.as_ref().map_or(self.batch, |groups| groups.groups().count());
        let rows_of_a = || {
            let memory = A::elements(&self.a.memory);
            a.indexed_lines((memory, batch), (Axis::M, orders.a), k)
        };
        let columns_of_b = || {
            let memory = B::elements(&self.b.memory);
            b.indexed_lines((memory, batch), (Axis::N, orders.b), k)
        };
        let rows_of_d = || {
            let memory = C::elements_mut(&self.d.memory);
            d.indexed_lines((memory, batch), (Axis::M, orders.c), n)
        };
        Indices {
            operands: [list(0, &rows_of_a), list(1, &columns_of_b)],
            output: list(2, &rows_of_d).map(|list| (Axis::M, list)),
        }
    }

    /// Returns whether the call has an index list.
    pub(super) fn has_indices(&self) -> bool {
        self.indices.iter().any(Option::is_some)
    }

    /// Returns the rows of D, C, and auxiliary matrices that the call passes: m without a list.
    /// `shape` is the shape of a view.
    pub(super) fn rows_passed(&self, shape: Option<(usize, usize)>) -> usize {
        let scattered = self.indices[2].is_some();
        shape.filter(|_| scattered).map_or(self.extents.0, |(rows, _)| rows)
    }
}

impl Placement {
    /// Returns the number of lines along an axis that each matrix of a batch has. A line has
    /// `across` elements.
    fn indexed_lines(
        &self,
        (memory, batch): (Elements, usize),
        (lines, order): (Axis, Order),
        across: usize,
    ) -> usize {
        if let Some(view) = self.geometry {
            let (rows, columns) = view.shape;
            return if matches!(lines, Axis::N) { columns } else { rows };
        }
        // Lines without elements have no memory.
        if across == 0 {
            return LARGEST;
        }
        let strides = self.strides().map(|[down, across]| match lines {
            Axis::N => [across, down],
            _ => [down, across],
        });
        let leading = self.leading.map(|leading| line_strides(lines, order, leading));
        let strides = strides.or(leading);
        let length = memory.skip(self.first()).length();
        match self.batch_stride {
            _ if batch < 2 => lines_held(length, across, strides),
            Some(stride) => {
                let before = (batch - 1).saturating_mul(stride);
                lines_held(length.saturating_sub(before), across, strides)
            }
            // The matrices are consecutive, and the last line of each is whole.
            None => {
                let each = length / batch;
                let held = lines_held(each, across, strides);
                strides.map_or(held, |[between, _]| held.min(each / between.max(1)))
            }
        }
    }
}
