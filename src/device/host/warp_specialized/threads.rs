//! Consumers whose threads multiply: what each reads of a stage, and from its accumulators to D.

use super::{Stored, numbers::Numbers, program::WarpSpecializedProgram};
use crate::{
    desc::{GemmDesc, OperandKind},
    device::{
        arguments::Source,
        host::{Fault, Map, roles::WarpName},
    },
    epilogue::{evaluate, tile_store::AccumulatorMap},
    error::Error,
    index::{IndexMap, Tabled, at},
    numeric::{Accumulator, Combination, Element, Narrow, Widen},
    threadblock::{BoxedTile, WarpSpecialized, pipeline::WARPS, thread_map::WARP},
    warp::mma_simt::{DepthMap, FragmentMap},
};
use bytemuck::AnyBitPattern;
use std::sync::Arc;

/// What threads do with a stage, and with what they hold. Threads are those that share a tile of D.
#[derive(Clone)]
pub struct ThreadMaps {
    /// Of A and of B: (thread, fragment element) to the row or column of the block's tile.
    pub fragment: [Map; 2],
    /// Of A and of B: (row or column of the block's tile, k) to the byte of the operand's part of a stage.
    pub stage: [Map; 2],
    /// (thread, k-group) to k.
    pub depth: Map,
    /// (thread, accumulator) to `row * threadblock N + column`: where it belongs.
    pub accumulator: Map,
}

/// Where an element begins, of a map to elements.
#[derive(Clone, Copy, Debug)]
struct InBytes(BoxedTile, u32);

impl IndexMap for InBytes {
    fn domain(&self) -> crate::index::Coord {
        self.0.domain()
    }
    fn codomain(&self) -> u32 {
        self.0.codomain() * self.1
    }
    fn at(&self, point: crate::index::Coord) -> Option<u32> {
        Some(self.0.at(point)? * self.1)
    }
}

impl ThreadMaps {
    /// Those of a description; none where warpgroups multiply.
    pub(super) fn of(desc: &GemmDesc, components: &WarpSpecialized) -> Option<Self> {
        components.threads()?;
        let tabled = |map: &dyn IndexMap| -> Map { Arc::new(Tabled::of(map)) };
        let stage = |operand| InBytes(components.boxed_tile(operand), desc.operand(operand).element.bytes());
        Some(Self {
            fragment: OperandKind::BOTH.map(|operand| tabled(&FragmentMap::of(*desc, operand))),
            stage: OperandKind::BOTH.map(|operand| tabled(&stage(operand))),
            depth: tabled(&DepthMap(*desc)),
            accumulator: tabled(&AccumulatorMap(*desc)),
        })
    }
}

/// The threads of a warp among those that share its tile of D.
fn threads_of(program: &WarpSpecializedProgram, warp: WarpName) -> impl Iterator<Item = u32> + use<> {
    let consumer = if program.ring.ring.in_turns { 0 } else { warp.warpgroup };
    let first = (consumer * WARPS + warp.warp) * WARP;
    first..first + WARP
}

impl<T: Combination> Numbers<'_, '_, T> {
    /// What a thread reads of an operand for one k: its fragment.
    fn fragment<S: Widen<T::Accumulator> + AnyBitPattern>(
        &self,
        maps: &ThreadMaps,
        operand: OperandKind,
        (thread, k): (u32, u32),
        shares: &[Arc<Vec<u8>>],
    ) -> Result<Vec<T::Accumulator>, Fault> {
        let (fragment, stage) = (&maps.fragment[operand.index()], &maps.stage[operand.index()]);
        let share = shares.first().map_or(1, |share| share.len().max(1));
        let element = |i| {
            let mn = fragment.at(at(thread, i)).ok_or(Fault::LeftOut { map: "fragment", row: thread, column: i })?;
            let byte = stage.at(at(mn, k)).ok_or(Fault::LeftOut { map: "stage", row: mn, column: k })?;
            let (which, within) = (byte as usize / share, byte as usize % share);
            let beyond = Fault::BeyondStage { operand, byte, size: (share * shares.len()) as u32 };
            let bytes = shares.get(which).and_then(|share| share.get(within..within + size_of::<S>())).ok_or(beyond)?;
            Ok(bytemuck::pod_read_unaligned::<S>(bytes).widen())
        };
        (0..fragment.domain().column).map(element).collect()
    }

    /// Adds a stage's products to the sums of a warp, thread by thread.
    pub(super) fn add_by_threads(
        &self,
        maps: &ThreadMaps,
        warp: WarpName,
        sums: &mut Vec<T::Accumulator>,
        [a, b]: [&[Arc<Vec<u8>>]; 2],
    ) -> Result<(), Fault> {
        let [rows, columns] = [0, 1].map(|side: usize| maps.fragment[side].domain().column as usize);
        sums.resize(WARP as usize * rows * columns, T::Accumulator::default());
        for (thread, sums) in threads_of(self.program, warp).zip(sums.chunks_exact_mut((rows * columns).max(1))) {
            for group in 0..maps.depth.domain().column {
                let left_out = Fault::LeftOut { map: "depth", row: thread, column: group };
                let k = maps.depth.at(at(thread, group)).ok_or(left_out)?;
                let a = self.fragment::<<T::A as Element>::Storage>(maps, OperandKind::A, (thread, k), a)?;
                let b = self.fragment::<<T::B as Element>::Storage>(maps, OperandKind::B, (thread, k), b)?;
                for (sums, &a) in sums.chunks_exact_mut(columns.max(1)).zip(&a) {
                    sums.iter_mut().zip(&b).for_each(|(sum, &b)| *sum = sum.mul_add(a, b));
                }
            }
        }
        Ok(())
    }

    /// The accumulators of a warp through the epilogue to D; zeros where there are none.
    pub(super) fn write_by_threads(
        &mut self,
        maps: &ThreadMaps,
        (warp, tile): (WarpName, u32),
        sums: Option<&[T::Accumulator]>,
    ) -> Result<(), Error> {
        let (block, problem) = (self.program.desc.threadblock, self.typed.problem);
        let (tile_row, tile_column) = self.tile(warp.block, tile)?;
        let (mut places, mut accumulators, mut sources) = (Vec::new(), Vec::new(), Vec::new());
        let each = maps.accumulator.domain().column;
        for (lane, thread) in threads_of(self.program, warp).enumerate() {
            for i in 0..each {
                let left_out = Fault::LeftOut { map: "accumulator", row: thread, column: i };
                let place = maps.accumulator.at(at(thread, i)).ok_or(left_out)?;
                let row = tile_row as usize * block.m as usize + (place / block.n) as usize;
                let column = tile_column as usize * block.n as usize + (place % block.n) as usize;
                if row >= problem.m || column >= problem.n {
                    continue;
                }
                let sum = sums.and_then(|sums| sums.get(lane * each as usize + i as usize)).copied().unwrap_or_default();
                accumulators.push(Widen::<T::Epilogue>::widen(sum));
                if !matches!(self.source, Source::None) {
                    sources.push(self.source_at(row, column).map_or_else(Default::default, |x| x.widen()));
                }
                places.push((row, column));
            }
        }
        let (epilogue, mut rows) = (&self.program.desc.epilogue, Default::default());
        let results = evaluate(epilogue, &problem.scalars, &accumulators, &sources, &mut rows);
        for (&(row, column), &x) in places.iter().zip(results) {
            self.count(row as u64, column as u64)?;
            let outside = Fault::OutsideOfD { row: row as u64, column: column as u64 };
            *self.d.get_mut(row * problem.ldd + column).ok_or(outside)? = Narrow::<Stored<T>>::narrow(x);
        }
        Ok(())
    }
}
