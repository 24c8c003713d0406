//! What each thread of a block touches, access by access, while the checked executor runs it.
//!
//! An access that the kernel makes in one instruction is one here, however many elements it moves.

use super::{
    accumulated::Accumulated,
    block::{Block, Started},
    plan::stored_once,
    turn::Turn,
    vectors::whole,
};
use crate::words::words;
use crate::{
    desc::{OperandDesc, SimtDesc},
    error::Error,
    operand::OperandKind,
    schedule::{Fault, Lane, Step},
    threadblock::{Program, mma::perform},
};

/// Who looks on while a block runs.
pub trait Watch<Touch> {
    /// A thread's access; `which` tells it apart from its others of the kind since the last barrier, and is the same for the threads
    /// of a warp that make it together.
    fn touched(&mut self, thread: u32, which: [u32; 3], touch: Touch);
    /// All threads meet.
    fn barrier(&mut self);
}

/// Nobody looks on.
impl<Touch> Watch<Touch> for () {
    fn touched(&mut self, _: u32, _: [u32; 3], _: Touch) {}
    fn barrier(&mut self) {}
}

words! {
    /// What an access is for, and which memory it is an access to.
    #[derive(PartialOrd, Ord)]
    pub enum Purpose {
        /// A vector of an operand's tile, read from global memory.
        Fetch = "fetch",
        /// A vector, or a piece of it, from registers to shared memory.
        Store = "store",
        /// A vector, to shared memory, by an asynchronous copy.
        Copy = "copy",
        /// Elements of a fragment, from shared memory.
        Load = "load",
        /// An accumulator, to shared memory, where K is sliced.
        Deposit = "deposit",
        /// An accumulator of another slice, from shared memory.
        Collect = "collect",
    }
}

/// What a thread of a product touches.
#[derive(Clone, Copy, Debug)]
pub struct Touch {
    /// What for.
    pub purpose: Purpose,
    /// Whose tile; accumulators are of neither.
    pub operand: Option<OperandKind>,
    /// The first byte: of shared memory, or of the matrix.
    pub address: u64,
    /// So many bytes.
    pub bytes: u32,
}

/// Distances in global memory between neighbours along MN and along K, in elements: of A, and of B.
pub type Strides = [(u64, u64); 2];

/// Runs block 0 over `tiles` tiles along K and tells of every access of every thread: those to shared memory, and with `strides`
/// those to global memory, whose matrices begin at address 0. Returns how many products were added up.
pub fn watch(program: &Program, tiles: u32, strides: Option<Strides>, watch: &mut dyn Watch<Touch>) -> Result<u64, Error> {
    stored_once(program)?;
    whole(program)?;
    let nothing = |_: OperandKind, _: u32, _: u32, _: u32| 0;
    let started = Started { source: &nothing, accumulators: Accumulated::Counted(0), tiles, seed: 0 };
    let block = Block::run_watched(program, &started, Some(Watcher { strides, watch }))?;
    let products = |of: &Accumulated| if let Accumulated::Counted(products) = of { *products } else { 0 };
    Ok(block.threads.iter().map(|thread| products(&thread.accumulators)).sum())
}

/// Someone who looks on, and where matrices lie.
pub(super) struct Watcher<'t> {
    strides: Option<Strides>,
    watch: &'t mut dyn Watch<Touch>,
}

impl Watcher<'_> {
    /// Performs a thread's step, the `number`-th since the last barrier.
    pub fn perform(&mut self, number: u32, step: Step, turn: &mut Turn<'_, '_>) -> Result<(), Fault> {
        let program = turn.block.program;
        perform(&program.desc, step, &mut Watched { turn, by: self, number })
    }

    /// All threads meet.
    pub fn barrier(&mut self) {
        self.watch.barrier();
    }
}

/// A thread at its turn, with someone looking on.
struct Watched<'w, 't, 'b, 'a> {
    turn: &'w mut Turn<'b, 'a>,
    by: &'w mut Watcher<'t>,
    number: u32,
}

impl Watched<'_, '_, '_, '_> {
    fn note(&mut self, purpose: Purpose, operand: Option<OperandKind>, [i, j]: [u32; 2], address: u64, bytes: u32) {
        self.by.watch.touched(self.turn.thread, [self.number, i, j], Touch { purpose, operand, address, bytes });
    }

    /// A vector of the tile that is written, where it comes from.
    fn note_global(&mut self, operand: OperandKind, access: u32) {
        let tile = self.turn.state().written;
        let Some(strides) = self.by.strides.filter(|_| tile < self.turn.block.tiles) else { return };
        let Some((_, (mn, k))) = self.turn.elements(operand, access).next() else { return };
        let (along_mn, along_k) = strides[operand.index()];
        let facts = self.operand(operand);
        let k = u64::from(tile) * u64::from(self.turn.block.program.desc.knobs.threadblock.k) + u64::from(k);
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
    fn desc(&self) -> &SimtDesc {
        self.turn.desc()
    }

    fn operand(&self, operand: OperandKind) -> OperandDesc {
        self.turn.operand(operand)
    }

    fn fetch(&mut self, operand: OperandKind, access: u32) -> Result<(), Fault> {
        self.note_global(operand, access);
        self.turn.fetch(operand, access)
    }

    fn store(&mut self, operand: OperandKind, access: u32) -> Result<(), Fault> {
        self.note_shared(Purpose::Store, operand, access, self.operand(operand).shared_access())?;
        self.turn.store(operand, access)
    }

    fn copy(&mut self, operand: OperandKind, access: u32) -> Result<(), Fault> {
        self.note_global(operand, access);
        self.note_shared(Purpose::Copy, operand, access, self.operand(operand).access)?;
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
        let (tile, width) = (self.turn.state().read, self.operand(operand).fragment_access());
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
