//! The program of a CTA whose threads all follow one schedule: its schedule, and its maps as
//! tables.

use crate::{
    arch::WARP,
    epilogue::tile_store::{AccumulatorMap, PartialsMap},
    layout::index_map::{Coord, IndexMap, Map, Tabled, at},
    nest::GemmDesc,
    numeric::{Combined, Instruction, emulation::RegisterTerms},
    operand::OperandKind,
    schedule::Schedule,
    threadblock::{MmaBase, ProductRecords, Units, Work},
    warp::{
        mma_sync::StepMap,
        simt::maps::{DepthMap, FragmentMap},
    },
};
use std::sync::Arc;

/// Maximum number of points in a map of reads that has a fingerprint. Compilers limit the
/// evaluation of constants.
pub(crate) const MOST_READS: u32 = 8192;

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
        // The executor evaluates each point many times, so tables replace the formulas.
        let tabled = |map: &dyn IndexMap| -> Map { Arc::new(Tabled::new(map)) };
        let maps = Maps {
            copy: base.operands.map(|operand| tabled(&operand.thread_map())),
            smem: base.operands.map(|operand| tabled(&operand.smem)),
            fragment: OperandKind::BOTH.map(|operand| match base.fragment(operand) {
                Some(fragment) => tabled(&fragment),
                None => tabled(&FragmentMap::new(base.tiles, operand)),
            }),
            rows: OperandKind::BOTH
                .map(|operand| base.matrix_loads(operand).map(|loads| tabled(&loads))),
            depth: match base.instruction() {
                Some(_) => tabled(&StepMap { tiles: base.tiles, step: base.step() }),
                None => tabled(&DepthMap(base.tiles)),
            },
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
        let desc = &self.desc;
        let of_warp = self.base.instruction()?;
        let [a, b] = OperandKind::BOTH.map(|operand| of_warp.factor(operand));
        let instruction = Instruction::for_types(Combined { a, b, ..desc.types() }, desc.arch)?;
        Some((
            instruction.with_terms(
                of_warp.math().emulation(),
                self.base.step(),
                self.base.tiles.warp.k,
            ),
            of_warp.terms(),
        ))
    }

    /// Returns the names and maps that have a CUDA twin. The fingerprints cover these maps.
    pub fn mirrored(&self) -> Vec<(&'static str, Map)> {
        let [copy_a, copy_b] = self.maps.copy.clone();
        let [smem_a, smem_b] = self.maps.smem.clone();
        let [fragment_a, fragment_b] = self.maps.fragment.clone();
        let mut maps = vec![
            ("copy_a", copy_a),
            ("copy_b", copy_b),
            ("smem_a", smem_a),
            ("smem_b", smem_b),
            ("fragment_a", fragment_a),
            ("fragment_b", fragment_b),
            ("depth", self.maps.depth.clone()),
            ("partials", self.maps.partials.clone()),
        ];
        let [rows_a, rows_b] = self.maps.rows.clone();
        maps.extend(rows_a.map(|rows| ("rows_a", rows)));
        maps.extend(rows_b.map(|rows| ("rows_b", rows)));
        if self.base.instruction().is_some() {
            maps.push(("accumulator", self.maps.accumulator.clone()));
            maps.push(("reads_a", self.reads(OperandKind::A)));
            maps.push(("reads_b", self.reads(OperandKind::B)));
        }
        maps
    }

    /// Returns the composed map of shared-memory reads for an operand, limited to the first warps
    /// and k-blocks. It maps (thread, k-block and load or element) to an offset in a stage.
    fn reads(&self, operand: OperandKind) -> Map {
        let (maps, side, step) = (&self.maps, operand.index(), self.base.step());
        let of_k_block = maps.rows[side].as_ref().unwrap_or(&maps.fragment[side]);
        let Coord { row: threads, column: each } = of_k_block.domain();
        let offset = |point: Coord| {
            let place = of_k_block.at(at(point.row, point.column % each))?;
            let k = maps.depth.at(at(point.row, point.column / each))?;
            maps.smem[side].at(at(place / step, k + place % step))
        };
        let threads = threads.min((MOST_READS / each.max(1) / WARP).max(1) * WARP);
        let fit = (MOST_READS / (threads * each).max(1)).clamp(1, self.base.k_blocks());
        Arc::new(Tabled::by(at(threads, each * fit), maps.smem[side].codomain(), offset))
    }
}
