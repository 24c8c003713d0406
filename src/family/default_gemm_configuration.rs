//! What a kernel is configured as unless the user says otherwise: a table, one row for each class of types.
//!
//! A row names architectures, the operands' type, what they accumulate in, what C may be, and the configuration. The same row
//! answers types ([`Select`], at compile time) and values ([`default_gemm_configuration`], for flags and files).

use crate::{
    arch::{Arch, ArchKind, OpClass, OpKind, Simt, Sm70, Sm75, Sm80, Sm86, Sm89, Sm90, TensorOp},
    desc::{
        Auto, Bf16x6, Config, FromRegisters, FromShared, GemmConfig, GemmDesc, Knob, Knobs, NoPromotion, NoSpills, NoSplit,
        PromoteEachStage, PromotionKind, With,
    },
    epilogue::LinearCombination,
    layout::Order,
    numeric::{Bf16, Combined, E4m3, E5m2, Element, F16, Tf32, Vector128},
    refusal::Refusal,
    schedule::{CooperativeSchedule, PingpongSchedule, ScheduleKind},
    shape::{BlocksPerSm, ClusterShape, GemmShape, Mnk, Stages},
    threadblock::{
        GroupedSwizzle, IdentitySwizzle, MainloopKind, MmaMultistage, MmaPipelined, MmaWarpSpecialized, SmemAuto, SwizzleKind,
    },
    warp::{FullUnroll, VectorInterleave},
};
use typenum::{U1, U4, U8, U16};

/// A configuration for the types at hand: [`Auto`] has one for each row of the table; a [`Config`] is its own; a
/// [`With`] is its base's with one knob set.
#[diagnostic::on_unimplemented(
    message = "no default configuration for `{Op}` on `{Ar}` with A: `{A}`, B: `{B}`, C: `{C}`, accumulating in `{Acc}`, or one that does not nest",
    label = "no configuration for these types",
    note = "`device::default_gemm_configuration` lists the defaults; a configuration of your own is the last parameter of `Gemm`",
    note = "tile shapes must nest: threadblock in whole warp tiles, warp in whole instructions, along each of M, N and K"
)]
pub trait Select<Op, Ar, A, B, C, Acc> {
    /// The configuration.
    type Config: GemmConfig;
    /// Others for the same types, among which [`GemmDesc::for_extents`] chooses for a problem; none unless it is [`Auto`]'s to choose.
    const OTHERS: &'static [Knobs] = &[];
}

impl<Op, Ar, A, B, C, Acc, Base, K> Select<Op, Ar, A, B, C, Acc> for With<Base, K>
where
    Base: Select<Op, Ar, A, B, C, Acc>,
    K: Knob<Base::Config>,
{
    type Config = K::Applied;
}

macro_rules! configurations {
    ($($op:ident [$($arch:ident)*] [$($a:ty $(| $b:ty)?, $acc:ty => $c:ty);*] $config:ty $(, or $other:ty)*;)*) => {
        configurations! { @types $($op [$($arch)*] [$($a $(| $b)?, $acc => $c);*] [$config $(, $other)*];)* }

        /// The knobs that [`Auto`] stands for, and those that it may take instead for a problem.
        ///
        /// # Errors
        ///
        /// [`Refusal::NoSuchOperation`], [`Refusal::NoSuchCombination`] or [`Refusal::OfOtherUnits`] when the table has no row.
        pub fn default_gemm_configurations(op: OpKind, arch: ArchKind, types: Combined) -> Result<(Knobs, &'static [Knobs]), Refusal> {
            $(
                if op == <$op as OpClass>::KIND
                    && [$(<$arch as Arch>::KIND),*].contains(&arch)
                    && [$(combined::<$a, configurations!(@b $a $(| $b)?), $acc, $c>()),*].contains(&types)
                {
                    return Ok((Knobs::of::<$config>(), const { &[$(Knobs::of::<$other>()),*] }));
                }
            )*
            if types.is_of(op) { Err(Refusal::NoSuchOperation { op, arch }) } else { Err(types.refused_by(op)) }
        }
    };
    (@types $($op:ident [$($arch:ident)*] $types:tt $configs:tt;)*) => {
        $($(configurations! { @row $op $arch $types $configs })*)*
    };
    (@first [$config:ty $(, $other:ty)*]) => { $config };
    (@others [$config:ty $(, $other:ty)*]) => { &[$(Knobs::of::<$other>()),*] };
    // B's elements are A's unless the row says otherwise.
    (@b $a:ty) => { $a };
    (@b $a:ty | $b:ty) => { $b };
    (@row $op:ident $arch:ident [$($a:ty $(| $b:ty)?, $acc:ty => $c:ty);*] $configs:tt) => {
        $(impl Select<$op, $arch, $a, configurations!(@b $a $(| $b)?), $c, $acc> for Auto {
            type Config = configurations!(@first $configs);
            const OTHERS: &'static [Knobs] = configurations!(@others $configs);
        })*
    };
}

/// Element types as values.
const fn combined<A: Element, B: Element, Acc: Element, C: Element>() -> Combined {
    Combined { a: A::KIND, b: B::KIND, accumulator: Acc::KIND, c: C::KIND }
}

/// What all rows have in common: one block a multiprocessor, layouts of shared memory that follow from the operands.
type Row<Tile, WarpTile, Loop, StageNumber, Order, Aa, Ab, Ac> = Config<
    Tile,
    WarpTile,
    GemmShape<1, 1, 1>,
    Loop,
    StageNumber,
    Order,
    Aa,
    Ab,
    Ac,
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

/// The configuration that this library began with, and CUTLASS's for the CUDA cores: 128x128x8, two stages.
type Classic<Aa, Ab, Ac> =
    Row<GemmShape<128, 128, 8>, GemmShape<32, 64, 8>, MmaPipelined, Stages<2>, IdentitySwizzle<1>, Aa, Ab, Ac>;

/// `f64`: half the columns, since an accumulator takes two registers.
type Double<Aa, Ab, Ac> =
    Row<GemmShape<128, 64, 8>, GemmShape<32, 32, 8>, MmaPipelined, Stages<2>, IdentitySwizzle<1>, Aa, Ab, Ac>;

/// `f32` with asynchronous copies: the largest tile whose accumulators fit, 16x8 a thread, so that the fewest instructions go
/// to anything but products. Chosen on an H200 among those of `docs/performance/learned.md`.
type Asynchronous = Row<
    GemmShape<256, 128, 8>,
    GemmShape<64, 64, 8>,
    MmaMultistage,
    Stages<4>,
    IdentitySwizzle<1>,
    Vector128<f32>,
    Vector128<f32>,
    Vector128<f32>,
>;

/// Tensor cores of Hopper: `K` elements of 128 bytes, `STEP` of 32 an instruction; tiles eight rows abreast.
type Specialized<
    Tile,
    WarpTile,
    InstructionTile,
    StageNumber,
    Schedule,
    Aab,
    Ac,
    Promoted = NoPromotion,
    Parts = NoSplit,
    Source = FromShared,
> = Config<
    Tile,
    WarpTile,
    InstructionTile,
    MmaWarpSpecialized,
    StageNumber,
    GroupedSwizzle<8>,
    Aab,
    Aab,
    Ac,
    SmemAuto,
    SmemAuto,
    BlocksPerSm<1>,
    ClusterShape<1, 1>,
    Schedule,
    Promoted,
    Parts,
    Source,
    VectorInterleave,
    FullUnroll,
    NoSpills,
    LinearCombination,
>;

/// 128 x 128, each warpgroup its own: stores cost nothing where there is a next tile.
type Turns<const K: usize, const STEP: usize, Aab, Ac> =
    Specialized<GemmShape<128, 128, K>, GemmShape<128, 128, K>, GemmShape<64, 128, STEP>, Stages<6>, PingpongSchedule, Aab, Ac>;

/// The same of 128 x 176.
type Turns176<const K: usize, const STEP: usize, Aab, Ac> =
    Specialized<GemmShape<128, 176, K>, GemmShape<128, 176, K>, GemmShape<64, 176, STEP>, Stages<4>, PingpongSchedule, Aab, Ac>;

/// The same of 128 x 192.
type Turns192<const K: usize, const STEP: usize, Aab, Ac> =
    Specialized<GemmShape<128, 192, K>, GemmShape<128, 192, K>, GemmShape<64, 192, STEP>, Stages<4>, PingpongSchedule, Aab, Ac>;

/// A from registers, where it is contiguous along M: consumers share a tile of 128 x `N`, so that one loads while the other multiplies.
type Loaded<const N: usize, const K: usize, const STEP: usize, Aab, Ac> = Specialized<
    GemmShape<128, N, K>,
    GemmShape<64, N, K>,
    GemmShape<64, N, STEP>,
    Stages<4>,
    CooperativeSchedule,
    Aab,
    Ac,
    NoPromotion,
    NoSplit,
    FromRegisters,
>;

/// The same of `tf32`, 64 x 256 in turns.
type LoadedInTurns<Aab, Ac> = Specialized<
    GemmShape<64, 256, 32>,
    GemmShape<64, 256, 32>,
    GemmShape<64, 256, 8>,
    Stages<5>,
    PingpongSchedule,
    Aab,
    Ac,
    NoPromotion,
    NoSplit,
    FromRegisters,
>;

/// `f32` in parts of 16 bits, sums promoted after each stage: the tile of [`promoted`].
type InParts = Specialized<
    GemmShape<256, 128, 64>,
    GemmShape<128, 128, 64>,
    GemmShape<64, 128, 16>,
    Stages<4>,
    CooperativeSchedule,
    Vector128<f32>,
    Vector128<f32>,
    PromoteEachStage,
    Bf16x6,
>;

configurations! {
    Simt [Sm70 Sm75] [f32, f32 => f32; i32, i32 => i32] Classic<U1, U1, U1>;
    Simt [Sm70 Sm75] [F16, f32 => F16; F16, f32 => f32; F16, F16 => F16; Bf16, f32 => Bf16; Bf16, f32 => f32] Classic<U1, U1, U1>;
    Simt [Sm70 Sm75] [i8, i32 => i32; i8, i32 => i8; i8, i32 => f32; u8, i32 => i32; u8, i32 => u8] Classic<U1, U1, U1>;
    Simt [Sm70 Sm75] [f64, f64 => f64] Double<U1, U1, U1>;
    Simt [Sm80 Sm86 Sm89 Sm90] [f32, f32 => f32] Asynchronous;
    Simt [Sm80 Sm86 Sm89 Sm90] [i32, i32 => i32] Classic<Vector128<f32>, Vector128<f32>, Vector128<f32>>;
    Simt [Sm80 Sm86 Sm89 Sm90] [F16, f32 => F16; F16, F16 => F16; Bf16, f32 => Bf16] Classic<U8, U8, U8>;
    Simt [Sm80 Sm86 Sm89 Sm90] [F16, f32 => f32; Bf16, f32 => f32] Classic<U8, U8, Vector128<f32>>;
    Simt [Sm80 Sm86 Sm89 Sm90] [i8, i32 => i8; u8, i32 => u8] Classic<U8, U8, U8>;
    Simt [Sm80 Sm86 Sm89 Sm90] [i8, i32 => i32; i8, i32 => f32; u8, i32 => i32] Classic<U8, U8, Vector128<f32>>;
    Simt [Sm80 Sm86 Sm89 Sm90] [f64, f64 => f64] Double<Vector128<f64>, Vector128<f64>, Vector128<f64>>;
    TensorOp [Sm90] [F16, f32 => F16; F16, f32 => Bf16; F16, F16 => F16; Bf16, f32 => Bf16; Bf16, f32 => F16]
        Turns<64, 16, U8, U8>, or Turns176<64, 16, U8, U8>, or Turns192<64, 16, U8, U8>;
    TensorOp [Sm90] [F16, f32 => f32; Bf16, f32 => f32] Turns<64, 16, U8, U4>, or Turns176<64, 16, U8, U4>, or Turns192<64, 16, U8, U4>;
    TensorOp [Sm90] [Tf32, f32 => f32] Turns<32, 8, U4, U4>, or Turns176<32, 8, U4, U4>, or Turns192<32, 8, U4, U4>, or LoadedInTurns<U4, U4>;
    TensorOp [Sm90] [f32, f32 => f32] InParts;
    TensorOp [Sm90] [E4m3, f32 => Bf16; E4m3 | E5m2, f32 => Bf16; E5m2 | E4m3, f32 => Bf16; E5m2, f32 => Bf16]
        Turns<128, 32, U16, U8>, or Turns176<128, 32, U16, U8>, or Turns192<128, 32, U16, U8>,
        or Loaded<256, 128, 32, U16, U8>, or Loaded<192, 128, 32, U16, U8>;
    TensorOp [Sm90] [E4m3, f32 => F16; E4m3 | E5m2, f32 => F16; E5m2 | E4m3, f32 => F16; E5m2, f32 => F16]
        Turns<128, 32, U16, U8>, or Turns176<128, 32, U16, U8>, or Turns192<128, 32, U16, U8>,
        or Loaded<256, 128, 32, U16, U8>, or Loaded<192, 128, 32, U16, U8>;
    TensorOp [Sm90] [E4m3, f32 => f32; E4m3 | E5m2, f32 => f32; E5m2 | E4m3, f32 => f32; E5m2, f32 => f32]
        Turns<128, 32, U16, U4>, or Turns176<128, 32, U16, U4>, or Turns192<128, 32, U16, U4>,
        or Loaded<256, 128, 32, U16, U4>, or Loaded<192, 128, 32, U16, U4>;
    TensorOp [Sm90] [i8, i32 => i32; u8, i32 => i32]
        Turns<128, 32, U16, U4>, or Turns176<128, 32, U16, U4>, or Turns192<128, 32, U16, U4>,
        or Loaded<256, 128, 32, U16, U4>, or Loaded<192, 128, 32, U16, U4>;
}

/// The knobs that [`Auto`] stands for.
///
/// # Errors
///
/// Those of [`default_gemm_configurations`].
pub fn default_gemm_configuration(op: OpKind, arch: ArchKind, types: Combined) -> Result<Knobs, Refusal> {
    default_gemm_configurations(op, arch, types).map(|(knobs, _)| knobs)
}

/// The description of a product whose types are values, configured by default. C may be column-major: then the description
/// is that of the exchanged problem.
///
/// # Errors
///
/// Those of [`default_gemm_configuration`]; the description itself is still to be checked, with what the caller changes in it.
pub fn default_description(op: OpKind, arch: ArchKind, types: Combined, [a, b, c]: [Order; 3]) -> Result<GemmDesc, Refusal> {
    let knobs = default_gemm_configuration(op, arch, types)?;
    Ok(GemmDesc::of_values(op, arch, types, [a, b, c], knobs))
}

/// Knobs of fp8 with sums promoted after each stage: two consumers on one tile, so that one multiplies while the other adds; in turns
/// nobody would. 128 x 128 each, of which the partial sums of an instruction of 64 x 128 fit beside the sums; or 64 x 192, with as many
/// partial sums as sums.
#[must_use]
pub const fn promoted_configurations(knobs: Knobs) -> (Knobs, [Knobs; 1]) {
    let (tile, warp, instruction) = (knobs.threadblock, knobs.warp, knobs.instruction);
    let square = Knobs {
        threadblock: Mnk { m: 256, n: 128, ..tile },
        warp: Mnk { m: 128, n: 128, ..warp },
        instruction: Mnk { n: 128, ..instruction },
        stages: 4,
        schedule: ScheduleKind::Cooperative,
        promotion: PromotionKind::Stage,
        ..knobs
    };
    let wide = Knobs {
        threadblock: Mnk { m: 128, n: 192, ..tile },
        warp: Mnk { m: 64, n: 192, ..warp },
        instruction: Mnk { n: 192, ..instruction },
        ..square
    };
    (square, [wide])
}

/// Knobs of `f32` on the CUDA cores whose tiles the copy engine brings: 16x8 a thread, which measured best of
/// `docs/performance/f32_simt.md`. Not [`Auto`]'s, since operands that are contiguous along K need a workspace.
#[must_use]
pub const fn copied_by_tma(knobs: Knobs) -> Knobs {
    Knobs {
        threadblock: Mnk { m: 256, n: 128, k: 16 },
        warp: Mnk { m: 64, n: 64, k: 16 },
        instruction: Mnk { m: 16, n: 8, k: 1 },
        mainloop: MainloopKind::WarpSpecialized,
        stages: 8,
        swizzle: SwizzleKind::Grouped(8),
        ..knobs
    }
}

/// [`default_description`] with sums promoted after each stage.
///
/// # Errors
///
/// Those of [`default_description`].
pub fn promoted_description(op: OpKind, arch: ArchKind, types: Combined, [a, b, c]: [Order; 3]) -> Result<GemmDesc, Refusal> {
    let (knobs, _) = promoted_configurations(default_gemm_configuration(op, arch, types)?);
    Ok(GemmDesc::of_values(op, arch, types, [a, b, c], knobs))
}
