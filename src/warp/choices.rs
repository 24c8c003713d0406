//! Choices of a warp's MMA: fragment loads, the source of A, promotion, and saturation.

use crate::{nest::words::word_or_number, shape::words::words};

word_or_number! {
    /// Number of neighboring elements that a lane holds contiguously.
    pub enum InterleaveKind {
        /// As many elements as one access of 16 bytes loads.
        Vector = "vector",
        /// This number, or the largest power of two below it that divides the elements of a thread.
        Elements(u32) = "the number of adjacent elements per lane",
    }
}

word_or_number! {
    /// Unrolling of the loop over a tile's k-blocks.
    pub enum UnrollKind {
        /// Full unrolling.
        Full = "full",
        /// This number of k-blocks per iteration. Only the single-stage main loop has this loop;
        /// the other main loops schedule every k-block.
        By(u32) = "the number of k-blocks per iteration",
    }
}

words! {
    /// How often the accumulators of fp8 or emulated f32 are promoted to f32.
    pub enum PromotionKind {
        /// The tensor core accumulates over all of K. cuBLASLt calls this fast accumulation.
        Never = "never",
        /// After each stage of 128 bytes, the sum is added to an f32 accumulator and restarts at
        /// zero.
        Stage = "stage",
    }
}

words! {
    /// Memory from which `wgmma` reads A.
    #[derive(Default)]
    pub enum AOperandKind {
        /// Shared memory. Elements of 8 or 32 bits are contiguous along K there.
        #[default]
        Shared = "shared",
        /// Registers. A consumer loads an M-major A of 8 or 32 bits into registers.
        Registers = "registers",
        /// Registers if a kernel with the other knobs can read A from registers, else shared
        /// memory. This value appears only in pins: a description holds the resolved value.
        Auto = "auto",
    }
}

words! {
    /// Whether integer accumulators saturate after each instruction.
    pub enum SaturateKind {
        /// Sums wrap around.
        Off = "off",
        /// Sums stop at the limits of their range.
        On = "on",
    }
}
