//! Places of candidates: combinations of the values of four free knobs, in order.

use crate::{
    nest::{GemmDesc, Knobs, Pins},
    threadblock::Mainloop,
};

/// Values of four free knobs. The first changes slowest.
pub(crate) type Place = [u32; 4];

/// Result of an MMA's completion: the knobs at a place, or the number `level`, if no place with the
/// same values up to `level` has knobs.
pub(crate) type Completed = Result<Knobs, usize>;

/// Level of the fastest value.
pub(crate) const LAST: usize = 3;

/// Numbers of values of four free knobs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Places {
    values: Place,
}

impl Places {
    pub(crate) const fn new(values: Place) -> Self {
        Self { values }
    }

    /// Returns the next place that differs at `level` or before it.
    const fn after(&self, mut place: Place, mut level: usize) -> Option<Place> {
        let mut i = level + 1;
        while i < place.len() {
            place[i] = 0;
            i += 1;
        }
        loop {
            place[level] += 1;
            if place[level] < self.values[level] {
                return Some(place);
            }
            if level == 0 {
                return None;
            }
            place[level] = 0;
            level -= 1;
        }
    }
}

/// The work that is left to a resolution. Its limits bound the time of a build: the compiler
/// interprets at most 2,000,000 steps, and the resources of a description take it about 1,000.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SearchBudget {
    /// Number of checked descriptions.
    pub checks: u32,
    /// Number of places whose knobs may still be computed.
    pub places: u32,
    /// Number of descriptions whose resources may still be computed.
    pub sized: u32,
}

impl SearchBudget {
    /// The limits of a resolution. An explanation of a failed resolution has the same limits.
    pub(crate) const LIMIT: Self = Self { checks: 0, places: 4_000, sized: 800 };

    /// Returns whether no work is left.
    pub(crate) const fn is_spent(&self) -> bool {
        self.places == 0 || self.sized == 0
    }
}

impl GemmDesc {
    /// Returns the first candidate at or after the place `at`, and moves `at` behind it. A
    /// candidate has the pins, and free knobs with which its tiles nest and its resources suffice.
    /// `self` has the knobs of a row, with the pins applied.
    pub(crate) const fn candidate(
        &self,
        pins: &Pins,
        at: &mut Option<Place>,
        work: &mut SearchBudget,
    ) -> Option<Self> {
        if !self.pins_may_fit(pins) {
            return None;
        }
        let places = self.places(pins);
        while let Some(place) = *at
            && !work.is_spent()
        {
            work.places -= 1;
            let found = self.completed(pins, place);
            *at = places.after(
                place,
                match found {
                    Ok(_) => LAST,
                    Err(level) => level,
                },
            );
            if let Ok(knobs) = found {
                if !self.tile_may_fit(pins, knobs.threadblock()) {
                    continue;
                }
                let desc = self.with_kernel_knobs(&knobs);
                if !desc.nests() {
                    continue;
                }
                work.sized -= 1;
                if let Some(desc) = desc.sufficing(pins) {
                    return Some(desc);
                }
            }
        }
        None
    }

    /// Returns the description whose refusal explains that there is no candidate: the first whose
    /// tiles nest, whatever its resources.
    pub(crate) const fn without_candidate(&self, pins: &Pins) -> Self {
        let (places, mut at) = (self.places(pins), Some([0; 4]));
        while let Some(place) = at {
            match self.completed(pins, place) {
                Ok(knobs) => return self.with_kernel_knobs(&knobs).with_fitting_stages(pins),
                Err(level) => at = places.after(place, level),
            }
        }
        *self
    }

    /// Returns the places of the candidates of this main loop and MMA.
    const fn places(&self, pins: &Pins) -> Places {
        match self.mainloop {
            Mainloop::TmaRing(_) => self.mma.consumer_places(pins),
            _ => self.mma.places(pins),
        }
    }

    /// Returns the knobs at a place, or the level of the first value that has none.
    const fn completed(&self, pins: &Pins, at: Place) -> Completed {
        match self.mainloop {
            Mainloop::TmaRing(_) => self.mma.completed_consumer(self, pins, at),
            _ => self.mma.completed(self, pins, at),
        }
    }
}
