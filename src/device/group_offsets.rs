//! Group offsets of a grouped GEMM: their axis, and the setters of a call.

use crate::{
    device::{
        Arguments, NumberList,
        space::{MatrixElements, Readable, Space},
    },
    operand::{Elements, Groups},
    shape::Axis,
};

/// The group offsets of a grouped GEMM.
pub(crate) struct Offsets<'a, S: Space> {
    /// Axis along which the groups lie, in the user's frame.
    pub axis: Axis,
    /// The offsets, one more than groups.
    pub list: NumberList<'a, S>,
}

impl<S: Space> Offsets<'_, S> {
    /// Returns the groups of the problem.
    pub(crate) fn groups(&self) -> Groups<Elements> {
        let (length, read) = self.list.shape();
        Groups { read, ..Groups::with_count(self.axis, length.saturating_sub(1)) }
    }
}

/// Setters of group offsets in the memory of the operands: the axis of the groups, and the reader.
macro_rules! offsets {
    ($($(#[$doc:meta])* $name:ident($Axis:ident, $Memory:ident);)*) => {
        $($(#[$doc])*
        pub fn $name(mut self, offsets: impl Readable<'a, u32, In = S>) -> Self {
            let list = NumberList::$Memory(offsets.view());
            self.groups = Some(Offsets { axis: Axis::$Axis, list });
            self
        })*
    };
}

impl<'a, S: Space, A: MatrixElements, B: MatrixElements, C: MatrixElements>
    Arguments<'a, S, A, B, C>
{
    offsets! {
        /// Sets the group offsets of a grouped GEMM. G groups need G + 1 offsets. Group `i`
        /// multiplies rows `offsets[i]` to `offsets[i + 1]` of A by the `i`-th B, and writes the
        /// same rows of D. The Bs are one [batch stride](Self::batch_stride_b) apart. Groups may be
        /// empty. Rows outside all groups keep their values. m counts all rows of A and D.
        /// [`bias_m`](Self::bias_m) has one value per row of D. All groups share
        /// [`bias_n`](Self::bias_n).
        ///
        /// The offsets are in the memory of the operands.
        /// [`groups_by_value`](Self::groups_by_value) accepts host offsets for device operands. The
        /// call checks offsets in host memory. Only the kernel reads offsets on a device, so an
        /// earlier kernel of a graph may write the offsets. An invalid offset on a device makes
        /// groups shorter or empty. The kernel writes nothing outside D.
        /// [`groups_checked`](Self::groups_checked) finds invalid offsets. Grouped GEMM does not
        /// split K.
        ///
        /// ```
        /// use falchion::prelude::*;
        ///
        /// // Three experts: two rows of A use the first, none the second, and one the third.
        /// let (a, experts, mut d) = (vec![1.0f32; 3 * 4], vec![2.0f32; 3 * 20], vec![0.0f32; 3 * 5]);
        /// let gemm = Gemm::<f32>::new();
        /// gemm.run(Arguments::new((3, 5, 4), &a, &experts, &mut d).groups(&[0, 2, 2, 3]))?;
        /// assert_eq!(d, [8.0; 15]);
        /// # Ok::<(), falchion::Error>(())
        /// ```
        #[doc(alias = "moe")]
        #[doc(alias = "grouped")]
        groups(M, InSpace);
        /// Sets the group offsets, as [`groups`](Self::groups) does, and also checks offsets on a
        /// device. To check the offsets, the call copies them to the host, so it waits for the
        /// stream. Stream capture refuses the call. The call refuses the first offset that descends
        /// or exceeds m. Use `groups_checked` to debug offsets that a kernel writes.
        ///
        /// ```
        /// use falchion::prelude::*;
        ///
        /// let (a, experts, mut d) = (vec![1.0f32; 3 * 4], vec![2.0f32; 2 * 20], vec![0.0f32; 3 * 5]);
        /// let gemm = Gemm::<f32>::new();
        /// let told = gemm.run(Arguments::new((3, 5, 4), &a, &experts, &mut d).groups_checked(&[0, 4, 3])).unwrap_err();
        /// assert_eq!(told.to_string(), "offset 1 of the groups = 4 is outside 0 to 3; try 3");
        /// ```
        groups_checked(M, Checked);
        /// Sets the offsets of groups along K, as the weight gradients of experts need. Group `i`
        /// multiplies columns `offsets[i]` to `offsets[i + 1]` of A by the same rows of B, and
        /// writes the `i`-th D: `D[i] = epilogue(A[:, group] * B[group, :], C[i])`. k counts all
        /// columns of A and rows of B. The Cs and Ds are one [batch stride](Self::batch_stride_d)
        /// apart, as are auxiliary matrices. All groups share the vectors of the epilogue.
        ///
        /// An empty group writes the epilogue of 0. Columns of A and rows of B outside all groups
        /// are not read. [`groups`](Self::groups) describes the memory of the offsets.
        ///
        /// ```
        /// use falchion::prelude::*;
        ///
        /// // Three experts: the first has tokens 0 and 1, the second none, and the third token 2.
        /// // Each token is a row of the activations and of the gradients.
        /// let (activations, gradients) = ([[1.0f32, 2.0], [3.0, 4.0], [5.0, 6.0]], [[1.0f32]; 3]);
        /// let mut d = [9.0f32; 3 * 2];
        /// let gemm = Gemm::<f32, ColMajor>::new();
        /// let (a, b) = (activations.as_flattened(), gradients.as_flattened());
        /// gemm.run(Arguments::new((2, 1, 3), a, b, &mut d).groups_k(&[0, 2, 2, 3]))?;
        /// assert_eq!(d, [4.0, 6.0, 0.0, 0.0, 5.0, 6.0]);
        /// # Ok::<(), falchion::Error>(())
        /// ```
        #[doc(alias = "wgrad")]
        groups_k(K, InSpace);
        /// Sets the offsets of groups along K, as [`groups_k`](Self::groups_k) does, and also
        /// checks offsets on a device, as [`groups_checked`](Self::groups_checked) does.
        groups_k_checked(K, Checked);
    }

    /// Sets group offsets in host memory, for operands in any memory. The call refuses invalid
    /// offsets. On a device, kernel parameters carry the offsets to the
    /// [workspace](Self::workspace). The call copies the slice. A captured graph keeps the offsets.
    ///
    /// ```
    /// use falchion::prelude::*;
    ///
    /// let (a, experts, mut d) = (vec![1.0f32; 3 * 4], vec![2.0f32; 2 * 20], vec![0.0f32; 3 * 5]);
    /// let gemm = Gemm::<f32>::new();
    /// gemm.run(Arguments::new((3, 5, 4), &a, &experts, &mut d).groups_by_value(&[0, 2, 3]))?;
    /// assert_eq!(d, [8.0; 15]);
    /// # Ok::<(), falchion::Error>(())
    /// ```
    pub fn groups_by_value(mut self, offsets: &'a [u32]) -> Self {
        self.groups = Some(Offsets { axis: Axis::M, list: NumberList::ByValue(offsets) });
        self
    }

    /// Sets the offsets of [groups along K](Self::groups_k) in host memory, as
    /// [`groups_by_value`](Self::groups_by_value) does.
    pub fn groups_k_by_value(mut self, offsets: &'a [u32]) -> Self {
        self.groups = Some(Offsets { axis: Axis::K, list: NumberList::ByValue(offsets) });
        self
    }
}
