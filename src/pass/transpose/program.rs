//! A transpose's description, unfolded: every map and the schedule.

use crate::{
    index::{Map, Tabled},
    pass::transpose::TransposeDesc,
    schedule::Schedule,
    threadblock::{Units, Work},
};
use std::sync::Arc;

/// What the host executor runs: a description, its maps, its schedule. Tests change one of them and
/// watch.
#[derive(Clone)]
pub struct TransposeProgram {
    /// The description.
    pub desc: TransposeDesc,
    /// (thread, step) to the number of a piece of A's tile.
    pub fetch: Map,
    /// (row, column) of A's tile to an offset in shared memory, in elements; where rows are
    /// gathered, (line, element of it).
    pub smem: Map,
    /// (thread, step) to the number of a piece of D's tile.
    pub write: Map,
    /// Which units of work a block takes: tiles of D.
    pub units: Units,
    /// The order of steps.
    pub schedule: Schedule,
}

impl TransposeProgram {
    /// The program of a description that has been checked.
    pub fn of(desc: &TransposeDesc) -> Self {
        let d = *desc;
        Self {
            desc: d,
            fetch: Arc::new(Tabled::of(&d.fetch())),
            smem: Arc::new(if d.is_gathered() {
                Tabled::of(&d.gathered())
            } else {
                Tabled::of(&d.smem())
            }),
            write: Arc::new(Tabled::of(&d.write())),
            units: Arc::new(Work::unit),
            schedule: d.schedule(),
        }
    }

    /// The maps that have a CUDA twin, by name: what fingerprints are taken of.
    pub fn mirrored(&self) -> Vec<(&'static str, Map)> {
        let mut maps = vec![("fetch", self.fetch.clone())];
        if self.desc.is_staged() {
            maps.extend([("write", self.write.clone()), ("smem", self.smem.clone())]);
        }
        maps
    }
}
