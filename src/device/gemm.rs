//! The GEMM whose parameters are types.

#![allow(
    clippy::type_complexity,
    reason = "ten parameters are the point: each parameter is a choice of the user"
)]

use super::{configurations::Candidates, operation::GemmOperation};
use crate::{
    arch::{Arch, Best, Native, OpClass},
    epilogue::Node,
    layout::{Layout, Orders, RowMajor},
    nest::{
        Auto, Config, EpilogueTree, GemmDesc, Leaf, Stages, Threadblock, TypedRequest, Warp, With,
    },
    numeric::{Combined, MathType, MultipliedBy},
    refusal::Unresolved,
    shape::Shape,
};
use core::{fmt, marker::PhantomData, ops::Deref};

/// A GEMM, `D = epilogue(A * B, C)`, whose types fix the kernel: CUTLASS's `device::Gemm`.
///
/// Every parameter after `A` has a default: row-major layouts, B of the type of A, the first
/// result type that [`COMBINATIONS`](crate::nest::COMBINATIONS) lists, and the fastest units of the
/// machine that holds D. D has the type and layout of C. `Gemm` derefs to its [`GemmOperation`],
/// whose methods run and prepare it. [`GemmOperation`] also supports types that are known only at
/// run time.
///
/// ```
/// use falchion::prelude::*;
///
/// // D = A * B, row-major.
/// let gemm = Gemm::<f32>::new();
/// let (a, b, mut d) = (vec![1.0f32; 64 * 32], vec![1.0f32; 32 * 48], vec![0.0f32; 64 * 48]);
/// gemm.run(Arguments::new((64, 48, 32), &a, &b, &mut d))?;
/// assert!(d.iter().all(|&x| x == 32.0));
///
/// // A GEMM with three stages.
/// assert_eq!(gemm.stages::<3>().desc().stages(), 3);
/// # Ok::<(), falchion::Error>(())
/// ```
///
/// [`Best`] selects tensor cores for 16-bit, 8-bit, tf32, and f64 types if the GPU has
/// instructions for them. `f32` runs on the CUDA cores, because tensor cores only emulate it. The
/// host executes the description for CUDA cores if CUDA cores multiply the types. Otherwise, the
/// host executes the description for Hopper's tensor cores. Name the architecture to compute the
/// same bits on the host and on a GPU:
///
/// ```
/// use falchion::prelude::*;
///
/// type Hopper = Gemm<Bf16, RowMajor, Bf16, ColMajor, f32, RowMajor, f32, Best, Sm90>;
/// let (a, b, mut d) = (vec![Bf16::ONE; 6], vec![Bf16::ONE; 12], vec![0.0f32; 8]);
/// Hopper::new().run(Arguments::new((2, 4, 3), &a, &b, &mut d).alpha(2.0))?;
/// assert_eq!(d, [6.0; 8]);
/// # Ok::<(), falchion::Error>(())
/// ```
///
/// A loop nest is one configuration type. Tiles that do not nest do not compile:
///
/// ```compile_fail,E0277
/// use falchion::prelude::*;
/// type Uneven = With<Auto, MmaMultistage<GemmShape<128, 128, 8>, MmaSimt<GemmShape<48, 64, 8>>, 4>>;
/// Gemm::<f32, RowMajor, f32, RowMajor, f32, RowMajor, f32, Simt, Sm80, Uneven>::new();
/// ```
///
/// Types that no units multiply do not compile:
///
/// ```compile_fail,E0080
/// use falchion::prelude::*;
/// Gemm::<f32, RowMajor, F16>::new();
/// ```
#[doc(alias = "matmul")]
#[doc(alias = "sgemm")]
#[doc(alias = "split_k")]
pub struct Gemm<
    A,
    LayoutA = RowMajor,
    B = A,
    LayoutB = RowMajor,
    C = <A as MathType>::Output,
    LayoutC = RowMajor,
    Accumulator = <A as MathType>::Accumulator,
    Op = Best,
    Architecture = <Op as OpClass>::Arch,
    Configuration = Auto,
>(
    PhantomData<
        Types<A, LayoutA, B, LayoutB, C, LayoutC, Accumulator, Op, Architecture, Configuration>,
    >,
)
where
    A: MathType,
    Op: OpClass;

/// A GEMM that uses the units and the architecture of the GPU at hand: CUTLASS's `GemmUniversal`.
pub type GemmUniversal<
    A,
    LayoutA = RowMajor,
    B = A,
    LayoutB = RowMajor,
    C = <A as MathType>::Output,
    LayoutC = RowMajor,
    Accumulator = <A as MathType>::Accumulator,
    Configuration = Auto,
> = Gemm<A, LayoutA, B, LayoutB, C, LayoutC, Accumulator, Best, Native, Configuration>;

impl<A: MathType, LA, B, LB, C, LC, Acc, Op: OpClass, Ar, Cfg> Copy
    for Gemm<A, LA, B, LB, C, LC, Acc, Op, Ar, Cfg>
{
}

impl<A: MathType, LA, B, LB, C, LC, Acc, Op: OpClass, Ar, Cfg> Clone
    for Gemm<A, LA, B, LB, C, LC, Acc, Op, Ar, Cfg>
{
    fn clone(&self) -> Self {
        *self
    }
}

impl<
    A: MathType,
    LA: Layout,
    B: MathType,
    LB: Layout,
    C: MathType,
    LC: Layout,
    Acc: MathType,
    Op: OpClass,
    Ar: Arch,
    Cfg,
> Gemm<A, LA, B, LB, C, LC, Acc, Op, Ar, Cfg>
{
    /// Creates the GEMM. An invalid configuration does not compile.
    #[must_use]
    pub fn new() -> Self
    where
        A: MultipliedBy<B>,
        Cfg: Config,
    {
        const {
            // An invalid configuration fails the build here. The compiler also names the line of
            // the call.
            let _ = Self::checked();
        }
        Cfg::register();
        Self(PhantomData)
    }

    /// Adds one knob to the configuration, such as `with::<PingpongSchedule>()`.
    #[must_use]
    pub fn with<L: Leaf>(self) -> Gemm<A, LA, B, LB, C, LC, Acc, Op, Ar, With<Cfg, L>> {
        L::register();
        Gemm(PhantomData)
    }

    /// Sets the number of stages of the main loop.
    #[must_use]
    pub fn stages<const N: u32>(
        self,
    ) -> Gemm<A, LA, B, LB, C, LC, Acc, Op, Ar, With<Cfg, Stages<N>>> {
        self.with()
    }

    /// Sets the thread-block tile.
    #[must_use]
    pub fn threadblock<S: Shape>(
        self,
    ) -> Gemm<A, LA, B, LB, C, LC, Acc, Op, Ar, With<Cfg, Threadblock<S>>> {
        self.with()
    }

    /// Sets the warp tile.
    #[must_use]
    pub fn warp<S: Shape>(self) -> Gemm<A, LA, B, LB, C, LC, Acc, Op, Ar, With<Cfg, Warp<S>>> {
        self.with()
    }

    /// Sets the epilogue, an expression of [`epilogue`](mod@crate::epilogue) nodes.
    #[must_use]
    pub fn epilogue<E: Node>(
        self,
    ) -> Gemm<A, LA, B, LB, C, LC, Acc, Op, Ar, With<Cfg, EpilogueTree<E>>> {
        self.with()
    }
}

impl<
    A: MathType,
    LA: Layout,
    B: MathType,
    LB: Layout,
    C: MathType,
    LC: Layout,
    Acc: MathType,
    Op: OpClass,
    Ar: Arch,
    Cfg: Config,
> Gemm<A, LA, B, LB, C, LC, Acc, Op, Ar, Cfg>
{
    /// The description of the kernel, checked at compile time: for the named architecture, or for
    /// the host if the architecture is [`Native`](crate::arch::Native).
    pub const DESC: GemmDesc = valid(&Self::FIRST);

    /// The first candidate configuration without a machine.
    const FIRST: Result<GemmDesc, Unresolved> = Self::REQUEST.without_machine();
    /// The candidates of the operator that [`Deref`] returns.
    const CANDIDATES: &Candidates = &Candidates::from_request(Self::REQUEST, valid(&Self::FIRST));
    const REQUEST: TypedRequest = TypedRequest {
        types: Combined { a: A::KIND, b: B::KIND, accumulator: Acc::KIND, c: C::KIND },
        orders: Orders { a: LA::ORDER, b: LB::ORDER, c: LC::ORDER },
        op: Op::KIND,
        arch: Ar::KIND,
        pins: Cfg::PINS,
    };

    /// Returns [`DESC`](Self::DESC). In a `const` of the caller, `cargo check` reports an invalid
    /// configuration at the line of the `const`.
    ///
    /// ```compile_fail,E0080
    /// use falchion::prelude::*;
    /// const PRODUCT: GemmDesc = Gemm::<f32, RowMajor, F16, RowMajor, f32, RowMajor>::checked();
    /// ```
    #[track_caller]
    pub const fn checked() -> GemmDesc {
        valid(&Self::FIRST);
        Self::require_valid_types()
    }

    /// Evaluates `DESC` in a separate function, so `valid` reports the line of the caller first.
    /// The compiler evaluates `DESC` for every call in the program, so no call panics at run time.
    const fn require_valid_types() -> GemmDesc {
        Self::DESC
    }
}

impl<
    A: MathType,
    LA: Layout,
    B: MathType,
    LB: Layout,
    C: MathType,
    LC: Layout,
    Acc: MathType,
    Op: OpClass,
    Ar: Arch,
    Cfg: Config,
> Deref for Gemm<A, LA, B, LB, C, LC, Acc, Op, Ar, Cfg>
{
    type Target = GemmOperation<A, B, C>;

    fn deref(&self) -> &Self::Target {
        const { &GemmOperation::constant(Self::CANDIDATES) }
    }
}

impl<
    A: MultipliedBy<B>,
    LA: Layout,
    B: MathType,
    LB: Layout,
    C: MathType,
    LC: Layout,
    Acc: MathType,
    Op: OpClass,
    Ar: Arch,
    Cfg: Config,
> Default for Gemm<A, LA, B, LB, C, LC, Acc, Op, Ar, Cfg>
{
    fn default() -> Self {
        Self::new()
    }
}

impl<
    A: MathType,
    LA: Layout,
    B: MathType,
    LB: Layout,
    C: MathType,
    LC: Layout,
    Acc: MathType,
    Op: OpClass,
    Ar: Arch,
    Cfg: Config,
> fmt::Debug for Gemm<A, LA, B, LB, C, LC, Acc, Op, Ar, Cfg>
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Gemm").field(&**self).finish()
    }
}

/// Returns the first candidate configuration. At compile time, a panic message has the reason if
/// there is none.
#[track_caller]
const fn valid(first: &Result<GemmDesc, Unresolved>) -> GemmDesc {
    match first {
        Ok(first) => *first,
        Err(unresolved) => panic!("{}", unresolved.sentence().as_str()),
    }
}

/// Marker of ten types, which owns no value.
type Types<A, LA, B, LB, C, LC, Acc, Op, Ar, Cfg> = fn() -> (A, LA, B, LB, C, LC, Acc, Op, Ar, Cfg);
