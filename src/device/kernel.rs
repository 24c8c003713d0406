//! Device slices run on their device: the typed door to [`CudaKernel`].

use super::{Executor, Gemm};
use crate::{
    arch::{Arch, Machine, OpClass},
    call::{Arguments, Problem, Routes},
    codegen::TranslationUnit,
    cuda::{
        Cuda, CudaCall, CudaKernel, CudaMut, CudaRef, CudaTransposeCall, DeviceMatrix, known_machine, machine_of, report::Report,
        transpose,
    },
    desc::{Config, GemmDesc},
    error::Error,
    layout::{Layout, Orders},
    numeric::Element,
    pass::transpose::{Choice, Combine},
    refusal::Refusal,
};
use bytemuck::Pod;
use core::marker::PhantomData;
use cudarc::driver::{CudaContext, CudaStream};
use std::sync::Arc;

impl Executor for Cuda {
    type Read<'a> = DeviceMatrix<'a>;
    type Write<'a> = DeviceMatrix<'a>;
    type Queue = Arc<CudaStream>;

    fn length<T: Pod>(matrix: &CudaRef<'_, T>) -> usize {
        matrix.0.len()
    }

    fn length_mut<T: Pod>(matrix: &CudaMut<'_, T>) -> usize {
        matrix.0.len()
    }

    fn queue<T: Pod>(d: &CudaMut<'_, T>) -> Arc<CudaStream> {
        d.0.stream().clone()
    }

    fn read<'a: 'q, 'q, E: Element>(matrix: CudaRef<'a, E::Storage>, stream: &'q Arc<CudaStream>) -> DeviceMatrix<'q> {
        DeviceMatrix::read::<E>(matrix.0, stream)
    }

    fn write<'a: 'q, 'q, E: Element>(matrix: CudaMut<'a, E::Storage>, stream: &'q Arc<CudaStream>) -> DeviceMatrix<'q> {
        DeviceMatrix::write::<E>(matrix.0, stream)
    }

    fn execute(desc: &GemmDesc, stream: &Arc<CudaStream>, call: CudaCall<'_>) -> Result<(), Error> {
        CudaKernel::for_run(stream, &desc.for_batch(call.batch).for_scalars(&call.scalars))?.run(stream, call)
    }

    fn transpose(choice: Choice, combine: Combine, stream: &Arc<CudaStream>, call: CudaTransposeCall<'_>) -> Result<(), Error> {
        transpose(choice, combine, stream, &call)
    }

    fn workspace_size<A: Element, B: Element, C: Element>(
        desc: &GemmDesc,
        problem: Problem,
        arguments: &Arguments<'_, Self, A, B, C>,
    ) -> Result<u64, Refusal> {
        let stream = arguments.d.0.stream();
        // Only the addresses are asked for; nothing is read.
        let a = DeviceMatrix::read::<A>(arguments.a.0, stream).address;
        let b = DeviceMatrix::read::<B>(arguments.b.0, stream).address;
        let desc = desc.for_scalars(&problem.scalars);
        let problem = problem.at([a, b]).seen_by(&desc)?;
        Ok(Routes::of(&desc, desc.plan()?.needs(), &problem).workspace_bytes())
    }

    fn machine(stream: &Arc<CudaStream>) -> Option<Machine> {
        known_machine(stream.context()).ok()
    }
}

/// Products of which a batch has as many at least.
const MANY: usize = 2;

/// What a batch of so many products of (m, n, k) runs with on a machine.
type Chosen = fn((usize, usize, usize), usize, &Machine) -> GemmDesc;

/// A GEMM compiled and loaded on one device: what [`Gemm::prepare`] and [`Gemm::prepare_batched`] make. `Clone + Send + Sync`; clones share the kernels.
///
/// A configuration that leaves a choice to the problem has a kernel for each description that may be chosen; every call of the kind that was prepared takes
/// the one that [`Gemm::run`] takes. A batch takes a kernel of batches in any case, and a single product one of those that were prepared.
pub struct Kernel<G> {
    /// The description of the types first.
    kernels: Arc<[CudaKernel]>,
    chosen: Chosen,
    machine: Machine,
    orders: Orders,
    _gemm: PhantomData<fn() -> G>,
}

impl<G> Clone for Kernel<G> {
    fn clone(&self) -> Self {
        Self { kernels: self.kernels.clone(), ..*self }
    }
}

impl<G> Kernel<G> {
    /// The kernel of a batch of products of (m, n, k). The first stands in for one that the device does not take.
    fn of(&self, extents: (usize, usize, usize), batch: usize) -> &CudaKernel {
        let chosen = |desc: GemmDesc| self.kernels.iter().find(|kernel| *kernel.desc() == desc);
        match &*self.kernels {
            [only] => only,
            several => chosen((self.chosen)(extents, batch, &self.machine)).unwrap_or(&several[0]),
        }
    }

    /// What the assembler said of the first kernel: registers, shared memory, spills.
    pub fn report(&self) -> &Report {
        self.kernels[0].report()
    }

    /// The text of the first kernel.
    pub fn source(&self) -> &TranslationUnit {
        self.kernels[0].source()
    }

    /// The description of the first kernel: that of the types.
    pub fn desc(&self) -> &GemmDesc {
        self.kernels[0].desc()
    }
}

impl<A: Element, LA: Layout, B: Element, LB: Layout, C: Element, LC: Layout, Acc: Element, Op: OpClass, Ar: Arch, Cfg: Config>
    Gemm<A, LA, B, LB, C, LC, Acc, Op, Ar, Cfg>
{
    /// Compiles and loads on a device every kernel that [`run`](Gemm::run) may take there, so that runs neither wait for one nor are
    /// refused under capture, whatever their extents. Not those of narrower accesses, nor a transpose of an operand in another order than its type's;
    /// those of batches are [`prepare_batched`](Self::prepare_batched)'s.
    ///
    /// # Errors
    /// Those of [`CudaKernel::prepare`].
    pub fn prepare(&self, context: &Arc<CudaContext>) -> Result<Kernel<Self>, Error> {
        Self::prepared(context, 1, Self::desc_for)
    }

    /// The same of every kernel that a [batch](Arguments::batch) of more than one product may take.
    ///
    /// # Errors
    /// Those of [`CudaKernel::prepare`].
    pub fn prepare_batched(&self, context: &Arc<CudaContext>) -> Result<Kernel<Self>, Error> {
        Self::prepared(context, MANY, |extents, batch, machine| Self::desc_for(extents, batch, machine).for_batch(MANY))
    }

    fn prepared(context: &Arc<CudaContext>, products: usize, chosen: Chosen) -> Result<Kernel<Self>, Error> {
        let machine = machine_of(context)?;
        let mut kernels = vec![CudaKernel::prepare(context, &Self::DESC.for_batch(products))?];
        for desc in Self::completions()[1..].iter().filter(|desc| desc.check_on(&machine).is_ok()) {
            kernels.push(CudaKernel::prepare(context, &desc.for_batch(products))?);
        }
        Ok(Kernel { kernels: kernels.into(), chosen, machine, orders: Self::ORDERS, _gemm: PhantomData })
    }
}

impl<A: Element, LA, B: Element, LB, C: Element, LC, Acc, Op: OpClass, Ar, Cfg>
    Kernel<Gemm<A, LA, B, LB, C, LC, Acc, Op, Ar, Cfg>>
{
    /// Bytes of the workspace that the product takes.
    ///
    /// # Errors
    /// Those of [`Gemm::workspace_size`].
    pub fn workspace_size(&self, arguments: &Arguments<'_, Cuda, A, B, C>) -> Result<u64, Refusal> {
        Cuda::workspace_size(self.of(arguments.extents, arguments.batch).desc(), arguments.problem(self.orders), arguments)
    }

    /// Enqueues the product on D's stream.
    ///
    /// # Errors
    /// Those of [`CudaKernel::run`].
    pub fn run(&self, arguments: Arguments<'_, Cuda, A, B, C>) -> Result<(), Error> {
        let stream = Cuda::queue(&arguments.d);
        self.run_on(&stream, arguments)
    }

    /// Enqueues the product on another stream of the same device.
    ///
    /// # Errors
    /// Those of [`CudaKernel::run`]; [`Refusal::OtherDevice`](crate::Refusal::OtherDevice) when the stream is of another device.
    pub fn run_on(&self, stream: &Arc<CudaStream>, arguments: Arguments<'_, Cuda, A, B, C>) -> Result<(), Error> {
        self.of(arguments.extents, arguments.batch).run(stream, arguments.call(self.orders, stream))
    }
}

const _: fn() = || {
    fn shared_between_threads<T: Clone + Send + Sync>() {}
    shared_between_threads::<Kernel<()>>();
};
