//! Values of knobs that no level has a type for.

use crate::words::words;

words! {
    /// How often accumulators of fp8, or of parts of f32, are promoted to f32.
    pub enum PromotionKind {
        /// The tensor core's own sum is kept to the end, which cuBLASLt calls fast accumulation.
        Never = "never",
        /// The sum of each stage, 128 bytes deep, is added to one in f32 and begun anew.
        Stage = "stage",
    }
}

words! {
    /// How the k-tiles of all tiles of D are divided among clusters.
    pub enum DecompositionKind {
        /// Each tile of D by itself, its K whole.
        DataParallel = "dataparallel",
        /// Each tile of D by itself, its K in as many parts as `split_k` says, of which there may
        /// be one.
        SplitK = "splitk",
        /// The same, and a second kernel adds the parts: of all tiles at once, by as many blocks as
        /// there are accesses of a thread.
        SplitKParallel = "splitkparallel",
        /// As under `splitk`, and the parts of a tile are those of the blocks of one cluster.
        SplitKCluster = "splitkcluster",
        /// Whole waves of tiles by themselves, and the k-tiles of what is left in equal spans, one
        /// for each cluster.
        StreamK = "streamk",
    }
}

/// Into how many parts K is cut, and who adds them.
pub(crate) type Cut = (u32, DecompositionKind);

impl DecompositionKind {
    /// Of so many tickets of a tile, those that parts of K draw: none where a second kernel adds
    /// them, by which that is told.
    pub(crate) const fn tickets(self, tickets: u32) -> u32 {
        if matches!(self, Self::SplitKParallel) { 0 } else { tickets }
    }

    pub(crate) const fn is_among(self, kinds: &[Self]) -> bool {
        let mut i = 0;
        while i < kinds.len() && kinds[i] as u8 != self as u8 {
            i += 1;
        }
        i < kinds.len()
    }
}

words! {
    /// Where `wgmma` finds A.
    #[derive(Default)]
    pub enum AOperandKind {
        /// In a stage in shared memory, along K where its elements have 8 or 32 bits.
        #[default]
        Shared = "shared",
        /// In registers, to which a consumer brings an A of 8 or 32 bits that is M-major.
        Registers = "registers",
        /// Registers where a kernel of the other knobs can take it from there, else shared memory.
        /// No description has it: one that is made of knobs has what it comes to.
        Auto = "auto",
    }
}

words! {
    /// Whether sums of integers stop at the ends of their range, after each instruction.
    pub enum SaturateKind {
        /// They wrap.
        Off = "off",
        /// They stop.
        On = "on",
    }
}

words! {
    /// Whether registers may be spilled to local memory.
    pub enum SpillKind {
        /// A description that is estimated to spill is invalid.
        Refused = "refused",
        /// It is one: for exploring beyond the estimate, and for showing what spilling costs.
        Allowed = "allowed",
    }
}
