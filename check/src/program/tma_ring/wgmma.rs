//! The maps by which `wgmma` reads an operand's tile.

use crate::program::tma_ring::{OperandMaps, table};
use falchion::{
    internals::index::{IndexMap, at},
    warp::wgmma::{FragmentLoad, OperandTile, STEPS},
};

impl OperandMaps {
    /// Adds the map by which threads load A to registers.
    pub(super) fn loaded(self, load: &FragmentLoad) -> Self {
        let (domain, bytes) = (load.domain(), load.tile.input().bytes_of(1));
        let byte = |thread, element| Some(load.at(at(thread, element))? * bytes);
        Self { fragments: table(domain.row, domain.column, load.tile.bytes(), byte), ..self }
    }

    /// Adds the descriptors of a tile, for instructions that read `extent` rows or columns.
    pub(super) fn described(self, tile: &OperandTile, extent: u32) -> Self {
        let first = tile.descriptor(0, 0);
        Self {
            start: table(tile.mn() / extent, STEPS, tile.bytes(), |number, step| {
                Some(tile.descriptor(0, number * extent)?.start() + tile.step_bytes(step)?)
            }),
            leading: first.map_or(0, |descriptor| descriptor.leading()),
            stride: first.map_or(0, |descriptor| descriptor.stride()),
            swizzle: tile.swizzle(),
            ..self
        }
    }
}
