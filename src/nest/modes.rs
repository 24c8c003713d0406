//! The mode of a description: one GEMM, a batch, an array, or groups per launch.

use crate::{
    nest::{GemmDesc, GemmMode},
    shape::Axis,
    threadblock::tensor_map::STRIDE_ALIGNMENT,
};

impl GemmDesc {
    /// Returns the description of the kernel for a batch of `products` GEMMs. More than one GEMM
    /// needs a batched kernel.
    #[must_use]
    pub const fn for_batch(self, products: usize) -> Self {
        self.in_mode(GemmMode::for_batch(None, products))
    }

    /// Returns the description of the kernel for a grouped GEMM. `groups` is the axis of the user's
    /// GEMM along which the groups lie.
    #[must_use]
    pub const fn for_groups(self, groups: Axis) -> Self {
        self.in_mode(GemmMode::for_batch(Some(groups.enter(self.frame)), 1))
    }

    /// Returns the description of the kernel for an array of `products` GEMMs.
    ///
    /// The mode is [`GemmMode::Gemm`] for one GEMM, and if each GEMM of an array is a separate
    /// launch.
    #[must_use]
    pub const fn for_array(self, products: usize) -> Self {
        let one = products < 2 || self.launches_each_gemm();
        self.in_mode(if one { GemmMode::Gemm } else { GemmMode::Array })
    }

    /// Returns whether each GEMM of an array is a separate launch: with stream-K, so that the bits
    /// of a GEMM do not depend on the others, and if a pass decomposes operands.
    pub const fn launches_each_gemm(&self) -> bool {
        self.streams_k() || self.has_producer() && self.reads_what_passes_make()
    }

    /// Returns whether the records of an array contain positions.
    pub(crate) const fn has_positions(&self) -> bool {
        self.work.mode.is_array() && self.matrices_by_tma() > 0
    }

    /// Returns whether TMA moves C and D. They must be aligned to 16 bytes, without an index
    /// list and with one stride of 1, and the kernel must use tensor cores.
    #[doc(hidden)]
    pub const fn by_tma(&self) -> bool {
        let aligned = self.output.element.bytes_of(self.output.access) >= STRIDE_ALIGNMENT as u32;
        self.mma.stages_d() && aligned && self.output.indexed.is_none() && !self.output.strided
    }

    /// Returns the number of matrices of a GEMM that TMA moves: A and B, or all four.
    pub(crate) const fn matrices_by_tma(&self) -> usize {
        match self.has_producer() {
            true if self.by_tma() => 4,
            true => 2,
            false => 0,
        }
    }

    /// Returns whether the description is in `mode` and its accesses of A, B, and D have at most
    /// `accesses` elements.
    #[cfg(feature = "cuda")]
    pub(crate) fn is_of(&self, mode: GemmMode, accesses: [u32; 3]) -> bool {
        self.work.mode == self.mode_for(mode)
            && core::iter::zip(self.alignments(), accesses).all(|(has, most)| has <= most)
    }

    /// Returns the mode of the kernel for a call in `mode`, in the kernel's frame. A batched kernel
    /// also computes single GEMMs. Grouped and array kernels compute only their own mode.
    const fn mode_for(&self, mode: GemmMode) -> GemmMode {
        let apart = self.work.mode.groups().is_some() || self.work.mode.is_array();
        if mode.several() || apart { mode } else { self.work.mode }
    }

    /// Returns the description in `mode`, which is in the kernel's frame.
    pub(crate) const fn in_mode(mut self, mode: GemmMode) -> Self {
        self.work.mode = self.mode_for(mode);
        self
    }
}
