//! A tiled GEMM in the style of CuTe's tutorials: every matrix, tile, and thread's share is a
//! layout.
//!
//! The GEMM is `C(m, n) = sum over k of A(m, k) * B(n, k)` with column-major matrices and B as `(N,
//! K)`. Each CTA copies tiles of A and B into shared memory, thread by thread. Each thread
//! multiplies its rows of A by its rows of B. The names are CuTe's. `tAgA` is the tile of A in
//! global memory (`gA`), partitioned by the layout that copies A (`tA`). `tCsB` is the tile of B in
//! shared memory (`sB`), partitioned by the layout of C's threads (`tC`).
//!
//! [`run`](CuteGemm::run) computes on the host. The kernel contains no index arithmetic.
//! [`grid`](CuteGemm::grid) combines block, thread, and value modes into one layout per tensor, and
//! [`text`](CuteGemm::text) writes these layouts as types.
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

/// A layout, and its offset in its matrix or tile, in elements.
pub type Part = (Layout, u64);

/// The problem, the tile of a CTA, and the tile of a thread, which determine all layouts.
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

/// The tiles of one CTA.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BlockTiles {
    /// A's tiles in global memory, `(BM,BK,k)`.
    pub gA: Part,
    /// B's tiles in global memory, `(BN,BK,k)`.
    pub gB: Part,
    /// C's tile in global memory, `(BM,BN)`.
    pub gC: Part,
    /// A's tile in shared memory, `(BM,BK)`.
    pub sA: Layout,
    /// B's tile in shared memory, `(BN,BK)`.
    pub sB: Layout,
}

/// The parts that one thread of a CTA copies and computes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ThreadParts {
    /// The part of every tile of A that the thread copies.
    pub tAgA: Part,
    /// The destination of that part in shared memory.
    pub tAsA: Part,
    /// The part of every tile of B that the thread copies.
    pub tBgB: Part,
    /// The destination of that part in shared memory.
    pub tBsB: Part,
    /// The thread's rows of A's tile, `(TM,BK)`.
    pub tCsA: Part,
    /// The thread's rows of B's tile, `(TN,BK)`.
    pub tCsB: Part,
    /// The thread's elements of C, `(TM,TN)`.
    pub tCgC: Part,
}

impl CuteGemm {
    /// Returns the partition of a problem.
    ///
    /// # Errors
    /// [`LayoutError`] if an extent is 0, if a tile does not divide the problem, or if a thread's
    /// tile does not divide the CTA's. Also if the number of threads does not divide the rows that
    /// they copy.
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

    /// Returns the number of CTAs along M and N.
    pub const fn blocks(&self) -> (u64, u64) {
        ((self.problem.m / self.tile.m) as u64, (self.problem.n / self.tile.n) as u64)
    }

    /// Returns the layout of C's threads, `tC`.
    ///
    /// # Errors
    /// None, because [`new`](Self::new) has checked the extents.
    pub fn threads(&self) -> Result<Layout, LayoutError> {
        compact([self.tile.m / self.thread_tile.0, self.tile.n / self.thread_tile.1])
    }

    /// Returns the compact layout of the threads that copy, `tA` and `tB`.
    ///
    /// # Errors
    /// None, because [`new`](Self::new) has checked the extents.
    pub fn copiers(&self) -> Result<Layout, LayoutError> {
        Layout::compact(&IntTuple::from_ints([Int::fixed(self.threads()?.size()), Int::fixed(1)]))
    }

    /// Returns the layouts of the matrices: `mA` `(M,K):(_1,M)`, `mB` `(N,K):(_1,N)`, `mC`
    /// `(M,N):(_1,M)`.
    ///
    /// # Errors
    /// [`LayoutError`] for a size beyond 64 bits.
    pub fn matrices(&self) -> Result<[Layout; 3], LayoutError> {
        let Mnk { m, n, k } = self.problem;
        let column_major = |rows: u32, columns: u32| {
            let [rows, columns] = [rows, columns].map(|extent| Int::dynamic(extent.into()));
            Layout::new(
                IntTuple::from_ints([rows, columns]),
                IntTuple::from_ints([Int::fixed(1), rows]),
            )
        };
        Ok([column_major(m, k)?, column_major(n, k)?, column_major(m, n)?])
    }

    /// Returns the tilers that divide the matrices into the tiles of CTAs: `(BM,BK)`, `(BN,BK)`,
    /// `(BM,BN)`.
    fn tilers(&self) -> Result<[Tiler; 3], LayoutError> {
        let Mnk { m, n, k } = self.tile;
        let tiler = |rows: u32, columns: u32| {
            Tiler::extents([rows, columns].map(|extent| Int::fixed(extent.into())))
        };
        Ok([tiler(m, k)?, tiler(n, k)?, tiler(m, n)?])
    }

    /// Returns the divided matrices. Each has a mode for the elements of a tile, and a mode for the
    /// tiles.
    fn divided(&self) -> Result<[Layout; 3], LayoutError> {
        let ([mA, mB, mC], [tileA, tileB, tileC]) = (self.matrices()?, self.tilers()?);
        Ok([mA.zipped_divide(&tileA)?, mB.zipped_divide(&tileB)?, mC.zipped_divide(&tileC)?])
    }

    /// Returns the tiles of the CTA at row `block.0` and column `block.1` of tiles of C.
    ///
    /// # Errors
    /// [`LayoutError`] if the problem has no such CTA.
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

    /// Returns the parts that a thread of a CTA copies and computes.
    ///
    /// # Errors
    /// [`LayoutError`] if the problem has no such CTA, or the CTA has no such thread.
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

    /// Computes C on the host in the order of the kernel: CTA by CTA, and k-tile by k-tile. The
    /// copies of all threads come before the products of any thread.
    ///
    /// # Errors
    /// [`LayoutError`] if a matrix is shorter than its layout spans.
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
                // The kernel has a barrier here.
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

/// Returns the static compact layout of a tile.
fn compact(extents: [u32; 2]) -> Result<Layout, LayoutError> {
    Layout::compact(&IntTuple::from_ints(extents.map(|extent| Int::fixed(extent.into()))))
}
