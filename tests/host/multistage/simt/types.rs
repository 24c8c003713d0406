//! Types that name the multistage main loop, which is the default of `f32` from sm80 on.

use crate::harness::prelude::*;
use crate::simt::{
    fast_equals_checked::give_the_same_bits,
    types::{DESC, f32_desc},
};
use falchion::{
    nest::{AlignmentA, AlignmentB, AlignmentC, Config, Leaf, SharedA, SharedB},
    threadblock::SmemAuto,
};
use static_assertions::const_assert;

const_assert!(matches!(DESC.mainloop.kind(), MainloopKind::Multistage) && DESC.stages() == 4);

#[test]
fn both_modes_give_the_same_bits_with_three_stages() {
    give_the_same_bits(&[("f32:row f32:row f32:row", "f32", "stages=3")]);
}

/// Pins of the number of stages commute with others. The last of two pins of one knob wins.
#[test]
fn stages_commute() {
    type Shape = GemmShape<64, 32, 8>;
    assert_eq!(
        f32_desc::<With<With<Auto, Warp<Shape>>, Stages<3>>>(),
        f32_desc::<With<With<Auto, Stages<3>>, Warp<Shape>>>()
    );
    assert_eq!(
        f32_desc::<With<With<Auto, Stages<2>>, Stages<3>>>(),
        f32_desc::<With<Auto, Stages<3>>>()
    );
}

/// Pinning every knob to its default changes nothing.
#[test]
fn pinned_defaults_change_nothing() {
    type Tiles = With<With<Auto, Threadblock<GemmShape<256, 128, 8>>>, Warp<GemmShape<64, 64, 8>>>;
    type Loop = With<With<Tiles, MmaMultistage>, Stages<4>>;
    type Aligned = With<With<With<Loop, AlignmentA<4>>, AlignmentB<4>>, AlignmentC<4>>;
    type Shared =
        With<With<With<Aligned, IdentitySwizzle<1>>, SharedA<SmemAuto>>, SharedB<SmemAuto>>;
    type All = With<With<Shared, BlocksPerSm<1>>, EpilogueTree<LinearCombination>>;
    assert_eq!(f32_desc::<All>(), f32_desc::<Auto>());
}

/// A loop nest is one leaf, and equals the pins of its parts.
#[test]
fn a_loop_nest_is_one_leaf() {
    type Nest = MmaMultistage<GemmShape<128, 128, 8>, MmaSimt<GemmShape<32, 64, 8>>, 3>;
    type Slices = With<
        With<With<Auto, Threadblock<GemmShape<128, 128, 8>>>, Warp<GemmShape<32, 64, 8>>>,
        Stages<3>,
    >;
    assert_eq!(f32_desc::<With<Auto, Nest>>(), f32_desc::<Slices>());
    assert_eq!(<Nest as Leaf>::PINS, <With<Slices, MmaMultistage> as Config>::PINS);
}
