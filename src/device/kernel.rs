//! Device slices run on their device: the typed door to [`CudaKernel`].

use super::{Executor, Gemm};
use crate::{
    arch::{Arch, Machine, OpClass},
    call::Arguments,
    codegen::TranslationUnit,
    cuda::{Cuda, CudaKernel, CudaMatrices, CudaMut, CudaRef, DeviceMatrix, known_machine, machine_of, report::Report},
    desc::{Config, GemmDesc},
    error::Error,
    layout::{Layout, Orders},
    numeric::Element,
    refusal::Refusal,
};
use bytemuck::Pod;
use core::marker::PhantomData;
use cudarc::driver::{CudaContext, CudaStream};
use std::sync::Arc;

impl Executor for Cuda {
    fn length<T: Pod>(matrix: &CudaRef<'_, T>) -> usize {
        matrix.0.len()
    }

    fn length_mut<T: Pod>(matrix: &CudaMut<'_, T>) -> usize {
        matrix.0.len()
    }

    fn machine<A: Element, B: Element, C: Element>(arguments: &Arguments<'_, Self, A, B, C>) -> Option<Machine> {
        known_machine(arguments.d.0.stream().context()).ok()
    }

    fn execute<A: Element, B: Element, C: Element>(
        desc: &GemmDesc,
        orders: Orders,
        arguments: Arguments<'_, Self, A, B, C>,
    ) -> Result<(), Error> {
        let stream = arguments.d.0.stream().clone();
        let kernel = CudaKernel::for_run(&stream, desc)?;
        enqueue(&kernel, &stream, orders, arguments)
    }

    fn workspace_size<A: Element, B: Element, C: Element>(
        desc: &GemmDesc,
        orders: Orders,
        arguments: &Arguments<'_, Self, A, B, C>,
    ) -> Result<u64, Refusal> {
        let (shapes, stream) = (Self::shapes(arguments, orders), arguments.d.0.stream());
        shapes.check(&desc.for_scalars(&arguments.scalars))?;
        // Only the addresses are asked for; nothing is read.
        let a = DeviceMatrix::read::<A>(arguments.a.0, stream).address;
        let b = DeviceMatrix::read::<B>(arguments.b.0, stream).address;
        Ok(desc.routes(&shapes, [a, b])?.workspace_bytes())
    }
}

fn enqueue<A: Element, B: Element, C: Element>(
    kernel: &CudaKernel,
    stream: &Arc<CudaStream>,
    orders: Orders,
    arguments: Arguments<'_, Cuda, A, B, C>,
) -> Result<(), Error> {
    let shapes = Cuda::shapes(&arguments, orders);
    let matrices = CudaMatrices {
        a: DeviceMatrix::read::<A>(arguments.a.0, stream),
        b: DeviceMatrix::read::<B>(arguments.b.0, stream),
        c: arguments.c.map(|c| DeviceMatrix::read::<C>(c.0, stream)),
        d: DeviceMatrix::write::<C>(arguments.d.0, stream),
        workspace: arguments.workspace.map(|bytes| DeviceMatrix::write::<u8>(bytes.0, stream)),
    };
    kernel.run(stream, &shapes, matrices)
}

/// A GEMM compiled and loaded on one device: what [`Gemm::prepare`] makes. `Clone + Send + Sync`; clones share the kernels.
///
/// A configuration that leaves a choice to the problem has a kernel for each description that may be chosen; every call takes
/// the one that [`Gemm::run`] takes.
pub struct Kernel<G> {
    /// The description of the types first.
    kernels: Arc<[CudaKernel]>,
    chosen: fn((usize, usize, usize), &Machine) -> GemmDesc,
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
    /// The kernel of a product of (m, n, k). One that was prepared for other extents alone stands in for what it lacks.
    fn of(&self, extents: (usize, usize, usize)) -> &CudaKernel {
        let chosen = |desc: GemmDesc| self.kernels.iter().find(|kernel| *kernel.desc() == desc);
        match &*self.kernels {
            [only] => only,
            several => chosen((self.chosen)(extents, &self.machine)).unwrap_or(&several[0]),
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

    /// The description of the first kernel: that of the types, or of the extents that were asked for.
    pub fn desc(&self) -> &GemmDesc {
        self.kernels[0].desc()
    }
}

impl<A, LA, B, LB, C, LC, Acc, Op, Ar, Cfg> Gemm<A, LA, B, LB, C, LC, Acc, Op, Ar, Cfg>
where
    A: Element,
    LA: Layout,
    B: Element,
    LB: Layout,
    C: Element,
    LC: Layout,
    Acc: Element,
    Op: OpClass,
    Ar: Arch,
    Cfg: Config,
{
    /// Compiles and loads on a device every kernel that [`run`](Gemm::run) may take there, so that runs neither wait for one nor are
    /// refused under capture, whatever their extents.
    ///
    /// # Errors
    ///
    /// Those of [`CudaKernel::prepare`].
    pub fn prepare(&self, context: &Arc<CudaContext>) -> Result<Kernel<Self>, Error> {
        let machine = machine_of(context)?;
        let mut kernels = vec![CudaKernel::prepare(context, &Self::DESC)?];
        for desc in Self::completions()[1..].iter().filter(|desc| desc.check_on(&machine).is_ok()) {
            kernels.push(CudaKernel::prepare(context, desc)?);
        }
        Ok(Self::kernel(kernels, machine))
    }

    fn kernel(kernels: Vec<CudaKernel>, machine: Machine) -> Kernel<Self> {
        Kernel { kernels: kernels.into(), chosen: Self::desc_for, machine, orders: Self::ORDERS, _gemm: PhantomData }
    }

    /// Compiles and loads the one kernel that [`run`](Gemm::run) takes for a product of (m, n, k).
    ///
    /// # Errors
    ///
    /// Those of [`CudaKernel::prepare`].
    pub fn prepare_for(&self, context: &Arc<CudaContext>, extents: (usize, usize, usize)) -> Result<Kernel<Self>, Error> {
        let machine = machine_of(context)?;
        Ok(Self::kernel(vec![CudaKernel::prepare(context, &Self::desc_for(extents, &machine))?], machine))
    }
}

impl<A, LA, B, LB, C, LC, Acc, Op, Ar, Cfg> Kernel<Gemm<A, LA, B, LB, C, LC, Acc, Op, Ar, Cfg>>
where
    A: Element,
    B: Element,
    C: Element,
    Op: OpClass,
{
    /// Bytes of the workspace that the product takes.
    ///
    /// # Errors
    ///
    /// Those of [`Gemm::workspace_size`].
    pub fn workspace_size(&self, arguments: &Arguments<'_, Cuda, A, B, C>) -> Result<u64, Refusal> {
        Cuda::workspace_size(self.of(arguments.extents).desc(), self.orders, arguments)
    }

    /// Enqueues the product on D's stream.
    ///
    /// # Errors
    ///
    /// Those of [`CudaKernel::run`].
    pub fn run(&self, arguments: Arguments<'_, Cuda, A, B, C>) -> Result<(), Error> {
        let stream = arguments.d.0.stream().clone();
        enqueue(self.of(arguments.extents), &stream, self.orders, arguments)
    }

    /// Enqueues the product on another stream of the same device.
    ///
    /// # Errors
    ///
    /// Those of [`CudaKernel::run`]; [`Refusal::OtherDevice`](crate::Refusal::OtherDevice) when the stream is of another device.
    pub fn run_on(&self, stream: &Arc<CudaStream>, arguments: Arguments<'_, Cuda, A, B, C>) -> Result<(), Error> {
        enqueue(self.of(arguments.extents), stream, self.orders, arguments)
    }
}

const _: fn() = || {
    fn shared_between_threads<T: Clone + Send + Sync>() {}
    shared_between_threads::<Kernel<()>>();
};
