//! Shared memory that remembers.
//!
//! A cell is the smallest piece that an access touches. It knows its value, who wrote it and when, and who has read it since
//! the last barrier. "When" is the number of barriers the block has passed. A read needs a write that is the thread's own or
//! lies before a barrier; a write needs that no other thread has read or written since. Both orders of two unordered accesses
//! are found, so one run with any order of threads finds the race.

use crate::schedule::Fault;

/// What lies in a cell: a number or the name of a matrix element, and what it is known by.
#[derive(Clone, Copy, Default)]
pub(super) struct Content {
    pub word: u64,
    pub tag: u32,
}

/// What a cell remembers.
#[derive(Clone, Copy)]
struct Cell {
    value: Content,
    written: Written,
    reader: Reader,
    /// Barriers passed when it was last read.
    read_at: u32,
}

#[derive(Clone, Copy)]
enum Written {
    Never,
    /// An asynchronous copy that its thread has not waited for.
    Flying {
        by: u32,
    },
    /// A write, or a copy that has landed; the number of barriers passed by then.
    Landed {
        by: u32,
        at: u32,
    },
}

#[derive(Clone, Copy)]
enum Reader {
    One(u32),
    Many,
}

/// The shared memory of one block.
pub(super) struct SharedMemory {
    cells: Vec<Cell>,
    /// Bytes of a cell.
    granule: u32,
    /// Barriers passed.
    barriers: u32,
}

/// An access: by which thread, to which bytes.
#[derive(Clone, Copy)]
pub struct Access {
    /// By which thread.
    pub thread: u32,
    /// The first byte.
    pub byte: u64,
    /// So many bytes.
    pub bytes: u32,
}

impl SharedMemory {
    pub fn new(bytes: u32, granule: u32) -> Self {
        let never = Cell { value: Content::default(), written: Written::Never, reader: Reader::Many, read_at: u32::MAX };
        Self { cells: vec![never; (bytes / granule) as usize], granule, barriers: 0 }
    }

    pub fn barrier(&mut self) {
        self.barriers += 1;
    }

    fn cells(&self, access: Access) -> Result<core::ops::Range<usize>, Fault> {
        let first = (access.byte / u64::from(self.granule)) as usize;
        let count = access.bytes.div_ceil(self.granule) as usize;
        if first + count > self.cells.len() {
            let size = self.cells.len() as u64 * u64::from(self.granule);
            return Err(Fault::OutOfBounds { thread: access.thread, byte: access.byte, size });
        }
        Ok(first..first + count)
    }

    /// Whether `access` may write now.
    fn may_write(&self, access: Access) -> Result<core::ops::Range<usize>, Fault> {
        let range = self.cells(access)?;
        let (thread, byte) = (access.thread, access.byte);
        for cell in &self.cells[range.clone()] {
            if cell.read_at == self.barriers {
                match cell.reader {
                    Reader::One(by) if by == thread => {}
                    Reader::One(by) => return Err(Fault::WriteOverRead { thread, byte, by }),
                    Reader::Many => return Err(Fault::WriteOverRead { thread, byte, by: u32::MAX }),
                }
            }
            match cell.written {
                Written::Flying { by } => return Err(Fault::WriteOverWrite { thread, byte, by }),
                Written::Landed { by, at } if by != thread && at == self.barriers => {
                    return Err(Fault::WriteOverWrite { thread, byte, by });
                }
                _ => {}
            }
        }
        Ok(range)
    }

    pub fn write(&mut self, access: Access, value: Content) -> Result<(), Fault> {
        let range = self.may_write(access)?;
        let written = Written::Landed { by: access.thread, at: self.barriers };
        for cell in &mut self.cells[range] {
            *cell = Cell { value, written, reader: Reader::Many, read_at: u32::MAX };
        }
        Ok(())
    }

    /// An asynchronous copy sets out; it lands when its thread has waited.
    pub fn send(&mut self, access: Access, value: Content) -> Result<(), Fault> {
        let range = self.may_write(access)?;
        for cell in &mut self.cells[range] {
            *cell = Cell { value, written: Written::Flying { by: access.thread }, reader: Reader::Many, read_at: u32::MAX };
        }
        Ok(())
    }

    pub fn land(&mut self, access: Access) -> Result<(), Fault> {
        let range = self.cells(access)?;
        for cell in &mut self.cells[range] {
            cell.written = Written::Landed { by: access.thread, at: self.barriers };
        }
        Ok(())
    }

    pub fn read(&mut self, access: Access) -> Result<Content, Fault> {
        let range = self.cells(access)?;
        let (thread, byte) = (access.thread, access.byte);
        let now = self.barriers;
        let mut value = Content::default();
        for cell in &mut self.cells[range] {
            match cell.written {
                Written::Never => return Err(Fault::Uninitialized { thread, byte }),
                Written::Flying { by } => return Err(Fault::Unlanded { thread, byte, by }),
                Written::Landed { by, at } if by != thread && at == now => {
                    return Err(Fault::ReadOfUnordered { thread, byte, by });
                }
                Written::Landed { .. } => {}
            }
            cell.reader = match cell.reader {
                Reader::One(by) if cell.read_at == now && by != thread => Reader::Many,
                Reader::Many if cell.read_at == now => Reader::Many,
                _ => Reader::One(thread),
            };
            cell.read_at = now;
            value = cell.value;
        }
        Ok(value)
    }
}
