//! Kernels with `f16` accumulators, two per register.

use super::all_clean;
use crate::harness::completions::tiles_of_halves;
use falchion::arch::ArchKind;

/// CUTLASS's tiles for `f16` accumulators fit, because a register holds two accumulators.
#[test]
#[ignore = "needs NVRTC"]
fn tiles_of_f16_accumulators_compile_clean() {
    let kernels = [ArchKind::Sm75, ArchKind::Sm90].into_iter();
    let kernels = kernels.flat_map(|arch| {
        tiles_of_halves(arch).into_iter().map(move |d| ("a tile".to_owned(), d, arch))
    });
    all_clean("tiles of f16 accumulators", kernels.collect());
}
