//! Maps of SIMT kernels.

use super::*;
use crate::harness::random_cases::legal;
use falchion::{
    epilogue::tile_store::AccumulatorMap,
    warp::thread_maps::{DepthMap, FragmentMap},
};

/// Checks the maps of a SIMT kernel.
fn check_threads(d: &GemmDesc) -> Result<(), TestCaseError> {
    let tiles = d.base().tiles;
    for operand in OperandKind::BOTH {
        let facts = d.base().operand(operand);
        let wanted = if is_laid(&facts.smem) { Answer::Layout } else { Answer::None };
        prop_assert_eq!(compare("smem", &facts.smem)?, wanted, "{:?}", facts.smem);
        affine("thread map", &facts.thread_map())?;
        affine("fragment", &FragmentMap::new(tiles, operand))?;
    }
    affine("depth", &DepthMap(tiles))?;
    affine("accumulators", &AccumulatorMap(tiles))?;
    affine("partials", &PartialsMap(tiles))
}

proptest! {
    #![proptest_config(cases(192))]

    #[test]
    fn thread_maps_equal_their_layouts(d in legal()) {
        check_threads(&d)?;
    }
}
