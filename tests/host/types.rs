//! Facts about types, and every row of the default table multiplied in all eight layouts.

use crate::harness::drawn;
use falchion::{
    arch::ArchKind,
    desc::{
        AlignmentA, AlignmentB, AlignmentC, Auto, Blocks, Config, EpilogueTree, FromShared, GemmConfig, GemmDesc, Instruction,
        Knobs, Loop, NoPromotion, NoSpills, NoSplit, SharedA, SharedB, StageNumber, Threadblock, TileOrdering, Warp, With,
        WithAlignmentA, WithAlignmentB, WithBlocks, WithEpilogueTree, WithSharedA, WithSharedB, WithStages, WithThreadblock,
        WithTileOrdering, WithWarp,
    },
    device::{Arguments, Gemm},
    epilogue::{LinearCombination, LinearCombinationRelu},
    internals::{
        family::default_gemm_configuration::{Select, default_description},
        schedule::CooperativeSchedule,
    },
    layout::{Canonical, ColMajor, Exchanged, Layout, Of, Operands, Order, RowMajor},
    numeric::{Bf16, Element, ElementKind, F16, Tf32, Vector128},
    prelude::{Simt, Sm70, Sm75, Sm80, Sm86, Sm89, Sm90, TensorOp},
    shape::{BlocksPerSm, ClusterShape, GemmShape, Mnk, Shape, Stages, TiledBy},
    threadblock::{
        HorizontalSwizzle, IdentitySwizzle, MainloopKind, MmaMultistage, MmaPipelined, SmemAuto, SmemPadded, SmemSwizzled,
    },
    warp::{FullUnroll, VectorInterleave},
};
use static_assertions::{assert_eq_size, assert_impl_all, assert_not_impl_any, assert_type_eq_all, const_assert};
use typenum::{U1, U2, U4, U8};

/// What the table answers for operands of one type.
type Resolved<Base, Ar, T, Acc, C> = <Base as Select<Simt, Ar, T, T, C, Acc>>::Config;
/// The same for `f32`.
type OfF32<Base, Ar = Sm80> = Resolved<Base, Ar, f32, f32, f32>;

type Pipelined<Tile, WarpTile, A, C> = Config<
    Tile,
    WarpTile,
    GemmShape<1, 1, 1>,
    MmaPipelined,
    Stages<2>,
    IdentitySwizzle<1>,
    A,
    A,
    C,
    SmemAuto,
    SmemAuto,
    BlocksPerSm<1>,
    ClusterShape<1, 1>,
    CooperativeSchedule,
    NoPromotion,
    NoSplit,
    FromShared,
    VectorInterleave,
    FullUnroll,
    NoSpills,
    LinearCombination,
>;
type Classic<A, C> = Pipelined<GemmShape<128, 128, 8>, GemmShape<32, 64, 8>, A, C>;
type Double<A> = Pipelined<GemmShape<128, 64, 8>, GemmShape<32, 32, 8>, A, A>;
type Ring = Config<
    GemmShape<256, 128, 8>,
    GemmShape<64, 64, 8>,
    GemmShape<1, 1, 1>,
    MmaMultistage,
    Stages<4>,
    IdentitySwizzle<1>,
    U4,
    U4,
    U4,
    SmemAuto,
    SmemAuto,
    BlocksPerSm<1>,
    ClusterShape<1, 1>,
    CooperativeSchedule,
    NoPromotion,
    NoSplit,
    FromShared,
    VectorInterleave,
    FullUnroll,
    NoSpills,
    LinearCombination,
>;

// Every row of the default table, type by type.
assert_type_eq_all!(Classic<U1, U1>, OfF32<Auto, Sm70>, OfF32<Auto, Sm75>, Resolved<Auto, Sm70, i32, i32, i32>);
assert_type_eq_all!(Classic<U1, U1>, Resolved<Auto, Sm70, F16, f32, F16>, Resolved<Auto, Sm75, F16, F16, F16>);
assert_type_eq_all!(Classic<U1, U1>, Resolved<Auto, Sm75, Bf16, f32, f32>, Resolved<Auto, Sm75, u8, i32, u8>);
assert_type_eq_all!(Double<U1>, Resolved<Auto, Sm70, f64, f64, f64>, Resolved<Auto, Sm75, f64, f64, f64>);
assert_type_eq_all!(Ring, OfF32<Auto, Sm80>, OfF32<Auto, Sm86>, OfF32<Auto, Sm89>, OfF32<Auto, Sm90>);
assert_type_eq_all!(Classic<U4, U4>, Resolved<Auto, Sm80, i32, i32, i32>, Resolved<Auto, Sm90, i32, i32, i32>);
assert_type_eq_all!(Classic<U8, U8>, Resolved<Auto, Sm80, F16, f32, F16>, Resolved<Auto, Sm86, Bf16, f32, Bf16>);
assert_type_eq_all!(Classic<U8, U8>, Resolved<Auto, Sm89, i8, i32, i8>, Resolved<Auto, Sm90, u8, i32, u8>);
assert_type_eq_all!(Classic<U8, U4>, Resolved<Auto, Sm80, F16, f32, f32>, Resolved<Auto, Sm90, i8, i32, f32>);
assert_type_eq_all!(Double<U2>, Resolved<Auto, Sm80, f64, f64, f64>, Resolved<Auto, Sm90, f64, f64, f64>);

// Overrides wait for the default, so they commute, and the last of two of one knob wins.
type WarpThenStages = WithStages<WithWarp<Auto, GemmShape<64, 32, 8>>, 3>;
type StagesThenWarp = WithWarp<WithStages<Auto, 3>, GemmShape<64, 32, 8>>;
assert_type_eq_all!(OfF32<WarpThenStages>, OfF32<StagesThenWarp>);
type Tiles = WithThreadblock<WithWarp<Auto, GemmShape<16, 32, 8>>, GemmShape<64, 64, 8>>;
type TilesTurned = WithWarp<WithThreadblock<Auto, GemmShape<64, 64, 8>>, GemmShape<16, 32, 8>>;
assert_type_eq_all!(OfF32<Tiles>, OfF32<TilesTurned>, OfF32<WithStages<TilesTurned, 4>>);
// As far as the tiles nest at each step: a tile smaller than the default's warp needs the warp set first.
type Small = WithThreadblock<WithWarp<Auto, GemmShape<16, 32, 8>>, GemmShape<32, 32, 8>>;
type SmallTurned = WithWarp<WithThreadblock<Auto, GemmShape<32, 32, 8>>, GemmShape<16, 32, 8>>;
assert_impl_all!(Small: Select<Simt, Sm80, f32, f32, f32, f32>);
assert_not_impl_any!(SmallTurned: Select<Simt, Sm80, f32, f32, f32, f32>);
assert_type_eq_all!(OfF32<WithStages<WithStages<Auto, 2>, 3>>, OfF32<WithStages<Auto, 3>>);
assert_type_eq_all!(
    OfF32<WithStages<Auto, 4>>,
    OfF32<Auto>,
    OfF32<With<Auto, Stages<4>>>,
    OfF32<With<Auto, StageNumber<Stages<4>>>>
);
type Swizzled = WithSharedA<WithSharedB<Auto, SmemPadded<false, 4>>, SmemSwizzled<false, 3, 2, 0>>;
type SwizzledTurned = WithSharedB<WithSharedA<Auto, SmemSwizzled<false, 3, 2, 0>>, SmemPadded<false, 4>>;
assert_type_eq_all!(OfF32<Swizzled>, OfF32<SwizzledTurned>);
type Ordered = WithTileOrdering<WithBlocks<WithAlignmentA<Auto, U1>, BlocksPerSm<1>>, HorizontalSwizzle>;
type OrderedTurned = WithAlignmentA<With<With<Auto, HorizontalSwizzle>, BlocksPerSm<1>>, U1>;
assert_type_eq_all!(OfF32<Ordered>, OfF32<OrderedTurned>);
assert_type_eq_all!(
    OfF32<WithEpilogueTree<WithAlignmentB<Auto, U2>, LinearCombinationRelu>>,
    OfF32<WithAlignmentB<WithEpilogueTree<Auto, LinearCombinationRelu>, U2>>
);
// Every knob set to what it is: nothing changes.
type Everything = With<
    With<
        With<
            With<With<With<Auto, Threadblock<GemmShape<256, 128, 8>>>, Warp<GemmShape<64, 64, 8>>>, Loop<MmaMultistage>>,
            AlignmentA<U4>,
        >,
        AlignmentB<U4>,
    >,
    AlignmentC<U4>,
>;
type EverythingElse = With<
    With<
        With<
            With<With<With<Everything, TileOrdering<IdentitySwizzle<1>>>, SharedA<SmemAuto>>, SharedB<SmemAuto>>,
            Blocks<BlocksPerSm<1>>,
        >,
        Instruction<GemmShape<1, 1, 1>>,
    >,
    EpilogueTree<LinearCombination>,
>;
assert_type_eq_all!(OfF32<EverythingElse>, Ring);

// Exchanging twice is the identity, on layouts and on operands.
assert_type_eq_all!(<<RowMajor as Layout>::Transposed as Layout>::Transposed, RowMajor);
assert_type_eq_all!(<<ColMajor as Layout>::Transposed as Layout>::Transposed, ColMajor);
type Mixed = Of<F16, RowMajor, Bf16, ColMajor, f32, ColMajor>;
type Twice = Exchanged<Exchanged<Mixed>>;
assert_type_eq_all!(<Twice as Operands>::A, F16);
assert_type_eq_all!(<Twice as Operands>::B, Bf16);
assert_type_eq_all!(<Twice as Operands>::LayoutA, RowMajor);
assert_type_eq_all!(<Twice as Operands>::LayoutB, ColMajor);
const_assert!(!Twice::EXCHANGED && Exchanged::<Mixed>::EXCHANGED && <Canonical<Mixed> as Operands>::EXCHANGED);
assert_type_eq_all!(<Canonical<Mixed> as Operands>::A, Bf16);
assert_type_eq_all!(<Canonical<Mixed> as Operands>::LayoutA, RowMajor, <Canonical<Mixed> as Operands>::LayoutC);
assert_type_eq_all!(<Canonical<Mixed> as Operands>::LayoutB, ColMajor);

// A GEMM is its type: nothing to carry, nothing to share.
type Plain = Gemm<f32, ColMajor, f32, ColMajor, f32, ColMajor>;
assert_eq_size!(Plain, ());
assert_impl_all!(Plain: Send, Sync, Unpin);
assert_impl_all!(GemmDesc: Copy, Eq, core::hash::Hash, Send, Sync);
assert_impl_all!(falchion::Refusal: Copy, Send, Sync, std::error::Error);
assert_impl_all!(falchion::Error: Send, Sync, std::error::Error);
assert_impl_all!(GemmShape<64, 64, 16>: TiledBy<GemmShape<32, 16, 8>>);
assert_not_impl_any!(GemmShape<48, 64, 16>: TiledBy<GemmShape<32, 16, 8>>);
assert_not_impl_any!(Auto: Select<TensorOp, Sm80, f64, f64, f64, f64>, Select<Simt, Sm80, f32, f64, f32, f32>);
assert_not_impl_any!(Auto: Select<Simt, Sm80, Tf32, Tf32, Tf32, f32>);
assert_type_eq_all!(Vector128<f32>, U4);
assert_type_eq_all!(Vector128<F16>, U8);

/// Descriptions, while compiling.
const DESC: GemmDesc = Plain::DESC;
const_assert!(DESC.exchanged && DESC.stages == 4 && DESC.threads() == 256 && DESC.smem_bytes() == 4 * DESC.stage_bytes());
const_assert!(matches!(DESC.mainloop, MainloopKind::Multistage) && DESC.check().is_ok() && DESC.registers() <= 255);
const_assert!(matches!((DESC.layout_a, DESC.layout_b), (Order::Row, Order::Row)));
const CLASSIC: Knobs = Knobs::of::<Classic<U1, U1>>();
const_assert!(CLASSIC.threadblock.m == 128 && CLASSIC.threadblock.n == 128 && CLASSIC.threadblock.k == 8 && CLASSIC.stages == 2);

#[test]
fn a_description_of_types_is_the_description_of_their_values() {
    assert_eq!(DESC, drawn::default_f32(ArchKind::Sm80, [Order::Col; 3]));
    assert_eq!(DESC.exchange().exchange(), DESC);
    assert_eq!(CLASSIC.warp, Mnk::new(32, 64, 8));
    assert_eq!(CLASSIC.exchange().exchange(), CLASSIC);
    assert_eq!(<<Classic<U1, U1> as GemmConfig>::Threadblock as Shape>::MNK, CLASSIC.threadblock);
}

/// A small whole number, as an element.
trait Whole: Element {
    fn whole(x: i32) -> Self::Storage;
}

macro_rules! whole {
    ($($element:ty, |$x:ident| $how:expr;)*) => {
        $(impl Whole for $element {
            fn whole($x: i32) -> Self::Storage {
                $how
            }
        })*
    };
}

whole! {
    f64, |x| f64::from(x);
    f32, |x| x as f32;
    F16, |x| F16::from_f32(x as f32);
    Bf16, |x| Bf16::from_f32(x as f32);
    i8, |x| x as i8;
    u8, |x| x as u8;
    i32, |x| x;
}

const M: usize = 19;
const N: usize = 13;
const K: usize = 21;

fn entry(row: usize, column: usize, salt: usize) -> i32 {
    ((row * 7 + column * 5 + salt) % 3) as i32
}

/// A matrix of small whole numbers.
fn matrix<T: Whole>(order: Order, rows: usize, columns: usize, salt: usize) -> Vec<T::Storage> {
    let leading = order.packed(rows, columns);
    let mut elements = vec![T::whole(0); rows * columns];
    for (i, j) in (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))) {
        elements[order.offset(i, j, leading)] = T::whole(entry(i, j, salt));
    }
    elements
}

/// Whether the kernel of these types is the table's, and its product the right one: sums stay below 128, exact in every type.
fn multiplies<T: Whole, LA: Layout, LB: Layout, Acc: Element, C: Whole<Storage: PartialEq + core::fmt::Debug>, LC: Layout, Ar>()
where
    Ar: falchion::arch::Arch,
    Auto: Select<Simt, Ar, T, T, C, Acc>,
{
    let gemm = Gemm::<T, LA, T, LB, C, LC, Acc, Simt, Ar>::new();
    let types = drawn::types(T::KIND, Acc::KIND, C::KIND);
    let orders = [LA::ORDER, LB::ORDER, LC::ORDER];
    assert_eq!(Ok(gemm.desc()), default_description(falchion::arch::OpKind::Simt, Ar::KIND, types, orders));
    let (a, b) = (matrix::<T>(LA::ORDER, M, K, 0), matrix::<T>(LB::ORDER, K, N, 1));
    let mut d = vec![C::whole(101); M * N];
    gemm.run(Arguments::new((M, N, K), &a, &b, &mut d)).expect("a ragged product");
    for (i, j) in (0..M).flat_map(|i| (0..N).map(move |j| (i, j))) {
        let want = (0..K).map(|k| entry(i, k, 0) * entry(k, j, 1)).sum();
        assert_eq!(d[LC::ORDER.offset(i, j, LC::ORDER.packed(M, N))], C::whole(want), "D({i}, {j}) of {:?}", gemm.desc());
    }
}

macro_rules! in_all_layouts {
    ($($name:ident: $element:ty, $accumulator:ty, $c:ty;)*) => {
        $(#[test]
        fn $name() {
            in_all_layouts!(@tags [Sm70 Sm75 Sm80 Sm86 Sm89 Sm90] ($element, $accumulator, $c));
        })*
    };
    (@tags [$($tag:ident)*] $types:tt) => {
        $(in_all_layouts!(@layouts $tag, $types);)*
    };
    (@layouts $tag:ident, ($element:ty, $accumulator:ty, $c:ty)) => {
        in_all_layouts!(@each $tag, $element, $accumulator, $c;
            RowMajor RowMajor RowMajor, RowMajor RowMajor ColMajor, RowMajor ColMajor RowMajor, RowMajor ColMajor ColMajor,
            ColMajor RowMajor RowMajor, ColMajor RowMajor ColMajor, ColMajor ColMajor RowMajor, ColMajor ColMajor ColMajor)
    };
    (@each $tag:ident, $element:ty, $accumulator:ty, $c:ty; $($la:ident $lb:ident $lc:ident),*) => {
        $(multiplies::<$element, $la, $lb, $accumulator, $c, $lc, $tag>();)*
    };
}

in_all_layouts! {
    f32_multiplies_in_all_layouts: f32, f32, f32;
    f64_multiplies_in_all_layouts: f64, f64, f64;
    f16_multiplies_in_all_layouts: F16, f32, F16;
    f16_into_f32_multiplies_in_all_layouts: F16, f32, f32;
    f16_in_f16_multiplies_in_all_layouts: F16, F16, F16;
    bf16_multiplies_in_all_layouts: Bf16, f32, Bf16;
    bf16_into_f32_multiplies_in_all_layouts: Bf16, f32, f32;
    i8_into_i32_multiplies_in_all_layouts: i8, i32, i32;
    i8_multiplies_in_all_layouts: i8, i32, i8;
    i8_into_f32_multiplies_in_all_layouts: i8, i32, f32;
    u8_into_i32_multiplies_in_all_layouts: u8, i32, i32;
    u8_multiplies_in_all_layouts: u8, i32, u8;
    i32_multiplies_in_all_layouts: i32, i32, i32;
}

#[test]
fn every_combination_of_types_has_its_test_above() {
    let distinct: std::collections::HashSet<_> = falchion::desc::COMBINATIONS.iter().collect();
    assert_eq!((distinct.len(), falchion::desc::COMBINATIONS.len()), (13, 13));
    assert_eq!(drawn::types(ElementKind::F32, ElementKind::F32, ElementKind::F32), falchion::desc::COMBINATIONS[0]);
}
