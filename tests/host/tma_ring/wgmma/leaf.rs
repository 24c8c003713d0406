//! Types that name a kernel with a TMA ring on tensor cores.

use crate::harness::prelude::*;
use falchion::nest::Config;

/// A loop nest is one leaf, and its parts are pinned.
#[test]
fn a_loop_nest_of_tensor_cores_is_one_leaf() {
    type TensorCores = MmaWarpSpecialized<
        GemmShape<128, 256, 64>,
        MmaTensorOp<GemmShape<64, 256, 64>, GemmShape<64, 256, 16>>,
        3,
    >;
    let desc = Gemm::<F16, RowMajor, F16, ColMajor, F16, RowMajor, f32, TensorOp>::new();
    assert_eq!(desc.desc().arch, ArchKind::Sm90);
    let nest = desc.with::<TensorCores>().with::<falchion::nest::CooperativeSchedule>().desc();
    assert_eq!(
        (nest.threadblock(), nest.warp(), nest.stages()),
        (Mnk::new(128, 256, 64), Mnk::new(64, 256, 64), 3)
    );
    assert_eq!(<Auto as Config>::PINS, Pins::NONE);
    assert!(<With<Auto, PromoteEachStage> as Config>::PINS.promotion.is_some());
}
