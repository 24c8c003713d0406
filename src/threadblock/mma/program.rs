//! The program of a CTA whose threads all follow one schedule: its schedule, and its maps as
//! tables.

use crate::{
    epilogue::tile_store::{AccumulatorMap, PartialsMap},
    layout::index_map::Map,
    nest::GemmDesc,
    numeric::{Instruction, emulation::RegisterTerms},
    schedule::Schedule,
    shape::OperandKind,
    threadblock::{MmaBase, ProductRecords, Units, Work},
    warp::{MirroredMap, thread_maps::StepMap, tiled_mma::tabled},
};
use std::sync::Arc;

/// All index maps of a kernel. Arrays hold the maps of A and B.
#[derive(Clone)]
pub struct Maps {
    /// (thread, access) to the number of a vector of the tile.
    pub copy: [Map; 2],
    /// (mn, k) to an offset in a stage, in elements.
    pub smem: [Map; 2],
    /// (thread, fragment element) to `mn * step + k`, where a k-block has `step` values of k. On
    /// the CUDA cores, the value is mn.
    pub fragment: [Map; 2],
    /// (thread, `ldmatrix`) to `mn * step + k` of the first element of the row whose address the
    /// thread passes. `None` if threads load their fragments without `ldmatrix`.
    pub rows: [Option<Map>; 2],
    /// (thread, k-block) to its first k.
    pub depth: Map,
    /// (thread, accumulator) to `row * tile_n + column`.
    pub accumulator: Map,
    /// (thread, accumulator) to the offset of the partial accumulator of a warp slice, in
    /// accumulators.
    pub partials: Map,
}

/// The program of a one-schedule kernel, which the host runs. Tests change one field and observe
/// the effect.
#[derive(Clone)]
pub struct Program {
    /// The description.
    pub desc: GemmDesc,
    /// Components of the CTA.
    pub base: MmaBase,
    /// Index maps.
    pub maps: Maps,
    /// Schedule of all threads.
    pub schedule: Schedule,
    /// Assignment of work units to CTAs.
    pub units: Units,
    /// (GEMM, matrix) to the word of an array's records that holds the matrix's address. The kernel
    /// uses the same map.
    pub records: Map,
    /// Clusters of one CTA that a device holds at once, for persistent and stream-K work.
    pub clusters: u32,
}

impl Program {
    /// Returns the program of a checked description and its CTA.
    pub(crate) fn new(desc: GemmDesc, base: MmaBase) -> Self {
        let maps = Maps {
            copy: base.operands.map(|operand| tabled(&operand.thread_map())),
            smem: base.operands.map(|operand| tabled(&operand.smem)),
            fragment: OperandKind::BOTH.map(|operand| base.mma.fragment_map(&base, operand)),
            rows: OperandKind::BOTH.map(|operand| base.mma.row_map(&base, operand)),
            depth: tabled(&StepMap { tiles: base.tiles, step: base.step() }),
            accumulator: tabled(&AccumulatorMap(base.tiles)),
            partials: tabled(&PartialsMap(base.tiles)),
        };
        Self {
            desc,
            base,
            maps,
            schedule: base.schedule(),
            units: Arc::new(Work::unit),
            records: Arc::new(ProductRecords::on_host(false)),
            clusters: desc.most_streams(),
        }
    }

    /// Returns the arithmetic of the tensor-core instruction and the terms into which it decomposes
    /// fragments. `None` if every accumulator is a chain of fused multiply-adds.
    pub fn arithmetic(&self) -> Option<(Instruction, RegisterTerms)> {
        self.base.mma.arithmetic(self)
    }

    /// Returns the maps that have a CUDA twin. The fingerprints cover these maps.
    #[doc(hidden)]
    pub fn mirrored(&self) -> Vec<MirroredMap> {
        let [copy_a, copy_b] = self.maps.copy.clone();
        let [smem_a, smem_b] = self.maps.smem.clone();
        let mut maps: Vec<MirroredMap> = vec![
            ("copy_a", "threadblock::ThreadMap<Config::A>", copy_a),
            ("copy_b", "threadblock::ThreadMap<Config::B>", copy_b),
            ("smem_a", "smem::SmemTile<Config::A>", smem_a),
            ("smem_b", "smem::SmemTile<Config::B>", smem_b),
            ("partials", "epilogue::PartialsMap<Config>", self.maps.partials.clone()),
        ];
        maps.extend(self.desc.mma.mirrored(self));
        maps
    }
}
