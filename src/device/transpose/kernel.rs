//! Transpose kernels on a device.

use super::Transpose;
use crate::{
    call::{Placement, Space},
    codegen::TranslationUnit,
    cuda::{Cuda, CudaPass, DeviceMatrix, report::Report},
    device::Executor,
    error::Error,
    numeric::MathType,
    pass::{
        PassDesc,
        transpose::{Configuration, TransposeArguments, TransposeDesc},
    },
};
use core::marker::PhantomData;
use cudarc::driver::{CudaContext, CudaStream, DevicePtr};
use std::sync::Arc;

/// A compiled and loaded transpose kernel on one device. [`Transpose::prepare`] returns a
/// `TransposeKernel`. Clones share the kernel, and threads may share clones.
pub struct TransposeKernel<T, Config> {
    desc: TransposeDesc,
    kernel: CudaPass,
    _transpose: PhantomData<fn() -> (T, Config)>,
}

impl<T, Config> Clone for TransposeKernel<T, Config> {
    fn clone(&self) -> Self {
        Self { kernel: self.kernel.clone(), ..*self }
    }
}

impl<T: MathType, Config: Configuration> Transpose<T, Config> {
    /// Compiles and loads the kernel for these arguments. Later runs with similar arguments do not
    /// compile, so a stream capture accepts the runs. Arguments are similar if the same access
    /// widths divide their addresses, extents, leading dimensions, and strides.
    ///
    /// # Errors
    /// [`Error::Library`], [`Error::Compile`], and [`Error::Driver`].
    pub fn prepare(
        &self,
        context: &Arc<CudaContext>,
        arguments: &TransposeArguments<'_, Cuda, T>,
    ) -> Result<TransposeKernel<T, Config>, Error> {
        let stream = arguments.d.memory.0.stream();
        // The code only needs the alignment of the addresses. Nothing is written to D.
        arguments.check_views()?;
        let (a, b) = (&arguments.a, &arguments.b);
        let address = |matrix: &dyn DevicePtr<T::Storage>, placement: Placement| {
            DeviceMatrix::read::<T>(matrix, stream).from(placement.first()).address
        };
        let address_b = b.memory.matrix().map_or(0, |matrix| address(matrix.0, b.placement));
        let problem = arguments.problem().at([address(a.memory.0, a.placement), address_b, 0]);
        let desc = Config::CHOICE.desc(arguments.combine, T::KIND.bytes_of(1), &problem);
        problem.check(&desc)?;
        let kernel = CudaPass::prepare(context, &PassDesc::Transpose(desc))?;
        Ok(TransposeKernel { desc, kernel, _transpose: PhantomData })
    }
}

impl<T: MathType, Config: Configuration> TransposeKernel<T, Config> {
    /// Returns the registers, shared memory, and spills of the kernel.
    pub fn report(&self) -> &Report {
        self.kernel.report()
    }

    /// Returns the CUDA source of the kernel.
    pub fn source(&self) -> &TranslationUnit {
        self.kernel.source()
    }

    /// Returns the description of the kernel.
    pub fn desc(&self) -> &TransposeDesc {
        &self.desc
    }

    /// Enqueues the transpose on D's stream.
    ///
    /// # Errors
    /// The errors of [`Transpose::run`].
    pub fn run(&self, arguments: TransposeArguments<'_, Cuda, T>) -> Result<(), Error> {
        let stream = Cuda::queue(&arguments.d.memory);
        self.run_on(&stream, arguments)
    }

    /// Enqueues the transpose on another stream of the same device.
    ///
    /// # Errors
    /// The errors of [`Transpose::run`].
    pub fn run_on(
        &self,
        stream: &Arc<CudaStream>,
        arguments: TransposeArguments<'_, Cuda, T>,
    ) -> Result<(), Error> {
        arguments.check_views()?;
        let combine = arguments.combine;
        Cuda::transpose(Config::CHOICE, combine, stream, arguments.call(stream))
    }
}

const _: fn() = || {
    fn shared_between_threads<T: Clone + Send + Sync>() {}
    shared_between_threads::<TransposeKernel<f32, crate::desc::Auto>>();
};
