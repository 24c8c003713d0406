//! The order of accesses: vector clocks, hardware barriers of warps, and barriers in shared memory.
//!
//! An agent is a warp, or a barrier in shared memory that counts the bytes of asynchronous copies.
//! Its epochs are numbered. An epoch of a warp ends when the warp publishes its accesses; an epoch
//! of a barrier ends with each phase. An agent that waits for another one learns which epochs of
//! the other have ended. Two accesses are ordered if the later agent has learned that the epoch of
//! the earlier access has ended. A GPU may reorder all other accesses, in whichever order they
//! happen here.
//!
//! Source: Flanagan and Freund, "FastTrack: efficient and precise dynamic race detection" (2009).

/// An event in an epoch of an agent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Event {
    agent: usize,
    epoch: u32,
}

/// The vector clock of an agent: for each agent, the number of epochs that are known to have ended.
#[derive(Clone, Debug, Default)]
pub(super) struct Clock {
    /// The agent that owns the clock.
    pub own: usize,
    over: Vec<u32>,
}

impl Clock {
    pub fn new(own: usize, agents: usize) -> Self {
        Self { own, over: vec![0; agents] }
    }

    /// Returns the current epoch of the owner.
    pub fn epoch(&self) -> u32 {
        self.over.get(self.own).copied().unwrap_or(0)
    }

    /// Returns an event of the owner in its current epoch.
    pub fn event(&self) -> Event {
        Event { agent: self.own, epoch: self.epoch() }
    }

    /// Returns whether an event exists and is ordered before the owner's next access.
    pub fn is_behind(&self, event: Option<Event>) -> bool {
        event.is_some_and(|Event { agent, epoch }| agent == self.own || self.knows(agent, epoch))
    }

    /// Returns the number of ended epochs that the owner has learned of, per agent.
    pub fn over(&self) -> &[u32] {
        &self.over
    }

    /// Returns whether the owner has learned that an epoch of an agent has ended.
    pub fn knows(&self, agent: usize, epoch: u32) -> bool {
        self.over.get(agent).is_some_and(|&over| epoch < over)
    }

    /// Ends the current epoch of the owner, so that other agents can learn of its accesses.
    pub fn end_epoch(&mut self) -> &Self {
        self.over[self.own] += 1;
        self
    }

    /// Merges what another clock has learned.
    pub fn learn(&mut self, other: &Self) {
        for (mine, other) in self.over.iter_mut().zip(&other.over) {
            *mine = (*mine).max(*other);
        }
    }
}

/// The result of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Moved {
    /// The step is complete.
    Done,
    /// The step has begun, and ends after other movers have moved.
    Begun,
    /// The step cannot begin or end yet.
    Blocked,
}

/// A hardware barrier of warps, such as `bar.sync`, which is reused. A warp that leaves learns what
/// all arriving warps had learned.
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

    /// Lets a warp arrive, or lets it wait for the end of the barrier that it has arrived at.
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
        // No warp arrives at the next barrier before all warps have left this one.
        clock.learn(&self.gathered);
        Moved::Done
    }
}

/// An mbarrier in shared memory. A phase completes when no arrival and no byte is pending. The next
/// phase begins at once.
#[derive(Clone, Debug)]
pub(super) struct Barrier {
    /// Arrivals per phase.
    count: u32,
    /// Arrivals that the current phase still waits for.
    pending: u32,
    /// Bytes that the current phase still waits for. The number is negative if more bytes have
    /// landed than were expected.
    bytes: i64,
    /// Number of completed phases.
    phase: u64,
    /// The merged clocks of the agents that have arrived.
    gathered: Clock,
    /// The merged clocks at the end of the last completed phase.
    complete: Clock,
}

impl Barrier {
    /// Returns a barrier with `count` arrivals per phase. `clock` is the clock of the barrier as an
    /// agent.
    pub fn new(count: u32, clock: Clock) -> Self {
        Self { count, pending: count, bytes: 0, phase: 0, gathered: clock.clone(), complete: clock }
    }

    /// Returns the number of the barrier as an agent.
    pub fn agent(&self) -> u32 {
        self.gathered.own as u32
    }

    /// Adds an arrival of an agent with clock `clock`. Returns `false` if the phase has no pending
    /// arrival.
    pub fn arrive(&mut self, clock: &Clock) -> bool {
        let Some(pending) = self.pending.checked_sub(1) else { return false };
        self.pending = pending;
        self.gathered.learn(clock);
        self.settle();
        true
    }

    /// Adds bytes that the current phase waits for.
    pub fn expect(&mut self, bytes: u32) {
        self.bytes += i64::from(bytes);
    }

    /// Counts bytes that have landed. Returns the epoch in which they are counted.
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

    /// Returns whether a wait for `parity` passes, which depends only on the parity of the last
    /// completed phase. A completed wait merges the clocks of the arriving agents.
    pub fn passes(&self, parity: u32, clock: &mut Clock) -> bool {
        let passes = self.is_over(parity);
        if passes {
            clock.learn(&self.complete);
        }
        passes
    }

    /// Returns whether a wait for `parity` would pass.
    pub fn is_over(&self, parity: u32) -> bool {
        self.phase % 2 != u64::from(parity % 2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a barrier that is agent 1, and the clock of agent 0, which waits for it.
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
        assert!(!clock.knows(1, 0), "a warp that has not waited must not read the bytes");
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
    fn barriers_order_earlier_accesses() {
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
