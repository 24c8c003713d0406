//! Kernels whose accumulators of `f16` lie two in a register.

use super::all_clean;
use crate::harness::completions::tiles_of_halves;
use falchion::arch::ArchKind;

/// CUTLASS's tiles of `f16` accumulators, which fit because two of them lie in one register.
#[test]
#[ignore = "needs NVRTC"]
fn tiles_of_halves_compile_clean() {
    let kernels = [ArchKind::Sm75, ArchKind::Sm90].into_iter();
    let kernels = kernels.flat_map(|arch| {
        tiles_of_halves(arch).into_iter().map(move |d| ("a tile".to_owned(), d, arch))
    });
    all_clean("tiles of halves", kernels.collect());
}
