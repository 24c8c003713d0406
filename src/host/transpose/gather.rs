//! One block whose rows are gathered: they wait as they lie, and each thread takes its elements from wherever they are.

use super::block::{Block, TransposeTouch};
use crate::{host::shared_memory::Content, index::at, schedule::Fault};

impl Block<'_, '_> {
    /// A thread's pieces of lines: the step, the line, the place in the line, and row and column of A.
    fn parts(&self, thread: u32) -> Vec<(u32, u32, u32, i64, i64)> {
        let (d, map) = (self.program.desc, self.program.fetch.clone());
        let (lines, pieces) = (d.fetch().lines, d.fetch().pieces);
        let part = |step| {
            let number = map.at(at(thread, step))?.min(lines * pieces);
            let (line, place) = (number / pieces, number % pieces * d.access_a);
            let row = i64::from(line) - i64::from(d.access_d - 1);
            let column = i64::from(place) - i64::from((self.tile.beyond_a)(row));
            Some((step, line, place, row, column))
        };
        (0..map.domain().column).filter_map(part).collect()
    }

    fn is_whole(&self, row: i64, column: i64) -> bool {
        self.exists(row, column) && self.exists(row, column + i64::from(self.program.desc.access_a) - 1)
    }

    /// Reads pieces that exist whole. A block at A's edges reads them a step later, which nothing here can tell.
    pub(super) fn fetch_lines(&mut self, thread: u32) {
        let access = self.program.desc.access_a;
        for (step, _, _, row, column) in self.parts(thread) {
            let whole = self.is_whole(row, column);
            if whole {
                self.tile.watch.touched(thread, [step, 0, 0], TransposeTouch::Read { row, column, elements: access });
            }
            for i in 0..access {
                let value = whole.then(|| (self.tile.source)(row, column + i64::from(i)));
                self.registers[thread as usize][(step * access + i) as usize] = value;
            }
        }
    }

    /// Puts them into shared memory, and what exists of the others.
    pub(super) fn store_lines(&mut self, thread: u32) -> Result<(), Fault> {
        let access = self.program.desc.access_a;
        for (step, line, first, row, column) in self.parts(thread) {
            let whole = self.is_whole(row, column);
            for i in 0..access {
                let j = column + i64::from(i);
                if !whole && !self.exists(row, j) {
                    continue;
                }
                let (offset, place) = self.place(thread, line, first + i)?;
                let elements = if whole { access } else { 1 };
                if !whole {
                    self.tile.watch.touched(thread, [step, 1 + i, 0], TransposeTouch::Read { row, column: j, elements });
                }
                let stored = if whole { self.program.desc.stored() } else { 1 };
                if i % stored == 0 {
                    self.tile.watch.touched(thread, [step, i, 0], TransposeTouch::Store { offset, elements: stored });
                }
                let value = if whole {
                    self.registers[thread as usize][(step * access + i) as usize].unwrap_or_default()
                } else {
                    (self.tile.source)(row, j)
                };
                self.shared.write(place, Content { word: value, tag: 0 })?;
            }
        }
        Ok(())
    }

    /// Writes aligned accesses of D, element by element where a row ends.
    pub(super) fn write_gathered(&mut self, thread: u32) -> Result<(), Fault> {
        let access = self.program.desc.access_d;
        for (step, column, place) in self.written(thread) {
            let from = i64::from(place) - i64::from(self.before(column));
            let whole = self.exists(from, column) && self.exists(from + i64::from(access) - 1, column);
            for i in 0..access {
                let row = from + i64::from(i);
                if !self.exists(row, column) {
                    continue;
                }
                // The first line is the row an access less one before the tile's first.
                let line = (row + i64::from(access - 1)) as u32;
                let (offset, at) = self.place(thread, line, column + (self.tile.beyond_a)(row))?;
                let number = if whole { 0 } else { access } + if self.program.desc.rotates() { line % access } else { i };
                self.tile.watch.touched(thread, [step, number, 0], TransposeTouch::Load { offset, elements: 1 });
                if !whole || i == 0 {
                    let elements = if whole { access } else { 1 };
                    self.tile.watch.touched(thread, [step, i, 0], TransposeTouch::Write { row, column, elements });
                }
                let value = self.shared.read(at)?.word;
                self.put(row, column, value)?;
            }
        }
        Ok(())
    }
}
