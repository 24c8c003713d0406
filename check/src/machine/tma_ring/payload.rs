//! The data that move through the ring in addition to the names.

use crate::accumulators::Accumulators;
use falchion::internals::{
    nest::WARPS,
    schedule::{ShareName, SubtileName, WarpName},
};
use std::sync::Arc;

/// The bytes of a share in a stage, or of a staging buffer that holds a subtile of C.
pub type Bytes = Arc<Vec<u8>>;

/// The elements that a warp stages.
#[derive(Default, Debug)]
pub struct Staged {
    /// Byte offsets in the staging buffer.
    pub places: Vec<u32>,
    /// The element at each offset.
    pub elements: Vec<u8>,
}

/// The data carried along with the names. By default, nothing is carried.
#[expect(unused_variables, reason = "nothing is carried")]
pub trait Payload {
    /// Reads a share from global memory.
    fn read(&mut self, name: ShareName) -> Bytes {
        Bytes::default()
    }
    /// Adds the product of an A tile and a B tile to the accumulators. Each operand has its shares
    /// in order. `first` overwrites the accumulators. If stages are promoted, `accumulators` are
    /// the partial accumulators, which are always overwritten, and `tile` is the instruction tile
    /// that is multiplied.
    fn multiply(
        &mut self,
        warp: WarpName,
        tile: Option<u8>,
        first: bool,
        accumulators: &mut Accumulators,
        operands: [&[Bytes]; 2],
    ) {
    }
    /// Adds the partial accumulators to the accumulators of an instruction tile. The accumulators
    /// are 0 before the `first` k-tile.
    fn promote(
        &mut self,
        warp: WarpName,
        tile: u8,
        first: bool,
        partial: &Accumulators,
        accumulators: &mut Accumulators,
    ) {
    }
    /// Under split-K, stores a warp's accumulators for a unit to its slot: zeros if `zero` is set.
    fn store_partial(
        &mut self,
        warp: WarpName,
        unit: u32,
        zero: bool,
        accumulators: &Accumulators,
    ) {
    }
    /// Counts a consumer's slice after all of its warps have stored to their slots. Returns whether
    /// it is the last slice of its tile.
    fn arrives_last(&mut self, block: u32, warpgroup: u32, unit: u32) -> bool {
        unit.is_multiple_of(2)
    }
    /// Replaces a warp's accumulators by the sum of all slots of its part of the tile.
    fn sum_slices(&mut self, warp: WarpName, unit: u32, accumulators: &mut Accumulators) {}
    /// Under cluster split-K, returns a warp's accumulators for a unit as sent to the first CTA:
    /// zeros if `zero` is set.
    fn partial(
        &mut self,
        warp: WarpName,
        unit: u32,
        zero: bool,
        accumulators: &Accumulators,
    ) -> Accumulators {
        Accumulators::default()
    }
    /// Replaces a warp's accumulators by the sum of its own slice, which is the first, and of the
    /// other slices in ascending k.
    fn add_partials(
        &mut self,
        warp: WarpName,
        own: &Accumulators,
        others: &[Arc<Accumulators>],
        accumulators: &mut Accumulators,
    ) {
    }
    /// Reads a subtile of C for a consumer from global memory.
    fn fetch(&mut self, block: u32, warpgroup: u32, name: SubtileName) -> Bytes {
        Bytes::default()
    }
    /// Returns a warp's part of a subtile of D, computed from its accumulators and from C in the
    /// staging buffer, if any. The accumulators are zeros if `zero` is set, because there was no
    /// product.
    fn stage(
        &mut self,
        warp: WarpName,
        name: SubtileName,
        zero: bool,
        accumulators: &Accumulators,
        source: Option<&Bytes>,
    ) -> Staged {
        Staged::default()
    }
    /// Writes a consumer's subtile to global memory from the elements that its warps staged.
    fn store(
        &mut self,
        block: u32,
        warpgroup: u32,
        name: SubtileName,
        subtiles: [&Staged; WARPS as usize],
    ) {
    }
    /// Writes a warp's part of a tile of D to global memory. The accumulators are as in
    /// [`stage`](Self::stage).
    fn store_threads(
        &mut self,
        warp: WarpName,
        tile: u32,
        zero: bool,
        accumulators: &Accumulators,
    ) {
    }
}
