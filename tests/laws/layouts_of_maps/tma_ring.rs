//! Maps of kernels with a TMA ring that are affine up to a swizzle state their layouts.

use super::*;
use falchion::{
    epilogue::tile_store::AccumulatorMap,
    warp::{
        TiledMma,
        quad_transpose::QuadTranspose,
        thread_maps::{DepthMap, FragmentMap},
        warpgroup::FragmentRows,
    },
};

/// Checks the maps of a warp-specialized kernel: A's and B's tiles of a stage, the fragments, and
/// the staging of D.
fn check_warp_specialized(d: &GemmDesc) -> Result<(), TestCaseError> {
    let components = d.components().expect("a kernel");
    prop_assert_eq!(falchion::internals::index::laws::bijective(&components.slot_map()), Ok(()));
    affine("slot", &components.slot_map())?;
    if let Some(&tiles) = components.threads() {
        for operand in OperandKind::BOTH {
            affine("boxes", &components.boxed_tile(operand))?;
            affine("fragment", &FragmentMap::new(tiles, operand))?;
        }
        affine("depth", &DepthMap(tiles))?;
        return affine("accumulators", &AccumulatorMap(tiles));
    }
    affine("staging", &StagingMap::new(&components))?;
    affine("exchange", &QuadTranspose::new(d.output.element, components.subtile_columns))?;
    let crossed = components.fragment_rows() == FragmentRows::Crossed;
    let wanted = if crossed { Answer::None } else { Answer::Layout };
    prop_assert_eq!(compare("staged", &StagedMap::new(&components))?, wanted);
    match &components.mma {
        TiledMma::Wgmma(_, Some(load)) => {
            affine("tile of A", &load.tile)?;
            prop_assert_eq!(compare("load of A", load)?, wanted);
            Ok(())
        }
        _ => Ok(()),
    }
}

/// The regions of a ring and its positions have no layout.
#[test]
fn a_ring_and_its_positions_have_no_layout() {
    let ring = Pipeline {
        stages: 4,
        stage_bytes: [16384, 8192],
        consumers: 2,
        pingpong: false,
        multicast: None,
        gathered: [false; 2],
        slices: None,
        staging_buffers: 2,
        staging_bytes: 4096,
        vector_bytes: 768,
        source: false,
    };
    assert!(PipelineLayout(ring).layout().is_none());
    assert!(RingPosition { stages: 4 }.layout().is_none());
}

proptest! {
    #![proptest_config(cases(192))]

    #[test]
    fn maps_of_warp_specialized_kernels_equal_their_layouts(seed in any::<u64>()) {
        for kernel_kind in [KernelKind::WgmmaRing, KernelKind::SimtRing] {
            check_warp_specialized(&description(seed, Wanted { kernel_kind, ..Wanted::default() }))?;
        }
    }
}
