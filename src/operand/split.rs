//! An axis of a matrix that is split in two modes, as of a permuted tensor.

use crate::refusal::{Field, Refusal, rules::multiple};

/// Split of the rows or of the columns of a matrix in groups of `inner` lines. Neighboring lines of
/// a group are one stride of the matrix apart, and neighboring groups are `outer` elements apart.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AxisSplit {
    /// Lines per group; 0 if the axis is not split.
    pub inner: usize,
    /// Elements between neighboring groups.
    pub outer: usize,
}

impl AxisSplit {
    /// An axis in one mode.
    pub const NONE: Self = Self { inner: 0, outer: 0 };

    /// Returns whether the axis is split.
    pub const fn is_some(self) -> bool {
        self.inner > 0
    }

    /// Returns the offset of line `i` in elements, for lines that are `stride` elements apart.
    pub const fn offset(self, i: usize, stride: usize) -> usize {
        let (group, within) = self.place(i);
        group + within * stride
    }

    /// Returns the offset of the group of line `i` in elements, and the number of the line in its
    /// group.
    pub(crate) const fn place(self, i: usize) -> (usize, usize) {
        match i.checked_div(self.inner) {
            Some(group) => (group.saturating_mul(self.outer), i % self.inner),
            None => (0, i),
        }
    }

    /// Checks that a part of an axis of `extent` lines begins with a group.
    ///
    /// # Errors
    /// [`Refusal`] if the part begins within a group.
    pub(crate) const fn check_start(
        self,
        field: Field,
        start: usize,
        extent: usize,
    ) -> Result<(), Refusal> {
        if self.inner == 0 || self.inner > extent {
            return Ok(());
        }
        multiple(field, start as u64, self.inner as u64, extent as u64)
    }

    /// Returns the modes of an axis of `extent` lines, from the inner one: lines and strides.
    pub(super) const fn modes(self, extent: usize, stride: usize) -> [(usize, usize); 2] {
        if self.inner == 0 || extent <= self.inner {
            return [(extent, stride), (1, 0)];
        }
        [(self.inner, stride), (extent.div_ceil(self.inner), self.outer)]
    }

    /// Returns the offset of the last element of an axis of `extent` lines.
    pub(super) const fn reach(self, extent: usize, stride: usize) -> u128 {
        if extent == 0 {
            return 0;
        }
        let last = (extent - 1) as u128;
        if self.inner == 0 {
            return last * stride as u128;
        }
        let (inner, stride, outer) = (self.inner as u128, stride as u128, self.outer as u128);
        let (group, within) = (last / inner, last % inner);
        let of_last = group * outer + within * stride;
        // The last group may be shorter than the groups before it.
        let before = if group == 0 { 0 } else { (group - 1) * outer + (inner - 1) * stride };
        if of_last > before { of_last } else { before }
    }

    /// Returns the parameters of a kernel: lines per group, which exceed all lines without a split,
    /// and elements between groups.
    pub(crate) const fn params(self) -> (u32, i64) {
        if self.inner == 0 { (u32::MAX, 0) } else { (self.inner as u32, self.outer as i64) }
    }
}
