//! The program of a transpose: its maps and its schedule.

use crate::{
    layout::index_map::{Map, Tabled},
    operand::transpose::TransposeDesc,
    schedule::Schedule,
    threadblock::{Units, Work},
    warp::MirroredMap,
};
use std::sync::Arc;

/// A transpose as the checked machine runs it: a description, its maps, and its schedule. Tests
/// change one of them and check that the machine finds the fault.
#[derive(Clone)]
pub struct TransposeProgram {
    /// The description.
    pub desc: TransposeDesc,
    /// The map (thread, step) to the number of a piece of A's tile.
    pub fetch: Map,
    /// The map (row, column) of A's tile to an offset in shared memory, in elements. For gathered
    /// tiles, the map is from (line, element of the line).
    pub smem: Map,
    /// The map (thread, step) to the number of a piece of D's tile.
    pub write: Map,
    /// The units of work of each CTA, which are tiles of D.
    pub units: Units,
    /// The order of steps.
    pub schedule: Schedule,
}

impl TransposeProgram {
    /// Returns the program of a description that has been checked.
    pub fn new(desc: &TransposeDesc) -> Self {
        let d = *desc;
        Self {
            desc: d,
            fetch: Arc::new(Tabled::new(&d.fetch())),
            smem: Arc::new(if d.is_gathered() {
                Tabled::new(&d.gathered())
            } else {
                Tabled::new(&d.smem())
            }),
            write: Arc::new(Tabled::new(&d.write())),
            units: Arc::new(Work::unit),
            schedule: d.schedule(),
        }
    }

    /// Returns the maps that have a CUDA twin. Fingerprints compare the two.
    pub(crate) fn mirrored(&self) -> Vec<MirroredMap> {
        let mut maps: Vec<MirroredMap> = vec![("fetch", "maps::fetch", self.fetch.clone())];
        if self.desc.is_staged() {
            maps.push(("write", "maps::write", self.write.clone()));
            maps.push(("smem", "maps::smem", self.smem.clone()));
        }
        maps
    }
}
