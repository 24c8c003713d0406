//! Shared memory with race detection.
//!
//! A cell is the smallest piece that an access touches. It stores its content, its last writer, and
//! its readers, with the epochs of their [`Clock`]s. A read is valid if the last write comes from
//! the same lane or is ordered before the read. A write is valid if every earlier access is ordered
//! before it. Two lanes of a warp are ordered if an epoch of the warp ends between their accesses.
//! One run, in any order, therefore finds every unordered pair of accesses that it performs.

use super::sync::Clock;
use core::ops::Range;

/// Marks a read that lasts until its agent has waited for it.
const UNDER_WAY: u32 = u32::MAX;

/// Bits of the lane number in a recorded read.
const LANE_BITS: u32 = 6;

/// The lane number that stands for several lanes.
const MANY: u32 = 32;

/// A lane of an agent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct By {
    pub agent: u32,
    pub lane: u32,
}

/// Two accesses that are not ordered.
#[derive(Clone, Copy, Debug)]
pub(super) enum Conflict {
    /// The cell has never been written.
    Uninitialized,
    /// The cell is the destination of an asynchronous copy that the reader has not waited for.
    Unlanded(By),
    /// The write of the cell by this lane is not ordered before the read.
    Unordered(By),
    /// A read of the cell is not ordered before the write. The reader is `None` if several lanes
    /// read, or if the read is still in progress.
    OverRead(Option<By>),
    /// The write of the cell by this lane is not ordered before the new write, or is still in
    /// progress.
    OverWrite(By),
}

#[derive(Clone, Copy)]
enum Written {
    Never,
    Flying(By),
    Landed(By, u32),
}

struct Cell<C> {
    content: C,
    written: Written,
}

/// The cells of a cluster or a CTA, and the recorded accesses to each cell.
pub(super) struct SharedMemory<C> {
    cells: Vec<Cell<C>>,
    /// The last read of each cell by each reader: the epoch plus 1, shifted by [`LANE_BITS`], and
    /// the lane. 0 stands for no read.
    reads: Vec<u32>,
    readers: usize,
}

impl<C: Clone + Default> SharedMemory<C> {
    /// Returns `cells` empty cells. The first `readers` agents may read them.
    pub fn new(cells: usize, readers: usize) -> Self {
        let empty = || Cell { content: C::default(), written: Written::Never };
        Self {
            cells: (0..cells).map(|_| empty()).collect(),
            reads: vec![0; cells * readers],
            readers,
        }
    }

    pub fn len(&self) -> usize {
        self.cells.len()
    }

    /// Checks that a lane may write a cell now.
    fn may_write(&self, cell: usize, clock: &Clock, lane: u32) -> Result<(), Conflict> {
        let reads = &self.reads[cell * self.readers..][..self.readers];
        let late = |(read, over): (&u32, &u32)| read >> LANE_BITS > *over;
        if reads.iter().zip(clock.over()).any(late) {
            for (agent, pair) in
                reads.iter().zip(clock.over()).enumerate().filter(|(_, pair)| late(*pair))
            {
                let by = pair.0 & ((1 << LANE_BITS) - 1);
                if (agent, by) != (clock.own, lane) {
                    return Err(Conflict::OverRead(
                        (by < MANY).then_some(By { agent: agent as u32, lane: by }),
                    ));
                }
            }
        }
        match self.cells[cell].written {
            Written::Flying(by) => Err(Conflict::OverWrite(by)),
            Written::Landed(by, epoch) if !Self::ordered(by, epoch, clock, lane) => {
                Err(Conflict::OverWrite(by))
            }
            _ => Ok(()),
        }
    }

    fn ordered(by: By, epoch: u32, clock: &Clock, lane: u32) -> bool {
        (by.agent as usize, by.lane) == (clock.own, lane) || clock.knows(by.agent as usize, epoch)
    }

    /// Writes a cell from a lane of the agent of `clock`.
    pub fn write(
        &mut self,
        cell: usize,
        clock: &Clock,
        lane: u32,
        content: C,
    ) -> Result<(), Conflict> {
        self.send(cell, clock, lane, content)?;
        self.land(cell, By { agent: clock.own as u32, lane }, clock.epoch());
        Ok(())
    }

    /// Issues an asynchronous copy to a cell. The copy lands when [`land`](Self::land) is called.
    pub fn send(
        &mut self,
        cell: usize,
        clock: &Clock,
        lane: u32,
        content: C,
    ) -> Result<(), Conflict> {
        self.may_write(cell, clock, lane)?;
        self.cells[cell] =
            Cell { content, written: Written::Flying(By { agent: clock.own as u32, lane }) };
        Ok(())
    }

    /// Lets the copy to a cell land in epoch `epoch` of an agent.
    pub fn land(&mut self, cell: usize, by: By, epoch: u32) {
        self.cells[cell].written = Written::Landed(by, epoch);
    }

    /// Reads a cell from a lane of the agent of `clock`.
    pub fn read(&mut self, cell: usize, clock: &Clock, lane: u32) -> Result<&C, Conflict> {
        let Cell { content, written } = &self.cells[cell];
        match *written {
            Written::Never => return Err(Conflict::Uninitialized),
            Written::Flying(by) => return Err(Conflict::Unlanded(by)),
            Written::Landed(by, epoch) if !Self::ordered(by, epoch, clock, lane) => {
                return Err(Conflict::Unordered(by));
            }
            Written::Landed(..) => {}
        }
        let known = &mut self.reads[cell * self.readers + clock.own];
        let read = (clock.epoch() + 1) << LANE_BITS;
        *known = match *known {
            UNDER_WAY => UNDER_WAY,
            other if other >> LANE_BITS == read >> LANE_BITS && other != read | lane => read | MANY,
            _ => read | lane,
        };
        Ok(content)
    }

    /// Returns whether the write of a cell has landed, and is ordered before the next access of a
    /// lane of the agent of `clock`.
    pub fn is_ordered(&self, cell: usize, clock: &Clock, lane: u32) -> bool {
        match self.cells[cell].written {
            Written::Landed(by, epoch) => Self::ordered(by, epoch, clock, lane),
            Written::Never | Written::Flying(_) => false,
        }
    }

    /// Begins a read by an agent that lasts until [`end_reading`](Self::end_reading).
    pub fn begin_reading(&mut self, cell: usize, agent: usize) {
        self.reads[cell * self.readers + agent] = UNDER_WAY;
    }

    /// Ends the read of a cell, in the current epoch of `clock`.
    pub fn end_reading(&mut self, cell: usize, clock: &Clock) {
        let known = &mut self.reads[cell * self.readers + clock.own];
        if *known == UNDER_WAY {
            *known = (clock.epoch() + 1) << LANE_BITS;
        }
    }

    /// Returns the content of a cell without a check.
    pub fn content(&self, cell: usize) -> &C {
        &self.cells[cell].content
    }

    /// Returns the content of a cell for a change in place, without a check.
    pub fn content_mut(&mut self, cell: usize) -> &mut C {
        &mut self.cells[cell].content
    }

    /// Returns whether copies to some cells are in progress, and whether reads of them are.
    pub fn under_way(&self, cells: Range<usize>) -> (bool, bool) {
        let copies =
            self.cells[cells.clone()].iter().any(|cell| matches!(cell.written, Written::Flying(_)));
        (
            copies,
            self.reads[cells.start * self.readers..cells.end * self.readers].contains(&UNDER_WAY),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_of_a_warp_are_in_order_where_an_epoch_lies_between() {
        let (mut memory, mut clock) = (SharedMemory::<u32>::new(1, 2), Clock::new(0, 2));
        assert!(matches!(memory.read(0, &clock, 3), Err(Conflict::Uninitialized)));
        memory.write(0, &clock, 3, 7).expect("nobody was there");
        assert!(matches!(memory.read(0, &clock, 3), Ok(7)), "its own");
        assert!(matches!(
            memory.read(0, &clock, 4),
            Err(Conflict::Unordered(By { agent: 0, lane: 3 }))
        ));
        assert!(matches!(
            memory.write(0, &clock, 4, 8),
            Err(Conflict::OverRead(Some(By { agent: 0, lane: 3 })))
        ));
        clock.end_epoch();
        assert!(matches!(memory.read(0, &clock, 4), Ok(7)));
        assert!(memory.write(0, &clock, 4, 8).is_ok(), "it was the last to read");
    }

    #[test]
    fn writers_must_be_ordered_after_every_reader() {
        let (mut memory, mut reader, mut writer) =
            (SharedMemory::<u32>::new(1, 3), Clock::new(0, 3), Clock::new(1, 3));
        memory.write(0, &writer, 0, 7).expect("nobody was there");
        reader.learn(writer.end_epoch());
        memory.read(0, &reader, 0).expect("the reader has synchronized with the write");
        memory.read(0, &reader, 1).expect("the reader has synchronized with the write");
        assert!(
            matches!(memory.write(0, &writer, 0, 8), Err(Conflict::OverRead(None))),
            "two lanes"
        );
        memory.begin_reading(0, 0);
        writer.learn(reader.end_epoch());
        assert!(
            matches!(memory.write(0, &writer, 0, 8), Err(Conflict::OverRead(None))),
            "the read goes on"
        );
        memory.end_reading(0, &reader);
        assert!(
            memory.write(0, &writer, 0, 8).is_err(),
            "it ended in an epoch that the writer does not know to be over"
        );
        writer.learn(reader.end_epoch());
        memory.send(0, &writer, 0, 8).expect("all are in order");
        assert!(
            matches!(memory.read(0, &writer, 0), Err(Conflict::Unlanded(_))),
            "not even its own, before it has landed"
        );
        // It lands in an epoch of agent 2, a barrier.
        let mut barrier = Clock::new(2, 3);
        memory.land(0, By { agent: 2, lane: 0 }, barrier.epoch());
        assert!(matches!(memory.read(0, &reader, 0), Err(Conflict::Unordered(_))));
        reader.learn(barrier.end_epoch());
        assert!(matches!(memory.read(0, &reader, 0), Ok(8)));
    }
}
