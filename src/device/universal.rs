//! The GEMM operator for the machine at hand.
#![allow(clippy::type_complexity, reason = "a user can set each of the eight parameters")]

use super::{executor::Executor, gemm::valid, operation::GemmOperation};
use crate::{
    arch::{ArchKind, Machine, OpKind},
    call::{Arguments, Readable, Writable},
    desc::{Auto, Class, Config, EpilogueTree, GemmDesc, With},
    epilogue::Node,
    error::Error,
    family::{Completions, resolve},
    layout::{Layout, RowMajor},
    numeric::{Combined, Element, MathType},
    refusal::{Refusal, Unresolved},
};
use core::{fmt, marker::PhantomData};
use std::{
    collections::HashMap,
    sync::{PoisonError, RwLock},
};

/// A GEMM that uses the units and the architecture of the GPU at hand: CUTLASS's `GemmUniversal`.
///
/// Tensor cores multiply 16-bit, 8-bit, tf32, and f64 types if the GPU has instructions for them.
/// `f32` runs on the CUDA cores, because tensor cores only emulate it. The host executes the
/// description for CUDA cores if CUDA cores multiply the types. Otherwise, the host executes the
/// description for Hopper's tensor cores. A cost model selects the configuration for each problem.
/// Use a [`Gemm`](super::Gemm) to fix a knob.
///
/// ```
/// use falchion::prelude::*;
///
/// let (a, b, mut d) = (vec![Bf16::ONE; 6], vec![Bf16::ONE; 12], vec![0.0f32; 8]);
/// let gemm = GemmUniversal::<Bf16, RowMajor, Bf16, ColMajor, f32, RowMajor>::new();
/// gemm.run(Arguments::new((2, 4, 3), &a, &b, &mut d).alpha(2.0))?;
/// assert_eq!(d, [6.0; 8]);
/// # Ok::<(), falchion::Error>(())
/// ```
///
/// Types that no units multiply do not compile:
///
/// ```compile_fail,E0080
/// use falchion::prelude::*;
/// GemmUniversal::<f32, RowMajor, F16, RowMajor, f32, RowMajor>::new();
/// ```
pub struct GemmUniversal<
    A,
    LayoutA,
    B,
    LayoutB,
    C,
    LayoutC,
    Accumulator = <A as MathType>::Accumulator,
    Configuration = Auto,
>(PhantomData<fn() -> (A, LayoutA, B, LayoutB, C, LayoutC, Accumulator, Configuration)>)
where
    A: MathType;

impl<A: MathType, LA, B, LB, C, LC, Acc, Cfg> Copy
    for GemmUniversal<A, LA, B, LB, C, LC, Acc, Cfg>
{
}

impl<A: MathType, LA, B, LB, C, LC, Acc, Cfg> Clone
    for GemmUniversal<A, LA, B, LB, C, LC, Acc, Cfg>
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
    Cfg: Config,
> GemmUniversal<A, LA, B, LB, C, LC, Acc, Cfg>
{
    const TYPES: Combined = Combined { a: A::KIND, b: B::KIND, accumulator: Acc::KIND, c: C::KIND };
    /// The candidate configurations on the host.
    const COMPLETIONS: Result<Completions, Unresolved> = {
        let op = OpKind::on_host(Self::TYPES);
        resolve(
            Class::new(op, op.default_arch(), Self::TYPES, [LA::ORDER, LB::ORDER]),
            LC::ORDER.frame(),
            Cfg::PINS,
        )
    };
    const ON_HOST: &GemmOperation = &GemmOperation::of_types(valid(&Self::COMPLETIONS));

    /// Creates the operator.
    #[must_use]
    pub fn new() -> Self {
        const {
            let _ = valid(&Self::COMPLETIONS);
        }
        Cfg::register();
        Self(PhantomData)
    }

    /// Sets the epilogue, an expression of [`epilogue`](crate::epilogue) nodes.
    #[must_use]
    pub fn epilogue<E: Node>(
        self,
    ) -> GemmUniversal<A, LA, B, LB, C, LC, Acc, With<Cfg, EpilogueTree<E>>>
    where
        With<Cfg, EpilogueTree<E>>: Config,
    {
        GemmUniversal::new()
    }

    /// Returns the operation on a machine, or on the host for `None`. The process creates
    /// each operation once.
    ///
    /// # Errors
    /// A [`Refusal`] if no units of the machine multiply the types.
    pub fn operation(&self, machine: Option<&Machine>) -> Result<&'static GemmOperation, Refusal> {
        let Some(machine) = machine else { return Ok(Self::ON_HOST) };
        static KNOWN: RwLock<Option<HashMap<(GemmDesc, ArchKind), &'static GemmOperation>>> =
            RwLock::new(None);
        let arch = ArchKind::newest_of(machine.sm).unwrap_or(ArchKind::Sm70);
        // Types, layouts, and the epilogue determine the description on the host.
        let key = (Self::ON_HOST.desc(), arch);
        if let Some(known) = KNOWN
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .as_ref()
            .and_then(|known| known.get(&key))
        {
            return Ok(known);
        }
        let class = Class::new(
            OpKind::fastest(Self::TYPES, arch),
            arch,
            Self::TYPES,
            [LA::ORDER, LB::ORDER],
        );
        let completions = resolve(class, LC::ORDER.frame(), Cfg::PINS)
            .map_err(|unresolved| unresolved.because)?;
        let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
        let made = || &*Box::leak(Box::new(GemmOperation::made(completions)));
        Ok(*known.get_or_insert_default().entry(key).or_insert_with(made))
    }

    /// Returns the operation on the machine that holds D.
    fn here<S: Executor>(
        &self,
        arguments: &Arguments<'_, S, A, B, C>,
    ) -> Result<&'static GemmOperation, Refusal> {
        self.operation(S::machine(&arguments.queue()).as_ref())
    }

    /// Returns the size in bytes of the workspace for the fastest configuration, as
    /// [`Gemm::workspace_size`](super::Gemm::workspace_size) does.
    ///
    /// # Errors
    /// A [`Refusal`] names the operand, its value, and the limit, or the types that the machine
    /// does not multiply.
    pub fn workspace_size<S: Executor>(
        &self,
        arguments: &Arguments<'_, S, A, B, C>,
    ) -> Result<u64, Refusal> {
        self.here(arguments)?.workspace_size(arguments)
    }

    /// Computes the GEMM, as [`Gemm::run`](super::Gemm::run) does. Without a
    /// [workspace](Arguments::workspace), only configurations that need none are candidates.
    ///
    /// # Errors
    /// [`Error::Refused`] if the problem does not fit the kernel or the machine, or if the
    /// epilogue does not read an argument. [`Error`] lists the other errors.
    pub fn run<S: Executor>(&self, arguments: Arguments<'_, S, A, B, C>) -> Result<(), Error> {
        self.here(&arguments)?.run(arguments)
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

    /// Computes a grouped GEMM, as [`Gemm::grouped`](super::Gemm::grouped) does.
    ///
    /// # Errors
    /// The errors of [`Gemm::grouped`](super::Gemm::grouped).
    #[doc(alias = "moe")]
    pub fn grouped<'a, S: Executor>(
        &self,
        arguments: Arguments<'a, S, A, B, C>,
        offsets: impl Readable<'a, u32, In = S>,
    ) -> Result<(), Error> {
        self.run(arguments.groups(offsets))
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
    Cfg: Config,
> Default for GemmUniversal<A, LA, B, LB, C, LC, Acc, Cfg>
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
    Cfg: Config,
> fmt::Debug for GemmUniversal<A, LA, B, LB, C, LC, Acc, Cfg>
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The kernel depends on the machine.
        f.debug_tuple("GemmUniversal")
            .field(&Self::TYPES)
            .field(&Self::ON_HOST.desc().orders())
            .finish()
    }
}

/// Computes `D = A * B` for packed row-major matrices: A is m x k, B is k x n, and D is m x n.
///
/// ```
/// let (m, n, k) = (300, 200, 100);
/// let (a, b, mut d) = (vec![1.0f32; m * k], vec![2.0f32; k * n], vec![0.0f32; m * n]);
/// falchion::gemm((m, n, k), &a, &b, &mut d)?;
/// assert!(d.iter().all(|&x| x == 200.0));
/// # Ok::<(), falchion::Error>(())
/// ```
///
/// Host slices run on the CPU. Device slices run on their GPU, on the stream of D. The function
/// calls [`GemmUniversal`], which also accepts layouts, scalars, a C, an epilogue, and a workspace.
///
/// # Errors
/// [`Error::Refused`] if a slice is shorter than its matrix, or if every kernel of the machine for
/// the types needs a workspace. [`Error`] lists the other errors.
#[doc(alias = "matmul")]
#[doc(alias = "sgemm")]
pub fn gemm<'a, A, B, C, S>(
    (m, n, k): (usize, usize, usize),
    a: impl Readable<'a, A, In = S>,
    b: impl Readable<'a, B, In = S>,
    d: impl Writable<'a, C, In = S>,
) -> Result<(), Error>
where
    A: Element,
    B: Element,
    C: Element,
    S: Executor,
{
    GemmUniversal::<A, RowMajor, B, RowMajor, C, RowMajor>::new().run(Arguments::new(
        (m, n, k),
        a,
        b,
        d,
    ))
}
