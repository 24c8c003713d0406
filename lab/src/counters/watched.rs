//! What each thread of a block touches, access by access, while the checked executor runs it.
//!
//! An access that the kernel makes in one instruction is one here, however many elements it moves.

use super::Gathered;
use crate::banks::{Direction, WarpAccess};
use falchion::{
    Error,
    internals::{
        host::{Onlooker, Turn, look_on, perform},
        operand::OperandKind,
        plan::Program,
        schedule::{Fault, Lane, Step},
    },
};

/// What an access is for, and which memory it is an access to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Purpose {
    /// A vector of an operand's tile, read from global memory.
    Fetch,
    /// A vector, or a piece of it, from registers to shared memory.
    Store,
    /// A vector, to shared memory, by an asynchronous copy.
    Copy,
    /// Elements of a fragment, from shared memory.
    Load,
    /// An accumulator, to shared memory, where K is sliced.
    Deposit,
    /// An accumulator of another slice, from shared memory.
    Collect,
}

impl Purpose {
    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Fetch => "fetch",
            Self::Store => "store",
            Self::Copy => "copy",
            Self::Load => "load",
            Self::Deposit => "deposit",
            Self::Collect => "collect",
        }
    }

    const fn direction(self) -> Direction {
        match self {
            Self::Fetch | Self::Load | Self::Collect => Direction::Load,
            Self::Store | Self::Copy | Self::Deposit => Direction::Store,
        }
    }
}

/// Distances in global memory between neighbours along MN and along K, in elements: of A, and of B.
pub(super) type Strides = [(u64, u64); 2];

/// What an access is for, and the operand whose tile it touches.
pub(crate) type Whose = (Purpose, Option<OperandKind>);

/// The same, in an order: the index of the operand whose tile it touches.
type What = (Purpose, Option<usize>);

/// Tells of every access of every warp of block 0, over `tiles` tiles along K: of those to shared memory, and with `strides` of those
/// to global memory, whose matrices begin at address 0. Returns how many products were added up.
pub(crate) fn of_block(
    program: &Program,
    tiles: u32,
    strides: Option<Strides>,
    tell: &mut dyn FnMut(Whose, &WarpAccess),
) -> Result<u64, Error> {
    let mut tell =
        |(purpose, operand): What, access: &WarpAccess| tell((purpose, operand.map(|index| OperandKind::BOTH[index])), access);
    let mut walk = Walk { strides, warps: Gathered::new(&mut tell) };
    let multiply_adds = look_on(program, tiles, &mut walk)?;
    walk.warps.finish().map(|()| multiply_adds)
}

/// Someone who looks on while a block runs, and where matrices lie.
struct Walk<'t> {
    strides: Option<Strides>,
    warps: Gathered<'t, What>,
}

impl Onlooker for Walk<'_> {
    fn step(&mut self, number: u32, step: Step, turn: &mut Turn<'_, '_>) -> Result<(), Fault> {
        let base = turn.block.program.base;
        perform(&base, step, &mut Watched { turn, by: self, number })
    }

    fn barrier(&mut self) {
        self.warps.meet(|(purpose, _)| purpose.direction());
    }
}

/// A thread at its turn, with someone looking on.
struct Watched<'w, 't, 'b, 'a> {
    turn: &'w mut Turn<'b, 'a>,
    by: &'w mut Walk<'t>,
    number: u32,
}

impl Watched<'_, '_, '_, '_> {
    fn note(&mut self, purpose: Purpose, operand: Option<OperandKind>, [i, j]: [u32; 2], address: u64, bytes: u32) {
        let what = (purpose, operand.map(OperandKind::index));
        self.by.warps.add(self.turn.thread, what, [self.number, i, j], address, bytes);
    }

    /// A vector of the tile that is written, where it comes from.
    fn note_global(&mut self, operand: OperandKind, access: u32) {
        let tile = self.turn.state().written;
        let Some(strides) = self.by.strides.filter(|_| tile < self.turn.block.tiles) else { return };
        let Some((_, (mn, k))) = self.turn.elements(operand, access).next() else { return };
        let (along_mn, along_k) = strides[operand.index()];
        let facts = self.turn.block.operands[operand.index()];
        let k = u64::from(tile) * u64::from(self.turn.block.program.base.tiles.block.k) + u64::from(k);
        let address = facts.element.matrix_bytes(u64::from(mn) * along_mn + k * along_k);
        self.note(Purpose::Fetch, Some(operand), [access, 0], address, facts.access_bytes());
    }

    /// A vector of the tile that is written, where it goes, in pieces of `width` elements.
    fn note_shared(&mut self, purpose: Purpose, operand: OperandKind, access: u32, width: u32) -> Result<(), Fault> {
        let tile = self.turn.state().written;
        if tile < self.turn.block.tiles {
            for (i, coordinate) in self.turn.elements(operand, access).filter(|(i, _)| i.is_multiple_of(width)) {
                let place = self.turn.place(operand, tile, coordinate)?;
                self.note(purpose, Some(operand), [access, i], place.byte, place.bytes * width);
            }
        }
        Ok(())
    }

    fn note_sums(&mut self, purpose: Purpose) -> Result<(), Fault> {
        for index in 0..self.turn.block.accumulators {
            let place = self.turn.deposit_place(index)?;
            self.note(purpose, None, [index, 0], place.byte, place.bytes);
        }
        Ok(())
    }
}

impl Lane for Watched<'_, '_, '_, '_> {
    fn accesses(&self, operand: OperandKind) -> u32 {
        self.turn.accesses(operand)
    }

    fn held(&self, operand: OperandKind) -> u32 {
        self.turn.held(operand)
    }

    fn fetch(&mut self, operand: OperandKind, access: u32) -> Result<(), Fault> {
        self.note_global(operand, access);
        self.turn.fetch(operand, access)
    }

    fn store(&mut self, operand: OperandKind, access: u32) -> Result<(), Fault> {
        self.note_shared(Purpose::Store, operand, access, self.turn.block.operands[operand.index()].shared_access())?;
        self.turn.store(operand, access)
    }

    fn copy(&mut self, operand: OperandKind, access: u32) -> Result<(), Fault> {
        self.note_global(operand, access);
        self.note_shared(Purpose::Copy, operand, access, self.turn.block.operands[operand.index()].access)?;
        self.turn.copy(operand, access)
    }

    fn commit(&mut self) {
        self.turn.commit();
    }

    fn wait(&mut self, pending: u32) -> Result<(), Fault> {
        self.turn.wait(pending)
    }

    fn wrote(&mut self) {
        self.turn.wrote();
    }

    fn advance(&mut self) {
        self.turn.advance();
    }

    fn load(&mut self, operand: OperandKind, group: u32, element: u32) -> Result<(), Fault> {
        let (tile, width) = (self.turn.state().read, self.turn.block.operands[operand.index()].fragment_access());
        if tile < self.turn.block.tiles && element.is_multiple_of(width) {
            let place = self.turn.fragment_place(operand, tile, group, element)?;
            self.note(Purpose::Load, Some(operand), [group, element], place.byte, place.bytes * width);
        }
        self.turn.load(operand, group, element)
    }

    fn multiply(&mut self, group: u32) -> Result<(), Fault> {
        self.turn.multiply(group)
    }

    fn deposit(&mut self, slice: u32) -> Result<(), Fault> {
        if self.turn.slice() == slice {
            self.note_sums(Purpose::Deposit)?;
        }
        self.turn.deposit(slice)
    }

    fn collect(&mut self, slice: u32) -> Result<(), Fault> {
        if self.turn.slice() == 0 {
            self.note_sums(Purpose::Collect)?;
        }
        self.turn.collect(slice)
    }
}
