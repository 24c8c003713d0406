//! The GEMM of CuTe layouts on a device.

use super::{CuteGemm, CuteGemmParams, INTEGERS};
use crate::sys::launch::launch;
use cudarc::driver::{CudaContext, CudaStream};
use falchion::{
    Error,
    cuda::{DeviceMatrix, machine_of, report::Report},
    internals::{Loaded, sys::driver::Grid},
    numeric::ElementKind,
    refusal::{Because, Operand, Refusal},
};
use std::sync::Arc;

/// A [`CuteGemm`], compiled and loaded on one device. Clones share the kernel, and any thread may
/// use it.
///
/// ```no_run
/// use falchion::{cuda::{DeviceMatrix, open}, numeric::ElementKind, shape::Mnk};
/// use falchion_lab::layout::cute_gemm::{CuteGemmKernel, CuteGemm};
/// let stream = open(0)?.default_stream();
/// let gemm = CuteGemm::new(Mnk::new(128, 64, 32), Mnk::new(64, 64, 16), (8, 8))?;
/// let kernel = CuteGemmKernel::prepare(stream.context(), &gemm, ElementKind::F32)?;
/// let a = stream.clone_htod(&[1.0f32; 128 * 32])?;
/// let b = stream.clone_htod(&[2.0f32; 64 * 32])?;
/// let mut c = stream.alloc_zeros::<f32>(128 * 64)?;
/// let (a, b) = (DeviceMatrix::read::<f32>(&a, &stream), DeviceMatrix::read::<f32>(&b, &stream));
/// kernel.run(&stream, a, b, DeviceMatrix::write::<f32>(&mut c, &stream))?;
/// assert_eq!(stream.clone_dtoh(&c)?, [64.0; 128 * 64]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct CuteGemmKernel(Arc<Prepared>);

struct Prepared {
    element: ElementKind,
    integers: [u64; INTEGERS],
    /// Number of elements of A, B, and C that the kernel's layouts span.
    reach: [u64; 3],
    grid: Grid,
    /// The context in which the kernel is loaded.
    context: Arc<CudaContext>,
    loaded: Loaded,
}

impl CuteGemmKernel {
    /// Compiles and loads the kernel for an element type: f32, f64, or i32.
    ///
    /// # Errors
    /// The errors of [`CuteGemm::text`] and of [`compile`](falchion::cuda::compile). [`Refusal`] if
    /// a grid of the device cannot have that many CTAs. [`Error::Driver`] if the driver fails.
    pub fn prepare(
        context: &Arc<CudaContext>,
        gemm: &CuteGemm,
        element: ElementKind,
    ) -> Result<Self, Error> {
        let text = gemm.text(element, false)?;
        let layouts = gemm.grid()?;
        let (rows, columns) = gemm.blocks();
        // `text` has refused a CTA with more threads than a device supports.
        let grid =
            Grid::with_tiles(rows.saturating_mul(columns), gemm.threads()?.size() as u32, 0)?;
        let reach = [layouts.tAgA.cosize(), layouts.tBgB.cosize(), layouts.tCgC.cosize()];
        let (loaded, context) =
            (Loaded::new(context, text.unit, machine_of(context)?.sm, 0)?, Arc::clone(context));
        let integers = text.integers;
        Ok(Self(Arc::new(Prepared { element, integers, reach, grid, context, loaded })))
    }

    /// Returns the report of the assembler: registers, shared memory, and spills.
    pub fn report(&self) -> &Report {
        &self.0.loaded.report
    }

    /// Enqueues `C(m, n) = sum over k of A(m, k) * B(n, k)` on `stream`, without an allocation or a
    /// synchronization. Each sum adds in ascending k, by fused multiply-adds from 0. Integers wrap.
    ///
    /// # Errors
    /// [`Error::Refused`] for another element type, memory of another device, a matrix shorter than
    /// its layout spans, or a C that overlaps A or B. [`Error::Driver`] if the launch fails.
    pub fn run(
        &self,
        stream: &CudaStream,
        a: DeviceMatrix<'_>,
        b: DeviceMatrix<'_>,
        c: DeviceMatrix<'_>,
    ) -> Result<(), Error> {
        let Prepared { element, integers, reach, grid, loaded, .. } = &*self.0;
        let same = stream.context().cu_ctx() == self.0.context.cu_ctx();
        for ((matrix, operand), needed) in
            [(&a, Operand::A), (&b, Operand::B), (&c, Operand::C)].into_iter().zip(*reach)
        {
            if matrix.kind() != *element {
                return Err(Refusal::element_type(operand, matrix.kind(), *element).into());
            }
            if !same || !matrix.is_of(&self.0.context) {
                return Err(Refusal::not_on_stream(operand).into());
            }
            if (matrix.length() as u64) < needed {
                return Err(
                    Refusal::too_short(operand, matrix.length(), needed, Because::None).into()
                );
            }
        }
        let written = c.range(reach[2]);
        for (matrix, reach, read) in [(&a, reach[0], Operand::A), (&b, reach[1], Operand::B)] {
            let range = matrix.range(reach);
            if range.start < written.end && written.start < range.end {
                return Err(Refusal::overlap(Operand::C, read).into());
            }
        }
        let params =
            CuteGemmParams { a: a.address(), b: b.address(), c: c.address(), integers: *integers };
        launch(&loaded.function, stream, grid, &params)
    }
}

const _: fn() = || {
    fn shared_between_threads<T: Clone + Send + Sync>() {}
    shared_between_threads::<CuteGemmKernel>();
};
