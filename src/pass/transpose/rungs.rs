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
//! All are configurations of the one kernel; the naive one is that without shared memory, and one element a piece.

use super::{
    desc::{Combine, Lanes, Staging, TransposeDesc},
    resolve::{Choice, auto},
};
use crate::words::words;
use crate::{desc::Auto, threadblock::SwizzleKind};

/// How a transpose is computed, as a type: [`Auto`], which looks at the problem, or a rung of the ladder.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a configuration of a transpose",
    note = "configurations are Auto, Naive, Tiled, Coalesced, Padded and Vectorized"
)]
pub trait Configuration: 'static {
    /// The same choice, as a value.
    const CHOICE: Choice;
}

impl Configuration for Auto {
    const CHOICE: Choice = Choice::Auto;
}

macro_rules! rungs {
    ($($(#[doc = $doc:literal])* $Rung:ident = $name:literal;)*) => {
        words! {
            /// A rung, as a value. From the lowest.
            pub enum Rung {
                $($(#[doc = $doc])* $Rung = $name,)*
            }
        }

        $($(#[doc = $doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $Rung;

        impl Configuration for $Rung {
            const CHOICE: Choice = Choice::Rung(Rung::$Rung);
        })*
    };
}

rungs! {
    /// Each thread moves elements by itself; a warp writes 32 rows of D.
    Naive = "naive";
    /// Through a tile in shared memory, and still 32 rows of D at a time.
    Tiled = "tiled";
    /// Warps write neighbours; the tile's columns lie on one bank.
    Coalesced = "coalesced";
    /// One element between columns puts them on all banks.
    Padded = "padded";
    /// Every access is 16 bytes wide; what [`Auto`](crate::desc::Auto) takes where lines are aligned to 16 bytes.
    Vectorized = "vectorized";
}

impl Rung {
    /// The rung's kernel.
    pub const fn desc(self, combine: Combine, element_bytes: u32) -> TransposeDesc {
        let (staging, lanes) = match self {
            Self::Naive => (Staging::Direct, Lanes::Along),
            Self::Tiled => (Staging::Padded(0), Lanes::Across),
            Self::Coalesced => (Staging::Padded(0), Lanes::Along),
            Self::Padded => (Staging::Padded(1), Lanes::Along),
            Self::Vectorized => return auto(combine, element_bytes, 16 / element_bytes, 16 / element_bytes),
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
    use super::{super::resolve::gathered, *};

    /// Every rung of every width is a kernel, and so is what the resolver makes of it where accesses are narrow.
    #[test]
    fn every_rung_is_a_kernel() {
        let moves = [1, 2, 4, 8].map(|bytes| (Combine::Move, bytes));
        for (combine, bytes) in moves.into_iter().chain([(Combine::F32, 4), (Combine::F64, 8)]) {
            assert!(Rung::ALL.into_iter().all(|rung| rung.desc(combine, bytes).check().is_ok()), "{combine:?} {bytes}");
            let full = 16 / bytes;
            if combine == Combine::Move {
                assert_eq!([auto(combine, bytes, full, full), gathered(bytes)].map(|desc| desc.check()), [Ok(()); 2]);
                continue;
            }
            let widths = || [1, 2, 4].into_iter().filter(|width| width * bytes <= 16);
            for (access_a, access_d) in widths().flat_map(|a| widths().map(move |d| (a, d))) {
                assert_eq!(auto(combine, bytes, access_a, access_d).check(), Ok(()), "{combine:?} {access_a} {access_d}");
            }
        }
    }
}
