//! Facts about the types that name a GEMM and its configuration. The default of `f32` is a SIMT
//! kernel.

use crate::harness::{prelude::*, random_cases};
use falchion::{
    nest::{AlignmentA, AlignmentB, Config, SharedA, SharedB},
    shape::TiledBy,
    threadblock::{SmemPadded, SmemSwizzled},
};
use static_assertions::{assert_eq_size, assert_impl_all, assert_not_impl_any, const_assert};

/// Returns the row-major `f32` description with a configuration.
pub(crate) fn f32_desc<C: Config>() -> GemmDesc {
    Gemm::<f32, RowMajor, f32, RowMajor, f32, RowMajor, f32, Simt, Sm80, C>::DESC
}

type Shape = GemmShape<64, 32, 8>;

/// Pins wait for the default, so they commute. The last of two pins of one knob wins.
#[test]
fn leaves_commute() {
    assert_eq!(
        f32_desc::<With<With<Auto, Warp<Shape>>, Stages<2>>>(),
        f32_desc::<With<With<Auto, Stages<2>>, Warp<Shape>>>()
    );
    type Small = Warp<GemmShape<16, 32, 8>>;
    type Tile = Threadblock<GemmShape<32, 32, 8>>;
    assert_eq!(
        f32_desc::<With<With<Auto, Small>, Tile>>(),
        f32_desc::<With<With<Auto, Tile>, Small>>()
    );
    assert_eq!(
        f32_desc::<With<With<Auto, BlocksPerSm<2>>, BlocksPerSm<1>>>(),
        f32_desc::<With<Auto, BlocksPerSm<1>>>()
    );
    type Padded = SharedB<SmemPadded<false, 4>>;
    type Swizzled = SharedA<SmemSwizzled<false, 3, 2, 0>>;
    assert_eq!(
        f32_desc::<With<With<Auto, Padded>, Swizzled>>(),
        f32_desc::<With<With<Auto, Swizzled>, Padded>>()
    );
    type Aligned = With<With<Auto, AlignmentA<1>>, BlocksPerSm<1>>;
    type Ordered = With<With<With<Auto, HorizontalSwizzle>, BlocksPerSm<1>>, AlignmentA<1>>;
    assert_eq!(f32_desc::<With<Aligned, HorizontalSwizzle>>(), f32_desc::<Ordered>());
    type Relu = EpilogueTree<LinearCombinationRelu>;
    assert_eq!(
        f32_desc::<With<With<Auto, AlignmentB<2>>, Relu>>(),
        f32_desc::<With<With<Auto, Relu>, AlignmentB<2>>>()
    );
}

// A GEMM has no data: it is defined by its type.
type Plain = Gemm<f32, ColMajor, f32, ColMajor, f32, ColMajor>;
assert_eq_size!(Plain, ());
assert_impl_all!(Plain: Send, Sync, Unpin);
assert_impl_all!(GemmDesc: Copy, Eq, core::hash::Hash, Send, Sync);
assert_impl_all!(falchion::Refusal: Copy, Send, Sync, std::error::Error);
assert_impl_all!(falchion::Error: Send, Sync, std::error::Error);
assert_impl_all!(GemmShape<64, 64, 16>: TiledBy<GemmShape<32, 16, 8>>);
assert_not_impl_any!(GemmShape<48, 64, 16>: TiledBy<GemmShape<32, 16, 8>>);

/// Descriptions are computed at compile time.
pub(crate) const DESC: GemmDesc = Plain::DESC;
const_assert!(
    DESC.frame.swapped
        && DESC.threads() == 256
        && DESC.smem_bytes() == DESC.stages() * DESC.base().stage_bytes()
);
const_assert!(DESC.check().is_ok() && DESC.base().registers() <= 255);
const_assert!(matches!(
    (DESC.operands[0].layout, DESC.operands[1].layout),
    (Order::Row, Order::Row)
));

#[test]
fn a_typed_description_equals_the_run_time_description() {
    assert_eq!(DESC, random_cases::default_f32(ArchKind::Sm80, [Order::Col; 3]));
    assert_eq!(DESC.swapped().swapped(), DESC);
    let pins = DESC.pins();
    assert_eq!(pins.enter(Frame::SWAPPED).leave(Frame::SWAPPED), pins);
}
