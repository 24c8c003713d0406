//! Transposes on a device, by types.

use super::Transpose;
use crate::{
    call::Space,
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

/// A transpose compiled and loaded on one device: what [`Transpose::prepare`] makes. `Clone +
/// Send + Sync`.
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
    /// Compiles and loads the kernel of these arguments, so that runs of their like neither wait
    /// for it nor are refused under capture. Arguments are alike when the same widths divide their
    /// addresses, extents, leading dimensions and strides.
    ///
    /// # Errors
    /// Those of [`CudaPass::prepare`].
    pub fn prepare(
        &self,
        context: &Arc<CudaContext>,
        arguments: &TransposeArguments<'_, Cuda, T>,
    ) -> Result<TransposeKernel<T, Config>, Error> {
        let stream = arguments.d.0.stream();
        // Only the addresses' widths are asked for; D is not written.
        let of =
            |matrix: &dyn DevicePtr<T::Storage>| DeviceMatrix::read::<T>(matrix, stream).address;
        let problem = arguments.problem().at([
            of(arguments.a.0),
            arguments.b.matrix().map_or(0, |b| of(b.0)),
            0,
        ]);
        let desc = Config::CHOICE.desc(arguments.combine, T::KIND.bytes_of(1), &problem);
        problem.check(&desc)?;
        let kernel = CudaPass::prepare(context, &PassDesc::Transpose(desc))?;
        Ok(TransposeKernel { desc, kernel, _transpose: PhantomData })
    }
}

impl<T: MathType, Config: Configuration> TransposeKernel<T, Config> {
    /// What the assembler said: registers, shared memory, spills.
    pub fn report(&self) -> &Report {
        self.kernel.report()
    }

    /// The text that was compiled.
    pub fn source(&self) -> &TranslationUnit {
        self.kernel.source()
    }

    /// The description.
    pub fn desc(&self) -> &TransposeDesc {
        &self.desc
    }

    /// Enqueues the transpose on D's stream.
    ///
    /// # Errors
    /// Those of [`Transpose::run`].
    pub fn run(&self, arguments: TransposeArguments<'_, Cuda, T>) -> Result<(), Error> {
        let stream = Cuda::queue(&arguments.d);
        self.run_on(&stream, arguments)
    }

    /// Enqueues the transpose on another stream of the same device.
    ///
    /// # Errors
    /// Those of [`Transpose::run`].
    pub fn run_on(
        &self,
        stream: &Arc<CudaStream>,
        arguments: TransposeArguments<'_, Cuda, T>,
    ) -> Result<(), Error> {
        let combine = arguments.combine;
        Cuda::transpose(Config::CHOICE, combine, stream, arguments.call(stream))
    }
}

const _: fn() = || {
    fn shared_between_threads<T: Clone + Send + Sync>() {}
    shared_between_threads::<TransposeKernel<f32, crate::desc::Auto>>();
};
