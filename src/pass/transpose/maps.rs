//! Which thread moves which piece of a tile.

use super::desc::Lanes;
use crate::{
    index::{Coord, IndexMap, affine, at},
    layout::algebra::Composed,
    shape::at_least_one,
};

/// The map (thread, step) to the number of a piece: `line * pieces + piece of the line`.
///
/// A tile is cut into `lines` of `pieces`; neighbouring pieces of a line are neighbours in global
/// memory. Threads take pieces in the order of their numbers, or line after line.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PieceMap {
    /// Threads of a block.
    pub threads: u32,
    /// Lines of a tile.
    pub lines: u32,
    /// Pieces of a line.
    pub pieces: u32,
    /// Whether neighbouring threads take neighbouring pieces.
    pub lanes: Lanes,
}

impl PieceMap {
    /// Pieces that neighbouring threads take before the next line, or column of pieces, begins.
    pub const fn run(&self) -> u32 {
        match self.lanes {
            Lanes::Along => self.pieces,
            Lanes::Across => self.lines,
        }
    }

    /// Pieces that a thread moves.
    pub const fn steps(&self) -> u32 {
        self.lines.saturating_mul(self.pieces).div_ceil(at_least_one(self.threads))
    }

    /// The (line, piece) of a thread's step.
    pub const fn place(&self, thread: u32, step: u32) -> (u32, u32) {
        let number = thread.saturating_add(step.saturating_mul(self.threads));
        let (lines, pieces) = (at_least_one(self.lines), at_least_one(self.pieces));
        match self.lanes {
            Lanes::Along => (number / pieces, number % pieces),
            Lanes::Across => (number % lines, number / lines),
        }
    }
}

impl IndexMap for PieceMap {
    fn domain(&self) -> Coord {
        Coord { row: self.threads, column: self.steps() }
    }

    fn codomain(&self) -> u32 {
        self.lines.saturating_mul(self.pieces)
    }

    fn at(&self, point: Coord) -> Option<u32> {
        let (line, piece) = self.place(point.row, point.column);
        (line < self.lines && piece < self.pieces)
            .then(|| line.saturating_mul(self.pieces).saturating_add(piece))
    }

    /// The pieces in the order of their numbers after the numbers; across lines, where the last
    /// step is whole.
    fn layout(&self) -> Option<Composed> {
        let (lines, pieces) = (self.lines, self.pieces);
        let number = affine(self.domain(), &[(self.threads, 1)], &[(self.steps(), self.threads)])?;
        if matches!(self.lanes, Lanes::Along) {
            return Some(number);
        }
        let tile = affine(at(lines, pieces), &[(lines, pieces)], &[(pieces, 1)]);
        tile.filter(|_| number.layout.size() == u64::from(self.codomain()))?
            .compose_by(&number.layout.into())
            .ok()
    }
}

/// The map (line, element of its accesses) to an offset in shared memory, in elements.
///
/// A line is what a row of A has in a tile, in aligned accesses: one more than a tile is wide.
/// Lanes of a warp gather from lines that are a group apart, so that groups begin a skew further
/// on, and their elements on other banks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct GatheredTile {
    /// Lines.
    pub lines: u32,
    /// Elements of a line.
    pub pitch: u32,
    /// Lines of a group: elements that a thread gathers.
    pub group: u32,
    /// Elements between groups.
    pub skew: u32,
}

impl GatheredTile {
    /// Elements from the first to the last.
    pub const fn elements(&self) -> u32 {
        self.lines
            .saturating_mul(self.pitch)
            .saturating_add(self.skewed(self.lines.saturating_sub(1)))
    }

    /// How much further on a line begins than its number says.
    const fn skewed(&self, line: u32) -> u32 {
        (line / at_least_one(self.group)).saturating_mul(self.skew)
    }
}

impl IndexMap for GatheredTile {
    fn domain(&self) -> Coord {
        Coord { row: self.lines, column: self.pitch }
    }

    fn codomain(&self) -> u32 {
        self.elements()
    }

    fn at(&self, point: Coord) -> Option<u32> {
        let inside = point.row < self.lines && point.column < self.pitch;
        let start = point.row.saturating_mul(self.pitch).saturating_add(self.skewed(point.row));
        inside.then(|| start.saturating_add(point.column))
    }

    fn layout(&self) -> Option<Composed> {
        let group = self.group.clamp(1, self.lines.max(1));
        let groups = (
            self.lines.div_ceil(group),
            group.saturating_mul(self.pitch).saturating_add(self.skew),
        );
        affine(self.domain(), &[(group, self.pitch), groups], &[(self.pitch, 1)])
    }
}
