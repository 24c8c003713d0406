//! A description, unfolded: every map and the schedule.

use crate::{
    desc::SimtDesc,
    epilogue::tile_store::{AccumulatorMap, DepositMap},
    index::{IndexMap, Map, Tabled},
    operand::OperandKind,
    refusal::Refusal,
    schedule::Schedule,
    threadblock::TileOrder,
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
    /// (thread, k-group) to k.
    pub depth: Map,
    /// (thread, accumulator) to `row * tile_n + column`.
    pub accumulator: Map,
    /// (thread, accumulator) to where a slice deposits it.
    pub deposit: Map,
    /// From (rows, columns) of tiles, the map (0, block) to the number of a tile.
    pub order: Arc<dyn Fn(u32, u32) -> Map + Send + Sync>,
}

/// What the host executor runs: a description, its maps, its schedule. Tests change one of them and watch.
#[derive(Clone)]
pub struct Program {
    /// The description.
    pub desc: SimtDesc,
    /// Its maps.
    pub maps: Maps,
    /// Its schedule.
    pub schedule: Schedule,
}

impl Program {
    /// The program of a description that has been checked.
    pub fn of(desc: &SimtDesc) -> Self {
        let d = *desc;
        // Threads ask for each point many times: every map is evaluated once.
        let tabled = |map: &dyn IndexMap| -> Map { Arc::new(Tabled::of(map)) };
        let maps = Maps {
            copy: OperandKind::BOTH.map(|operand| tabled(&d.operand(operand).thread_map())),
            smem: OperandKind::BOTH.map(|operand| tabled(&d.operand(operand).smem)),
            fragment: OperandKind::BOTH.map(|operand| tabled(&FragmentMap::of(d.tiles(), operand))),
            depth: tabled(&DepthMap(d.tiles())),
            accumulator: tabled(&AccumulatorMap(d.tiles())),
            deposit: tabled(&DepositMap(d.tiles())),
            order: Arc::new(move |rows, columns| Arc::new(TileOrder { kind: d.knobs.swizzle, rows, columns })),
        };
        Self { desc: d, maps, schedule: Schedule::of(&d) }
    }

    /// Whether its description is a kernel.
    ///
    /// # Errors
    ///
    /// Those of [`GemmDesc::check`](crate::desc::GemmDesc::check).
    pub fn check(&self) -> Result<(), Refusal> {
        self.desc.sum().check()
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
            ("deposit", self.maps.deposit.clone()),
        ]
    }
}
