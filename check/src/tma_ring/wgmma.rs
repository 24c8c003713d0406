//! The byte offsets at which `wgmma` reads a stage: each element of an instruction's operand, as
//! its descriptor addresses it.

use crate::{
    program::{WarpSpecializedProgram, instruction_mn},
    tma_ring::reading::Reading,
};
use falchion::{
    internals::{index::at, schedule::Fault, shape::OperandKind},
    warp::wgmma::{
        FragmentMap, MatrixDescriptor, OperandTile, ROWS, STEP_BYTES, STEPS, THREADS, bytes_read,
    },
};

impl Reading {
    /// Evaluates the descriptors of an operand's tile.
    pub(super) fn from_descriptors(
        program: &WarpSpecializedProgram,
        operand: OperandKind,
        tile: OperandTile,
    ) -> Result<Self, Fault> {
        let maps = &program.operands[operand.index()];
        let (extent, input) = (instruction_mn(&program.multiplied, operand), tile.input());
        let depth = tile.k();
        let count = maps.start.domain().row;
        let mut bytes = vec![0; (count * extent * depth) as usize];
        for (number, step) in
            (0..count).flat_map(|number| (0..STEPS).map(move |step| (number, step)))
        {
            let left_out = Fault::LeftOut { map: "start", row: number, column: step };
            let start = maps.start.at(at(number, step)).ok_or(left_out)?;
            let descriptor = MatrixDescriptor::new(start, maps.leading, maps.stride, maps.swizzle)
                .map_err(|_| Fault::NotADescriptor {
                    operand,
                    start,
                    leading: maps.leading,
                    stride: maps.stride,
                })?;
            for (mn, k) in
                (0..extent).flat_map(|mn| (0..input.elements_in(STEP_BYTES)).map(move |k| (mn, k)))
            {
                let byte =
                    bytes_read(descriptor.encode(), tile.along(), input, mn, k).unwrap_or(u32::MAX);
                if byte > tile.bytes() - input.bytes_of(1) {
                    return Err(Fault::BeyondStage { operand, byte, size: tile.bytes() });
                }
                bytes[((number * extent + mn) * depth + step * input.elements_in(STEP_BYTES) + k)
                    as usize] = byte;
            }
        }
        Ok(Self { extent, depth, bytes })
    }

    /// Evaluates the loads of A into registers. The hardware defines the row and the k of each
    /// register element by the thread.
    pub(super) fn from_fragments(
        program: &WarpSpecializedProgram,
        tile: OperandTile,
    ) -> Result<Self, Fault> {
        let (maps, input) = (&program.operands[OperandKind::A.index()], tile.input());
        let held = FragmentMap { input };
        let (extent, depth) = (ROWS, tile.k());
        let mut bytes = vec![0; (tile.mn() * depth) as usize];
        let threads = tile.mn() / ROWS * THREADS;
        for (row, column) in
            (0..threads).flat_map(|row| (0..STEPS * held.held()).map(move |column| (row, column)))
        {
            let left_out = Fault::LeftOut { map: "fragments", row, column };
            let byte = maps.fragments.at(at(row, column)).ok_or(left_out)?;
            if byte > tile.bytes() - input.bytes_of(1) {
                return Err(Fault::BeyondStage {
                    operand: OperandKind::A,
                    byte,
                    size: tile.bytes(),
                });
            }
            let (number, step) = (row / THREADS, column / held.held());
            let (m, k) = held.place(row % THREADS, column % held.held()).ok_or(left_out)?;
            bytes[((number * extent + m) * depth + step * input.elements_in(STEP_BYTES) + k)
                as usize] = byte;
        }
        Ok(Self { extent, depth, bytes })
    }
}
