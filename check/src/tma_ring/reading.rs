//! The byte offsets at which products read a stage: each element of an instruction's operand, as
//! its descriptor addresses it.

use crate::program::{WarpSpecializedProgram, instruction_mn};
use falchion::{
    internals::{index::at, schedule::Fault, shape::OperandKind},
    threadblock::StageTile,
    warp::wgmma::{
        FragmentMap, MatrixDescriptor, OperandTile, ROWS, STEP_BYTES, STEPS, THREADS, bytes_read,
    },
};

/// Byte offsets into an operand's part of a stage, by (instruction tile, row or column of it, k).
pub(crate) struct Reading {
    extent: u32,
    depth: u32,
    bytes: Vec<u32>,
}

impl Reading {
    /// Evaluates the descriptors of an operand.
    ///
    /// # Errors
    /// [`Fault::LeftOut`] if a start address is missing, [`Fault::NotADescriptor`] if a descriptor
    /// cannot encode its offsets, and [`Fault::BeyondStage`] for bytes beyond the operand's part of
    /// the stage.
    pub fn new(program: &WarpSpecializedProgram, operand: OperandKind) -> Result<Self, Fault> {
        let maps = &program.operands[operand.index()];
        if let (OperandKind::A, Some(load)) = (operand, program.components.fragment_load()) {
            return Self::from_fragments(program, load.tile);
        }
        let tile = match program.components.tile(operand) {
            StageTile::Warpgroup(tile) => tile,
            // Kernels whose threads multiply have other maps.
            StageTile::Threads { .. } => {
                return Ok(Self { extent: 0, depth: 0, bytes: Vec::new() });
            }
        };
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
    fn from_fragments(program: &WarpSpecializedProgram, tile: OperandTile) -> Result<Self, Fault> {
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

    /// Returns the K-depth of a stage, in elements.
    pub fn depth(&self) -> usize {
        self.depth as usize
    }

    /// Returns the offsets of some rows or columns of an instruction tile, k by k. Empty if the
    /// tile does not exist.
    pub fn rows(&self, number: u32, first: u32, count: u32) -> &[u32] {
        let from = ((number * self.extent + first) * self.depth) as usize;
        self.bytes.get(from..from + (count * self.depth) as usize).unwrap_or_default()
    }
}
