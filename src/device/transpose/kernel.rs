//! Transpose kernels on a device.

use super::Transpose;
use crate::{
    Error,
    codegen::TranslationUnit,
    cuda::{Cuda, CudaPass, report::Report},
    device::{Arguments, Executor, Identity, MatrixElements},
    numeric::MathType,
    operand::{
        Memory, PassDesc, Problem, Source,
        transpose::{Configuration, TransposeDesc},
    },
};
use core::marker::PhantomData;
use cudarc::driver::{CudaContext, CudaStream};
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
        arguments: &Arguments<'_, Cuda, T, Identity, T>,
    ) -> Result<TransposeKernel<T, Config>, Error> {
        arguments.check_transpose()?;
        let problem = arguments.problem_at_addresses();
        let desc = Config::CHOICE.desc(T::KIND, &problem);
        desc.enter(problem)?;
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
    pub fn run(&self, arguments: Arguments<'_, Cuda, T, Identity, T>) -> Result<(), Error> {
        let stream = arguments.queue();
        self.run_on(&stream, arguments)
    }

    /// Enqueues the transpose on another stream of the same device.
    ///
    /// # Errors
    /// The errors of [`Transpose::run`].
    pub fn run_on(
        &self,
        stream: &Arc<CudaStream>,
        arguments: Arguments<'_, Cuda, T, Identity, T>,
    ) -> Result<(), Error> {
        arguments.check_transpose()?;
        Cuda::transpose(Config::CHOICE, stream, arguments.transpose_call(stream))
    }
}

impl<T: MathType> Arguments<'_, Cuda, T, Identity, T> {
    /// Returns the problem at the addresses of A and C. The alignment of D does not limit accesses
    /// before a run, because nothing is written to D.
    fn problem_at_addresses(&self) -> Problem {
        let (stream, mut problem) = (self.queue(), self.transpose_problem());
        let [a, _, c, _] = self.placements().map(|placement| placement.first());
        let address = |matrix, first| T::read::<Cuda>(matrix, &stream).skip(first).address();
        problem.a.memory.address = address(self.a.memory, a);
        if let (Source::Matrix(of_c), Source::Matrix(view)) = (&self.c.memory, &mut problem.c) {
            view.memory.address = address(*of_c, c);
        }
        problem
    }
}

const _: fn() = || {
    fn shared_between_threads<T: Clone + Send + Sync>() {}
    shared_between_threads::<TransposeKernel<f32, crate::nest::Auto>>();
};
