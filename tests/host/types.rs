//! Facts about types, and every row of the default table multiplied in all eight layouts.

use crate::harness::{prelude::*, random_cases};
use falchion::{
    arch::Arch,
    desc::{
        AlignmentA, AlignmentB, AlignmentC, Config, Frame, Leaf, PromoteEachStage, SharedA, SharedB,
    },
    epilogue::LinearCombinationRelu,
    layout::Layout,
    shape::TiledBy,
    threadblock::{SmemAuto, SmemPadded, SmemSwizzled},
};
use static_assertions::{assert_eq_size, assert_impl_all, assert_not_impl_any, const_assert};

/// The description of `f32` by rows with a configuration.
fn of_f32<C: Config>() -> GemmDesc {
    Gemm::<f32, RowMajor, f32, RowMajor, f32, RowMajor, f32, Simt, Sm80, C>::DESC
}

/// Tiles, main loop, stages and alignments of a row.
#[test]
fn the_table_has_its_rows() {
    use ElementKind::*;
    let row = |arch, ab, accumulator, c| {
        let knobs = default_gemm_configurations(
            falchion::arch::OpKind::Simt,
            arch,
            random_cases::types(ab, accumulator, c),
        )
        .expect("a row")[0];
        let FamilyDesc::Simt(knobs) = knobs else { panic!("{knobs:?} is Hopper's") };
        (
            knobs.threadblock,
            knobs.warp,
            knobs.mainloop,
            knobs.stages,
            [knobs.align_a, knobs.align_b, knobs.align_c],
        )
    };
    let (classic, double) =
        ((Mnk::new(128, 128, 8), Mnk::new(32, 64, 8)), (Mnk::new(128, 64, 8), Mnk::new(32, 32, 8)));
    let pipelined =
        |tiles: (Mnk, Mnk), aligned| (tiles.0, tiles.1, MainloopKind::Pipelined, 2, aligned);
    for arch in [ArchKind::Sm70, ArchKind::Sm75] {
        for (ab, accumulator, c) in [
            (F32, F32, F32),
            (I32, I32, I32),
            (F16, F32, F16),
            (F16, F16, F16),
            (Bf16, F32, F32),
            (U8, I32, U8),
        ] {
            assert_eq!(row(arch, ab, accumulator, c), pipelined(classic, [1; 3]), "{ab}");
        }
        assert_eq!(row(arch, F64, F64, F64), pipelined(double, [1; 3]));
    }
    for arch in [ArchKind::Sm80, ArchKind::Sm86, ArchKind::Sm89, ArchKind::Sm90] {
        let ring =
            (Mnk::new(256, 128, 8), Mnk::new(64, 64, 8), MainloopKind::Multistage, 4, [4; 3]);
        assert_eq!(row(arch, F32, F32, F32), ring);
        assert_eq!(row(arch, I32, I32, I32), pipelined(classic, [4; 3]));
        for (ab, accumulator, c) in
            [(F16, F32, F16), (Bf16, F32, Bf16), (I8, I32, I8), (U8, I32, U8)]
        {
            assert_eq!(row(arch, ab, accumulator, c), pipelined(classic, [8; 3]), "{ab}");
        }
        for (ab, accumulator, c) in [(F16, F32, F32), (I8, I32, F32)] {
            assert_eq!(row(arch, ab, accumulator, c), pipelined(classic, [8, 8, 4]), "{ab}");
        }
        assert_eq!(row(arch, F64, F64, F64), pipelined(double, [2; 3]));
    }
}

type Shape = GemmShape<64, 32, 8>;

/// Overrides wait for the default, so they commute, and the last of two of one knob wins.
#[test]
fn leaves_commute() {
    assert_eq!(
        of_f32::<With<With<Auto, Warp<Shape>>, Stages<3>>>(),
        of_f32::<With<With<Auto, Stages<3>>, Warp<Shape>>>()
    );
    type Small = Warp<GemmShape<16, 32, 8>>;
    type Tile = Threadblock<GemmShape<32, 32, 8>>;
    assert_eq!(
        of_f32::<With<With<Auto, Small>, Tile>>(),
        of_f32::<With<With<Auto, Tile>, Small>>()
    );
    assert_eq!(
        of_f32::<With<With<Auto, Stages<2>>, Stages<3>>>(),
        of_f32::<With<Auto, Stages<3>>>()
    );
    type Padded = SharedB<SmemPadded<false, 4>>;
    type Swizzled = SharedA<SmemSwizzled<false, 3, 2, 0>>;
    assert_eq!(
        of_f32::<With<With<Auto, Padded>, Swizzled>>(),
        of_f32::<With<With<Auto, Swizzled>, Padded>>()
    );
    type Aligned = With<With<Auto, AlignmentA<1>>, BlocksPerSm<1>>;
    type Ordered = With<With<With<Auto, HorizontalSwizzle>, BlocksPerSm<1>>, AlignmentA<1>>;
    assert_eq!(of_f32::<With<Aligned, HorizontalSwizzle>>(), of_f32::<Ordered>());
    type Relu = EpilogueTree<LinearCombinationRelu>;
    assert_eq!(
        of_f32::<With<With<Auto, AlignmentB<2>>, Relu>>(),
        of_f32::<With<With<Auto, Relu>, AlignmentB<2>>>()
    );
}

/// Every knob pinned to what it is: nothing changes.
#[test]
fn what_is_pinned_to_its_default_changes_nothing() {
    type Tiles = With<With<Auto, Threadblock<GemmShape<256, 128, 8>>>, Warp<GemmShape<64, 64, 8>>>;
    type Loop = With<With<Tiles, MmaMultistage>, Stages<4>>;
    type Aligned = With<With<With<Loop, AlignmentA<4>>, AlignmentB<4>>, AlignmentC<4>>;
    type Shared =
        With<With<With<Aligned, IdentitySwizzle<1>>, SharedA<SmemAuto>>, SharedB<SmemAuto>>;
    type All = With<With<Shared, BlocksPerSm<1>>, EpilogueTree<LinearCombination>>;
    assert_eq!(of_f32::<All>(), of_f32::<Auto>());
}

/// A loop nest is one leaf, and pins what its parts do.
#[test]
fn a_loop_nest_is_one_leaf() {
    type Nest = MmaMultistage<GemmShape<128, 128, 8>, MmaSimt<GemmShape<32, 64, 8>>, 3>;
    type Parts = With<
        With<With<Auto, Threadblock<GemmShape<128, 128, 8>>>, Warp<GemmShape<32, 64, 8>>>,
        Stages<3>,
    >;
    assert_eq!(of_f32::<With<Auto, Nest>>(), of_f32::<Parts>());
    assert_eq!(<Nest as Leaf>::PINS, <With<Parts, MmaMultistage> as Config>::PINS);
    type TensorCores = MmaWarpSpecialized<
        GemmShape<128, 256, 64>,
        MmaTensorOp<GemmShape<64, 256, 64>, GemmShape<64, 256, 16>>,
        3,
    >;
    let desc = Gemm::<F16, RowMajor, F16, ColMajor, F16, RowMajor, f32, TensorOp>::new();
    assert_eq!(desc.desc().class.arch, ArchKind::Sm90);
    let nest = desc.with::<TensorCores>().with::<falchion::desc::CooperativeSchedule>().desc();
    assert_eq!(
        (nest.threadblock(), nest.warp(), nest.stages()),
        (Mnk::new(128, 256, 64), Mnk::new(64, 256, 64), 3)
    );
    assert_eq!(<Auto as Config>::PINS, Pins::NONE);
    assert!(<With<Auto, PromoteEachStage> as Config>::PINS.promotion.is_some());
}

// A GEMM is its type: nothing to carry, nothing to share.
type Plain = Gemm<f32, ColMajor, f32, ColMajor, f32, ColMajor>;
assert_eq_size!(Plain, ());
assert_impl_all!(Plain: Send, Sync, Unpin);
assert_impl_all!(GemmDesc: Copy, Eq, core::hash::Hash, Send, Sync);
assert_impl_all!(falchion::Refusal: Copy, Send, Sync, std::error::Error);
assert_impl_all!(falchion::Error: Send, Sync, std::error::Error);
assert_impl_all!(GemmShape<64, 64, 16>: TiledBy<GemmShape<32, 16, 8>>);
assert_not_impl_any!(GemmShape<48, 64, 16>: TiledBy<GemmShape<32, 16, 8>>);

/// Descriptions, while compiling.
const DESC: GemmDesc = Plain::DESC;
const SIMT: SimtDesc = DESC.simt().unwrap();
const_assert!(
    DESC.frame.swapped
        && DESC.stages() == 4
        && DESC.threads() == 256
        && DESC.smem_bytes() == 4 * SIMT.base().stage_bytes()
);
const_assert!(
    matches!(DESC.family.mainloop(), MainloopKind::Multistage)
        && DESC.check().is_ok()
        && SIMT.base().registers() <= 255
);
const_assert!(matches!((DESC.class.a.layout, DESC.class.b.layout), (Order::Row, Order::Row)));

#[test]
fn a_description_of_types_is_the_description_of_their_values() {
    assert_eq!(DESC, random_cases::default_f32(ArchKind::Sm80, [Order::Col; 3]));
    assert_eq!(DESC.swapped().swapped(), DESC);
    let pins = DESC.pins();
    assert_eq!(pins.enter(Frame::SWAPPED).leave(Frame::SWAPPED), pins);
}

/// A small whole number, as an element.
trait Whole: MathType {
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

/// Whether the kernel of these types is the table's, and its product the right one. Of each there
/// is little text: there are 624 of them.
fn multiplies<
    T: Whole,
    LA: Layout,
    LB: Layout,
    Acc: MathType,
    C: Whole<Storage: PartialEq + core::fmt::Debug>,
    LC: Layout,
    Ar,
>()
where
    Ar: Arch,
{
    let gemm = Gemm::<T, LA, T, LB, C, LC, Acc, Simt, Ar>::new();
    let run = |a: &[T::Storage], b: &[T::Storage], d: &mut [C::Storage]| {
        gemm.run(Arguments::new((M, N, K), a, b, d))
    };
    is_right::<T, C>(
        gemm.desc(),
        (Acc::KIND, Ar::KIND.expect("a tag")),
        [LA::ORDER, LB::ORDER, LC::ORDER],
        &run,
    );
}

/// Computes by a kernel of the leaves.
type Run<'a, T, C> = &'a dyn Fn(
    &[<T as MathType>::Storage],
    &[<T as MathType>::Storage],
    &mut [<C as MathType>::Storage],
) -> Result<(), falchion::Error>;

/// Sums stay below 128, exact in every type.
fn is_right<T: Whole, C: Whole<Storage: PartialEq + core::fmt::Debug>>(
    desc: GemmDesc,
    (accumulator, arch): (ElementKind, ArchKind),
    orders: [Order; 3],
    run: Run<'_, T, C>,
) {
    let types = random_cases::types(T::KIND, accumulator, C::KIND);
    assert_eq!(Ok(desc), default_description(falchion::arch::OpKind::Simt, arch, types, orders));
    let (a, b) = (matrix::<T>(orders[0], M, K, 0), matrix::<T>(orders[1], K, N, 1));
    let mut d = vec![C::whole(101); M * N];
    run(&a, &b, &mut d).expect("a ragged product");
    for (i, j) in (0..M).flat_map(|i| (0..N).map(move |j| (i, j))) {
        let want = (0..K).map(|k| entry(i, k, 0) * entry(k, j, 1)).sum();
        assert_eq!(
            d[orders[2].offset(i, j, orders[2].packed(M, N))],
            C::whole(want),
            "D({i}, {j}) of {desc:?}"
        );
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
    assert_eq!(
        random_cases::types(ElementKind::F32, ElementKind::F32, ElementKind::F32),
        falchion::desc::COMBINATIONS[0]
    );
}
