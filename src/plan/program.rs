//! A block whose threads all follow one schedule, unfolded: every map and the schedule.

use super::WarpSpecializedProgram;
use crate::{
    desc::GemmDesc,
    epilogue::tile_store::{AccumulatorMap, PartialsMap},
    index::{IndexMap, Map, Tabled},
    operand::OperandKind,
    schedule::Schedule,
    threadblock::{MmaBase, Units, Work},
    warp::mma_simt::{DepthMap, FragmentMap},
};
use std::sync::Arc;

/// Every map of a kernel; arrays are for A and B.
#[derive(Clone)]
pub struct Maps {
    /// (thread, access) to the number of a vector of the tile.
    pub copy: [Map; 2],
    /// (mn, k) to an offset in a stage, in elements.
    pub smem: [Map; 2],
    /// (thread, fragment element) to mn.
    pub fragment: [Map; 2],
    /// (thread, k-block) to k.
    pub depth: Map,
    /// (thread, accumulator) to `row * tile_n + column`.
    pub accumulator: Map,
    /// (thread, accumulator) to where a slice of K stores it.
    pub partials: Map,
}

/// What the host executor runs: a description, the components of its block, its maps, its schedule. Tests change one of them and watch.
#[derive(Clone)]
pub struct Program {
    /// The description.
    pub desc: GemmDesc,
    /// The components of its block.
    pub base: MmaBase,
    /// Its maps.
    pub maps: Maps,
    /// Its schedule.
    pub schedule: Schedule,
    /// Which units of work a block takes.
    pub units: Units,
}

/// What the host runs of a kernel, whichever its family.
#[derive(Clone)]
pub enum HostProgram {
    /// Of blocks whose threads all follow one schedule.
    OneSchedule(Box<Program>),
    /// Of the clusters of warp-specialized kernels.
    Roles(Box<WarpSpecializedProgram>),
}

impl Program {
    /// The program of a description that has been checked, and of its block.
    pub(crate) fn of(desc: GemmDesc, base: MmaBase) -> Self {
        // Threads ask for each point many times: every map is evaluated once.
        let tabled = |map: &dyn IndexMap| -> Map { Arc::new(Tabled::of(map)) };
        let maps = Maps {
            copy: base.operands.map(|operand| tabled(&operand.thread_map())),
            smem: base.operands.map(|operand| tabled(&operand.smem)),
            fragment: OperandKind::BOTH.map(|operand| tabled(&FragmentMap::of(base.tiles, operand))),
            depth: tabled(&DepthMap(base.tiles)),
            accumulator: tabled(&AccumulatorMap(base.tiles)),
            partials: tabled(&PartialsMap(base.tiles)),
        };
        Self { desc, base, maps, schedule: base.schedule(), units: Arc::new(Work::unit) }
    }

    /// The maps that have a CUDA twin, by name: what fingerprints are taken of.
    pub fn mirrored(&self) -> Vec<(&'static str, Map)> {
        let [copy_a, copy_b] = self.maps.copy.clone();
        let [smem_a, smem_b] = self.maps.smem.clone();
        let [fragment_a, fragment_b] = self.maps.fragment.clone();
        vec![
            ("copy_a", copy_a),
            ("copy_b", copy_b),
            ("smem_a", smem_a),
            ("smem_b", smem_b),
            ("fragment_a", fragment_a),
            ("fragment_b", fragment_b),
            ("depth", self.maps.depth.clone()),
            ("partials", self.maps.partials.clone()),
        ]
    }
}
