//! The matrices of an array on a device, each in an allocation of its own.

use super::resident::Copied;
use cudarc::driver::{CudaSlice, CudaStream};
use falchion::{
    Error,
    cuda::{CudaKernel, CudaMatrices, DeviceMatrix},
    internals::{
        call::{HostCall, HostSlice, Problem, Source},
        operand::Vectors,
        sys::driver::driver,
    },
    numeric::ElementKind,
};
use std::sync::Arc;

/// The matrices of one product, and its problem.
struct Product {
    problem: Problem,
    a: Copied,
    b: Copied,
    c: Source<Copied>,
    d: Copied,
}

/// The operands of an array on a device.
pub struct ResidentArray {
    stream: Arc<CudaStream>,
    products: Vec<Product>,
    vectors: Vectors<Copied>,
    /// As large as the first run took.
    workspace: Option<CudaSlice<u8>>,
}

impl ResidentArray {
    /// Copies the operands of each product, what its D holds among them; vectors are the first
    /// one's.
    ///
    /// # Errors
    /// [`Error::Driver`] when the device has no room.
    pub fn new(stream: &Arc<CudaStream>, calls: &[HostCall<'_>]) -> Result<Self, Error> {
        let copied = |matrix: &HostSlice<'_>| Copied::new(stream, matrix.kind(), matrix.bytes());
        // What lies behind a matrix of a batch is the next one.
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
        let vectors = calls.first().map_or(Vectors::NONE, |call| call.vectors);
        let vectors = vectors.as_ref().try_map(|_, vector| copied(&vector.memory))?;
        Ok(Self { stream: stream.clone(), products, vectors, workspace: None })
    }

    /// Enqueues the array. The workspace that it takes is allocated when it is first needed.
    ///
    /// # Errors
    /// Those of [`CudaKernel::run_array`]; [`Error::Driver`] when the device has no room.
    pub fn run(&mut self, kernel: &CudaKernel) -> Result<(), Error> {
        let Self { stream, products, vectors, workspace } = self;
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
            let vectors = vectors.as_ref().map(|_, vector| vector.read(stream));
            calls.push(problem.with(CudaMatrices { a, b, c, d, vectors }));
        }
        if let (Some(first), Some(bytes)) = (calls.first_mut(), workspace) {
            first.workspace = Some(DeviceMatrix::write_bytes(ElementKind::U8, bytes, stream));
        }
        kernel.run_array(stream, calls)
    }

    /// Waits for the device, and copies each D back.
    ///
    /// # Errors
    /// [`Error::Driver`] when the device has failed.
    pub fn download(&self, calls: Vec<HostCall<'_>>) -> Result<(), Error> {
        self.products
            .iter()
            .zip(calls)
            .try_for_each(|(product, call)| product.d.download(&self.stream, call.d.memory))
    }
}
