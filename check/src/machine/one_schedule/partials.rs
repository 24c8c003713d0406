//! Sliced-K: the warp slices of a CTA store their partial accumulators to shared memory, and warp
//! slice 0 adds them.

use super::{Block, Content, Lane, Place, Purpose};
use falchion::internals::{index::at, schedule::Fault};

/// Tag bit of partial accumulators, which distinguishes them from k-tiles.
const PARTIALS: u32 = 1 << 31;

impl Block<'_> {
    /// Returns the warp slice of a thread, and the index of the thread in its warp slice.
    fn warp_slice(&self, thread: u32) -> (u32, u32) {
        let threads = self.program.base.tiles.threads_per_warp_slice();
        (thread / threads, thread % threads)
    }

    /// Returns the place of a partial accumulator of a thread.
    fn partials_place(
        &self,
        lane: &mut Lane<'_, '_>,
        index: u32,
        purpose: Purpose,
    ) -> Result<Place, Fault> {
        let row = self.warp_slice(lane.thread).1;
        let left_out = Fault::LeftOut { map: "partials", row, column: index };
        let offset = self.program.maps.partials.at(at(row, index)).ok_or(left_out)?;
        let bytes = self.program.base.accumulator.bytes_of(1);
        let place = Place { byte: u64::from(offset) * u64::from(bytes), bytes };
        lane.sees(purpose, None, [index, 0], place.neighbours(1));
        Ok(place)
    }

    pub(super) fn store_warp_slice(
        &mut self,
        lane: &mut Lane<'_, '_>,
        slice: u32,
    ) -> Result<(), Fault> {
        let all = if self.warp_slice(lane.thread).0 == slice {
            self.program.base.tiles.accumulators()
        } else {
            0
        };
        for index in 0..all {
            let place = self.partials_place(lane, index, Purpose::EpilogueStore)?;
            let word = self.threads[lane.thread as usize].accumulators.word(index);
            lane.write(place, Content { word, tag: PARTIALS | slice })?;
        }
        Ok(())
    }

    pub(super) fn reduce_warp_slice(
        &mut self,
        lane: &mut Lane<'_, '_>,
        slice: u32,
    ) -> Result<(), Fault> {
        if self.warp_slice(lane.thread).0 != 0 {
            return Ok(());
        }
        for index in 0..self.program.base.tiles.accumulators() {
            let place = self.partials_place(lane, index, Purpose::EpilogueLoad)?;
            let Content { word, tag } = lane.read(place)?;
            if tag != PARTIALS | slice {
                return Err(Fault::PartialsNotStored { thread: lane.thread, slice });
            }
            self.threads[lane.thread as usize].accumulators.add(index, word);
        }
        self.threads[lane.thread as usize].reduced += 1;
        Ok(())
    }
}
