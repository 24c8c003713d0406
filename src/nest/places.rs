//! Places of candidates: combinations of the values of three free knobs, in order.

use crate::{
    nest::{GemmDesc, Knobs, Pins},
    warp::{MmaSyncKnobs, SimtKnobs, WarpMma, WgmmaKnobs},
};

/// Numbers of values of three free knobs. The first changes slowest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Places {
    values: [u32; 3],
}

impl Places {
    pub(crate) const fn new(values: [u32; 3]) -> Self {
        Self { values }
    }

    /// Returns the number of places.
    const fn count(self) -> u32 {
        self.values[0] * self.values[1] * self.values[2]
    }

    /// Returns the values at a place.
    const fn at(self, place: u32) -> [u32; 3] {
        let [_, second, third] = self.values;
        [place / third / second, place / third % second, place % third]
    }
}

impl GemmDesc {
    /// Returns the first candidate at or after a place, and the place after it. A candidate has the
    /// pins, and free knobs with which its tiles nest and its resources suffice. `self` has the
    /// knobs of a row, with the pins applied.
    pub(crate) const fn candidate(&self, pins: &Pins, from: u32) -> Option<(Self, u32)> {
        // No access with another number of elements divides a tile.
        let [a, b] = &self.operands;
        if !a.access.is_power_of_two() || !b.access.is_power_of_two() {
            return None;
        }
        let (places, mut place) = (self.places(pins), from);
        while place < places.count() {
            let found = self.completed(pins, places.at(place));
            place += 1;
            if let Some(knobs) = found
                && let Some(desc) = self.with_kernel_knobs(&knobs).sufficing(pins)
            {
                return Some((desc, place));
            }
        }
        None
    }

    /// Returns the description whose refusal explains that there is no candidate: the first whose
    /// tiles nest, whatever its resources.
    pub(crate) const fn without_candidate(&self, pins: &Pins) -> Self {
        let (places, mut place) = (self.places(pins), 0);
        while place < places.count() {
            if let Some(knobs) = self.completed(pins, places.at(place)) {
                return self.with_kernel_knobs(&knobs).with_fitting_stages(pins);
            }
            place += 1;
        }
        *self
    }

    /// Returns the places of the candidates of this main loop and MMA.
    const fn places(&self, pins: &Pins) -> Places {
        match (self.has_producer(), self.mma) {
            (true, WarpMma::Wgmma(_)) => WgmmaKnobs::places(pins),
            (true, _) => SimtKnobs::consumer_places(pins),
            (false, WarpMma::MmaSync(_)) => MmaSyncKnobs::places(pins),
            (false, _) => SimtKnobs::places(pins),
        }
    }

    /// Returns the knobs at a place, or `None` if the place has none.
    const fn completed(&self, pins: &Pins, at: [u32; 3]) -> Option<Knobs> {
        match (self.has_producer(), self.mma) {
            (true, WarpMma::Wgmma(_)) => WgmmaKnobs::completed(self, pins, at),
            (true, _) => SimtKnobs::completed_consumer(self, pins, at),
            (false, WarpMma::MmaSync(_)) => MmaSyncKnobs::completed(self, pins, at),
            (false, _) => SimtKnobs::completed(self, pins, at),
        }
    }
}
