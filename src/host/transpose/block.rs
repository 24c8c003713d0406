//! One block of a transpose: its threads, their registers, and the order in which they run.

use crate::{
    host::{
        block::shuffle,
        shared_memory::{Access, Content, SharedMemory},
        vectors::side_by_side,
    },
    index::{at, points},
    operand::OperandKind,
    pass::transpose::TransposeProgram,
    schedule::{Fault, Step},
    thread::turn::turned,
};
use core::ops::Range;

/// Who looks on while a tile is transposed.
pub trait Watch {
    /// A thread's access; `which` tells it apart from its others of the kind since the last barrier, and is the same for the threads
    /// of a warp that make it together.
    fn touched(&mut self, thread: u32, which: [u32; 3], touch: TransposeTouch);
    /// All threads meet.
    fn barrier(&mut self);
}

/// Nobody looks on.
impl Watch for () {
    fn touched(&mut self, _: u32, _: [u32; 3], _: TransposeTouch) {}
    fn barrier(&mut self) {}
}

/// What a thread touches, and where: rows and columns are of A's tile, offsets of shared memory, in elements.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[allow(missing_docs, reason = "the variants say what their fields are")]
pub enum TransposeTouch {
    /// So many neighbours of a row of A.
    Read { row: i64, column: i64, elements: u32 },
    /// So many neighbours, from registers to shared memory.
    Store { offset: u32, elements: u32 },
    /// So many neighbours, from shared memory to registers.
    Load { offset: u32, elements: u32 },
    /// So many neighbours of a row of D, from element (row, column) of A's tile on; of B as well, where it is read.
    Write { row: i64, column: u32, elements: u32 },
}

/// A tile on its way: where its elements come from, and where they go. Rows and columns are counted from the tile's first; what is
/// gathered begins before it.
pub struct Tile<'a> {
    /// Rows of A that exist.
    pub rows: Range<i64>,
    /// Columns of A that exist.
    pub columns: Range<i64>,
    /// By how many elements the tile's part of a row of A begins beyond an aligned access.
    pub beyond_a: &'a dyn Fn(i64) -> u32,
    /// By how many its part of a row of D, a column of A, does.
    pub beyond_d: &'a dyn Fn(u32) -> u32,
    /// Element (row, column) of A: its bits, or its name.
    pub source: &'a dyn Fn(i64, i64) -> u64,
    /// Takes what becomes element (row, column) of A, transposed.
    pub sink: &'a mut dyn FnMut(i64, u32, u64),
    /// Who looks on.
    pub watch: &'a mut dyn Watch,
}

/// A block while it runs.
pub(super) struct Block<'p, 'a> {
    pub(super) program: &'p TransposeProgram,
    pub(super) tile: Tile<'a>,
    pub(super) shared: SharedMemory,
    /// Of each thread, its pieces of A: `None` where there is no element.
    pub(super) registers: Vec<Vec<Option<u64>>>,
    stored: Vec<bool>,
}

/// Runs a block; threads between barriers take turns in an order drawn from `seed`.
pub fn run(program: &TransposeProgram, tile: Tile<'_>, mut seed: u64) -> Result<(), Fault> {
    let d = &program.desc;
    let pieces = program.fetch.domain().column as usize;
    let registers = vec![vec![None; pieces * (d.turn * d.access_a) as usize]; d.threads as usize];
    let shared = SharedMemory::new(d.smem_bytes(), d.element_bytes);
    let stored = vec![false; (d.rows * d.columns) as usize];
    let mut block = Block { program, tile, shared, registers, stored };
    let mut order: Vec<u32> = (0..d.threads).collect();
    let mut phase = Vec::new();
    let steps = program.schedule.places().map(|(_, _, step)| step);
    for step in steps.chain([Step::Barrier]) {
        if step != Step::Barrier {
            phase.push(step);
            continue;
        }
        shuffle(&mut order, &mut seed);
        for &thread in &order {
            for &step in &phase {
                match step {
                    Step::Fetch => block.fetch(thread),
                    Step::Store => block.store(thread)?,
                    Step::Write => block.write(thread)?,
                    step => return Err(Fault::ForeignStep { step }),
                }
            }
        }
        phase.clear();
        block.shared.barrier();
        block.tile.watch.barrier();
    }
    block.finished()
}

/// Whether accesses to shared memory of more than one element are what they are taken for: neighbours, and aligned.
pub fn whole(program: &TransposeProgram) -> Result<(), Fault> {
    let d = &program.desc;
    if d.is_gathered() {
        let pieces = points(program.smem.as_ref()).filter(|point| point.column.is_multiple_of(d.stored()));
        for at_first in pieces {
            if !side_by_side(d.stored(), |i| program.smem.at(at(at_first.row, at_first.column + i))) {
                return Err(Fault::VectorApart { operand: OperandKind::A, mn: at_first.row, k: at_first.column });
            }
        }
        return Ok(());
    }
    for width in [d.turn, d.access_d] {
        for point in points(program.smem.as_ref()).filter(|point| d.is_staged() && point.row.is_multiple_of(width)) {
            if !side_by_side(width, |i| program.smem.at(at(point.row + i, point.column))) {
                return Err(Fault::VectorApart { operand: OperandKind::A, mn: point.row, k: point.column });
            }
        }
    }
    Ok(())
}

impl Block<'_, '_> {
    /// The first (row, column) of each piece that a thread reads, and the place of its first register.
    fn pieces(&self, thread: u32) -> impl Iterator<Item = (usize, u32, u32)> + use<> {
        let (d, map) = (self.program.desc, self.program.fetch.clone());
        let (across, elements) = (d.columns / d.access_a, d.turn * d.access_a);
        (0..map.domain().column).filter_map(move |step| {
            // A number beyond the last piece is that of none, whichever it is.
            let number = map.at(at(thread, step))?.min(d.rows / d.turn * across);
            Some(((step * elements) as usize, number / across * d.turn, number % across * d.access_a))
        })
    }

    pub(super) fn exists(&self, row: impl Into<i64>, column: impl Into<i64>) -> bool {
        self.tile.rows.contains(&row.into()) && self.tile.columns.contains(&column.into())
    }

    fn fetch(&mut self, thread: u32) {
        let d = self.program.desc;
        if d.is_gathered() {
            return self.fetch_lines(thread);
        }
        for (first, row, column) in self.pieces(thread) {
            for i in 0..d.turn {
                if self.exists(row + i, column) {
                    let touch = TransposeTouch::Read { row: (row + i).into(), column: column.into(), elements: d.access_a };
                    self.tile.watch.touched(thread, [first as u32, i, 0], touch);
                }
                for j in 0..d.access_a {
                    let value =
                        self.exists(row + i, column + j).then(|| (self.tile.source)((row + i).into(), (column + j).into()));
                    self.registers[thread as usize][first + (i * d.access_a + j) as usize] = value;
                }
            }
        }
    }

    /// Column `j` of the piece whose registers begin at `first`.
    fn column(&self, thread: u32, first: usize, j: u32) -> Vec<Option<u64>> {
        let d = &self.program.desc;
        let piece = &self.registers[thread as usize][first..][..(d.turn * d.access_a) as usize];
        turned(piece, d.access_a as usize, j as usize).copied().collect()
    }

    /// The offset in shared memory of an element of A's tile, and a thread's access to it.
    pub(super) fn place(&self, thread: u32, row: u32, column: u32) -> Result<(u32, Access), Fault> {
        let offset = self.program.smem.at(at(row, column)).ok_or(Fault::LeftOut { map: "smem", row, column })?;
        let bytes = self.program.desc.element_bytes;
        Ok((offset, Access { thread, byte: u64::from(offset) * u64::from(bytes), bytes }))
    }

    fn store(&mut self, thread: u32) -> Result<(), Fault> {
        if self.program.desc.is_gathered() {
            return self.store_lines(thread);
        }
        for (first, row, column) in self.pieces(thread) {
            for j in 0..self.program.desc.access_a {
                for (i, value) in (0..).zip(self.column(thread, first, j)) {
                    let (offset, place) = self.place(thread, row + i, column + j)?;
                    if i == 0 {
                        let elements = self.program.desc.turn;
                        self.tile.watch.touched(thread, [first as u32, j, 0], TransposeTouch::Store { offset, elements });
                    }
                    // What does not exist is written all the same, as whatever the register holds.
                    self.shared.write(place, Content { word: value.unwrap_or_default(), tag: 0 })?;
                }
            }
        }
        Ok(())
    }

    /// How far before the tile's first row the part of a row of D begins that the tile writes.
    pub(super) fn before(&self, column: u32) -> u32 {
        if self.program.desc.is_gathered() { (self.tile.beyond_d)(column) } else { 0 }
    }

    pub(super) fn put(&mut self, row: impl Into<i64>, column: u32, value: u64) -> Result<(), Fault> {
        let (row, d) = (row.into(), &self.program.desc);
        let place = row + i64::from(self.before(column));
        let inside = (0..i64::from(d.rows)).contains(&place) && column < d.columns;
        let stored = if inside { self.stored.get_mut(place as usize * d.columns as usize + column as usize) } else { None };
        if stored.is_none_or(|stored| core::mem::replace(stored, true)) {
            return Err(Fault::StoredTwice { row: place as u32, column });
        }
        (self.tile.sink)(row, column, value);
        Ok(())
    }

    fn write(&mut self, thread: u32) -> Result<(), Fault> {
        let d = self.program.desc;
        if !d.is_staged() {
            for (first, row, column) in self.pieces(thread) {
                for j in 0..d.access_a {
                    if self.exists(row, column + j) {
                        let touch = TransposeTouch::Write { row: row.into(), column: column + j, elements: d.turn };
                        self.tile.watch.touched(thread, [first as u32, j, 0], touch);
                    }
                    for (i, value) in (0..).zip(self.column(thread, first, j)) {
                        if let Some(value) = value {
                            self.put(row + i, column + j, value)?;
                        }
                    }
                }
            }
            return Ok(());
        }
        if d.is_gathered() {
            return self.write_gathered(thread);
        }
        for (step, column, first) in self.written(thread) {
            for row in first..first + d.access_d {
                if !self.exists(row, column) {
                    continue;
                }
                let (offset, place) = self.place(thread, row, column)?;
                if row == first {
                    self.tile.watch.touched(thread, [step, 0, 0], TransposeTouch::Load { offset, elements: d.access_d });
                    self.tile.watch.touched(
                        thread,
                        [step, 0, 0],
                        TransposeTouch::Write { row: row.into(), column, elements: d.access_d },
                    );
                }
                let value = self.shared.read(place)?.word;
                self.put(row, column, value)?;
            }
        }
        Ok(())
    }

    /// The steps in which a thread writes: the row of D, which is a column of A, and the place of the access in the tile's row of D.
    pub(super) fn written(&self, thread: u32) -> impl Iterator<Item = (u32, u32, u32)> + use<> {
        let (d, map) = (self.program.desc, self.program.write.clone());
        let across = d.rows / d.access_d;
        (0..map.domain().column).filter_map(move |step| {
            let number = map.at(at(thread, step))?.min(d.columns * across);
            Some((step, number / across, number % across * d.access_d))
        })
    }

    fn finished(&self) -> Result<(), Fault> {
        let d = &self.program.desc;
        for column in (0..d.columns).filter(|column| self.tile.columns.contains(&i64::from(*column))) {
            for place in 0..d.rows {
                let row = i64::from(place) - i64::from(self.before(column));
                if self.tile.rows.contains(&row) && !self.stored[(place * d.columns + column) as usize] {
                    return Err(Fault::NeverStored { row: place, column });
                }
            }
        }
        Ok(())
    }
}
