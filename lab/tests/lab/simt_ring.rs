//! Shared-memory accesses of the threads of TMA-fed SIMT kernels.

use super::tma_ring::counted;
use crate::harness::descriptions::tma_ring::simt::plain;
use falchion::{layout::Order, refusal::Operand};
use falchion_lab::{banks::without_threads, counters::Purpose};

/// TMA-fed SIMT `f32`, 256 x 128 x 16 with 64 x 64 warp tiles and 16 x 8 thread tiles: 8 warps read
/// 16 k each, with 4 accesses to A and 2 to B, which are 512 and 256. Lanes (i, i^2) read the same
/// part of A, and (i, i^1) the same part of B. An access therefore has two phases of at most 64
/// bytes, and takes two wavefronts.
#[test]
fn fragments_of_f32_take_two_wavefronts() {
    let desc =
        plain([Order::Col, Order::Row, Order::Row], (256, 128, 16), (64, 64), (16, 8)).expect();
    let b = Some(Operand::B);
    assert_eq!(
        counted(&desc),
        [
            (Purpose::Load, Some(Operand::A), 16, 512, 1024, 1024),
            (Purpose::Load, b, 16, 256, 512, 512)
        ]
    );
    assert!(
        without_threads(&desc)[2]
            .starts_with("C and D: threads read and write them in global memory")
    );
}
