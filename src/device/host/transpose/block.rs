//! One block of a transpose: its threads, their registers, and the order in which they run.

use super::{
    TransposeProgram,
    watch::{Touch, Watch},
};
use crate::{
    desc::OperandKind,
    device::host::{
        Fault,
        block::shuffle,
        shared_memory::{Access, SharedMemory},
        vectors::side_by_side,
    },
    index::{at, points},
    schedule::Step,
    thread::turn::turned,
};

/// A tile on its way: where its elements come from, and where they go.
pub(super) struct Tile<'a, V> {
    /// Rows and columns of A that exist.
    pub extents: (u32, u32),
    /// By how many elements the tile's part of a row of D, a column of A, begins beyond an aligned access.
    pub shift: &'a dyn Fn(u32) -> u32,
    /// Element (row, column) of A's tile.
    pub source: &'a dyn Fn(u32, u32) -> V,
    /// Takes what becomes element (row, column) of A's tile, transposed.
    pub sink: &'a mut dyn FnMut(u32, u32, V),
    /// Who looks on.
    pub watch: &'a mut dyn Watch,
}

/// A block while it runs; `V` is what moves: bits, or names of elements.
struct Block<'p, 'a, V> {
    program: &'p TransposeProgram,
    tile: Tile<'a, V>,
    shared: SharedMemory<V>,
    /// Of each thread, its pieces of A: `None` where there is no element.
    registers: Vec<Vec<Option<V>>>,
    stored: Vec<bool>,
}

/// Runs a block; threads between barriers take turns in an order drawn from `seed`.
pub(super) fn run<V: Copy + Default>(program: &TransposeProgram, tile: Tile<'_, V>, mut seed: u64) -> Result<(), Fault> {
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
pub(super) fn whole(program: &TransposeProgram) -> Result<(), Fault> {
    let d = &program.desc;
    // Elements of a peeled access leave shared memory one by one.
    for width in [d.turn, if d.peel_d { 1 } else { d.access_d }] {
        for point in points(program.smem.as_ref()).filter(|point| d.is_staged() && point.row.is_multiple_of(width)) {
            if !side_by_side(width, |i| program.smem.at(at(point.row + i, point.column))) {
                return Err(Fault::VectorApart { operand: OperandKind::A, mn: point.row, k: point.column });
            }
        }
    }
    Ok(())
}

impl<V: Copy + Default> Block<'_, '_, V> {
    /// The first (row, column) of each piece that a thread reads, and the place of its first register.
    fn pieces(&self, thread: u32) -> impl Iterator<Item = (usize, u32, u32)> + use<V> {
        let (d, map) = (self.program.desc, self.program.fetch.clone());
        let (across, elements) = (d.columns / d.access_a, d.turn * d.access_a);
        (0..map.domain().column).filter_map(move |step| {
            // A number beyond the last piece is that of none, whichever it is.
            let number = map.at(at(thread, step))?.min(d.rows / d.turn * across);
            Some(((step * elements) as usize, number / across * d.turn, number % across * d.access_a))
        })
    }

    fn exists(&self, row: u32, column: u32) -> bool {
        row < self.tile.extents.0 && column < self.tile.extents.1
    }

    fn fetch(&mut self, thread: u32) {
        let d = self.program.desc;
        for (first, row, column) in self.pieces(thread) {
            for i in 0..d.turn {
                if self.exists(row + i, column) {
                    self.tile.watch.touched(thread, [first as u32, i], Touch::Read { row: row + i, column });
                }
                for j in 0..d.access_a {
                    let value = self.exists(row + i, column + j).then(|| (self.tile.source)(row + i, column + j));
                    self.registers[thread as usize][first + (i * d.access_a + j) as usize] = value;
                }
            }
        }
    }

    /// Column `j` of the piece whose registers begin at `first`.
    fn column(&self, thread: u32, first: usize, j: u32) -> Vec<Option<V>> {
        let d = &self.program.desc;
        let piece = &self.registers[thread as usize][first..][..(d.turn * d.access_a) as usize];
        turned(piece, d.access_a as usize, j as usize).copied().collect()
    }

    /// The offset in shared memory of an element of A's tile, and a thread's access to it.
    fn place(&self, thread: u32, row: u32, column: u32) -> Result<(u32, Access), Fault> {
        let offset = self.program.smem.at(at(row, column)).ok_or(Fault::LeftOut { map: "smem", row, column })?;
        let bytes = self.program.desc.element_bytes;
        Ok((offset, Access { thread, byte: u64::from(offset) * u64::from(bytes), bytes }))
    }

    fn store(&mut self, thread: u32) -> Result<(), Fault> {
        for (first, row, column) in self.pieces(thread) {
            for j in 0..self.program.desc.access_a {
                for (i, value) in (0..).zip(self.column(thread, first, j)) {
                    let (offset, place) = self.place(thread, row + i, column + j)?;
                    if i == 0 {
                        self.tile.watch.touched(thread, [first as u32, j], Touch::Store { offset });
                    }
                    // What does not exist is written all the same, as whatever the register holds.
                    self.shared.write(place, value.unwrap_or_default())?;
                }
            }
        }
        Ok(())
    }

    fn put(&mut self, row: u32, column: u32, value: V) -> Result<(), Fault> {
        let stored = self.stored.get_mut((row * self.program.desc.columns + column) as usize);
        if stored.is_none_or(|stored| core::mem::replace(stored, true)) {
            return Err(Fault::StoredTwice { row, column });
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
                        let touch = Touch::Write { row, column: column + j, elements: d.turn };
                        self.tile.watch.touched(thread, [first as u32, j], touch);
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
        let (map, across) = (self.program.write.clone(), d.rows / d.access_d);
        for step in 0..map.domain().column {
            let Some(number) = map.at(at(thread, step)) else { continue };
            let number = number.min(d.columns * across);
            let (column, first) = (number / across, number % across * d.access_d);
            let shift = if d.peel_d { (self.tile.shift)(column) } else { 0 };
            // What an access would reach beyond, at either end of the row, goes element by element.
            let whole = !d.peel_d || (first >= shift && first - shift + d.access_d <= self.tile.extents.0);
            for i in 0..d.access_d {
                // What lies before the tile's first row stands for its last.
                let row = (first + i + d.rows - shift) % d.rows;
                if !self.exists(row, column) {
                    continue;
                }
                let (offset, place) = self.place(thread, row, column)?;
                if d.peel_d || i == 0 {
                    let elements = if d.peel_d { 1 } else { d.access_d };
                    self.tile.watch.touched(
                        thread,
                        [step, i + if whole { 0 } else { d.access_d }],
                        Touch::Load { offset, elements },
                    );
                }
                if !whole || i == 0 {
                    let elements = if whole { d.access_d } else { 1 };
                    self.tile.watch.touched(thread, [step, i], Touch::Write { row, column, elements });
                }
                let value = self.shared.read(place)?;
                self.put(row, column, value)?;
            }
        }
        Ok(())
    }

    fn finished(&self) -> Result<(), Fault> {
        let (rows, columns) = self.tile.extents;
        for row in 0..rows.min(self.program.desc.rows) {
            for column in 0..columns.min(self.program.desc.columns) {
                if !self.stored[(row * self.program.desc.columns + column) as usize] {
                    return Err(Fault::NeverStored { row, column });
                }
            }
        }
        Ok(())
    }
}
