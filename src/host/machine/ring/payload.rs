//! What moves through the ring beside the names.

use crate::{
    host::accumulators::Accumulators,
    schedule::{ShareName, SubtileName, WarpName},
    threadblock::pipeline::WARPS,
};
use std::sync::Arc;

/// The contents of a share in a stage, or of a staging buffer in which a subtile of C has landed.
pub type Bytes = Arc<Vec<u8>>;

/// What a warp stages.
#[derive(Default, Debug)]
pub struct Staged {
    /// Bytes of the staging buffer.
    pub places: Vec<u32>,
    /// The element that begins at each of them.
    pub elements: Vec<u8>,
}

/// What is carried along with the names; unless it says otherwise, nothing.
#[expect(unused_variables, reason = "nothing is carried")]
pub trait Payload {
    /// Reads a share from global memory.
    fn read(&mut self, name: ShareName) -> Bytes {
        Bytes::default()
    }
    /// Accumulators += A tile times B tile, from all their shares in order; `first` overwrites the
    /// accumulators. Where stages are promoted, `accumulators` are the partial accumulators, which
    /// are always overwritten, and `part` is the part that is multiplied.
    fn multiply(
        &mut self,
        warp: WarpName,
        part: Option<u8>,
        first: bool,
        accumulators: &mut Accumulators,
        operands: [&[Bytes]; 2],
    ) {
    }
    /// Accumulators of a part += its partial accumulators; before the `first` k-tile accumulators
    /// are 0.
    fn promote(
        &mut self,
        warp: WarpName,
        part: u8,
        first: bool,
        partial: &Accumulators,
        accumulators: &mut Accumulators,
    ) {
    }
    /// Under split-K, brings a warp's accumulators of a unit to its slot: zeros where `zero`.
    fn store_part(&mut self, warp: WarpName, unit: u32, zero: bool, accumulators: &Accumulators) {}
    /// Counts a consumer's part, all of whose warps' slots are written; whether it is the last of
    /// its tile.
    fn arrives_last(&mut self, block: u32, warpgroup: u32, unit: u32) -> bool {
        unit.is_multiple_of(2)
    }
    /// Makes a warp's accumulators the sum of those in all slots of its place in the tile.
    fn sum_of_parts(&mut self, warp: WarpName, unit: u32, accumulators: &mut Accumulators) {}
    /// Under a cluster's split, a warp's accumulators of a unit as they go to the first block:
    /// zeros where `zero`.
    fn partial(
        &mut self,
        warp: WarpName,
        unit: u32,
        zero: bool,
        accumulators: &Accumulators,
    ) -> Accumulators {
        Accumulators::default()
    }
    /// Makes a warp's accumulators the sum of its own part, the first, and of the others' in
    /// ascending k.
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
    /// A warp's subtile, from its accumulators, which are zeros where `zero`, because there was
    /// nothing to multiply; and from C, where that comes through the buffer.
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
    /// Writes a subtile of a consumer to global memory, from what its warps staged.
    fn store(
        &mut self,
        block: u32,
        warpgroup: u32,
        name: SubtileName,
        parts: [&Staged; WARPS as usize],
    ) {
    }
    /// Writes a warp's part of a tile of D to global memory, from its accumulators, as
    /// [`stage`](Self::stage) has them.
    fn store_threads(
        &mut self,
        warp: WarpName,
        tile: u32,
        zero: bool,
        accumulators: &Accumulators,
    ) {
    }
}

/// Nothing but the names.
impl Payload for () {}
