//! A block whose threads all follow one schedule, unfolded: every map and the schedule.

use super::WarpSpecializedProgram;
use crate::{
    arch::WARP,
    desc::GemmDesc,
    epilogue::tile_store::{AccumulatorMap, PartialsMap},
    index::{Coord, IndexMap, Map, Tabled, at},
    numeric::{Combined, Instruction, emulation::RegisterParts},
    operand::OperandKind,
    schedule::Schedule,
    threadblock::{MmaBase, ProductAddresses, Units, Work},
    warp::{
        mma_simt::{DepthMap, FragmentMap},
        mma_tensor_op::StepMap,
    },
};
use std::sync::Arc;

/// Points of a map of reads that have a fingerprint: a compiler evaluates no more.
pub(crate) const MOST_READS: u32 = 8192;

/// Every map of a kernel; arrays are for A and B.
#[derive(Clone)]
pub struct Maps {
    /// (thread, access) to the number of a vector of the tile.
    pub copy: [Map; 2],
    /// (mn, k) to an offset in a stage, in elements.
    pub smem: [Map; 2],
    /// (thread, fragment element) to `mn * step + k`, of a k-block of `step` k's: on the CUDA
    /// cores, to mn.
    pub fragment: [Map; 2],
    /// (thread, `ldmatrix`) to the same of the first element of the row that it says; `None` where
    /// threads load what they hold.
    pub rows: [Option<Map>; 2],
    /// (thread, k-block) to its first k.
    pub depth: Map,
    /// (thread, accumulator) to `row * tile_n + column`.
    pub accumulator: Map,
    /// (thread, accumulator) to where a slice of K stores it.
    pub partials: Map,
}

/// What the host executor runs: a description, the components of its block, its maps, its schedule.
/// Tests change one of them and watch.
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
    /// (product, matrix) to the number of its address: of those that a launch of an array takes.
    pub addresses: Map,
    /// Clusters of one block that a device holds at once, of work that asks.
    pub clusters: u32,
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
            fragment: OperandKind::BOTH.map(|operand| match base.fragment(operand) {
                Some(fragment) => tabled(&fragment),
                None => tabled(&FragmentMap::of(base.tiles, operand)),
            }),
            rows: OperandKind::BOTH
                .map(|operand| base.matrix_loads(operand).map(|loads| tabled(&loads))),
            depth: match base.instruction {
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
            addresses: Arc::new(ProductAddresses { products: desc.products_of_launch() }),
            clusters: desc.most_streams(),
        }
    }

    /// How its instruction adds, and what of fragments; `None` where every accumulator is a chain
    /// of multiply-adds.
    pub fn arithmetic(&self) -> Option<(Instruction, RegisterParts)> {
        let class = &self.desc.class;
        let of_warp = self.base.instruction?;
        let [a, b] = OperandKind::BOTH.map(|operand| of_warp.factor(operand));
        let instruction = Instruction::of(Combined { a, b, ..class.combined() }, class.arch)?;
        Some((
            instruction.of_parts(
                of_warp.math().emulation(),
                self.base.step(),
                self.base.tiles.warp.k,
            ),
            of_warp.parts(),
        ))
    }

    /// The maps that have a CUDA twin, by name: what fingerprints are taken of.
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
        if self.base.instruction.is_some() {
            maps.push(("accumulator", self.maps.accumulator.clone()));
            maps.push(("reads_a", self.reads(OperandKind::A)));
            maps.push(("reads_b", self.reads(OperandKind::B)));
        }
        maps
    }

    /// (thread, k-block and load or element of it) to the offset in a stage from which the thread
    /// reads of an operand: what the maps before compose to, of the first warps and k-blocks.
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
