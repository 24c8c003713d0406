//! A tiled GEMM as CuTe's tutorials write it: every matrix, tile and thread's share is a layout.
//!
//! `C(m, n) = sum over k of A(m, k) * B(n, k)`, all three column-major, B as `(N, K)`. A block
//! copies tiles of A and B into shared memory, thread by thread, and each thread multiplies its
//! rows of A by its rows of B. The names are CuTe's: `tAgA` is, partitioned by the layout that
//! copies A (`tA`), the tile of A in global memory (`gA`); `tCsB` is, partitioned by the layout of
//! C's threads (`tC`), the tile of B in shared memory (`sB`).
//!
//! [`run`](CuteGemm::run) computes on the host. The kernel has no index of its own:
//! [`grid`](CuteGemm::grid) makes block, thread and value modes of one layout for each tensor, and
//! [`text`](CuteGemm::text) spells these as types.
//!
//! Twin: `lab/kernels/layout/cute_gemm.cuh`.
#![allow(non_snake_case, reason = "tAgA is CuTe's name, and how it is read aloud")]

mod grid;
#[cfg(feature = "cuda")]
mod kernel;
mod product;
mod spell;

pub use grid::GridParts;
#[cfg(feature = "cuda")]
pub use kernel::CuteGemmKernel;
pub use spell::{CuteGemmParams, INTEGERS, KernelText};

use crate::layout::tensor::{Tensor, copy, gemm};
use core::ops::{AddAssign, Mul};
use falchion::{
    layout::algebra::{Coordinate, Int, IntTuple, Layout, LayoutError, Step, Tiler},
    shape::Mnk,
};

/// A layout, and where in its matrix or tile it begins, in elements.
pub type Part = (Layout, u64);

/// The problem, the block's tile and the thread's: all that the layouts follow from.
///
/// ```
/// use falchion::shape::Mnk;
/// use falchion_lab::layout::cute_gemm::CuteGemm;
/// let gemm = CuteGemm::new(Mnk::new(1024, 1024, 8192), Mnk::new(64, 64, 16), (8, 8))?;
/// let thread = gemm.thread((0, 0), 0)?;
/// assert_eq!(thread.tAgA.0.to_string(), "(_1,_16,512):(_0,1024,16384)");
/// assert_eq!(thread.tCsA.0.to_string(), "(_8,_16):(_8,_64)");
/// # Ok::<(), falchion::layout::algebra::LayoutError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CuteGemm {
    problem: Mnk,
    tile: Mnk,
    thread_tile: (u32, u32),
}

/// The tiles of one block.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BlockTiles {
    /// A's tiles in global memory, `(BM,BK,k)`.
    pub gA: Part,
    /// B's, `(BN,BK,k)`.
    pub gB: Part,
    /// C's, `(BM,BN)`.
    pub gC: Part,
    /// A's tile in shared memory, `(BM,BK)`.
    pub sA: Layout,
    /// B's, `(BN,BK)`.
    pub sB: Layout,
}

/// What one thread of a block copies and computes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ThreadParts {
    /// What it copies of A, from every tile.
    pub tAgA: Part,
    /// Where it puts that.
    pub tAsA: Part,
    /// What it copies of B, from every tile.
    pub tBgB: Part,
    /// Where it puts that.
    pub tBsB: Part,
    /// Its rows of A's tile, `(TM,BK)`.
    pub tCsA: Part,
    /// Its rows of B's tile, `(TN,BK)`.
    pub tCsB: Part,
    /// Its elements of C, `(TM,TN)`.
    pub tCgC: Part,
}

impl CuteGemm {
    /// The partition of a problem.
    ///
    /// # Errors
    /// An extent of 0; a tile that does not divide the problem, a thread's tile that does not
    /// divide the block's; as many threads as do not divide the rows that they copy.
    pub fn new(problem: Mnk, tile: Mnk, thread_tile: (u32, u32)) -> Result<Self, LayoutError> {
        let (tm, tn) = thread_tile;
        let divides = |what, value: u32, by: u32| match (value, by) {
            (0, _) | (_, 0) => Err(LayoutError::ZeroExtent),
            _ if value.is_multiple_of(by) => Ok(()),
            _ => Err(LayoutError::DoesNotDivide {
                what,
                value,
                by,
                nearest: (value / by).max(1).saturating_mul(by),
            }),
        };
        divides("M", problem.m, tile.m)?;
        divides("N", problem.n, tile.n)?;
        divides("K", problem.k, tile.k)?;
        divides("the tile's M", tile.m, tm)?;
        divides("the tile's N", tile.n, tn)?;
        let threads = (tile.m / tm).saturating_mul(tile.n / tn);
        divides("the tile's M, which every thread copies a part of,", tile.m, threads)?;
        divides("the tile's N, which every thread copies a part of,", tile.n, threads)?;
        Ok(Self { problem, tile, thread_tile })
    }

    /// Blocks along M and N.
    pub const fn blocks(&self) -> (u64, u64) {
        ((self.problem.m / self.tile.m) as u64, (self.problem.n / self.tile.n) as u64)
    }

    /// The layout of C's threads, `tC`.
    ///
    /// # Errors
    /// None that [`new`](Self::new) did not see.
    pub fn threads(&self) -> Result<Layout, LayoutError> {
        compact([self.tile.m / self.thread_tile.0, self.tile.n / self.thread_tile.1])
    }

    /// The layout of the threads that copy, `tA` and `tB`: one after another.
    ///
    /// # Errors
    /// None that [`new`](Self::new) did not see.
    pub fn copiers(&self) -> Result<Layout, LayoutError> {
        Layout::compact(&IntTuple::of([Int::fixed(self.threads()?.size()), Int::fixed(1)]))
    }

    /// The matrices: `mA` `(M,K):(_1,M)`, `mB` `(N,K):(_1,N)`, `mC` `(M,N):(_1,M)`.
    ///
    /// # Errors
    /// A size beyond 64 bits.
    pub fn matrices(&self) -> Result<[Layout; 3], LayoutError> {
        let Mnk { m, n, k } = self.problem;
        let column_major = |rows: u32, columns: u32| {
            let [rows, columns] = [rows, columns].map(|extent| Int::dynamic(extent.into()));
            Layout::new(IntTuple::of([rows, columns]), IntTuple::of([Int::fixed(1), rows]))
        };
        Ok([column_major(m, k)?, column_major(n, k)?, column_major(m, n)?])
    }

    /// What cuts the matrices into the blocks' tiles: `(BM,BK)`, `(BN,BK)`, `(BM,BN)`.
    fn tilers(&self) -> Result<[Tiler; 3], LayoutError> {
        let Mnk { m, n, k } = self.tile;
        let tiler = |rows: u32, columns: u32| {
            Tiler::extents([rows, columns].map(|extent| Int::fixed(extent.into())))
        };
        Ok([tiler(m, k)?, tiler(n, k)?, tiler(m, n)?])
    }

    /// The matrices, cut: each has a mode of a tile's elements and a mode of tiles.
    fn divided(&self) -> Result<[Layout; 3], LayoutError> {
        let ([mA, mB, mC], [tileA, tileB, tileC]) = (self.matrices()?, self.tilers()?);
        Ok([mA.zipped_divide(&tileA)?, mB.zipped_divide(&tileB)?, mC.zipped_divide(&tileC)?])
    }

    /// The tiles of the block at row `block.0` and column `block.1` of tiles of C.
    ///
    /// # Errors
    /// A block that the problem lacks.
    pub fn block(&self, block: (u64, u64)) -> Result<BlockTiles, LayoutError> {
        let ([mA, mB, mC], [tileA, tileB, tileC]) = (self.matrices()?, self.tilers()?);
        let Mnk { m, n, k } = self.tile;
        let along_k = |row: u64| Coordinate::Tuple(vec![Coordinate::At(row), Coordinate::All]);
        Ok(BlockTiles {
            gA: mA.local_tile(&tileA, &along_k(block.0))?,
            gB: mB.local_tile(&tileB, &along_k(block.1))?,
            gC: mC.local_tile(&tileC, &[block.0, block.1].into())?,
            sA: compact([m, k])?,
            sB: compact([n, k])?,
        })
    }

    /// What a thread of a block copies and computes.
    ///
    /// # Errors
    /// A block that the problem lacks, a thread that the block lacks.
    pub fn thread(&self, block: (u64, u64), thread: u64) -> Result<ThreadParts, LayoutError> {
        let BlockTiles { gA, gB, gC, sA, sB } = self.block(block)?;
        let (copiers, tC) = (self.copiers()?, self.threads()?);
        let from = |(tile, begin): &Part, threads: &Layout| {
            let (part, offset) = tile.local_partition(threads, thread)?;
            Ok((part, begin + offset))
        };
        Ok(ThreadParts {
            tAgA: from(&gA, &copiers)?,
            tAsA: sA.local_partition(&copiers, thread)?,
            tBgB: from(&gB, &copiers)?,
            tBsB: sB.local_partition(&copiers, thread)?,
            tCsA: sA.local_partition_by(&tC, thread, &[Step::Take, Step::Skip])?,
            tCsB: sB.local_partition_by(&tC, thread, &[Step::Skip, Step::Take])?,
            tCgC: from(&gC, &tC)?,
        })
    }

    /// Computes C on the host as the kernel would: block by block, tile of K by tile of K, every
    /// thread's copies before any thread's products.
    ///
    /// # Errors
    /// A matrix shorter than its layout reaches.
    pub fn run<T: Copy + Default + Mul<Output = T> + AddAssign>(
        &self,
        a: &[T],
        b: &[T],
        c: &mut [T],
    ) -> Result<(), LayoutError> {
        let [mA, mB, mC] = self.matrices()?;
        let (mA, mB, mut mC) = (Tensor::new(a, mA)?, Tensor::new(b, mB)?, Tensor::new(c, mC)?);
        let threads = self.threads()?.size();
        let (rows, columns) = self.blocks();
        for block in (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column))) {
            let tiles = self.block(block)?;
            let parts = (0..threads)
                .map(|thread| self.thread(block, thread))
                .collect::<Result<Vec<_>, _>>()?;
            let mut sA = Tensor::new(vec![T::default(); tiles.sA.cosize() as usize], tiles.sA)?;
            let mut sB = Tensor::new(vec![T::default(); tiles.sB.cosize() as usize], tiles.sB)?;
            let tCrC = self.accumulators()?;
            let accumulators = (0..threads)
                .map(|_| Tensor::new(vec![T::default(); tCrC.cosize() as usize], tCrC.clone()));
            let mut accumulators = accumulators.collect::<Result<Vec<_>, _>>()?;
            for k in 0..u64::from(self.problem.k / self.tile.k) {
                let tile =
                    Coordinate::Tuple(vec![Coordinate::All, Coordinate::All, Coordinate::At(k)]);
                for part in &parts {
                    copy(
                        &mA.view(part.tAgA.clone())?.slice(&tile)?,
                        &mut sA.view_mut(part.tAsA.clone())?,
                    )?;
                    copy(
                        &mB.view(part.tBgB.clone())?.slice(&tile)?,
                        &mut sB.view_mut(part.tBsB.clone())?,
                    )?;
                }
                // Here every thread of the block waits for the others' copies.
                for (part, accumulator) in parts.iter().zip(&mut accumulators) {
                    gemm(&sA.view(part.tCsA.clone())?, &sB.view(part.tCsB.clone())?, accumulator)?;
                }
            }
            for (part, accumulator) in parts.iter().zip(&accumulators) {
                copy(accumulator, &mut mC.view_mut(part.tCgC.clone())?)?;
            }
        }
        Ok(())
    }
}

/// A tile's compact layout, static.
fn compact(extents: [u32; 2]) -> Result<Layout, LayoutError> {
    Layout::compact(&IntTuple::of(extents.map(|extent| Int::fixed(extent.into()))))
}
