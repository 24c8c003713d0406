//! One thread at its turn: what the steps of a kernel mean, with everything watched.

use super::{
    accumulated::Held,
    block::{Block, Thread},
    shared_memory::{Access, Content},
};
use crate::{
    index::at,
    operand::OperandKind,
    schedule::{Fault, Lane},
};

/// What tag deposits carry, so that no tile is mistaken for one.
const DEPOSITED: u32 = 1 << 31;

/// One thread at its turn.
pub struct Turn<'b, 'a> {
    /// Its block.
    pub block: &'b mut Block<'a>,
    /// Its number.
    pub thread: u32,
}

impl Turn<'_, '_> {
    /// Its registers.
    pub fn state(&mut self) -> &mut Thread {
        &mut self.block.threads[self.thread as usize]
    }

    /// The vector of an access, or nothing to do.
    fn vector(&self, operand: OperandKind, access: u32) -> Option<(u32, u32)> {
        let contiguous = self.block.contiguous[operand.index()];
        let number = self.block.program.maps.copy[operand.index()].at(at(self.thread, access))?;
        Some((number / contiguous, number % contiguous))
    }

    /// The (mn, k) of each element of an access.
    pub fn elements(&self, operand: OperandKind, access: u32) -> impl Iterator<Item = (u32, (u32, u32))> + use<> {
        let facts = self.block.operands[operand.index()];
        let vector = self.vector(operand, access);
        (0..facts.access).filter_map(move |i| vector.map(|vector| (i, facts.coordinate(vector, i))))
    }

    /// Where element (mn, k) of the tile numbered `tile` lies.
    pub fn place(&self, operand: OperandKind, tile: u32, (mn, k): (u32, u32)) -> Result<Access, Fault> {
        let (base, facts) = (&self.block.program.base, &self.block.operands[operand.index()]);
        let offset = self.block.program.maps.smem[operand.index()].at(at(mn, k)).ok_or(Fault::LeftOut {
            map: "smem",
            row: mn,
            column: k,
        })?;
        let [stage_of_a, stage] = self.block.stage_bytes;
        let first = u64::from(tile % base.stages) * stage + if operand == OperandKind::B { stage_of_a } else { 0 };
        let bytes = facts.element.bytes_of(1);
        Ok(Access { thread: self.thread, byte: first + u64::from(offset) * u64::from(bytes), bytes })
    }

    /// Where an element of the fragment of a k-group lies.
    pub fn fragment_place(&self, operand: OperandKind, tile: u32, group: u32, element: u32) -> Result<Access, Fault> {
        let maps = &self.block.program.maps;
        let left_out = |map, column| Fault::LeftOut { map, row: self.thread, column };
        let mn = maps.fragment[operand.index()].at(at(self.thread, element)).ok_or(left_out("fragment", element))?;
        let k = maps.depth.at(at(self.thread, group)).ok_or(left_out("depth", group))?;
        self.place(operand, tile, (mn, k))
    }

    /// Where an accumulator is deposited.
    pub fn deposit_place(&self, index: u32) -> Result<Access, Fault> {
        let row = self.thread % self.block.threads_per_slice;
        let offset =
            self.block.program.maps.deposit.at(at(row, index)).ok_or(Fault::LeftOut { map: "deposit", row, column: index })?;
        let bytes = self.block.program.base.accumulator.bytes_of(1);
        Ok(Access { thread: self.thread, byte: u64::from(offset) * u64::from(bytes), bytes })
    }

    /// Its slice of K.
    pub fn slice(&self) -> u32 {
        self.thread / self.block.threads_per_slice
    }
}

impl Lane for Turn<'_, '_> {
    fn accesses(&self, operand: OperandKind) -> u32 {
        self.block.operands[operand.index()].thread_map().accesses()
    }

    fn held(&self, operand: OperandKind) -> u32 {
        self.block.operands[operand.index()].thread_mn()
    }

    fn fetch(&mut self, operand: OperandKind, access: u32) -> Result<(), Fault> {
        let tile = self.state().written;
        if tile < self.block.tiles {
            let width = self.block.operands[operand.index()].access;
            for (i, (mn, k)) in self.elements(operand, access) {
                let word = (self.block.source)(operand, tile, mn, k);
                self.state().staging[operand.index()][(access * width + i) as usize] = word;
            }
            self.state().staged_tile = tile;
        }
        Ok(())
    }

    fn store(&mut self, operand: OperandKind, access: u32) -> Result<(), Fault> {
        let tile = self.state().written;
        if tile < self.block.tiles {
            let width = self.block.operands[operand.index()].access;
            for (i, coordinate) in self.elements(operand, access) {
                let place = self.place(operand, tile, coordinate)?;
                let word = self.state().staging[operand.index()][(access * width + i) as usize];
                let tag = self.state().staged_tile;
                self.block.shared.write(place, Content { word, tag })?;
            }
        }
        Ok(())
    }

    fn copy(&mut self, operand: OperandKind, access: u32) -> Result<(), Fault> {
        let tile = self.state().written;
        if tile < self.block.tiles {
            for (_, (mn, k)) in self.elements(operand, access) {
                let place = self.place(operand, tile, (mn, k))?;
                let word = (self.block.source)(operand, tile, mn, k);
                self.block.shared.send(place, Content { word, tag: tile })?;
                self.state().issued.push(place);
            }
        }
        Ok(())
    }

    fn commit(&mut self) {
        let issued = core::mem::take(&mut self.state().issued);
        self.state().groups.push_back(issued);
    }

    fn wait(&mut self, pending: u32) -> Result<(), Fault> {
        while self.state().groups.len() > pending as usize {
            for place in self.state().groups.pop_front().unwrap_or_default() {
                self.block.shared.land(place)?;
            }
        }
        Ok(())
    }

    fn wrote(&mut self) {
        self.state().written += 1;
    }

    fn advance(&mut self) {
        self.state().read += 1;
    }

    fn load(&mut self, operand: OperandKind, group: u32, element: u32) -> Result<(), Fault> {
        let tile = self.state().read;
        if tile >= self.block.tiles {
            return Ok(());
        }
        let place = self.fragment_place(operand, tile, group, element)?;
        let Content { word, tag: found } = self.block.shared.read(place)?;
        if found != tile {
            return Err(Fault::Stale { thread: self.thread, operand, wanted: tile, found });
        }
        self.state().fragments[operand.index()][group as usize % 2][element as usize] = Held { word, tile, group };
        Ok(())
    }

    fn multiply(&mut self, group: u32) -> Result<(), Fault> {
        let groups = u64::from(self.block.program.base.tiles.warp.k);
        let thread = self.thread;
        let state = self.state();
        let tile = (state.multiplied / groups) as u32;
        if state.multiplied % groups != u64::from(group) {
            return Err(Fault::OutOfOrder { thread, tile, group, found: state.multiplied });
        }
        for operand in OperandKind::BOTH {
            let fragment = &state.fragments[operand.index()][group as usize % 2];
            if fragment.iter().any(|held| (held.tile, held.group) != (tile, group)) {
                return Err(Fault::StaleFragment { thread, operand, tile, group });
            }
        }
        state.multiplied += 1;
        let [a, b] = &state.fragments;
        state.accumulators.multiply(&a[group as usize % 2], &b[group as usize % 2]);
        Ok(())
    }

    fn deposit(&mut self, slice: u32) -> Result<(), Fault> {
        if self.slice() == slice {
            for index in 0..self.block.accumulators {
                let place = self.deposit_place(index)?;
                let word = self.state().accumulators.word(index);
                self.block.shared.write(place, Content { word, tag: DEPOSITED | slice })?;
            }
        }
        Ok(())
    }

    fn collect(&mut self, slice: u32) -> Result<(), Fault> {
        if self.slice() == 0 {
            for index in 0..self.block.accumulators {
                let place = self.deposit_place(index)?;
                let Content { word, tag } = self.block.shared.read(place)?;
                if tag != DEPOSITED | slice {
                    return Err(Fault::NotDeposited { thread: self.thread, slice });
                }
                self.state().accumulators.add(index, word);
            }
            self.state().collected += 1;
        }
        Ok(())
    }
}
