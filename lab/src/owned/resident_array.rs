//! The matrices of a pointer array in device memory, each in its own allocation.

use super::resident::Copied;
use cudarc::driver::{CudaSlice, CudaStream};
use falchion::{
    Error,
    cuda::{CudaKernel, CudaMatrices, DeviceMatrix},
    internals::{
        operand::{HostCall, HostSlice, Problem, Source},
        shape::EpilogueOperands,
        sys::driver::driver,
    },
    numeric::ElementKind,
};
use std::sync::Arc;

/// The matrices and the problem of one GEMM.
struct Product {
    problem: Problem,
    a: Copied,
    b: Copied,
    c: Source<Copied>,
    d: Copied,
}

/// The operands of a pointer array in device memory.
pub struct ResidentArray {
    stream: Arc<CudaStream>,
    products: Vec<Product>,
    operands: EpilogueOperands<Copied>,
    /// A workspace of the size that the first run needed.
    workspace: Option<CudaSlice<u8>>,
}

impl ResidentArray {
    /// Copies the operands of each GEMM to the device, including the content of D. The vectors are
    /// those of the first GEMM.
    ///
    /// # Errors
    /// [`Error::Driver`] if the device memory is too small.
    pub fn new(stream: &Arc<CudaStream>, calls: &[HostCall<'_>]) -> Result<Self, Error> {
        let copied = |matrix: &HostSlice<'_>| Copied::new(stream, matrix.kind(), matrix.bytes());
        // The memory after a matrix of a batch belongs to the next matrix.
        let own = |matrix: &HostSlice<'_>, elements: u128| {
            matrix
                .get(0..(elements as usize).min(matrix.length()))
                .map_or_else(|| copied(matrix), |own| copied(&own))
        };
        let of_call = |call: &HostCall<'_>| {
            let (m, n, k) = (call.m, call.n, call.k);
            Ok::<_, Error>(Product {
                problem: call.problem(),
                a: own(&call.a.memory, call.a.elements((m, k), 1))?,
                b: own(&call.b.memory, call.b.elements((k, n), 1))?,
                c: call.c.as_ref().try_map(|c| own(&c.memory, c.elements((m, n), 1)))?,
                d: Copied::new(stream, call.d.memory.kind(), call.d.memory.bytes())?,
            })
        };
        let products = calls.iter().map(of_call).collect::<Result<Vec<_>, _>>()?;
        let operands = calls.first().map_or(EpilogueOperands::NONE, |call| call.operands);
        let operands = operands.as_ref().try_map(|_, vector| copied(&vector.memory))?;
        Ok(Self { stream: stream.clone(), products, operands, workspace: None })
    }

    /// Enqueues the pointer array. Allocates the workspace on first use.
    ///
    /// # Errors
    /// The errors of [`CudaKernel::run_array`]. [`Error::Driver`] if the device memory is too
    /// small.
    pub fn run(&mut self, kernel: &CudaKernel) -> Result<(), Error> {
        let Self { stream, products, operands, workspace } = self;
        if workspace.is_none() {
            let placed = |product: &Product| {
                let [a, b] = [&product.a, &product.b].map(|matrix| matrix.read(stream).address());
                product.problem.at([a, b])
            };
            let bytes =
                kernel.desc().workspace_of(&products.iter().map(placed).collect::<Vec<_>>())?;
            *workspace =
                Some(stream.alloc_zeros(bytes.max(1) as usize).map_err(driver("cuMemAllocAsync"))?);
        }
        let mut calls = Vec::with_capacity(products.len());
        for Product { problem, a, b, c, d } in products {
            let (a, b, c) = (a.read(stream), b.read(stream), c.as_ref().map(|c| c.read(stream)));
            let d = DeviceMatrix::write_bytes(d.kind, &mut d.bytes, stream);
            let operands = operands.as_ref().map(|_, vector| vector.read(stream));
            calls.push(problem.with(CudaMatrices { a, b, c, d, operands }));
        }
        if let (Some(first), Some(bytes)) = (calls.first_mut(), workspace) {
            first.workspace = Some(DeviceMatrix::write_bytes(ElementKind::U8, bytes, stream));
        }
        kernel.run_array(stream, calls)
    }

    /// Synchronizes the stream, and copies each D back.
    ///
    /// # Errors
    /// [`Error::Driver`] if the device has failed.
    pub fn download(&self, calls: Vec<HostCall<'_>>) -> Result<(), Error> {
        self.products
            .iter()
            .zip(calls)
            .try_for_each(|(product, call)| product.d.download(&self.stream, call.d.memory))
    }
}
