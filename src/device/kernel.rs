//! GEMMs on device slices. Kernels compile at their first use or in `prepare`.

use super::{Executor, configurations::Configurations, operation::ElementTypes};
use crate::{
    Error,
    arch::Machine,
    codegen::TranslationUnit,
    cuda::{
        BoundCall, Cuda, CudaCall, CudaKernel, DeviceMatrix, known_machine, report::Report,
        transpose,
    },
    device::{Any, Arguments, MatrixElements},
    nest::{GemmDesc, ProblemSize},
    operand::{Problem, transpose::Choice},
    refusal::Refusal,
    shape::Axis,
};
use core::{fmt, marker::PhantomData};
use cudarc::driver::CudaStream;
use std::sync::Arc;

impl Executor for Cuda {
    fn execute(desc: &GemmDesc, stream: &Arc<CudaStream>, call: CudaCall<'_>) -> Result<(), Error> {
        let desc = call.kernel_of(*desc).for_scalars(&call.scalars);
        if let Some(kernel) = CudaKernel::loaded(stream, &desc) {
            return kernel.run(stream, call);
        }
        // A call that does not fit is refused before a kernel compiles.
        let call = call.enter(&desc)?;
        CudaKernel::for_run(stream, &desc)?.run_entered(stream, &desc, &call)
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
        stream: &Arc<CudaStream>,
        call: CudaCall<'_>,
    ) -> Result<(), Error> {
        transpose(choice, stream, call)
    }

    fn workspace_size(desc: &GemmDesc, problems: &[Problem]) -> Result<u64, Refusal> {
        desc.workspace_of(problems)
    }

    fn machine(stream: &Arc<CudaStream>) -> Option<Machine> {
        known_machine(stream.context()).ok()
    }
}

/// The kernel of a single GEMM.
pub(super) const fn single_kernel(desc: GemmDesc) -> GemmDesc {
    desc
}

/// The kernel of a batch.
pub(super) const fn batched_kernel(desc: GemmDesc) -> GemmDesc {
    desc.for_batch(2)
}

/// The kernel of an array whose records are in a workspace.
pub(super) const fn array_kernel(desc: GemmDesc) -> GemmDesc {
    desc.for_array(usize::MAX)
}

/// The kernel of a grouped GEMM, which does not support split-K.
pub(super) const fn grouped_kernel(desc: GemmDesc) -> GemmDesc {
    desc.for_groups(Axis::M)
}

/// The kernel of a grouped GEMM along K.
pub(super) const fn grouped_k_kernel(desc: GemmDesc) -> GemmDesc {
    desc.for_groups(Axis::K)
}

/// The compiled kernels of a GEMM on one GPU. `prepare`, `prepare_batched`, `prepare_array`,
/// `prepare_grouped`, and `prepare_grouped_k` return a `Kernel`.
///
/// A prepared kernel runs without compiling, so stream capture can record its launch. A `Kernel`
/// holds one kernel per candidate configuration, and each call selects a candidate as
/// [`GemmOperation::run`](super::GemmOperation::run) does. Clones share the kernels, and threads
/// may share clones.
pub struct Kernel<A = Any, B = Any, C = Any> {
    prepared: Arc<PreparedKernels>,
    _elements: PhantomData<ElementTypes<A, B, C>>,
}

pub(super) struct PreparedKernels {
    /// The kernel of the first candidate configuration.
    pub first: CudaKernel,
    /// Two kernels per candidate configuration: without and with split-K. An entry is `None` if the
    /// device cannot run the kernel.
    pub kernels: Vec<[Option<CudaKernel>; 2]>,
    pub configurations: Configurations,
    pub machine: Machine,
}

impl<A, B, C> Clone for Kernel<A, B, C> {
    fn clone(&self) -> Self {
        Self { prepared: self.prepared.clone(), _elements: PhantomData }
    }
}

impl<A, B, C> fmt::Debug for Kernel<A, B, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Kernel").field(&format_args!("{}", self.desc())).finish()
    }
}

impl<A, B, C> Kernel<A, B, C> {
    pub(super) fn from_prepared(prepared: PreparedKernels) -> Self {
        Self { prepared: Arc::new(prepared), _elements: PhantomData }
    }

    /// Returns the kernel of a problem, and a description if the problem overrides the kernel's
    /// description. The first kernel replaces a kernel that the device cannot run.
    fn select(&self, size: &ProblemSize) -> (&CudaKernel, Option<GemmDesc>) {
        let PreparedKernels { first, kernels, configurations, machine } = &*self.prepared;
        let (number, cut) = configurations.choice(size, machine);
        match (&kernels[number], cut) {
            ([Some(kernel), _], None) => (kernel, None),
            ([_, Some(kernel)], Some(cut)) => {
                (kernel, Some(kernel.desc().divided(cut)).filter(|_| kernel.desc().cut_of() != cut))
            }
            _ => (first, None),
        }
    }

    /// Returns the registers, shared memory, and spills of the first candidate's kernel.
    pub fn report(&self) -> &Report {
        self.prepared.first.report()
    }

    /// Returns the CUDA source of the first candidate's kernel.
    pub fn source(&self) -> &TranslationUnit {
        self.prepared.first.source()
    }

    /// Returns the description of the first candidate configuration.
    pub fn desc(&self) -> &GemmDesc {
        self.prepared.first.desc()
    }
}

impl<A: MatrixElements, B: MatrixElements, C: MatrixElements> Kernel<A, B, C> {
    /// Returns the size in bytes of the workspace for the fastest configuration.
    ///
    /// # Errors
    /// The errors of [`GemmOperation::workspace_size`](super::GemmOperation::workspace_size).
    pub fn workspace_size(&self, arguments: &Arguments<'_, Cuda, A, B, C>) -> Result<u64, Refusal> {
        arguments.products()?;
        let (kernel, desc) = self.select(&arguments.size_for(self.desc(), u64::MAX));
        let desc = desc.unwrap_or(*kernel.desc());
        arguments.check(&desc)?;
        Cuda::workspace_size(&desc, &arguments.problems(&desc, Some(&arguments.queue())))
    }

    /// Enqueues the GEMM on D's stream.
    ///
    /// # Errors
    /// The errors of [`CudaKernel::run`].
    pub fn run(&self, arguments: Arguments<'_, Cuda, A, B, C>) -> Result<(), Error> {
        self.run_on(&arguments.queue(), arguments)
    }

    /// Enqueues the GEMM on another stream of the same device.
    ///
    /// # Errors
    /// The errors of [`CudaKernel::run`], and [`Refusal`](crate::Refusal) if the stream belongs to
    /// another device.
    pub fn run_on(
        &self,
        stream: &Arc<CudaStream>,
        arguments: Arguments<'_, Cuda, A, B, C>,
    ) -> Result<(), Error> {
        let (kernel, several, mut calls) = self.calls(stream, arguments)?;
        if several {
            return kernel.run_array(stream, calls.collect());
        }
        calls.next().map_or(Ok(()), |call| kernel.run(stream, call))
    }

    /// Checks a GEMM, prepares its launches on a stream, and lends them to `body` for many runs on
    /// the same memory. A run then costs the host little more than a launch.
    ///
    /// ```no_run
    /// use falchion::{cuda::{Workspace, open}, prelude::*};
    ///
    /// let context = open(0)?;
    /// let stream = context.default_stream();
    /// let (a, b) = (stream.alloc_zeros::<f32>(64 * 64)?, stream.alloc_zeros::<f32>(64 * 64)?);
    /// let mut d = [stream.alloc_zeros::<f32>(64 * 64)?, stream.alloc_zeros::<f32>(64 * 64)?];
    /// let mut workspace = Workspace::new();
    /// let kernel = Gemm::<f32>::new().prepare_array(&context)?;
    /// let array = Arguments::array((64, 64, 64), [&a, &b], [&b, &a], &mut d)?;
    /// kernel.bind(&stream, array.workspace(&mut workspace), |call| {
    ///     (0..10).try_for_each(|_| call.run())
    /// })?;
    /// # Ok::<(), falchion::Error>(())
    /// ```
    ///
    /// # Errors
    /// The errors of [`run_on`](Self::run_on) and of `body`, and [`Refusal`](crate::Refusal) if the
    /// stream is being captured.
    pub fn bind<T, E: From<Error>>(
        &self,
        stream: &Arc<CudaStream>,
        arguments: Arguments<'_, Cuda, A, B, C>,
        body: impl FnOnce(&mut BoundCall<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let (kernel, several, mut calls) = self.calls(stream, arguments)?;
        let mut bound = match calls.next() {
            Some(call) if !several => kernel.bound(stream, call)?,
            first => kernel.bound_array(stream, first.into_iter().chain(calls).collect())?,
        };
        body(&mut bound)
    }

    /// Returns the kernel of a problem, whether the problem is a pointer array, and its calls.
    fn calls<'a: 'q, 'q>(
        &self,
        stream: &'q Arc<CudaStream>,
        arguments: Arguments<'a, Cuda, A, B, C>,
    ) -> Result<(CudaKernel, bool, impl Iterator<Item = CudaCall<'q>>), Error> {
        let size = arguments.size_for(self.desc(), arguments.workspace_given());
        let (kernel, desc) = self.select(&size);
        // All candidates have one epilogue.
        arguments.check(kernel.desc())?;
        let several = arguments.products()?.is_some();
        let needs = desc.unwrap_or(*kernel.desc());
        let calls = arguments.grown(&needs, stream)?.calls(needs, stream);
        let kernel = match desc {
            None => kernel.clone(),
            Some(desc) => CudaKernel::for_run(stream, &desc)?,
        };
        Ok((kernel, several, calls))
    }
}

const _: fn() = || {
    fn shared_between_threads<T: Clone + Send + Sync>() {}
    shared_between_threads::<Kernel>();
};
