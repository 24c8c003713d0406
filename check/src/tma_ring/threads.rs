//! Consumers whose threads hold accumulators: the loads of each thread from a stage, and its stores
//! to D. With `mma.sync`, lanes load elements for each other. Here, each thread loads the rows and
//! columns of its own accumulators, in ascending k, so the bits are the same. NVRTC compares the
//! map of each lane's loads with its CUDA twin.

use crate::{
    accumulators::Accumulators,
    program::{ThreadMaps, WarpSpecializedProgram},
    tma_ring::numbers::Numbers,
};
use falchion::{
    Error,
    arch::WARP,
    internals::{
        host::shared::{finished, unknown},
        index::at,
        nest::WARPS,
        schedule::{Fault, WarpName},
        shape::{EpilogueOperand, EpilogueOperands, OperandKind},
    },
    threadblock::Unit,
};
use std::sync::Arc;

/// Returns the numbers of a warp's threads among the threads of its tile of D.
fn threads_of(
    program: &WarpSpecializedProgram,
    warp: WarpName,
) -> impl Iterator<Item = u32> + use<> {
    let consumer = if program.ring.ring.pingpong { 0 } else { warp.warpgroup };
    let first = (consumer * WARPS + warp.warp) * WARP;
    first..first + WARP
}

impl Numbers<'_> {
    /// Returns the fragments of an operand that the threads of a warp load from a stage: thread by
    /// thread, and k by k.
    fn fragments(
        &self,
        maps: &ThreadMaps,
        operand: OperandKind,
        warp: WarpName,
        shares: &[Arc<Vec<u8>>],
    ) -> Result<Accumulators, Error> {
        let (fragment, stage) = (&maps.fragment[operand.index()], &maps.stage[operand.index()]);
        let (desc, kind) = (self.matrices.desc, self.matrices.matrix(operand).kind);
        let (share, width) =
            (shares.first().map_or(1, |share| share.len().max(1)), kind.bytes_of(1) as usize);
        let place = |(thread, group, i)| {
            let left_out = |map, row, column| Fault::LeftOut { map, row, column };
            let k = maps.depth.at(at(thread, group)).ok_or(left_out("depth", thread, group))?;
            let mn = fragment.at(at(thread, i)).ok_or(left_out("fragment", thread, i))?;
            let byte = stage.at(at(mn, k)).ok_or(left_out("stage", mn, k))?;
            let (which, within) = (byte as usize / share, byte as usize % share);
            let there = shares.get(which).is_some_and(|share| within + width <= share.len());
            if there {
                Ok(byte)
            } else {
                Err(Fault::BeyondStage { operand, byte, size: (share * shares.len()) as u32 })
            }
        };
        let (groups, elements) = (maps.depth.domain().column, fragment.domain().column);
        let places: Vec<u32> = threads_of(self.program, warp)
            .flat_map(|thread| (0..groups).map(move |group| (thread, group)))
            .flat_map(|(thread, group)| (0..elements).map(move |i| (thread, group, i)))
            .map(place)
            .collect::<Result<_, Fault>>()?;
        let bytes = self.gathered(kind, shares, &places);
        Accumulators::widened(desc.output.accumulator, kind, &bytes).ok_or_else(|| unknown(desc))
    }

    /// Adds a stage's products to the accumulators of a warp, thread by thread.
    pub(super) fn add_by_threads(
        &self,
        maps: &ThreadMaps,
        warp: WarpName,
        accumulators: &mut Accumulators,
        [a, b]: [&[Arc<Vec<u8>>]; 2],
    ) -> Result<(), Error> {
        let [rows, columns] =
            [0, 1].map(|side: usize| maps.fragment[side].domain().column as usize);
        accumulators.grow(self.matrices.desc.output.accumulator, WARP as usize * rows * columns);
        let a = self.fragments(maps, OperandKind::A, warp, a)?;
        let b = self.fragments(maps, OperandKind::B, warp, b)?;
        accumulators.add_outers([rows, columns], maps.depth.domain().column as usize, [&a, &b]);
        Ok(())
    }

    /// Writes the accumulators of a warp to D through the epilogue. Without accumulators, they are
    /// zeros.
    pub(super) fn write_by_threads(
        &mut self,
        maps: &ThreadMaps,
        (warp, tile): (WarpName, u32),
        accumulators: Option<&Accumulators>,
    ) -> Result<(), Error> {
        let (block, problem) = (self.program.desc.threadblock(), self.matrices.problem);
        let Unit { product, row: tile_row, column: tile_column, .. } =
            self.unit(warp.block, tile)?;
        let (mut places, mut numbers, mut read) =
            (Vec::new(), Vec::new(), EpilogueOperands::<Vec<u8>>::NONE);
        let each = maps.accumulator.domain().column;
        let width = self.element_bytes();
        for (lane, thread) in threads_of(self.program, warp).enumerate() {
            for i in 0..each {
                let left_out = Fault::LeftOut { map: "accumulator", row: thread, column: i };
                let place = maps.accumulator.at(at(thread, i)).ok_or(left_out)?;
                let row = tile_row as usize * block.m as usize + (place / block.n) as usize;
                let column = tile_column as usize * block.n as usize + (place % block.n) as usize;
                if row >= problem.m || column >= problem.n {
                    continue;
                }
                numbers.push(lane * each as usize + i as usize);
                let source = read.slot(EpilogueOperand::Source).get_or_insert_default();
                source.extend_from_slice(self.source_at(product, row, column));
                self.matrices.beside((product, row, column..column + 1), &mut read);
                places.push((row, column));
            }
        }
        let taken =
            Accumulators::taken(self.matrices.desc.output.accumulator, accumulators, &numbers);
        let results =
            finished(&self.matrices, (taken.kind(), taken.bytes()), &read, (product, &places))?;
        for (&(row, column), element) in places.iter().zip(results.chunks_exact(width)) {
            self.count(product, (row as u64, column as u64))?;
            self.put(product, (row, column), element)?;
        }
        Ok(())
    }
}
