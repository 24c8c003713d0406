//! The type a user writes.
//!
#![allow(
    clippy::type_complexity,
    reason = "ten parameters are the point: each is something a user may say"
)]

use super::{executor::Executor, operation::GemmOperation};
use crate::{
    arch::{Arch, Machine, OpClass, Simt},
    call::{Arguments, Readable},
    desc::{Auto, Class, Config, EpilogueTree, GemmDesc, Leaf, Stages, Threadblock, Warp, With},
    epilogue::Node,
    error::Error,
    family::{Completions, ProblemSize, resolve},
    layout::Layout,
    numeric::{Combined, MathType},
    refusal::{Refusal, Unresolved},
    shape::Shape,
};
use core::{fmt, marker::PhantomData};

/// `D = epilogue(A·B, C)`, by one kernel.
///
/// The types of the operands and their layouts come first. What follows has defaults: what products
/// are accumulated in, which units multiply, which instructions may be used, and the configuration,
/// every knob of which [`default_gemm_configuration`](crate::family::default_gemm_configuration)
/// chooses.
///
/// ```
/// use falchion::prelude::*;
///
/// // D = A·B, column-major like BLAS.
/// let gemm = Gemm::<f32, ColMajor, f32, ColMajor, f32, ColMajor>::new();
/// let (a, b, mut d) = (vec![1.0f32; 64 * 32], vec![1.0f32; 32 * 48], vec![0.0f32; 64 * 48]);
/// gemm.run(Arguments::new((64, 48, 32), &a, &b, &mut d))?;
/// assert!(d.iter().all(|&x| x == 32.0));
///
/// // The same with three stages.
/// assert_eq!(gemm.stages::<3>().desc().stages(), 3);
/// # Ok::<(), falchion::Error>(())
/// ```
///
/// A loop nest is one leaf, and tiles that do not nest do not compile:
///
/// ```compile_fail,E0277
/// use falchion::prelude::*;
/// type Uneven = With<Auto, MmaMultistage<GemmShape<128, 128, 8>, MmaSimt<GemmShape<48, 64, 8>>, 4>>;
/// Gemm::<f32, RowMajor, f32, RowMajor, f32, RowMajor, f32, Simt, Sm80, Uneven>::new();
/// ```
pub struct Gemm<
    A,
    LayoutA,
    B,
    LayoutB,
    C,
    LayoutC,
    Accumulator = <A as MathType>::Accumulator,
    Op = Simt,
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
    /// The kernel of these types. An invalid configuration does not compile.
    #[must_use]
    pub fn new() -> Self
    where
        Cfg: Config,
    {
        const {
            // A configuration that is invalid fails the build here, and the compiler goes on to
            // name the line that calls this.
            let _ = Self::checked();
        }
        Cfg::register();
        Self(PhantomData)
    }

    /// The same GEMM with one leaf more: `with::<PingpongSchedule>()`.
    #[must_use]
    pub fn with<L: Leaf>(self) -> Gemm<A, LA, B, LB, C, LC, Acc, Op, Ar, With<Cfg, L>> {
        L::register();
        Gemm(PhantomData)
    }

    /// The same GEMM with `N` stages.
    #[must_use]
    pub fn stages<const N: u32>(
        self,
    ) -> Gemm<A, LA, B, LB, C, LC, Acc, Op, Ar, With<Cfg, Stages<N>>> {
        self.with()
    }

    /// The same GEMM with another threadblock tile.
    #[must_use]
    pub fn threadblock<S: Shape>(
        self,
    ) -> Gemm<A, LA, B, LB, C, LC, Acc, Op, Ar, With<Cfg, Threadblock<S>>> {
        self.with()
    }

    /// The same GEMM with another warp tile.
    #[must_use]
    pub fn warp<S: Shape>(self) -> Gemm<A, LA, B, LB, C, LC, Acc, Op, Ar, With<Cfg, Warp<S>>> {
        self.with()
    }

    /// The same GEMM with another epilogue.
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
    /// The description of these types, checked while compiling.
    pub const DESC: GemmDesc = valid(&Self::COMPLETIONS).first();

    /// What completes what is pinned: what a problem chooses among.
    const COMPLETIONS: Result<Completions, Unresolved> =
        resolve(Self::CLASS, LC::ORDER.frame(), Cfg::PINS);
    /// What these types are as values.
    pub(super) const OPERATION: &GemmOperation =
        &GemmOperation::of_types(valid(&Self::COMPLETIONS));
    const CLASS: Class = {
        let types = Combined { a: A::KIND, b: B::KIND, accumulator: Acc::KIND, c: C::KIND };
        Class::new(Op::KIND, Ar::KIND, types, [LA::ORDER, LB::ORDER])
    };

    /// The description of these types.
    pub fn desc(&self) -> GemmDesc {
        Self::DESC
    }

    /// [`DESC`](Self::DESC), by a call: a `const` of the caller's is evaluated by `cargo check`,
    /// too, which sees no other invalid configuration. In a `const` of the caller's, an invalid
    /// configuration fails the build with the compiler's arrow at that `const`. An invalid `DESC`
    /// has the first arrow in this library, and the second at the caller.
    ///
    /// ```compile_fail,E0080
    /// use falchion::prelude::*;
    /// const PRODUCT: GemmDesc = Gemm::<f32, RowMajor, F16, RowMajor, f32, RowMajor>::checked();
    /// ```
    #[track_caller]
    pub const fn checked() -> GemmDesc {
        valid(&Self::COMPLETIONS);
        Self::of_valid_types()
    }

    /// A function of its own: `DESC` is evaluated after what points at the caller, and wherever a
    /// program has the call, so that none panics.
    const fn of_valid_types() -> GemmDesc {
        Self::DESC
    }

    /// Whether this kernel can compute the product: sizes, leading dimensions, what its epilogue
    /// reads.
    ///
    /// # Errors
    /// A [`Refusal`] with the operand, its value and the limit.
    pub fn can_implement<S: Executor>(
        &self,
        arguments: &Arguments<'_, S, A, B, C>,
    ) -> Result<(), Refusal> {
        Self::OPERATION.can_implement(arguments)
    }

    /// Bytes of the [workspace](Arguments::workspace) with which the product takes the least time:
    /// 0 on the host, and where every operand is read where it lies, no sum is cut into parts, and
    /// no maps of an [array](Arguments::array) and no offsets [by
    /// value](Arguments::groups_by_value) lie there. With less, K is in fewer parts or whole, and
    /// an array of many products is several launches; an operand that is not read where it lies is
    /// refused, and [`Route`](crate::refusal::Route) says which are not.
    ///
    /// ```
    /// use falchion::prelude::*;
    ///
    /// let (a, b, mut d) = (vec![1i8; 33 * 35], vec![1i8; 35 * 31], vec![0i32; 33 * 31]);
    /// let gemm = Gemm::<i8, RowMajor, i8, RowMajor, i32, RowMajor>::new();
    /// assert_eq!(gemm.workspace_size(&Arguments::new((33, 31, 35), &a, &b, &mut d))?, 0);
    /// # Ok::<(), falchion::Refusal>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`can_implement`](Self::can_implement).
    pub fn workspace_size<S: Executor>(
        &self,
        arguments: &Arguments<'_, S, A, B, C>,
    ) -> Result<u64, Refusal> {
        Self::OPERATION.workspace_size(arguments)
    }

    /// Computes the product: on the host for host slices, on their device for device slices.
    ///
    /// On a device, the work is enqueued on D's stream; nothing is allocated. Nothing waits but for
    /// a kernel that is not prepared, where `emulation` is f16x3 for what the operands are scaled
    /// by, and for offsets of [`groups_checked`](Arguments::groups_checked). Operands that have to
    /// be repacked are, in the arguments' [workspace](Arguments::workspace). See "What `run`
    /// promises" in the documentation.
    ///
    /// # Errors
    /// [`Error::Refused`] when the product does not fit the kernel or the machine; see [`Error`]
    /// for the others.
    pub fn run<S: Executor>(&self, arguments: Arguments<'_, S, A, B, C>) -> Result<(), Error> {
        Self::OPERATION.run(arguments)
    }

    /// [`run`](Self::run) of so many products, of matrices one behind another: of
    /// [`Arguments::batch`].
    ///
    /// # Errors
    /// Those of [`run`](Self::run).
    pub fn batched<S: Executor>(
        &self,
        arguments: Arguments<'_, S, A, B, C>,
        count: usize,
    ) -> Result<(), Error> {
        self.run(arguments.batch(count))
    }

    /// [`run`](Self::run) of groups of rows, each with a B of its own: of [`Arguments::groups`].
    /// Offsets in host memory for operands on a device are [`Arguments::groups_by_value`]'s.
    ///
    /// ```
    /// use falchion::prelude::*;
    ///
    /// // A mixture of two experts: rows 0 to 2 of A go to the first, row 3 to the second.
    /// let (m, n, k) = (4, 2, 3);
    /// let (a, mut d) = (vec![1.0f32; m * k], vec![0.0f32; m * n]);
    /// let experts: Vec<f32> = [vec![1.0; k * n], vec![10.0; k * n]].concat();
    /// let gemm = Gemm::<f32, RowMajor, f32, RowMajor, f32, RowMajor>::new();
    /// gemm.grouped(Arguments::new((m, n, k), &a, &experts, &mut d), &[0, 3, 4])?;
    /// assert_eq!(d, [3.0, 3.0, 3.0, 3.0, 3.0, 3.0, 30.0, 30.0]);
    /// # Ok::<(), falchion::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`run`](Self::run); [`Error::Refused`] for no group, and in host memory for offsets
    /// that descend or leave D.
    pub fn grouped<'a, S: Executor>(
        &self,
        arguments: Arguments<'a, S, A, B, C>,
        offsets: impl Readable<'a, u32, In = S>,
    ) -> Result<(), Error> {
        self.run(arguments.groups(offsets))
    }

    /// The description that a problem runs with on a machine: of those that complete what is
    /// pinned, with as many parts of K as the workspace has room for, the one that should take the
    /// least time, by the model of `src/family/extents.rs`.
    pub fn desc_for(size: &ProblemSize, machine: &Machine) -> GemmDesc {
        Self::OPERATION.desc_for(size, machine)
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
        f.debug_tuple("Gemm").field(&format_args!("{}", self.desc())).finish()
    }
}

/// What completes what is pinned; while compiling, why nothing does.
#[track_caller]
pub(super) const fn valid(completions: &Result<Completions, Unresolved>) -> &Completions {
    match completions {
        Ok(completions) => completions,
        Err(unresolved) => panic!("{}", unresolved.sentence().as_str()),
    }
}

/// Ten types, none of them owned.
type Types<A, LA, B, LB, C, LC, Acc, Op, Ar, Cfg> = fn() -> (A, LA, B, LB, C, LC, Acc, Op, Ar, Cfg);
