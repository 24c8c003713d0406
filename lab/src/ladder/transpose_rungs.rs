//! The ladder of the tuning notes: each rung is the previous kernel with one more idea.
//!
//! | rung | reads of A | tile | writes of D |
//! |---|---|---|---|
//! | naive | consecutive elements | in a register | one row of D per lane |
//! | tiled | consecutive elements | `[32][32]` | one row of D per lane |
//! | coalesced | consecutive elements | `[32][32]`, 32 lanes on one bank | consecutive elements |
//! | padded | consecutive elements | `[32][33]` | consecutive elements |
//! | vectorized | 16 bytes | swizzled chunks of 16 bytes | 16 bytes |
//!
//! All rungs are configurations of one kernel. The naive rung uses no shared memory, and has one
//! element per piece.

use falchion::{
    internals::operand::transpose::{Choice, Combine, Lanes, Staging, TransposeDesc},
    threadblock::SwizzleKind,
};
use serde::{Deserialize, Serialize};

/// The rungs, the lowest first.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TransposeRung {
    /// Each thread moves single elements, and a warp writes to 32 rows of D.
    Naive,
    /// Elements pass through a tile in shared memory, and a warp still writes to 32 rows of D.
    Tiled,
    /// Warps write consecutive elements. Each column of the tile is in one bank.
    Coalesced,
    /// One element of padding between columns spreads them over all banks.
    Padded,
    /// Every access is 16 bytes wide, as the resolver selects it for rows that are aligned to 16
    /// bytes.
    Vectorized,
}

impl TransposeRung {
    /// All rungs.
    pub const ALL: [Self; 5] =
        [Self::Naive, Self::Tiled, Self::Coalesced, Self::Padded, Self::Vectorized];

    /// Returns the name, as flags and suites spell it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Naive => "naive",
            Self::Tiled => "tiled",
            Self::Coalesced => "coalesced",
            Self::Padded => "padded",
            Self::Vectorized => "vectorized",
        }
    }

    /// Returns the rung as a choice, for elements of `element_bytes` bytes. The top rung is the
    /// resolver's choice.
    pub const fn choice(self, element_bytes: u32) -> Choice {
        match self {
            Self::Vectorized => Choice::Auto,
            rung => Choice::Desc(rung.desc(Combine::Move, element_bytes)),
        }
    }

    /// Returns the kernel of the rung.
    pub const fn desc(self, combine: Combine, element_bytes: u32) -> TransposeDesc {
        let (staging, lanes) = match self {
            Self::Naive => (Staging::Direct, Lanes::Along),
            Self::Tiled => (Staging::Padded(0), Lanes::Across),
            Self::Coalesced => (Staging::Padded(0), Lanes::Along),
            Self::Padded => (Staging::Padded(1), Lanes::Along),
            Self::Vectorized => return Choice::aligned(combine, element_bytes),
        };
        TransposeDesc {
            combine,
            element_bytes,
            rows: 32,
            columns: 32,
            threads: 256,
            access_a: 1,
            thread_rows: 1,
            access_d: 1,
            staging,
            lanes,
            order: SwizzleKind::Identity(1),
            read_once: false,
            write_stream: false,
            blocks_per_sm: 4,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rung_is_valid() {
        let moves = [1, 2, 4, 8].map(|bytes| (Combine::Move, bytes));
        for (combine, bytes) in moves.into_iter().chain([(Combine::F32, 4), (Combine::F64, 8)]) {
            assert!(
                TransposeRung::ALL
                    .into_iter()
                    .all(|rung| rung.desc(combine, bytes).check().is_ok()),
                "{combine:?} {bytes}"
            );
        }
    }
}
