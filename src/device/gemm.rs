//! The GEMM whose parameters are types.

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

/// A GEMM, `D = epilogue(A * B, C)`, whose types fix the kernel: CUTLASS's `device::Gemm`.
///
/// The element types and layouts of A, B, and C come first. D has the type and layout of C. The
/// other parameters have defaults: the accumulator, the units that multiply, the architecture, and
/// the configuration. [`GemmUniversal`](super::GemmUniversal) selects units and architecture for
/// the GPU at hand. [`GemmOperation`] supports types that are known only at run time.
///
/// ```
/// use falchion::prelude::*;
///
/// // D = A * B, row-major.
/// let gemm = Gemm::<f32, RowMajor, f32, RowMajor, f32, RowMajor>::new();
/// let (a, b, mut d) = (vec![1.0f32; 64 * 32], vec![1.0f32; 32 * 48], vec![0.0f32; 64 * 48]);
/// gemm.run(Arguments::new((64, 48, 32), &a, &b, &mut d))?;
/// assert!(d.iter().all(|&x| x == 32.0));
///
/// // A GEMM with three stages.
/// assert_eq!(gemm.stages::<3>().desc().stages(), 3);
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
#[doc(alias = "matmul")]
#[doc(alias = "sgemm")]
#[doc(alias = "split_k")]
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
    /// Creates the GEMM. An invalid configuration does not compile.
    #[must_use]
    pub fn new() -> Self
    where
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

    /// Sets the epilogue, an expression of [`epilogue`](crate::epilogue) nodes.
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
    /// The description of the kernel, checked at compile time.
    pub const DESC: GemmDesc = valid(&Self::COMPLETIONS).first();

    /// The candidate configurations.
    const COMPLETIONS: Result<Completions, Unresolved> =
        resolve(Self::CLASS, LC::ORDER.frame(), Cfg::PINS);
    /// The GEMM with types as values.
    pub(super) const OPERATION: &GemmOperation =
        &GemmOperation::of_types(valid(&Self::COMPLETIONS));
    const CLASS: Class = {
        let types = Combined { a: A::KIND, b: B::KIND, accumulator: Acc::KIND, c: C::KIND };
        Class::new(Op::KIND, Ar::KIND, types, [LA::ORDER, LB::ORDER])
    };

    /// Returns [`DESC`](Self::DESC).
    pub fn desc(&self) -> GemmDesc {
        Self::DESC
    }

    /// Returns [`DESC`](Self::DESC). In a `const` of the caller, `cargo check` reports an invalid
    /// configuration at the line of the `const`.
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

    /// Evaluates `DESC` in a separate function, so `valid` reports the line of the caller first.
    /// The compiler evaluates `DESC` for every call in the program, so no call panics at run time.
    const fn of_valid_types() -> GemmDesc {
        Self::DESC
    }

    /// Checks sizes, leading dimensions, lengths, and the arguments that the epilogue reads.
    ///
    /// # Errors
    /// A [`Refusal`] names the operand, its value, and the limit.
    pub fn can_implement<S: Executor>(
        &self,
        arguments: &Arguments<'_, S, A, B, C>,
    ) -> Result<(), Refusal> {
        Self::OPERATION.can_implement(arguments)
    }

    /// Returns the size in bytes of the [workspace](Arguments::workspace) for the fastest
    /// configuration. The size is 0 on the host, and if the kernel needs no copy of an operand, no
    /// split-K partials, and no tables. A smaller workspace excludes configurations. The kernel
    /// then uses fewer split-K slices. An array of many GEMMs then needs several launches. The call
    /// refuses a workspace that is too small for a required copy. [`Route`](crate::refusal::Route)
    /// lists the copies.
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
    /// The errors of [`can_implement`](Self::can_implement).
    pub fn workspace_size<S: Executor>(
        &self,
        arguments: &Arguments<'_, S, A, B, C>,
    ) -> Result<u64, Refusal> {
        Self::OPERATION.workspace_size(arguments)
    }

    /// Computes the GEMM: on the CPU for host slices, on their GPU for device slices.
    ///
    /// On a GPU, `run` enqueues the work on the stream of D and returns. `run` allocates only to
    /// grow a `Workspace`. The first call of a kernel compiles the kernel. `prepare` compiles ahead
    /// of time. A call waits for the stream only if `f16x3` must find the range of the operands, or
    /// if [`groups_checked`](Arguments::groups_checked) must read offsets.
    ///
    /// # Errors
    /// [`Error::Refused`] if the problem does not fit the kernel or the machine, or if the
    /// epilogue does not read an argument. [`Error`] lists the other errors.
    pub fn run<S: Executor>(&self, arguments: Arguments<'_, S, A, B, C>) -> Result<(), Error> {
        Self::OPERATION.run(arguments)
    }

    /// Computes a batch of `count` GEMMs, as [`run`](Self::run) with [`Arguments::batch`] does.
    ///
    /// # Errors
    /// The errors of [`run`](Self::run).
    pub fn batched<S: Executor>(
        &self,
        arguments: Arguments<'_, S, A, B, C>,
        count: usize,
    ) -> Result<(), Error> {
        self.run(arguments.batch(count))
    }

    /// Computes a grouped GEMM: each group of rows of A is multiplied by its own B, as in a mixture
    /// of experts. [`Arguments::groups`] describes the offsets.
    ///
    /// ```
    /// use falchion::prelude::*;
    ///
    /// // Two experts: rows 0 to 2 of A use the first, and row 3 uses the second.
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
    /// The errors of [`run`](Self::run), and [`Error::Refused`] without a group or for host offsets
    /// that descend or exceed M.
    #[doc(alias = "moe")]
    pub fn grouped<'a, S: Executor>(
        &self,
        arguments: Arguments<'a, S, A, B, C>,
        offsets: impl Readable<'a, u32, In = S>,
    ) -> Result<(), Error> {
        self.run(arguments.groups(offsets))
    }

    /// Returns the description that a problem uses on a machine. The description is the candidate
    /// with the shortest predicted time whose workspace fits.
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

/// Returns the candidate configurations. At compile time, a panic message has the reason if there
/// are no candidates.
#[track_caller]
pub(super) const fn valid(completions: &Result<Completions, Unresolved>) -> &Completions {
    match completions {
        Ok(completions) => completions,
        Err(unresolved) => panic!("{}", unresolved.sentence().as_str()),
    }
}

/// Marker of ten types, which owns no value.
type Types<A, LA, B, LB, C, LC, Acc, Op, Ar, Cfg> = fn() -> (A, LA, B, LB, C, LC, Acc, Op, Ar, Cfg);
