//! The operator of the machine that it runs on.
#![allow(
    clippy::type_complexity,
    reason = "eight parameters are the point: each is something a user may say"
)]

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

/// `D = epilogue(A·B, C)`, by the units and the architecture of the machine that it runs on; its
/// name is of CUTLASS's `GemmUniversal`.
///
/// A [`Gemm`](super::Gemm) says which units multiply and which instructions may be used, and is
/// refused by an older machine. This one asks the device: tensor cores multiply what they can
/// exactly, the newest instructions that there are, and everything else, true `f32` among it, is
/// the CUDA cores'. Which description runs is chosen as [`Gemm::desc_for`](super::Gemm::desc_for)
/// says; with a [workspace](Self::workspace_size) there are more to choose among. Its knobs are the
/// machine's: who pins one takes a [`Gemm`](super::Gemm), whose units and architecture are known.
/// On the host it is the description of the CUDA cores where they have the types, else that of
/// Hopper's tensor cores.
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
    /// What completes these types on the host.
    const COMPLETIONS: Result<Completions, Unresolved> = {
        let op = OpKind::on_host(Self::TYPES);
        resolve(
            Class::new(op, op.default_arch(), Self::TYPES, [LA::ORDER, LB::ORDER]),
            LC::ORDER.frame(),
            Cfg::PINS,
        )
    };
    const ON_HOST: &GemmOperation = &GemmOperation::of_types(valid(&Self::COMPLETIONS));

    /// The operator of these types.
    #[must_use]
    pub fn new() -> Self {
        const {
            let _ = valid(&Self::COMPLETIONS);
        }
        Cfg::register();
        Self(PhantomData)
    }

    /// The same operator with another epilogue.
    #[must_use]
    pub fn epilogue<E: Node>(
        self,
    ) -> GemmUniversal<A, LA, B, LB, C, LC, Acc, With<Cfg, EpilogueTree<E>>>
    where
        With<Cfg, EpilogueTree<E>>: Config,
    {
        GemmUniversal::new()
    }

    /// The operation that it is on a machine; on the host without one. It is made once in a
    /// process.
    ///
    /// # Errors
    /// A [`Refusal`] when the machine has no units that multiply such types.
    pub fn operation(&self, machine: Option<&Machine>) -> Result<&'static GemmOperation, Refusal> {
        let Some(machine) = machine else { return Ok(Self::ON_HOST) };
        static KNOWN: RwLock<Option<HashMap<(GemmDesc, ArchKind), &'static GemmOperation>>> =
            RwLock::new(None);
        let arch = ArchKind::newest_of(machine.sm).unwrap_or(ArchKind::Sm70);
        // Types, layouts and epilogue have one description on the host.
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

    /// The operation where D is.
    fn here<S: Executor>(
        &self,
        arguments: &Arguments<'_, S, A, B, C>,
    ) -> Result<&'static GemmOperation, Refusal> {
        self.operation(S::machine(&arguments.queue()).as_ref())
    }

    /// Bytes of the workspace with which the product takes the least time, as
    /// [`Gemm::workspace_size`](super::Gemm::workspace_size) says.
    ///
    /// # Errors
    /// A [`Refusal`] with the operand, its value and the limit, or of types that the machine does
    /// not multiply.
    pub fn workspace_size<S: Executor>(
        &self,
        arguments: &Arguments<'_, S, A, B, C>,
    ) -> Result<u64, Refusal> {
        self.here(arguments)?.workspace_size(arguments)
    }

    /// Computes the product, as [`Gemm::run`](super::Gemm::run) does. Without a
    /// [workspace](Arguments::workspace) it takes the best of what needs none.
    ///
    /// # Errors
    /// [`Error::Refused`] when the product does not fit the kernel or the machine; see [`Error`]
    /// for the others.
    pub fn run<S: Executor>(&self, arguments: Arguments<'_, S, A, B, C>) -> Result<(), Error> {
        self.here(&arguments)?.run(arguments)
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
    ///
    /// # Errors
    /// Those of [`Gemm::grouped`](super::Gemm::grouped).
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

/// `D = A·B` of packed row-major matrices, A of m x k, B of k x n, by the best kernel of the
/// machine that they are on: one line for [`GemmUniversal`], which takes everything else that can
/// be said of a product.
///
/// ```
/// let (m, n, k) = (300, 200, 100);
/// let (a, b, mut d) = (vec![1.0f32; m * k], vec![2.0f32; k * n], vec![0.0f32; m * n]);
/// falchion::gemm((m, n, k), &a, &b, &mut d)?;
/// assert!(d.iter().all(|&x| x == 200.0));
/// # Ok::<(), falchion::Error>(())
/// ```
///
/// Device slices run on their device, on D's stream.
///
/// # Errors
/// [`Error::Refused`] when a slice is shorter than its matrix, or the machine has no kernel that
/// needs no workspace; see [`Error`] for the others.
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
