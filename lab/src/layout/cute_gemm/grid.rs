//! The partition for the whole grid at once: the elements of every thread of every CTA.

use super::CuteGemm;
use falchion::layout::algebra::{Int, Layout, LayoutError, Step};

/// The layouts of everything that all threads copy and compute. A slice of a layout at a CTA and a
/// thread gives that thread's [`ThreadParts`](super::ThreadParts), with their offsets. The offsets
/// of a CTA, of a thread, and of a value are modes of one layout.
///
/// CTAs are numbered like CUDA's `blockIdx`, `(x,y)` with x along N and y along M.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct GridParts {
    /// (block, thread, value) to the source of the value in A.
    pub tAgA: Layout,
    /// (thread, value) to the destination of the value in A's tile.
    pub tAsA: Layout,
    /// (block, thread, value) to the source of the value in B.
    pub tBgB: Layout,
    /// (thread, value) to the destination of the value in B's tile.
    pub tBsB: Layout,
    /// (thread, value) to the thread's rows of A's tile.
    pub tCsA: Layout,
    /// (thread, value) to the thread's rows of B's tile.
    pub tCsB: Layout,
    /// (block, thread, value) to the thread's elements of C.
    pub tCgC: Layout,
}

impl GridParts {
    /// Returns the layouts with their names.
    pub const fn named(&self) -> [(&'static str, &Layout); 7] {
        let Self { tAgA, tAsA, tBgB, tBsB, tCsA, tCsB, tCgC } = self;
        [
            ("tAgA", tAgA),
            ("tAsA", tAsA),
            ("tBgB", tBgB),
            ("tBsB", tBsB),
            ("tCsA", tCsA),
            ("tCsB", tCsB),
            ("tCgC", tCgC),
        ]
    }
}

impl CuteGemm {
    /// Returns the partition of the whole grid.
    ///
    /// # Errors
    /// [`LayoutError`] for a size beyond 64 bits. [`new`](Self::new) has checked everything else.
    ///
    /// ```
    /// use falchion::shape::Mnk;
    /// use falchion_lab::layout::cute_gemm::CuteGemm;
    /// let gemm = CuteGemm::new(Mnk::new(1024, 1024, 8192), Mnk::new(64, 64, 16), (8, 8))?;
    /// let grid = gemm.grid()?;
    /// assert_eq!(grid.tAgA.to_string(), "((16,16),_64,(_1,_16,512)):((_0,_64),_1,(_0,1024,16384))");
    /// assert_eq!(grid.tCsB.to_string(), "((_8,_8),(_8,_16)):((_0,_1),(_8,_64))");
    /// # Ok::<(), falchion::layout::algebra::LayoutError>(())
    /// ```
    pub fn grid(&self) -> Result<GridParts, LayoutError> {
        const BOTH: [Step; 2] = [Step::Take, Step::Take];
        let tiles = self.block((0, 0))?;
        let (copiers, tC) = (self.copiers()?, self.threads()?);
        let (rows, columns) = self.blocks();
        let still = |extent: u64| Layout::new(Int::dynamic(extent), Int::fixed(0));
        // The second mode of a divided matrix maps a tile to its offset.
        let [ofA, ofB, ofC] = self.divided()?;
        let begin = |matrix: &Layout, mode: usize| matrix.modes()[1].modes()[mode].clone();
        let everywhere = |x: Layout, y: Layout, parts: &Layout| {
            Layout::concat(
                [Layout::concat([x, y])?].into_iter().chain(parts.modes().iter().cloned()),
            )
        };
        Ok(GridParts {
            tAgA: everywhere(
                still(columns)?,
                begin(&ofA, 0),
                &tiles.gA.0.thread_value(&copiers, &BOTH)?,
            )?,
            tAsA: tiles.sA.thread_value(&copiers, &BOTH)?,
            tBgB: everywhere(
                begin(&ofB, 0),
                still(rows)?,
                &tiles.gB.0.thread_value(&copiers, &BOTH)?,
            )?,
            tBsB: tiles.sB.thread_value(&copiers, &BOTH)?,
            tCsA: tiles.sA.thread_value(&tC, &[Step::Take, Step::Skip])?,
            tCsB: tiles.sB.thread_value(&tC, &[Step::Skip, Step::Take])?,
            tCgC: everywhere(
                begin(&ofC, 1),
                begin(&ofC, 0),
                &tiles.gC.0.thread_value(&tC, &BOTH)?,
            )?,
        })
    }
}
