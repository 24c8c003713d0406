//! Operators on a device: prepared kernels, and runs on another stream.

use super::{
    Executor, Gemm, GemmOperation, GemmUniversal, Kernel,
    kernel::{PreparedKernels, of_arrays, of_batches, of_groups, of_one},
};
use crate::{
    arch::{Arch, OpClass},
    call::{Arguments, MatrixElements},
    cuda::{Cuda, CudaKernel, machine_of},
    desc::{Config, GemmDesc, GemmMode},
    error::Error,
    host::parallel_map,
    layout::Layout,
    numeric::MathType,
    refusal::Refusal,
};
use cudarc::driver::{CudaContext, CudaStream};
use std::sync::Arc;

/// [`run`](Gemm::run) on a stream of the caller's choice.
macro_rules! runs_on {
    () => {
        /// Enqueues the GEMM on another stream of D's device, as [`run`](Self::run) does on D's
        /// stream. The caller orders the two streams.
        ///
        /// # Errors
        /// The errors of [`run`](Self::run), and [`Refusal::NotOnStream`] if the stream belongs to
        /// another device.
        pub fn run_on(
            &self,
            stream: &Arc<CudaStream>,
            arguments: Arguments<'_, Cuda, A, B, C>,
        ) -> Result<(), Error> {
            self.operation_on(stream)?.run_in(stream, arguments)
        }
    };
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
    runs_on!();

    fn operation_on(&self, _: &Arc<CudaStream>) -> Result<&'static GemmOperation, Refusal> {
        Ok(Self::OPERATION)
    }

    /// Compiles and loads every kernel that [`run`](Gemm::run) may select on a device, for any
    /// size. Later runs do not compile, so a stream capture accepts them. Kernels with narrower
    /// accesses and transposes of operands compile at their first use. Batches need
    /// [`prepare_batched`](Self::prepare_batched).
    ///
    /// # Errors
    /// The errors of [`CudaKernel::prepare`].
    pub fn prepare(&self, context: &Arc<CudaContext>) -> Result<Kernel<Self>, Error> {
        Self::OPERATION.prepared(context, of_one)
    }

    /// Compiles and loads the kernels of a [batch](Arguments::batch).
    ///
    /// # Errors
    /// The errors of [`CudaKernel::prepare`].
    pub fn prepare_batched(&self, context: &Arc<CudaContext>) -> Result<Kernel<Self>, Error> {
        Self::OPERATION.prepared(context, of_batches)
    }

    /// Compiles and loads the kernels of an [array](Arguments::array). An array whose operands must
    /// be copied uses the kernels of [`prepare`](Self::prepare).
    ///
    /// # Errors
    /// The errors of [`CudaKernel::prepare`].
    pub fn prepare_array(&self, context: &Arc<CudaContext>) -> Result<Kernel<Self>, Error> {
        Self::OPERATION.prepared(context, of_arrays)
    }

    /// Compiles and loads the kernels of [groups](Arguments::groups).
    ///
    /// # Errors
    /// The errors of [`CudaKernel::prepare`].
    pub fn prepare_grouped(&self, context: &Arc<CudaContext>) -> Result<Kernel<Self>, Error> {
        Self::OPERATION.prepared(context, of_groups)
    }
}

/// The `prepare` functions of an operator without units of its own.
macro_rules! prepares {
    () => {
        /// Compiles and loads the kernels that [`run`](Self::run) may select on a device, as
        /// [`Gemm::prepare`] does.
        ///
        /// # Errors
        /// The errors of [`CudaKernel::prepare`].
        pub fn prepare(&self, context: &Arc<CudaContext>) -> Result<Kernel<Self>, Error> {
            self.prepared(context, of_one)
        }

        /// Compiles and loads the kernels of a [batch](Arguments::batch), as
        /// [`Gemm::prepare_batched`] does.
        ///
        /// # Errors
        /// The errors of [`CudaKernel::prepare`].
        pub fn prepare_batched(&self, context: &Arc<CudaContext>) -> Result<Kernel<Self>, Error> {
            self.prepared(context, of_batches)
        }

        /// Compiles and loads the kernels of an [array](Arguments::array), as
        /// [`Gemm::prepare_array`] does.
        ///
        /// # Errors
        /// The errors of [`CudaKernel::prepare`].
        pub fn prepare_array(&self, context: &Arc<CudaContext>) -> Result<Kernel<Self>, Error> {
            self.prepared(context, of_arrays)
        }

        /// Compiles and loads the kernels of [groups](Arguments::groups), as
        /// [`Gemm::prepare_grouped`] does.
        ///
        /// # Errors
        /// The errors of [`CudaKernel::prepare`].
        pub fn prepare_grouped(&self, context: &Arc<CudaContext>) -> Result<Kernel<Self>, Error> {
            self.prepared(context, of_groups)
        }
    };
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
    prepares!();
    runs_on!();

    fn operation_on(&self, stream: &Arc<CudaStream>) -> Result<&'static GemmOperation, Refusal> {
        self.operation(Cuda::machine(stream).as_ref())
    }

    fn prepared(
        &self,
        context: &Arc<CudaContext>,
        mode: fn(GemmDesc) -> GemmDesc,
    ) -> Result<Kernel<Self>, Error> {
        self.operation(Some(&machine_of(context)?))?.prepared(context, mode)
    }
}

impl GemmOperation {
    prepares!();

    /// Enqueues the GEMM on another stream of D's device, as [`run`](Self::run) does on D's stream.
    /// The caller orders the two streams.
    ///
    /// # Errors
    /// The errors of [`run`](Self::run), and [`Refusal::NotOnStream`] if the stream belongs to
    /// another device.
    pub fn run_on<A: MatrixElements, B: MatrixElements, C: MatrixElements>(
        &self,
        stream: &Arc<CudaStream>,
        arguments: Arguments<'_, Cuda, A, B, C>,
    ) -> Result<(), Error> {
        self.run_in(stream, arguments)
    }

    fn prepared<G>(
        &self,
        context: &Arc<CudaContext>,
        mode: fn(GemmDesc) -> GemmDesc,
    ) -> Result<Kernel<G>, Error> {
        let machine = machine_of(context)?;
        let here = self.on(Some(&machine))?;
        if !core::ptr::eq(here, self) {
            return here.prepared(context, mode);
        }
        let descs: Vec<_> = self.kernels().flatten().collect();
        // NVRTC compiles kernels in parallel.
        let prepared = parallel_map(descs.len(), |i| {
            let first = descs[i] == Some(self.desc());
            let desc = descs[i].map(mode).filter(|desc| first || desc.check_on(&machine).is_ok());
            if let Some(desc) = desc.filter(|desc| desc.class.mode.is_of_many()) {
                CudaKernel::prepare(context, &desc.in_mode(GemmMode::Array))?;
            }
            desc.map(|desc| CudaKernel::prepare(context, &desc)).transpose()
        });
        let mut all = prepared.into_iter();
        let mut kernels = Vec::new();
        while let (Some(whole), Some(in_parts)) = (all.next(), all.next()) {
            kernels.push([whole?, in_parts?]);
        }
        let first = match &kernels[..] {
            [[Some(first), _], ..] => first.clone(),
            _ => CudaKernel::prepare(context, &mode(self.desc()))?,
        };
        Ok(Kernel::of_prepared(PreparedKernels {
            first,
            kernels,
            operation: self.clone(),
            machine,
        }))
    }
}
