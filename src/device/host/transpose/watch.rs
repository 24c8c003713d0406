//! What each warp of a block of a transpose touches, access by access, while the checked executor runs it.
//!
//! Threads take turns; a warp's lanes come together again by what they do, as in the products' `watch.rs`.

use crate::{
    banks::{Direction, LANES, NotAnAccess, WarpAccess},
    device::transpose::TransposeDesc,
    threadblock::thread_map::WARP,
};
use std::collections::BTreeMap;

/// What a thread touches, and where: rows and columns are of A's tile, offsets of shared memory, in elements.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Touch {
    /// `access_a` neighbours of a row of A.
    Read { row: u32, column: u32 },
    /// `turn` neighbours, from registers to shared memory.
    Store { offset: u32 },
    /// So many neighbours, from shared memory to registers.
    Load { offset: u32, elements: u32 },
    /// So many neighbours of a row of D, from element (row, column) of A's tile on; of B as well, where it is read.
    Write { row: u32, column: u32, elements: u32 },
}

/// Who looks on while a block runs.
pub(super) trait Watch {
    /// A thread's access; `which` tells it apart from its others of the kind since the last barrier.
    fn touched(&mut self, thread: u32, which: [u32; 2], touch: Touch);
    /// All threads meet.
    fn barrier(&mut self) {}
}

/// Nobody looks on.
pub(super) struct Unwatched;

impl Watch for Unwatched {
    fn touched(&mut self, _: u32, _: [u32; 2], _: Touch) {}
}

/// Which memory an access is to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Memory {
    A,
    B,
    Stores,
    Loads,
    D,
}

/// A matrix in global memory: the byte at which the tile's part of it begins, and the elements from row to row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Laid {
    pub first_byte: u64,
    pub leading: u64,
}

/// Accesses between two barriers, lane by lane.
pub(super) struct Log<'t> {
    pub desc: &'t TransposeDesc,
    /// A and B where they are read, and D.
    pub a: Option<Laid>,
    pub b: Option<Laid>,
    pub d: Laid,
    /// Columns of A before the tile, and from its first column to A's last.
    pub columns: (u32, u32),
    /// Takes each access of a warp.
    pub tell: &'t mut dyn FnMut(Memory, &WarpAccess),
    pub failed: Option<NotAnAccess>,
    open: BTreeMap<Key, (u32, [Option<u64>; LANES])>,
}

/// Which access: the warp, the memory, and numbers that tell its accesses apart.
type Key = (u32, Memory, [u32; 2], u32);

impl<'t> Log<'t> {
    /// A log that is empty.
    pub fn new(
        desc: &'t TransposeDesc,
        [a, b]: [Option<Laid>; 2],
        d: Laid,
        columns: (u32, u32),
        tell: &'t mut dyn FnMut(Memory, &WarpAccess),
    ) -> Self {
        Self { desc, a, b, d, columns, tell, failed: None, open: BTreeMap::new() }
    }

    fn note(&mut self, thread: u32, memory: Memory, (which, part): ([u32; 2], u32), address: u64, elements: u32) {
        let key = (thread / WARP, memory, which, part);
        let bytes = elements * self.desc.element_bytes;
        self.open.entry(key).or_insert((bytes, [None; LANES])).1[(thread % WARP) as usize] = Some(address);
    }

    /// The accesses of a read that needs no alignment: a word, the two words around it, or its elements.
    fn note_peeled(&mut self, thread: u32, which: [u32; 2], address: u64, column: u32) {
        let (count, (before, left)) = (self.desc.access_a, self.columns);
        let (beyond, bytes) = (address % 4, u64::from(self.desc.element_bytes));
        if beyond == 0 && column + count <= left {
            self.note(thread, Memory::A, (which, 0), address, count);
        } else if before + column >= count && column + 2 * count <= left {
            self.note(thread, Memory::A, (which, 1), address - beyond, count);
            self.note(thread, Memory::A, (which, 2), address - beyond + 4, count);
        } else {
            for i in (0..count).filter(|i| column + i < left) {
                self.note(thread, Memory::A, (which, 3 + i), address + u64::from(i) * bytes, 1);
            }
        }
    }
}

impl Watch for Log<'_> {
    fn touched(&mut self, thread: u32, which: [u32; 2], touch: Touch) {
        let bytes = u64::from(self.desc.element_bytes);
        let address =
            |laid: Laid, line: u32, along: u32| laid.first_byte + (u64::from(line) * laid.leading + u64::from(along)) * bytes;
        match touch {
            Touch::Read { row, column } => {
                let Some(a) = self.a else { return };
                if self.desc.peel_a {
                    self.note_peeled(thread, which, address(a, row, column), column);
                } else {
                    self.note(thread, Memory::A, (which, 0), address(a, row, column), self.desc.access_a);
                }
            }
            Touch::Store { offset } => {
                self.note(thread, Memory::Stores, (which, 0), u64::from(offset) * bytes, self.desc.turn);
            }
            Touch::Load { offset, elements } => {
                self.note(thread, Memory::Loads, (which, elements), u64::from(offset) * bytes, elements);
            }
            Touch::Write { row, column, elements } => {
                if let Some(b) = self.b {
                    self.note(thread, Memory::B, (which, elements), address(b, column, row), elements);
                }
                self.note(thread, Memory::D, (which, elements), address(self.d, column, row), elements);
            }
        }
    }

    fn barrier(&mut self) {
        for ((_, memory, _, _), (bytes, lanes)) in core::mem::take(&mut self.open) {
            let direction = match memory {
                Memory::A | Memory::B | Memory::Loads => Direction::Load,
                Memory::Stores | Memory::D => Direction::Store,
            };
            match WarpAccess::new(direction, bytes, lanes) {
                Ok(access) => (self.tell)(memory, &access),
                Err(what) => self.failed = Some(what),
            }
        }
    }
}
