//! The ladder of tuning notes: each rung the kernel below it and one idea more.
//!
//! | rung | reads A | waits in | writes D |
//! |---|---|---|---|
//! | naive | neighbours | a register | a row of D for each lane |
//! | tiled | neighbours | `[32][32]` | a row of D for each lane |
//! | coalesced | neighbours | `[32][32]`, 32 lanes on one bank | neighbours |
//! | padded | neighbours | `[32][33]` | neighbours |
//! | vectorized | 16 bytes | swizzled chunks of 16 bytes | 16 bytes |
//!
//! All are configurations of the one kernel; the naive one is that without shared memory, and one
//! element a piece.

use falchion::{
    internals::pass::transpose::{Choice, Combine, Lanes, Staging, TransposeDesc},
    threadblock::SwizzleKind,
};
use serde::{Deserialize, Serialize};

/// A rung, from the lowest.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TransposeRung {
    /// Each thread moves elements by itself; a warp writes 32 rows of D.
    Naive,
    /// Through a tile in shared memory, and still 32 rows of D at a time.
    Tiled,
    /// Warps write neighbours; the tile's columns lie on one bank.
    Coalesced,
    /// One element between columns puts them on all banks.
    Padded,
    /// Every access is 16 bytes wide; what the resolver takes where lines are aligned to 16 bytes.
    Vectorized,
}

impl TransposeRung {
    /// Every one.
    pub const ALL: [Self; 5] =
        [Self::Naive, Self::Tiled, Self::Coalesced, Self::Padded, Self::Vectorized];

    /// The name, as flags and suites spell it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Naive => "naive",
            Self::Tiled => "tiled",
            Self::Coalesced => "coalesced",
            Self::Padded => "padded",
            Self::Vectorized => "vectorized",
        }
    }

    /// The same as a choice, for elements of so many bytes: the top rung is the resolver's.
    pub const fn choice(self, element_bytes: u32) -> Choice {
        match self {
            Self::Vectorized => Choice::Auto,
            rung => Choice::Desc(rung.desc(Combine::Move, element_bytes)),
        }
    }

    /// The rung's kernel.
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
            turn: 1,
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
    fn every_rung_is_a_kernel() {
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
