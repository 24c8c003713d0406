//! What orders one agent's accesses before another's: clocks, meetings of warps, and barriers in
//! shared memory.
//!
//! An agent is a warp, or a barrier in shared memory at which bytes of asynchronous copies are
//! counted. Its epochs are numbered: a warp's ends when it makes known what it has done, a
//! barrier's with each phase. Who waits for another knows of its epochs. Two accesses are in order
//! where the later agent knows that the epoch of the earlier one is over; else a GPU may exchange
//! them, whatever the order drawn.
//!
//! Source: Flanagan and Freund, "FastTrack: efficient and precise dynamic race detection" (2009).

/// Something that an agent did in one of its epochs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    agent: usize,
    epoch: u32,
}

/// What an agent knows: of each agent, how many of its epochs are over.
#[derive(Clone, Debug, Default)]
pub(super) struct Clock {
    /// Whose it is.
    pub own: usize,
    over: Vec<u32>,
}

impl Clock {
    pub fn new(own: usize, agents: usize) -> Self {
        Self { own, over: vec![0; agents] }
    }

    /// The agent's own epoch.
    pub fn epoch(&self) -> u32 {
        self.over.get(self.own).copied().unwrap_or(0)
    }

    /// What the agent does now.
    pub fn event(&self) -> Event {
        Event { agent: self.own, epoch: self.epoch() }
    }

    /// Whether something has happened, and lies before what the agent does.
    pub fn is_behind(&self, event: Option<Event>) -> bool {
        event.is_some_and(|Event { agent, epoch }| agent == self.own || self.knows(agent, epoch))
    }

    /// How many epochs of each agent are known to be over.
    pub fn over(&self) -> &[u32] {
        &self.over
    }

    /// Whether an agent's epoch is known to be over.
    pub fn knows(&self, agent: usize, epoch: u32) -> bool {
        self.over.get(agent).is_some_and(|&over| epoch < over)
    }

    /// The agent's epoch ends: what it has done may be made known.
    pub fn end_epoch(&mut self) -> &Self {
        self.over[self.own] += 1;
        self
    }

    /// Learns what another knows.
    pub fn learn(&mut self, other: &Self) {
        for (mine, other) in self.over.iter_mut().zip(&other.over) {
            *mine = (*mine).max(*other);
        }
    }
}

/// How a step went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Moved {
    /// It is performed.
    Done,
    /// It has begun, and ends when others have moved.
    Begun,
    /// It cannot begin or end.
    Blocked,
}

/// Warps that meet, again and again. Who leaves a meeting knows what all knew that came to it.
#[derive(Clone, Debug)]
pub(super) struct Meeting {
    size: u32,
    here: u32,
    number: u64,
    gathered: Clock,
}

impl Meeting {
    pub fn new(size: u32, agents: usize) -> Self {
        Self { size, here: 0, number: 0, gathered: Clock::new(0, agents) }
    }

    /// A warp comes, or waits for the meeting of a number to end.
    pub fn pass(&mut self, waits: &mut Option<u64>, clock: &mut Clock) -> Moved {
        match *waits {
            None => {
                self.gathered.learn(clock.end_epoch());
                self.here += 1;
                if self.here < self.size {
                    *waits = Some(self.number);
                    return Moved::Begun;
                }
                (self.here, self.number) = (0, self.number + 1);
            }
            Some(number) if self.number > number => *waits = None,
            Some(_) => return Moved::Blocked,
        }
        // Nobody comes to the next meeting before all have left this one.
        clock.learn(&self.gathered);
        Moved::Done
    }
}

/// A barrier in shared memory. A phase completes when nothing is left to arrive and no byte to
/// land; the next one begins at once.
#[derive(Clone, Debug)]
pub(super) struct Barrier {
    /// Arrivals that complete a phase.
    count: u32,
    /// Those that the current phase still waits for.
    pending: u32,
    /// Bytes that it still waits for; negative while more have landed than were announced.
    bytes: i64,
    /// Phases that are complete.
    phase: u64,
    /// What those knew that have arrived.
    gathered: Clock,
    /// The same when the last phase was complete.
    complete: Clock,
}

impl Barrier {
    /// One of so many arrivals a phase; its clock is its own as an agent.
    pub fn new(count: u32, clock: Clock) -> Self {
        Self { count, pending: count, bytes: 0, phase: 0, gathered: clock.clone(), complete: clock }
    }

    /// Its number as an agent.
    pub fn agent(&self) -> u32 {
        self.gathered.own as u32
    }

    /// One arrival, of who knows so much; `false` when the phase waits for none.
    pub fn arrive(&mut self, clock: &Clock) -> bool {
        let Some(pending) = self.pending.checked_sub(1) else { return false };
        self.pending = pending;
        self.gathered.learn(clock);
        self.settle();
        true
    }

    /// The current phase waits for more bytes.
    pub fn expect(&mut self, bytes: u32) {
        self.bytes += i64::from(bytes);
    }

    /// Bytes land. Returns the epoch in which they are counted.
    pub fn land(&mut self, bytes: u32) -> u32 {
        let epoch = self.gathered.epoch();
        self.bytes -= i64::from(bytes);
        self.settle();
        epoch
    }

    fn settle(&mut self) {
        if self.pending == 0 && self.bytes == 0 {
            self.phase += 1;
            self.pending = self.count;
            self.complete.learn(self.gathered.end_epoch());
        }
    }

    /// Whether a wait for `parity` passes: a phase of that parity is the last that completed, or
    /// would be, two phases off. Who passes learns what was known to those who arrived.
    pub fn passes(&self, parity: u32, clock: &mut Clock) -> bool {
        let passes = self.is_over(parity);
        if passes {
            clock.learn(&self.complete);
        }
        passes
    }

    /// Whether a wait for `parity` would pass.
    pub fn is_over(&self, parity: u32) -> bool {
        self.phase % 2 != u64::from(parity % 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A barrier that is agent 1, and who waits for it, who is agent 0.
    fn barrier(count: u32) -> (Barrier, Clock) {
        (Barrier::new(count, Clock::new(1, 2)), Clock::new(0, 2))
    }

    #[test]
    fn a_fresh_barrier_has_the_parity_of_a_phase_before_the_first() {
        let (barrier, mut clock) = barrier(1);
        assert!(barrier.passes(1, &mut clock) && !barrier.passes(0, &mut clock));
    }

    #[test]
    fn a_phase_waits_for_arrivals_and_bytes_in_any_order() {
        let (mut barrier, mut clock) = barrier(1);
        assert_eq!(barrier.land(32), 0);
        assert!(
            !barrier.passes(0, &mut clock),
            "bytes ahead of their announcement complete nothing"
        );
        barrier.expect(48);
        assert!(barrier.arrive(&clock) && !barrier.passes(0, &mut clock), "16 bytes are missing");
        assert!(!barrier.arrive(&clock), "the phase waits for no arrival");
        assert!(!clock.knows(1, 0), "who has not waited knows of no bytes");
        assert_eq!(barrier.land(16), 0);
        assert!(barrier.passes(0, &mut clock) && !barrier.passes(1, &mut clock));
        assert!(clock.knows(1, 0) && !clock.knows(1, 1));
    }

    #[test]
    fn a_wait_two_phases_off_passes_wrongly() {
        let (mut barrier, mut clock) = barrier(2);
        assert!(barrier.arrive(&clock) && barrier.arrive(&clock));
        assert!(
            barrier.passes(0, &mut clock),
            "phase 0 is complete, and so a wait for phase 2 passes"
        );
        assert!(barrier.arrive(&clock) && barrier.arrive(&clock));
        assert!(!barrier.passes(0, &mut clock) && barrier.passes(1, &mut clock));
    }

    #[test]
    fn who_meets_knows_what_the_others_did_before() {
        let (mut meeting, mut first, mut second) =
            (Meeting::new(2, 2), Clock::new(0, 2), Clock::new(1, 2));
        let mut waits = None;
        assert_eq!(meeting.pass(&mut waits, &mut first), Moved::Begun);
        assert_eq!(meeting.pass(&mut waits, &mut first), Moved::Blocked);
        assert!(!second.knows(0, 0));
        assert_eq!(meeting.pass(&mut None, &mut second), Moved::Done);
        assert_eq!(meeting.pass(&mut waits, &mut first), Moved::Done);
        assert!(
            second.knows(0, 0) && !second.knows(0, 1) && first.knows(1, 0) && !first.knows(1, 1)
        );
    }
}
