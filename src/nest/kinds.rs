//! Enumerated values of knobs.

use crate::shape::words::words;

words! {
    /// Division of the k-tiles of all tiles of D among clusters.
    pub enum DecompositionKind {
        /// Each cluster computes whole tiles with undivided K.
        DataParallel = "dataparallel",
        /// K of each tile is divided into `split_k` slices, possibly one. The last CTA to arrive
        /// reduces them.
        SplitK = "splitk",
        /// As `splitk`, but a second kernel reduces the slices of all tiles at once. It has one CTA
        /// per access of a thread.
        SplitKParallel = "splitkparallel",
        /// As `splitk`, but the CTAs of one cluster compute the slices of a tile.
        SplitKCluster = "splitkcluster",
        /// Clusters compute whole waves of tiles, and equal spans of the remaining k-tiles.
        StreamK = "streamk",
    }
}

/// Number of split-K slices, and the decomposition that reduces them.
pub(crate) type Cut = (u32, DecompositionKind);

impl DecompositionKind {
    /// Returns the tickets that the slices of a tile draw, `tickets` or 0. It is 0 if a second
    /// kernel reduces the slices. The kernel recognizes the parallel reduction by this 0.
    pub(crate) const fn tickets(self, tickets: u32) -> u32 {
        if matches!(self, Self::SplitKParallel) { 0 } else { tickets }
    }
}

words! {
    /// Whether a kernel may spill registers to local memory.
    pub enum SpillKind {
        /// A description whose estimated registers spill is invalid.
        Refused = "refused",
        /// Spilling descriptions are valid: for exploring beyond the estimate, and for measuring
        /// spills.
        Allowed = "allowed",
    }
}
