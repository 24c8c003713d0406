//! Product: a layout repeated according to another layout.

use super::{Int, Layout, LayoutError, Tiler};

impl Layout {
    /// Returns `(self, complement(self, size * cosize(tiler)) o tiler)`: the block, and the offsets
    /// of its repetitions. A tuple of tilers multiplies mode by mode. Modes beyond the tiler stay
    /// unchanged.
    ///
    /// # Errors
    /// The errors of [`complement`](Self::complement) and [`compose`](Self::compose).
    /// [`LayoutError::RankTooHigh`] if the tiler has a higher rank than the layout.
    ///
    /// ```
    /// # use falchion_layout::Layout;
    /// let (block, tiler): (Layout, Layout) = ("(2,2):(4,1)".parse()?, "6:1".parse()?);
    /// assert_eq!(block.logical_product(&tiler.into())?.to_string(), "((2,2),(2,3)):((4,1),(2,8))");
    /// # Ok::<(), falchion_layout::LayoutError>(())
    /// ```
    pub fn logical_product(&self, tiler: &Tiler) -> Result<Self, LayoutError> {
        self.by_mode(tiler, multiplied)
    }

    /// Returns [`logical_product`](Self::logical_product) with gathered modes:
    /// `((M,N),(TileM,TileN,L,..))`.
    ///
    /// # Errors
    /// The errors of [`logical_product`](Self::logical_product).
    pub fn zipped_product(&self, tiler: &Tiler) -> Result<Self, LayoutError> {
        self.unzipped(tiler, multiplied)
    }

    /// Returns [`zipped_product`](Self::zipped_product) with the second mode unpacked:
    /// `((M,N),TileM,TileN,L,..)`.
    ///
    /// # Errors
    /// The errors of [`logical_product`](Self::logical_product).
    pub fn tiled_product(&self, tiler: &Tiler) -> Result<Self, LayoutError> {
        self.zipped_product(tiler).map(Self::second_unpacked)
    }

    /// Places the block at every element of the tiler, mode by mode. Each mode of the result has
    /// first the coordinate in the block, then the block. Each mode is coalesced.
    ///
    /// # Errors
    /// The errors of [`logical_product`](Self::logical_product).
    ///
    /// ```
    /// # use falchion_layout::Layout;
    /// let (block, tiler): (Layout, Layout) = ("(2,5):(5,1)".parse()?, "(3,4):(1,3)".parse()?);
    /// assert_eq!(block.blocked_product(&tiler)?.to_string(), "(6,(5,4)):(5,(1,30))");
    /// assert_eq!(block.raked_product(&tiler)?.to_string(), "((3,2),(4,5)):((10,5),(30,1))");
    /// # Ok::<(), falchion_layout::LayoutError>(())
    /// ```
    pub fn blocked_product(&self, tiler: &Self) -> Result<Self, LayoutError> {
        self.interleaved(tiler, |block, tile| [block, tile])
    }

    /// Returns [`blocked_product`](Self::blocked_product) with interleaved blocks: neighboring
    /// elements of a block are as far apart as there are blocks.
    ///
    /// # Errors
    /// The errors of [`logical_product`](Self::logical_product).
    pub fn raked_product(&self, tiler: &Self) -> Result<Self, LayoutError> {
        self.interleaved(tiler, |block, tile| [tile, block])
    }

    fn interleaved(
        &self,
        tiler: &Self,
        order: fn(Self, Self) -> [Self; 2],
    ) -> Result<Self, LayoutError> {
        let rank = self.rank().max(tiler.rank());
        let product = multiplied(&self.padded(rank), &tiler.padded(rank))?;
        let [block, tiles] = product.modes() else { unreachable!("a product has two modes") };
        let pairs = block.modes().iter().cloned().zip(tiles.modes().iter().cloned());
        let mut modes: Vec<Self> =
            pairs.map(|(block, tile)| Self::join(order(block, tile).into()).coalesce()).collect();
        if self.depth().max(tiler.depth()) == 0 {
            return Ok(modes.remove(0));
        }
        Self::concat(modes)
    }

    /// Appends modes `1:0` up to a rank.
    fn padded(&self, rank: usize) -> Self {
        let mut modes = self.modes().to_vec();
        modes.resize(rank, Self::mode_of(Int::fixed(1), Int::fixed(0)));
        Self::join(modes)
    }
}

fn multiplied(block: &Layout, tiler: &Layout) -> Result<Layout, LayoutError> {
    let reach = Int {
        value: tiler.cosize(),
        is_static: tiler.size_int().is_static
            && tiler.leaves().iter().all(|leaf| leaf.stride.is_static),
    };
    let rest = block.complement(block.size_int().times(reach)?)?;
    Layout::concat([block.clone(), rest.compose(tiler)?])
}
