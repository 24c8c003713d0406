//! The maps from threads to the pieces of a tile, and the layout of gathered tiles.

use crate::{
    layout::{
        algebra::Composed,
        index_map::{Coord, IndexMap, affine, at},
    },
    operand::transpose::desc::Lanes,
    shape::at_least_one,
};

/// The map (thread, step) to the number of a piece: `line * pieces + piece of the line`.
///
/// A tile has `lines` lines of `pieces` pieces. Consecutive pieces of a line are contiguous in
/// global memory. Consecutive threads take consecutive pieces of a line, or the same piece of
/// consecutive lines.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PieceMap {
    /// Threads per CTA.
    pub threads: u32,
    /// Lines per tile.
    pub lines: u32,
    /// Pieces per line.
    pub pieces: u32,
    /// Whether consecutive threads take pieces along a line or across lines.
    pub lanes: Lanes,
}

impl PieceMap {
    /// Returns the number of pieces that consecutive threads take before the next line, or column
    /// of pieces, begins.
    pub const fn run(&self) -> u32 {
        match self.lanes {
            Lanes::Along => self.pieces,
            Lanes::Across => self.lines,
        }
    }

    /// Returns the number of pieces per thread.
    pub const fn steps(&self) -> u32 {
        self.lines.saturating_mul(self.pieces).div_ceil(at_least_one(self.threads))
    }

    /// Returns the (line, piece) of a thread's step.
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

    /// Composes the numbering of pieces with the numbering of threads and steps. Across lines, this
    /// needs a whole last step.
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
/// A line holds a tile's part of a row of A in aligned accesses, one more than the tile is wide.
/// The lanes of a warp gather from lines that are one group apart. Each group therefore begins one
/// skew later, so that the elements lie on other banks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct GatheredTile {
    /// Number of lines.
    pub lines: u32,
    /// Elements per line.
    pub pitch: u32,
    /// Lines per group, which is the number of elements that a thread gathers.
    pub group: u32,
    /// Elements between groups.
    pub skew: u32,
}

impl GatheredTile {
    /// Returns the number of elements from the first to the last.
    pub const fn elements(&self) -> u32 {
        self.lines
            .saturating_mul(self.pitch)
            .saturating_add(self.skewed(self.lines.saturating_sub(1)))
    }

    /// Returns the elements of skew before a line.
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
