//! One CTA of a transpose: the effect of each step on a thread and its registers.

use super::{
    block::{self, BlockShape, Content, Lane, LaneSteps, Place},
    observer::{Observer, Purpose, Touched},
};
use core::ops::Range;
use falchion::internals::{
    host::shared::vectors::vectors,
    index::at,
    operand::transpose::TransposeProgram,
    schedule::{Fault, Spelled, Step},
    shape::OperandKind,
    thread::take_column,
};

/// The tile of a CTA, with its source and its destination. Rows and columns are relative to the
/// first element of the tile. A gathered tile also reads elements before it.
pub struct Tile<'a> {
    /// Rows of A that exist.
    pub rows: Range<i64>,
    /// Columns of A that exist.
    pub columns: Range<i64>,
    /// Offset of the tile's part of a row of A within an aligned access, in elements.
    pub beyond_a: &'a dyn Fn(i64) -> u32,
    /// Offset of the tile's part of a row of D, which is a column of A, within an aligned sector.
    pub beyond_d: &'a dyn Fn(u32) -> u32,
    /// Returns element (row, column) of A: its bits, or its name.
    pub source: &'a dyn Fn(i64, i64) -> u64,
    /// Receives element (row, column) of A, whose place in D is (column, row).
    pub sink: &'a mut dyn FnMut(i64, u32, u64),
}

/// A CTA while it runs.
struct Block<'p, 'a> {
    program: &'p TransposeProgram,
    tile: Tile<'a>,
    /// The registers of each thread, which hold its pieces of A; `None` for elements that do not
    /// exist.
    registers: Vec<Vec<Option<u64>>>,
    stored: Vec<bool>,
}

/// Runs a CTA. The order of warps and lanes follows from `seed`.
///
/// # Errors
/// The first fault in that order.
pub fn run(
    program: &TransposeProgram,
    tile: Tile<'_>,
    seed: u64,
    observer: Option<&mut dyn Observer>,
) -> Result<(), Fault> {
    let d = &program.desc;
    let registers = program.fetch.domain().column * d.thread_rows * d.access_a;
    let mut block = Block {
        program,
        tile,
        registers: vec![vec![None; registers as usize]; d.threads as usize],
        stored: vec![false; (d.rows * d.columns) as usize],
    };
    let (threads, bytes, granule) = (d.threads, d.smem_bytes(), d.element_bytes);
    let shape = BlockShape { schedule: &program.schedule, k_tiles: &[1], threads, bytes, granule };
    block::run(shape, &mut block, seed, observer)?;
    block.finished()
}

/// Checks that the elements of each vector access to shared memory are contiguous and aligned.
///
/// # Errors
/// The first access that is not.
pub fn whole(program: &TransposeProgram) -> Result<(), Fault> {
    let d = &program.desc;
    // Gathered tiles stay untransposed in shared memory; other tiles are stored transposed.
    let (widths, along) = if d.is_gathered() {
        ([d.stored(), 1], (0, 1))
    } else {
        ([d.thread_rows, d.access_d], (1, 0))
    };
    let mut staged = widths.into_iter().filter(|_| d.is_staged());
    staged.try_for_each(|width| vectors(program.smem.as_ref(), OperandKind::A, width, along))
}

/// A piece of A that a thread reads at once: `thread_rows` rows with one access each. It has its
/// first register, its position in the shared-memory tile, and its first row and column of A.
struct Piece {
    first: u32,
    line: u32,
    place: u32,
    row: i64,
    column: i64,
}

impl LaneSteps for Block<'_, '_> {
    fn perform(&mut self, lane: &mut Lane<'_, '_>, step: Step) -> Result<(), Fault> {
        match step {
            Step::Fetch => {
                self.fetch(lane);
                Ok(())
            }
            Step::Store => self.store(lane),
            Step::Write if self.program.desc.is_staged() => self.write(lane),
            Step::Write => self.write_registers(lane),
            step => Err(Fault::ForeignStep { step: step.name() }),
        }
    }
}

impl Block<'_, '_> {
    fn pieces(&self, thread: u32) -> Vec<Piece> {
        let (d, map) = (&self.program.desc, &self.program.fetch);
        let (lines, pieces) = (d.fetch().lines, d.fetch().pieces);
        let piece = |step| {
            // Numbers beyond the last piece are all treated as one.
            let number = map.at(at(thread, step))?.min(lines * pieces);
            let (line, place) = (number / pieces * d.thread_rows, number % pieces * d.access_a);
            let row = i64::from(line) - i64::from(d.lines_before());
            let column = i64::from(place) - i64::from(self.beyond_a(row));
            Some(Piece { first: step * d.thread_rows * d.access_a, line, place, row, column })
        };
        (0..map.domain().column).filter_map(piece).collect()
    }

    /// Returns the offset of the tile's part of a row of A within an aligned access; 0 if the tile
    /// is not gathered.
    fn beyond_a(&self, row: i64) -> u32 {
        if self.program.desc.is_gathered() { (self.tile.beyond_a)(row) } else { 0 }
    }

    /// Returns the elements by which the tile's part of a row of D begins before the tile's first
    /// row.
    fn before(&self, column: u32) -> u32 {
        if self.program.desc.is_gathered() { (self.tile.beyond_d)(column) } else { 0 }
    }

    fn exists(&self, row: i64, column: i64) -> bool {
        self.tile.rows.contains(&row) && self.tile.columns.contains(&column)
    }

    /// Returns whether all elements of a gathered piece exist.
    fn is_whole(&self, row: i64, column: i64) -> bool {
        self.exists(row, column)
            && self.exists(row, column + i64::from(self.program.desc.access_a) - 1)
    }

    /// Loads pieces into registers. The store step loads the partial gathered pieces at the edges
    /// of A; the result is the same, because A does not change.
    fn fetch(&mut self, lane: &mut Lane<'_, '_>) {
        let (d, gathered) = (self.program.desc, self.program.desc.is_gathered());
        for piece in self.pieces(lane.thread) {
            let whole = self.is_whole(piece.row, piece.column);
            for i in 0..d.thread_rows {
                let (row, column) = (piece.row + i64::from(i), piece.column);
                if if gathered { whole } else { self.exists(row, column) } {
                    let touched = Touched::Global { row, column, elements: d.access_a };
                    lane.sees(Purpose::Fetch, None, [piece.first, i], touched);
                }
                for j in 0..d.access_a {
                    let column = column + i64::from(j);
                    let there = if gathered { whole } else { self.exists(row, column) };
                    let value = there.then(|| (self.tile.source)(row, column));
                    self.registers[lane.thread as usize]
                        [(piece.first + i * d.access_a + j) as usize] = value;
                }
            }
        }
    }

    /// Returns column `j` of a piece from a thread's registers.
    fn column(&self, thread: u32, piece: &Piece, j: u32) -> Vec<Option<u64>> {
        let d = &self.program.desc;
        let registers = &self.registers[thread as usize][piece.first as usize..]
            [..(d.thread_rows * d.access_a) as usize];
        take_column(registers, d.access_a as usize, j as usize).copied().collect()
    }

    /// Returns the place of an element of the tile in shared memory.
    fn place(&self, row: u32, column: u32) -> Result<Place, Fault> {
        let offset = self.program.smem.at(at(row, column)).ok_or(Fault::LeftOut {
            map: "smem",
            row,
            column,
        })?;
        let bytes = self.program.desc.element_bytes;
        Ok(Place { byte: u64::from(offset) * u64::from(bytes), bytes })
    }

    /// Stores pieces to shared memory. For a partial gathered piece, stores only the elements that
    /// exist.
    fn store(&mut self, lane: &mut Lane<'_, '_>) -> Result<(), Fault> {
        let (d, gathered) = (self.program.desc, self.program.desc.is_gathered());
        for piece in self.pieces(lane.thread) {
            let whole = self.is_whole(piece.row, piece.column);
            for j in 0..d.access_a {
                let column = piece.column + i64::from(j);
                for (i, mut value) in (0..).zip(self.column(lane.thread, &piece, j)) {
                    let row = piece.row + i64::from(i);
                    if gathered && !whole {
                        if !self.exists(row, column) {
                            continue;
                        }
                        let touched = Touched::Global { row, column, elements: 1 };
                        lane.sees(Purpose::Fetch, None, [piece.first, 1 + j], touched);
                        value = Some((self.tile.source)(row, column));
                    }
                    let place = self.place(piece.line + i, piece.place + j)?;
                    // Elements in the vector store that begins here; 0 inside a vector.
                    let together = match (gathered, whole) {
                        (false, _) if i == 0 => d.thread_rows,
                        (true, true) if j.is_multiple_of(d.stored()) => d.stored(),
                        (true, false) => 1,
                        _ => 0,
                    };
                    if together > 0 {
                        lane.sees(
                            Purpose::Store,
                            None,
                            [piece.first, j],
                            place.neighbours(together),
                        );
                    }
                    // Elements that do not exist are also written, with the value of the register.
                    lane.write(place, Content { word: value.unwrap_or_default(), tag: 0 })?;
                }
            }
        }
        Ok(())
    }

    fn put(&mut self, row: i64, column: u32, value: u64) -> Result<(), Fault> {
        let d = &self.program.desc;
        let place = row + i64::from(self.before(column));
        let inside = (0..i64::from(d.rows)).contains(&place) && column < d.columns;
        let stored = if inside {
            self.stored.get_mut(place as usize * d.columns as usize + column as usize)
        } else {
            None
        };
        if stored.is_none_or(|stored| core::mem::replace(stored, true)) {
            return Err(Fault::StoredTwice { row: place as u32, column });
        }
        (self.tile.sink)(row, column, value);
        Ok(())
    }

    /// Writes pieces from registers to D.
    fn write_registers(&mut self, lane: &mut Lane<'_, '_>) -> Result<(), Fault> {
        let d = self.program.desc;
        for piece in self.pieces(lane.thread) {
            for j in 0..d.access_a {
                let column = piece.place + j;
                if self.exists(piece.row, column.into()) {
                    let touched = Touched::Global {
                        row: piece.row,
                        column: column.into(),
                        elements: d.thread_rows,
                    };
                    lane.sees(Purpose::Write, None, [piece.first, j], touched);
                }
                for (i, value) in (0..).zip(self.column(lane.thread, &piece, j)) {
                    value.map_or(Ok(()), |value| self.put(piece.row + i, column, value))?;
                }
            }
        }
        Ok(())
    }

    /// Writes elements from shared memory to D, in vector accesses to rows of D, which are columns
    /// of A. Gathered tiles use single elements at the ends of a row.
    fn write(&mut self, lane: &mut Lane<'_, '_>) -> Result<(), Fault> {
        let (d, map, gathered) =
            (self.program.desc, self.program.write.clone(), self.program.desc.is_gathered());
        let across = d.rows / d.access_d;
        for step in 0..map.domain().column {
            let Some(number) = map.at(at(lane.thread, step)) else { continue };
            let number = number.min(d.columns * across);
            let (column, place) = (number / across, number % across * d.access_d);
            let from = i64::from(place) - i64::from(self.before(column));
            let last = from + i64::from(d.access_d) - 1;
            let apart =
                gathered && !(self.exists(from, column.into()) && self.exists(last, column.into()));
            for i in 0..d.access_d {
                let row = from + i64::from(i);
                if !self.exists(row, column.into()) {
                    continue;
                }
                let line = row + i64::from(d.lines_before());
                let place = self.place(line as u32, column + self.beyond_a(row))?;
                if gathered || i == 0 {
                    let elements = if gathered { 1 } else { d.access_d };
                    let number = if apart { d.access_d } else { 0 }
                        + if d.rotates() { line as u32 % d.access_d } else { i };
                    lane.sees(Purpose::Load, None, [step, number], place.neighbours(elements));
                }
                if apart || i == 0 {
                    let touched = Touched::Global {
                        row,
                        column: column.into(),
                        elements: if apart { 1 } else { d.access_d },
                    };
                    lane.sees(Purpose::Write, None, [step, i], touched);
                }
                let value = lane.read(place)?.word;
                self.put(row, column, value)?;
            }
        }
        Ok(())
    }

    fn finished(&self) -> Result<(), Fault> {
        let d = &self.program.desc;
        for column in
            (0..d.columns).filter(|column| self.tile.columns.contains(&i64::from(*column)))
        {
            for place in 0..d.rows {
                let row = i64::from(place) - i64::from(self.before(column));
                if self.tile.rows.contains(&row)
                    && !self.stored[(place * d.columns + column) as usize]
                {
                    return Err(Fault::NeverStored { row: place, column });
                }
            }
        }
        Ok(())
    }
}
