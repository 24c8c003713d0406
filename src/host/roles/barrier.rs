//! Barriers in shared memory, and meetings of warps.

/// A barrier in shared memory. A phase completes when nothing is left to arrive and no byte to land; the next one begins at once.
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
}

impl Barrier {
    pub fn new(count: u32) -> Self {
        Self { count, pending: count, bytes: 0, phase: 0 }
    }

    /// One arrival; `false` when the phase waits for none.
    pub fn arrive(&mut self) -> bool {
        let Some(pending) = self.pending.checked_sub(1) else { return false };
        self.pending = pending;
        self.settle();
        true
    }

    /// The current phase waits for more bytes.
    pub fn expect(&mut self, bytes: u32) {
        self.bytes += i64::from(bytes);
    }

    /// Bytes landed.
    pub fn land(&mut self, bytes: u32) {
        self.bytes -= i64::from(bytes);
        self.settle();
    }

    fn settle(&mut self) {
        if self.pending == 0 && self.bytes == 0 {
            self.phase += 1;
            self.pending = self.count;
        }
    }

    /// Whether a wait for `parity` passes: a phase of that parity is the last that completed, or would be, two phases off.
    pub fn passes(&self, parity: u32) -> bool {
        self.phase % 2 != u64::from(parity % 2)
    }
}

/// Warps that meet, again and again.
#[derive(Clone, Debug)]
pub(super) struct Meeting {
    size: u32,
    here: u32,
    number: u64,
}

impl Meeting {
    pub fn new(size: u32) -> Self {
        Self { size, here: 0, number: 0 }
    }

    /// A warp arrives: `None` when it was the last, or the number of the meeting that it waits for.
    pub fn arrive(&mut self) -> Option<u64> {
        self.here += 1;
        if self.here == self.size {
            (self.here, self.number) = (0, self.number + 1);
            return None;
        }
        Some(self.number)
    }

    /// Whether a meeting is over.
    pub fn is_over(&self, number: u64) -> bool {
        self.number > number
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fresh_barrier_has_the_parity_of_a_phase_before_the_first() {
        let barrier = Barrier::new(1);
        assert!(barrier.passes(1) && !barrier.passes(0));
    }

    #[test]
    fn a_phase_waits_for_arrivals_and_bytes_in_any_order() {
        let mut barrier = Barrier::new(1);
        barrier.land(32);
        assert!(!barrier.passes(0), "bytes ahead of their announcement complete nothing");
        barrier.expect(48);
        assert!(barrier.arrive() && !barrier.passes(0), "16 bytes are missing");
        assert!(!barrier.arrive(), "the phase waits for no arrival");
        barrier.land(16);
        assert!(barrier.passes(0) && !barrier.passes(1));
    }

    #[test]
    fn a_wait_two_phases_off_passes_wrongly() {
        let mut barrier = Barrier::new(2);
        assert!(barrier.arrive() && barrier.arrive());
        assert!(barrier.passes(0), "phase 0 is complete, and so a wait for phase 2 passes");
        assert!(barrier.arrive() && barrier.arrive());
        assert!(!barrier.passes(0) && barrier.passes(1));
    }
}
