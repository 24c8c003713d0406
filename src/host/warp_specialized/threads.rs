//! Consumers whose threads multiply: the loads of each thread from a stage, and its stores to D.

use super::numbers::Numbers;
use crate::{
    arch::WARP,
    epilogue::EpilogueInputs,
    error::Error,
    host::{accumulators::Accumulators, epilogue::finished, operands::unknown},
    index::at,
    operand::OperandKind,
    plan::{ThreadMaps, WarpSpecializedProgram},
    schedule::{Fault, WarpName},
    threadblock::{Unit, pipeline::WARPS},
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
    /// Returns the fragment of an operand that a thread loads for one k.
    fn fragment(
        &self,
        maps: &ThreadMaps,
        operand: OperandKind,
        (thread, k): (u32, u32),
        shares: &[Arc<Vec<u8>>],
    ) -> Result<Accumulators, Error> {
        let (fragment, stage) = (&maps.fragment[operand.index()], &maps.stage[operand.index()]);
        let (class, kind) = (self.matrices.class, self.matrices.matrix(operand).kind);
        let (share, width) =
            (shares.first().map_or(1, |share| share.len().max(1)), kind.bytes_of(1) as usize);
        let element = |i| {
            let mn = fragment.at(at(thread, i)).ok_or(Fault::LeftOut {
                map: "fragment",
                row: thread,
                column: i,
            })?;
            let byte =
                stage.at(at(mn, k)).ok_or(Fault::LeftOut { map: "stage", row: mn, column: k })?;
            let (which, within) = (byte as usize / share, byte as usize % share);
            let there = shares.get(which).is_some_and(|share| within + width <= share.len());
            if there {
                Ok(byte)
            } else {
                Err(Fault::BeyondStage { operand, byte, size: (share * shares.len()) as u32 })
            }
        };
        let places: Vec<u32> =
            (0..fragment.domain().column).map(element).collect::<Result<_, Fault>>()?;
        let bytes = self.gathered(kind, shares, &places);
        Accumulators::widened(class.accumulator, kind, &bytes).ok_or_else(|| unknown(class))
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
        accumulators.grow(self.matrices.class.accumulator, WARP as usize * rows * columns);
        for (lane, thread) in threads_of(self.program, warp).enumerate() {
            for group in 0..maps.depth.domain().column {
                let left_out = Fault::LeftOut { map: "depth", row: thread, column: group };
                let k = maps.depth.at(at(thread, group)).ok_or(left_out)?;
                let a = self.fragment(maps, OperandKind::A, (thread, k), a)?;
                let b = self.fragment(maps, OperandKind::B, (thread, k), b)?;
                accumulators.add_outer(lane * rows * columns, &a, &b);
            }
        }
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
        let (block, problem) = (self.program.desc.knobs.threadblock, self.matrices.problem);
        let Unit { product, row: tile_row, column: tile_column, .. } =
            self.unit(warp.block, tile)?;
        let (mut places, mut numbers, mut read) =
            (Vec::new(), Vec::new(), EpilogueInputs::<Vec<u8>>::NONE);
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
                read.source
                    .get_or_insert_default()
                    .extend_from_slice(self.source_at(product, row, column));
                self.matrices.beside(row, column..column + 1, &mut read.vectors);
                places.push((row, column));
            }
        }
        let taken = Accumulators::taken(self.matrices.class.accumulator, accumulators, &numbers);
        let results = finished(&self.matrices, &taken, &read)?;
        for (&(row, column), element) in places.iter().zip(results.chunks_exact(width)) {
            self.count(product, (row as u64, column as u64))?;
            self.put(product, (row, column), element)?;
        }
        Ok(())
    }
}
