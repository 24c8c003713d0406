//! Operators on a device: prepared kernels, and runs on another stream.

use super::{
    GemmOperation, Kernel,
    kernel::{
        PreparedKernels, array_kernel, batched_kernel, grouped_k_kernel, grouped_kernel,
        single_kernel,
    },
};
use crate::{
    Error,
    cuda::{Cuda, CudaKernel, machine_of},
    device::{Arguments, MatrixElements},
    host::parallel_map,
    nest::GemmDesc,
};
use cudarc::driver::{CudaContext, CudaStream};
use std::sync::Arc;

impl<A, B, C> GemmOperation<A, B, C> {
    /// Compiles and loads every kernel that [`run`](Self::run) may select on a device, for any
    /// size. Later runs do not compile, so a stream capture accepts them. Kernels with narrower
    /// accesses and transposes of operands compile at their first use. Batches need
    /// [`prepare_batched`](Self::prepare_batched).
    ///
    /// # Errors
    /// The errors of [`CudaKernel::prepare`].
    pub fn prepare(&self, context: &Arc<CudaContext>) -> Result<Kernel<A, B, C>, Error> {
        self.prepared(context, single_kernel)
    }

    /// Compiles and loads the kernels of a [batch](Arguments::batch).
    ///
    /// # Errors
    /// The errors of [`CudaKernel::prepare`].
    pub fn prepare_batched(&self, context: &Arc<CudaContext>) -> Result<Kernel<A, B, C>, Error> {
        self.prepared(context, batched_kernel)
    }

    /// Compiles and loads the kernels of an [array](Arguments::array). An array without a
    /// workspace, or whose operands must be copied, uses the kernels of [`prepare`](Self::prepare).
    ///
    /// # Errors
    /// The errors of [`CudaKernel::prepare`].
    pub fn prepare_array(&self, context: &Arc<CudaContext>) -> Result<Kernel<A, B, C>, Error> {
        self.prepared(context, array_kernel)
    }

    /// Compiles and loads the kernels of [groups](Arguments::groups).
    ///
    /// # Errors
    /// The errors of [`CudaKernel::prepare`].
    pub fn prepare_grouped(&self, context: &Arc<CudaContext>) -> Result<Kernel<A, B, C>, Error> {
        self.prepared(context, grouped_kernel)
    }

    /// Compiles and loads the kernels of [groups along K](Arguments::groups_k).
    ///
    /// # Errors
    /// The errors of [`CudaKernel::prepare`].
    pub fn prepare_grouped_k(&self, context: &Arc<CudaContext>) -> Result<Kernel<A, B, C>, Error> {
        self.prepared(context, grouped_k_kernel)
    }

    fn prepared(
        &self,
        context: &Arc<CudaContext>,
        mode: fn(GemmDesc) -> GemmDesc,
    ) -> Result<Kernel<A, B, C>, Error> {
        let machine = machine_of(context)?;
        let operation = self.on(Some(&machine))?;
        let descs: Vec<_> = operation.kernels().flatten().collect();
        // NVRTC compiles kernels in parallel.
        let prepared = parallel_map(descs.len(), |i| {
            let first = descs[i] == Some(operation.desc());
            let desc = descs[i].map(mode).filter(|desc| first || desc.check_on(&machine).is_ok());
            desc.map(|desc| CudaKernel::prepare(context, &desc)).transpose()
        });
        let mut all = prepared.into_iter();
        let mut kernels = Vec::new();
        while let (Some(whole), Some(split)) = (all.next(), all.next()) {
            kernels.push([whole?, split?]);
        }
        let first = match &kernels[..] {
            [[Some(first), _], ..] => first.clone(),
            _ => CudaKernel::prepare(context, &mode(operation.desc()))?,
        };
        Ok(Kernel::from_prepared(PreparedKernels {
            first,
            kernels,
            configurations: operation.configurations,
            machine,
        }))
    }
}

impl<A: MatrixElements, B: MatrixElements, C: MatrixElements> GemmOperation<A, B, C> {
    /// Enqueues the GEMM on another stream of D's device, as [`run`](Self::run) does on D's stream.
    /// The caller orders the two streams.
    ///
    /// # Errors
    /// The errors of [`run`](Self::run), and [`Refusal`](crate::Refusal) if the stream belongs to
    /// another device.
    pub fn run_on(
        &self,
        stream: &Arc<CudaStream>,
        arguments: Arguments<'_, Cuda, A, B, C>,
    ) -> Result<(), Error> {
        self.run_in(stream, arguments)
    }
}
