//! What each warp of a block of a transpose touches, access by access, while the checked executor runs it.
//!
//! Threads take turns; a warp's lanes come together again by what they do, as in the products' `watch.rs`.

use crate::{
    pass::transpose::TransposeDesc,
    threadblock::{
        banks::{Direction, LANES, NotAnAccess, WarpAccess},
        thread_map::WARP,
    },
};
use std::collections::BTreeMap;

/// What a thread touches, and where: rows and columns are of A's tile, offsets of shared memory, in elements.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Touch {
    /// So many neighbours of a row of A.
    Read { row: i64, column: i64, elements: u32 },
    /// So many neighbours, from registers to shared memory.
    Store { offset: u32, elements: u32 },
    /// So many neighbours, from shared memory to registers.
    Load { offset: u32, elements: u32 },
    /// So many neighbours of a row of D, from element (row, column) of A's tile on; of B as well, where it is read.
    Write { row: i64, column: u32, elements: u32 },
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
        tell: &'t mut dyn FnMut(Memory, &WarpAccess),
    ) -> Self {
        Self { desc, a, b, d, tell, failed: None, open: BTreeMap::new() }
    }

    fn note(&mut self, thread: u32, memory: Memory, (which, part): ([u32; 2], u32), address: u64, elements: u32) {
        let key = (thread / WARP, memory, which, part);
        let bytes = elements * self.desc.element_bytes;
        self.open.entry(key).or_insert((bytes, [None; LANES])).1[(thread % WARP) as usize] = Some(address);
    }
}

impl Watch for Log<'_> {
    fn touched(&mut self, thread: u32, which: [u32; 2], touch: Touch) {
        let bytes = u64::from(self.desc.element_bytes);
        // What lies before the tile lies before its first byte: addresses wrap, and banks and lines with them.
        let address = |laid: Laid, line: i64, along: i64| {
            let elements = (line as u64).wrapping_mul(laid.leading).wrapping_add(along as u64);
            laid.first_byte.wrapping_add(elements.wrapping_mul(bytes))
        };
        match touch {
            Touch::Read { row, column, elements } => {
                if let Some(a) = self.a {
                    self.note(thread, Memory::A, (which, elements), address(a, row, column), elements);
                }
            }
            Touch::Store { offset, elements } => {
                self.note(thread, Memory::Stores, (which, elements), u64::from(offset) * bytes, elements);
            }
            Touch::Load { offset, elements } => {
                self.note(thread, Memory::Loads, (which, elements), u64::from(offset) * bytes, elements);
            }
            Touch::Write { row, column, elements } => {
                if let Some(b) = self.b {
                    self.note(thread, Memory::B, (which, elements), address(b, column.into(), row), elements);
                }
                self.note(thread, Memory::D, (which, elements), address(self.d, column.into(), row), elements);
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
