//! Device slices run on their device: the typed door to [`CudaKernel`].

use super::{Executor, Gemm, GemmOperation, GemmUniversal};
use crate::{
    arch::{Machine, OpClass},
    call::{Arguments, MatrixElements, Problem},
    codegen::TranslationUnit,
    cuda::{
        Cuda, CudaCall, CudaKernel, CudaTransposeCall, DeviceMatrix, known_machine, report::Report,
        transpose,
    },
    desc::GemmDesc,
    error::Error,
    family::ProblemSize,
    numeric::MathType,
    operand::Axis,
    pass::transpose::{Choice, Combine},
    refusal::Refusal,
};
use core::{fmt, marker::PhantomData};
use cudarc::driver::CudaStream;
use std::sync::Arc;

impl Executor for Cuda {
    fn execute(desc: &GemmDesc, stream: &Arc<CudaStream>, call: CudaCall<'_>) -> Result<(), Error> {
        CudaKernel::for_run(stream, &call.kernel_of(*desc).for_scalars(&call.scalars))?
            .run(stream, call)
    }

    fn execute_array(
        desc: &GemmDesc,
        stream: &Arc<CudaStream>,
        calls: Vec<CudaCall<'_>>,
    ) -> Result<(), Error> {
        let Some(first) = calls.first() else { return Ok(()) };
        let given = first.workspace.as_ref().map_or(0, DeviceMatrix::bytes);
        let (desc, _) = desc.for_array_within(calls.len(), given);
        let desc = desc.for_scalars(&first.scalars);
        CudaKernel::for_run(stream, &desc)?.run_array(stream, calls)
    }

    fn transpose(
        choice: Choice,
        combine: Combine,
        stream: &Arc<CudaStream>,
        call: CudaTransposeCall<'_>,
    ) -> Result<(), Error> {
        transpose(choice, combine, stream, &call)
    }

    fn workspace_size(desc: &GemmDesc, problems: &[Problem]) -> Result<u64, Refusal> {
        desc.workspace_of(problems)
    }

    fn machine(stream: &Arc<CudaStream>) -> Option<Machine> {
        known_machine(stream.context()).ok()
    }
}

/// The kernel of single products.
pub(super) const fn of_one(desc: GemmDesc) -> GemmDesc {
    desc
}

/// The kernel of any batch.
pub(super) const fn of_batches(desc: GemmDesc) -> GemmDesc {
    desc.for_batch(2)
}

/// The kernel of any array: of products whose maps lie in a workspace, where there is one; of few
/// is another.
pub(super) const fn of_arrays(desc: GemmDesc) -> GemmDesc {
    desc.for_array(usize::MAX)
}

/// The kernel of any groups of rows; with K in parts it is refused.
pub(super) const fn of_groups(desc: GemmDesc) -> GemmDesc {
    desc.for_groups(Axis::M)
}

/// A GEMM compiled and loaded on one device: what `prepare` and `prepare_batched` of a [`Gemm`] or
/// a [`GemmOperation`] make. `Clone + Send + Sync`; clones share the kernels.
///
/// A configuration that leaves a choice to the problem has a kernel for each description that may
/// be chosen, and one more for all numbers of parts of K; every call of the kind that was prepared
/// takes the one that [`Gemm::run`] takes. A batch takes a kernel of batches in any case, and a
/// single product one of those that were prepared.
pub struct Kernel<G> {
    prepared: Arc<PreparedKernels>,
    _gemm: PhantomData<fn() -> G>,
}

pub(super) struct PreparedKernels {
    /// That of the description of the types.
    pub first: CudaKernel,
    /// Of each configuration that the operation chooses among: with K whole, and in parts; `None`
    /// of what the device does not take.
    pub kernels: Vec<[Option<CudaKernel>; 2]>,
    pub operation: GemmOperation,
    pub machine: Machine,
}

impl<G> Clone for Kernel<G> {
    fn clone(&self) -> Self {
        Self { prepared: self.prepared.clone(), _gemm: PhantomData }
    }
}

impl<G> fmt::Debug for Kernel<G> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Kernel").field(&format_args!("{}", self.desc())).finish()
    }
}

/// What has kernels whose arguments hold `A`, `B`, and `C` in C and D.
pub trait Operator<A, B, C> {}

impl<A: MathType, LA, B: MathType, LB, C: MathType, LC, Acc, Op: OpClass, Ar, Cfg> Operator<A, B, C>
    for Gemm<A, LA, B, LB, C, LC, Acc, Op, Ar, Cfg>
{
}

impl<A: MatrixElements, B: MatrixElements, C: MatrixElements> Operator<A, B, C> for GemmOperation {}

impl<A: MathType, LA, B: MathType, LB, C: MathType, LC, Acc, Cfg> Operator<A, B, C>
    for GemmUniversal<A, LA, B, LB, C, LC, Acc, Cfg>
{
}

impl<G> Kernel<G> {
    pub(super) fn of_prepared(prepared: PreparedKernels) -> Self {
        Self { prepared: Arc::new(prepared), _gemm: PhantomData }
    }

    /// The kernel of a problem, and the description that it runs with, where that is not the
    /// kernel's own. The first stands in for one that the device does not take.
    fn of(&self, size: &ProblemSize) -> (&CudaKernel, Option<GemmDesc>) {
        let PreparedKernels { first, kernels, operation, machine } = &*self.prepared;
        let (number, cut) = operation.choice(size, machine);
        match (&kernels[number], cut) {
            ([Some(kernel), _], None) => (kernel, None),
            ([_, Some(kernel)], Some(cut)) => {
                (kernel, Some(kernel.desc().divided(cut)).filter(|_| kernel.desc().cut_of() != cut))
            }
            _ => (first, None),
        }
    }

    /// What the assembler said of the first kernel: registers, shared memory, spills.
    pub fn report(&self) -> &Report {
        self.prepared.first.report()
    }

    /// The text of the first kernel.
    pub fn source(&self) -> &TranslationUnit {
        self.prepared.first.source()
    }

    /// The description of the first kernel: that of the types.
    pub fn desc(&self) -> &GemmDesc {
        self.prepared.first.desc()
    }

    /// Bytes of the workspace that the product takes.
    ///
    /// # Errors
    /// Those of [`Gemm::workspace_size`].
    pub fn workspace_size<A: MatrixElements, B: MatrixElements, C: MatrixElements>(
        &self,
        arguments: &Arguments<'_, Cuda, A, B, C>,
    ) -> Result<u64, Refusal>
    where
        G: Operator<A, B, C>,
    {
        arguments.products()?;
        let (kernel, desc) = self.of(&arguments.size_for(self.desc(), u64::MAX));
        let desc = desc.unwrap_or(*kernel.desc());
        arguments.check(&desc)?;
        Cuda::workspace_size(&desc, &arguments.problems(desc.orders(), Some(&arguments.queue())))
    }

    /// Enqueues the product on D's stream.
    ///
    /// # Errors
    /// Those of [`CudaKernel::run`].
    pub fn run<A: MatrixElements, B: MatrixElements, C: MatrixElements>(
        &self,
        arguments: Arguments<'_, Cuda, A, B, C>,
    ) -> Result<(), Error>
    where
        G: Operator<A, B, C>,
    {
        self.run_on(&arguments.queue(), arguments)
    }

    /// Enqueues the product on another stream of the same device.
    ///
    /// # Errors
    /// Those of [`CudaKernel::run`]; [`Refusal::OtherDevice`](crate::Refusal::OtherDevice) when the
    /// stream is of another device.
    pub fn run_on<A: MatrixElements, B: MatrixElements, C: MatrixElements>(
        &self,
        stream: &Arc<CudaStream>,
        arguments: Arguments<'_, Cuda, A, B, C>,
    ) -> Result<(), Error>
    where
        G: Operator<A, B, C>,
    {
        let (kernel, desc) = self.of(&arguments.size_for(self.desc(), arguments.workspace_given()));
        // Types and orders are the same of all.
        arguments.check(kernel.desc())?;
        let several = arguments.products()?.is_some();
        let arguments = arguments.grown(&desc.unwrap_or(*kernel.desc()), stream)?;
        let (kernel, orders) = match desc {
            None => (kernel.clone(), kernel.desc().orders()),
            Some(desc) => (CudaKernel::for_run(stream, &desc)?, desc.orders()),
        };
        if several {
            kernel.run_array(stream, arguments.calls(orders, stream))
        } else {
            kernel.run(stream, arguments.call(orders, stream))
        }
    }
}

const _: fn() = || {
    fn shared_between_threads<T: Clone + Send + Sync>() {}
    shared_between_threads::<Kernel<()>>();
};
