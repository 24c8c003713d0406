//! Problems and tiles of the GEMM that consists of CuTe layouts.

use crate::harness::prelude::*;

/// M = N = 1024 and K = 8192, as in the source document.
pub const SEED: (Mnk, Mnk, (u32, u32)) = (Mnk::new(1024, 1024, 8192), Mnk::new(64, 64, 16), (8, 8));

/// Problem sizes, CTA tiles, and thread tiles: the source document's, a tall problem, one CTA, one
/// tile, and threads that copy several rows.
pub const PARTITIONS: [(Mnk, Mnk, (u32, u32)); 7] = [
    SEED,
    (Mnk::new(320, 192, 48), Mnk::new(64, 64, 16), (8, 8)),
    (Mnk::new(64, 64, 16), Mnk::new(64, 64, 16), (8, 8)),
    (Mnk::new(128, 128, 32), Mnk::new(128, 64, 8), (16, 8)),
    (Mnk::new(48, 32, 8), Mnk::new(16, 16, 4), (4, 4)),
    (Mnk::new(96, 64, 12), Mnk::new(32, 64, 6), (8, 8)),
    (Mnk::new(40, 12, 9), Mnk::new(8, 4, 3), (4, 2)),
];

pub fn partitions() -> impl Iterator<Item = CuteGemm> {
    PARTITIONS.into_iter().map(|(problem, tile, thread)| {
        CuteGemm::new(problem, tile, thread).expect("tiles that divide")
    })
}
