//! What moves through the ring: names alone, or numbers with them.

use crate::{operand::OperandKind, threadblock::pipeline::WARPS};
use core::fmt;

/// A share of an operand's tile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ShareName {
    /// Which of the block's tiles of D it is for.
    pub tile: u32,
    /// Which tile along K.
    pub k: u32,
    /// Of which operand.
    pub operand: OperandKind,
    /// For which block of the cluster; `None` for all.
    pub block: Option<u32>,
    /// Which share.
    pub share: u32,
}

impl fmt::Display for SliceName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "slice {} of tile {}", self.slice, self.tile)
    }
}

impl fmt::Display for ShareName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "share {} of {} along K {} of tile {}", self.share, self.operand.name(), self.k, self.tile)?;
        self.block.map_or(Ok(()), |block| write!(f, " of block {block}"))
    }
}

/// A warp that multiplies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WarpName {
    /// Its block's rank in the cluster.
    pub block: u32,
    /// Which consumer.
    pub warpgroup: u32,
    /// Which of its four warps.
    pub warp: u32,
}

/// A slice of a consumer's part of a tile of D.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SliceName {
    /// Which of the block's tiles of D.
    pub tile: u32,
    /// Which slice.
    pub slice: u32,
}

/// What is carried along with the names.
pub trait Payload {
    /// The contents of a share in a stage.
    type Share: Clone;
    /// The accumulators of a warp.
    type Sums: Default;
    /// What a warp puts into a staging buffer.
    type Slice;
    /// What lies in a staging buffer when a slice of C has landed there.
    type Source: Clone;
    /// Reads a share from global memory.
    fn read(&mut self, name: ShareName) -> Self::Share;
    /// Accumulators += A tile times B tile, from all their shares in order; `first` overwrites the accumulators. Where stages are
    /// promoted, `sums` are the partial sums, which are always overwritten, and `part` is the part that is multiplied.
    fn multiply(&mut self, warp: WarpName, part: Option<u8>, first: bool, sums: &mut Self::Sums, operands: [&[Self::Share]; 2]);
    /// Accumulators of a part += its partial sums; before the `first` tile along K accumulators are 0.
    fn promote(&mut self, warp: WarpName, part: u8, first: bool, partial: &Self::Sums, sums: &mut Self::Sums);
    /// Reads a slice of C for a consumer from global memory.
    fn fetch(&mut self, block: u32, warpgroup: u32, name: SliceName) -> Self::Source;
    /// A warp's slice, from its accumulators, which are zeros where `zero`, because there was nothing to multiply; and from C, where
    /// that comes through the buffer.
    fn deposit(
        &mut self,
        warp: WarpName,
        name: SliceName,
        zero: bool,
        sums: &Self::Sums,
        source: Option<&Self::Source>,
    ) -> Self::Slice;
    /// Writes a slice of a consumer to global memory, from what its warps deposited.
    fn store(&mut self, block: u32, warpgroup: u32, name: SliceName, parts: [&Self::Slice; WARPS as usize]);
    /// Writes a warp's part of a tile of D to global memory, from its accumulators, as [`deposit`](Self::deposit) has them.
    fn store_threads(&mut self, warp: WarpName, tile: u32, zero: bool, sums: &Self::Sums);
}

/// Nothing but the names.
#[derive(Clone, Copy, Default, Debug)]
pub struct Names;

impl Payload for Names {
    type Share = ();
    type Sums = ();
    type Slice = ();
    type Source = ();
    fn read(&mut self, _: ShareName) {}
    fn multiply(&mut self, _: WarpName, _: Option<u8>, _: bool, (): &mut (), _: [&[()]; 2]) {}
    fn promote(&mut self, _: WarpName, _: u8, _: bool, (): &(), (): &mut ()) {}
    fn fetch(&mut self, _: u32, _: u32, _: SliceName) {}
    fn deposit(&mut self, _: WarpName, _: SliceName, _: bool, (): &(), _: Option<&()>) {}
    fn store(&mut self, _: u32, _: u32, _: SliceName, _: [&(); WARPS as usize]) {}
    fn store_threads(&mut self, _: WarpName, _: u32, _: bool, (): &()) {}
}
