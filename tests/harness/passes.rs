//! Kernels of passes on the host with their own maps. Tests change one property and check the
//! effect.

use crate::harness::prelude::*;
use falchion::internals::operand::{DEPTH, PIECE, PIECES, RepackDesc, TILE, repack};

/// Access of a repack pass outside of the source or the copy, with the row and the piece.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RepackFault {
    pub row: u64,
    pub piece: u64,
}

/// Repack pass on the host: its map, and its accesses at the ends of the matrix.
#[derive(Clone)]
pub struct RepackProgram {
    desc: RepackDesc,
    shapes: RepackShapes,
    /// Map from (thread, step) to a piece of the tile: [`RepackMap`] with the pitch of a tile's
    /// row.
    pub map: Map,
    /// Whether the second access of a piece is made.
    pub second: bool,
    /// Whether accesses that cross the end of the matrix are made byte by byte.
    pub guarded: bool,
}

impl RepackProgram {
    /// Creates the program of a kernel and a problem.
    pub fn new(desc: RepackDesc, shapes: RepackShapes) -> Self {
        let log_pieces = desc.log_pieces(shapes.pieces());
        let map = Arc::new(RepackMap::new(desc, log_pieces, 0));
        Self { desc, shapes, map, second: true, guarded: true }
    }

    /// Copies the matrix. The address of the source modulo 16 is `address`, and that of the copy is
    /// 0.
    ///
    /// # Errors
    /// A [`RepackFault`] for an access outside of the source or the copy.
    pub fn run(&self, source: &[u8], address: u64, copy: &mut [u8]) -> Result<(), RepackFault> {
        let (log, (down, across)) =
            (self.desc.log_pieces(self.shapes.pieces()), self.shapes.tiles(&self.desc));
        for (tile_row, tile_column) in
            (0..down).flat_map(|row| (0..across).map(move |column| (row, column)))
        {
            let first = (tile_row * u64::from(self.desc.tile() >> log), tile_column << log);
            for (thread, step) in (0..self.desc.threads)
                .flat_map(|thread| (0..self.desc.steps).map(move |step| (thread, step)))
            {
                let Some(number) = self.map.at(at(thread, step)).map(u64::from) else { continue };
                let (row, piece) =
                    (first.0 + (number >> log), first.1 + (number & ((1 << log) - 1)));
                if row < self.shapes.rows && piece < self.shapes.pieces() {
                    self.copy((row, piece), self.inside(first, log), (source, address), copy)?;
                }
            }
        }
        Ok(())
    }

    /// Returns whether all reads of a tile are inside the matrix. The first and the last byte of
    /// such a tile are at least one access away from the ends.
    fn inside(&self, (row, piece): (u64, u64), log: u32) -> bool {
        let RepackShapes { rows, row_bytes, stride, .. } = self.shapes;
        let last = rows.min(row + u64::from(self.desc.tile() >> log)) - 1;
        let end = row_bytes.min((piece + (1 << log)) * repack::PIECE);
        row * stride + piece * repack::PIECE >= repack::PIECE - 1
            && last * stride + end + repack::PIECE - 1 <= self.shapes.source_bytes()
    }

    fn copy(
        &self,
        (row, piece): (u64, u64),
        inside: bool,
        (source, address): (&[u8], u64),
        copy: &mut [u8],
    ) -> Result<(), RepackFault> {
        let fault = RepackFault { row, piece };
        let first = row * self.shapes.stride + piece * repack::PIECE;
        let beyond = (address % repack::PIECE + first) % repack::PIECE;
        let needed = repack::PIECE.min(self.shapes.row_bytes - piece * repack::PIECE);
        let end = self.shapes.source_bytes() as i64;
        let mut words = [0; 8];
        for (access, words) in (0..).zip(words.chunks_exact_mut(4)) {
            if access == 1 && !(self.second && beyond + needed > repack::PIECE) {
                continue;
            }
            let begin = first as i64 - beyond as i64 + access * repack::PIECE as i64;
            let whole = begin >= 0 && begin + repack::PIECE as i64 <= end;
            if !whole && (inside || !self.guarded) {
                return Err(fault);
            }
            let byte = |at: i64| {
                if (0..end).contains(&at) {
                    source.get(at as usize).copied().ok_or(fault)
                } else {
                    Ok(0)
                }
            };
            for (word, begin) in words.iter_mut().zip((begin..).step_by(4)) {
                *word = u32::from_le_bytes([
                    byte(begin)?,
                    byte(begin + 1)?,
                    byte(begin + 2)?,
                    byte(begin + 3)?,
                ]);
            }
        }
        let place = (row * self.shapes.pitch + piece * repack::PIECE) as usize;
        let written = copy
            .get_mut(place..)
            .and_then(|rest| rest.get_mut(..repack::PIECE as usize))
            .ok_or(fault)?;
        written.copy_from_slice(
            Realignment::realigned(words, beyond as u32).map(u32::to_le_bytes).as_flattened(),
        );
        Ok(())
    }
}

/// Maps and numbers of the decompose kernel for one operand. Tests change one property and check
/// the effect.
#[derive(Clone)]
pub struct DecomposeProgram {
    desc: DecomposeDesc,
    layout: DecomposedLayout,
    /// Map from (thread, step) to `row * pieces + piece` of a tile.
    pub map: Map,
    /// Whether elements after the end of K are zeros instead of the content of memory.
    pub padded: bool,
}

impl DecomposeProgram {
    /// Creates the program of a kernel and an operand, which is K-major or not.
    pub fn new(desc: DecomposeDesc, layout: DecomposedLayout, along_k: bool) -> Self {
        Self { desc, layout, map: Arc::new(desc.pieces(along_k)), padded: true }
    }

    /// Returns the terms of the rows, and the properties of scaled rows. Element (mn, k) of the
    /// operand is `source[mn * along_mn + k * along_k]`, or 0 outside of the source.
    pub fn run(
        &self,
        source: &[f32],
        (along_mn, along_k): (usize, usize),
    ) -> (Vec<u16>, Vec<LineFacts>) {
        let (emulation, rows, depth) = (self.desc.emulation, self.layout.mn, DEPTH as usize);
        let across = self.layout.padded() as usize / depth;
        let element = |mn: usize, k: usize| match source.get(mn * along_mn + k * along_k) {
            Some(&x) if k < self.layout.k || !self.padded => x,
            _ => 0.0,
        };
        let line = |mn: usize| LineFacts::new((0..self.layout.k).map(move |k| element(mn, k)));
        let facts: Vec<LineFacts> =
            if emulation.scales() { (0..rows).map(line).collect() } else { Vec::new() };
        let (leading, padded) = (self.layout.leading() as usize, self.layout.padded() as usize);
        // The workspace initially holds NaN.
        let mut terms = vec![u16::MAX; rows * leading];
        let tiles = (0..rows.div_ceil(TILE as usize))
            .flat_map(|down| (0..across).map(move |along| (down, along)));
        for (down, along) in tiles {
            for (thread, step) in (0..self.desc.pieces(true).threads)
                .flat_map(|thread| (0..self.desc.steps()).map(move |step| (thread, step)))
            {
                let Some(place) = self.map.at(at(thread, step)) else { continue };
                let mn = down * TILE as usize + (place / PIECES) as usize;
                if mn >= rows {
                    continue;
                }
                let first = along * depth + (place % PIECES * PIECE) as usize;
                let shift = facts.get(mn).map_or(0, |facts| shift_of(facts.largest));
                for k in first..first + PIECE as usize {
                    let each = emulation.decompose(element(mn, k), shift);
                    for (term, bits) in
                        each.into_iter().enumerate().take(emulation.terms() as usize)
                    {
                        terms[mn * leading + term * padded + k] = bits;
                    }
                }
            }
        }
        (terms, facts)
    }
}
