//! The two kernels below the parameterized one. Its warp tile is at least 8 x 16, and here a thread
//! has one element.
//!
//! Twin: `lab/kernels/ladder/textbook.cuh`.

use crate::KERNELS;
use falchion::{
    internals::codegen::{ENTRY, TranslationUnit},
    nest::GemmDesc,
    refusal::Refusal,
    shape::Mnk,
};

/// A textbook kernel with [`SIDE`](Textbook::SIDE) x `SIDE` threads per CTA, each with one element
/// of D. CTAs and threads are numbered along rows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Textbook {
    /// Each thread reads its row of A and its column of B from global memory.
    Naive,
    /// Tiles of A and B, `SIDE` x `SIDE`, are copied to shared memory. Each thread copies one
    /// element of each.
    SharedMemory,
}

impl Textbook {
    /// Rows and columns of a tile.
    pub const SIDE: u32 = 16;

    /// The tile of a CTA, and the depth of a k-tile.
    pub const TILE: Mnk = Mnk { m: Self::SIDE, n: Self::SIDE, k: Self::SIDE };

    /// Threads per CTA.
    pub const THREADS: u32 = Self::SIDE * Self::SIDE;

    /// Returns a description with the types, layouts, epilogue, and schedule of this kernel. Its
    /// tiles belong to another kernel.
    ///
    /// # Errors
    /// [`Refusal`] if the description is invalid. A test checks that it is valid.
    pub fn types() -> Result<GemmDesc, Refusal> {
        super::rungs::first_configuration()
    }

    /// Returns the source of the kernel.
    ///
    /// # Errors
    /// The errors of [`types`](Self::types).
    pub fn translation_unit(self) -> Result<TranslationUnit, Refusal> {
        let (side, threads) = (Self::SIDE, Self::THREADS);
        let kernel = match self {
            Self::Naive => format!("ladder::Naive<Config, {side}>"),
            Self::SharedMemory => format!("ladder::SharedMemory<Config, {side}, GemmParams>"),
        };
        let source = format!(
            "#include \"config.cuh\"\n#include \"ladder/textbook.cuh\"\nextern \"C\" __global__ void __launch_bounds__({threads}) {ENTRY}(const __grid_constant__ GemmParams params) {{\n  {kernel}::run(params);\n}}\n"
        );
        Ok(TranslationUnit {
            source,
            config: Self::types()?.plan()?.unit(false).config,
            entry: ENTRY,
            second: None,
            waits: false,
            headers: KERNELS,
        })
    }

    /// Compiles and loads the kernel. It computes the GEMM that [`types`](Self::types) describes.
    ///
    /// # Errors
    /// The errors of [`CudaKernel::prepare`](falchion::cuda::CudaKernel::prepare).
    #[cfg(feature = "cuda")]
    pub fn prepare(
        self,
        context: &std::sync::Arc<cudarc::driver::CudaContext>,
    ) -> Result<falchion::cuda::CudaKernel, falchion::Error> {
        let (tile, threads) = (Self::TILE, Self::THREADS);
        let geometry = falchion::internals::Geometry {
            tile,
            cluster: 1,
            work: falchion::threadblock::WorkKind::DataParallel,
            group_step: 1,
            threads,
            shared_bytes: 0,
            reduction: None,
        };
        let unit = crate::sys::launch::vouched(self.translation_unit()?);
        falchion::cuda::CudaKernel::from_unit(context, &Self::types()?, unit, geometry)
    }

    /// Computes `D = A·B` in the kernel's order: each element adds its products in ascending k,
    /// with fused multiply-adds. `a` is `m` x `k` and `b` is `k` x `n`, row-major and packed.
    /// Elements beyond the shorter of the slices are unchanged.
    pub fn multiply(n: usize, k: usize, a: &[f32], b: &[f32], d: &mut [f32]) {
        if n == 0 || k == 0 {
            return d.fill(0.0);
        }
        for (row_d, row_a) in d.chunks_mut(n).zip(a.chunks(k)) {
            row_d.fill(0.0);
            for (x, row_b) in row_a.iter().zip(b.chunks(n)) {
                for (sum, y) in row_d.iter_mut().zip(row_b) {
                    *sum = x.mul_add(*y, *sum);
                }
            }
        }
    }
}
