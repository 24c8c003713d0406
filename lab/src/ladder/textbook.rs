//! The two kernels below the parameterized one, whose warp tile is at least 8 x 16: here a thread
//! has one element.
//!
//! Twin: `lab/kernels/ladder/textbook.cuh`.

use crate::KERNELS;
use falchion::{
    desc::GemmDesc,
    internals::codegen::{ENTRY, TranslationUnit},
    refusal::Refusal,
    shape::Mnk,
};

/// A kernel as a textbook has it, [`SIDE`](Textbook::SIDE) x `SIDE` threads a block, each with one
/// element of D. Blocks and threads run along rows.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Textbook {
    /// A thread reads its row of A and its column of B from global memory.
    Naive,
    /// Tiles of A and B, `SIDE` x `SIDE`, come through shared memory: a thread brings one element
    /// of each.
    SharedMemory,
}

impl Textbook {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Naive, Self::SharedMemory];

    /// Rows and columns of a tile.
    pub const SIDE: u32 = 16;

    /// What a block computes, and how much of K it takes at a time.
    pub const TILE: Mnk = Mnk { m: Self::SIDE, n: Self::SIDE, k: Self::SIDE };

    /// Threads of a block.
    pub const THREADS: u32 = Self::SIDE * Self::SIDE;

    /// The description that stands for this kernel where types, layouts, epilogue and schedule are
    /// asked for. Its tiles are another's.
    ///
    /// # Errors
    /// [`Refusal`] when it does not check; a test sees that it does.
    pub fn types() -> Result<GemmDesc, Refusal> {
        super::rungs::first_configuration().map(|desc| desc.sum())
    }

    /// All that NVRTC sees.
    ///
    /// # Errors
    /// Those of [`types`](Self::types).
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

    /// Compiles and loads the kernel. It computes what [`types`](Self::types) describes.
    ///
    /// # Errors
    /// Those of [`CudaKernel::prepare`](falchion::cuda::CudaKernel::prepare).
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
        falchion::cuda::CudaKernel::of_unit(context, &Self::types()?, unit, geometry)
    }

    /// `D = A·B` in the kernel's order: each element sums its products along K, one fused
    /// multiply-add after the other. `a` is `m` x `k`, `b` is `k` x `n`, all by rows without gaps;
    /// what is beyond the shorter of the slices is left alone.
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
