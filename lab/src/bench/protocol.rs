//! The measurement of one problem: warm up, time every peer briefly, then interleave Falchion with
//! the best peers.
//!
//! A round has one block of launches per contender. Blocks have equal duration, and rotate over
//! buffers that together exceed the L2 cache. The order within a round changes, so that each
//! contender runs after each other contender equally often.

use super::order::order;
use super::rounds::{Rounds, Stats, Tally};
use super::selection::select;
use super::timer::{Launch, Stretch, Timer};
use crate::Error;

/// Smallest total size of all buffer sets: about four times the L2 cache of an H200.
pub const ROTATED_BYTES: usize = 256 << 20;
/// Largest number of buffer sets.
const SETS_MAX: usize = 4096;
/// Smallest number of launches per graph.
const GRAPH_LAUNCHES: usize = 64;
/// Largest number of passes in the brief timing of several contenders.
pub const SCREEN_PASSES: usize = 2;
/// Sufficient duration of a brief timing, in microseconds.
const ESTIMATE_US: f64 = 2_000.0;
/// Duration of a first launch, in microseconds, from which on no second launch is timed.
const LONG_US: f64 = 20_000.0;

/// Returns the number of buffer sets of `bytes` each: at least 2, with a total size of at least
/// [`ROTATED_BYTES`].
#[must_use]
pub fn sets(bytes: usize) -> usize {
    ROTATED_BYTES.div_ceil(bytes.max(1)).clamp(2, SETS_MAX)
}

/// The duration and the accuracy of a measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Warm-up before the first block, in seconds. Clocks oscillate before they settle.
    pub first_warm_seconds: f64,
    /// Warm-up before the blocks of each further problem, in seconds.
    pub warm_seconds: f64,
    /// Duration of a block, in milliseconds.
    pub block_ms: f64,
    /// Duration of a block of the brief timing, in milliseconds.
    pub screen_ms: f64,
    /// Smallest number of rounds, for any time limit.
    pub rounds_min: usize,
    /// Largest number of rounds.
    pub rounds_max: usize,
    /// The ratio has settled if its interquartile range divided by its median is below this value.
    pub spread: f64,
    /// Seconds per problem, after which no new round begins. The first warm-up does not count.
    pub seconds: f64,
    /// Launches that are shorter than this, in microseconds per call, are replayed from a graph if
    /// all contenders can be captured.
    pub graph_below_us: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            first_warm_seconds: 1.0,
            warm_seconds: 0.15,
            block_ms: 25.0,
            screen_ms: 5.0,
            rounds_min: 5,
            rounds_max: 25,
            spread: 0.01,
            seconds: 3.0,
            graph_below_us: 50.0,
        }
    }
}

/// The result of one problem's measurement. Times are microseconds per launch.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Statistics of Falchion.
    pub ours: Stats,
    /// Statistics of the peers in the rounds, in the given order.
    pub peers: Vec<Stats>,
    /// The fastest peer of the rounds.
    pub peer: Option<String>,
    /// Median of the fastest peer.
    pub peer_us: Option<f64>,
    /// Median of the first peer.
    pub peer_first_us: Option<f64>,
    /// Number of peers that ran.
    pub peer_count: usize,
    /// `peer_us` divided by Falchion's median. Above 1, Falchion is faster.
    pub ratio: Option<f64>,
    /// Whether the ratio did not settle.
    pub noisy: bool,
    /// Whether launches were replayed from a graph.
    pub captured: bool,
}

impl Outcome {
    /// Returns the outcome of Falchion without a peer.
    pub(super) fn alone(ours: Stats) -> Self {
        Self {
            ours,
            peers: Vec::new(),
            peer: None,
            peer_us: None,
            peer_first_us: None,
            peer_count: 0,
            ratio: None,
            noisy: false,
            captured: false,
        }
    }
}

/// The form of a contender's block.
#[derive(Clone, Copy, Debug)]
enum Pace {
    Looped { launches: usize },
    Replayed { launches: usize, replays: usize },
}

/// Measurements of several problems with one timer.
pub struct Session<'t> {
    timer: &'t mut dyn Timer,
    settings: Settings,
    warm: bool,
    next_set: usize,
}

impl<'t> Session<'t> {
    /// Returns a session before its first warm-up.
    pub fn new(timer: &'t mut dyn Timer, settings: Settings) -> Self {
        Self { timer, settings, warm: false, next_set: 0 }
    }

    /// Measures Falchion beside the peers. All peers are timed briefly, and the first peer and the
    /// three fastest ones enter the rounds.
    ///
    /// `peers` are in the peer's own order of preference. A peer that cannot be launched is left
    /// out; without any peer, Falchion is measured alone. Every contender has `sets` buffer sets,
    /// see [`sets`].
    ///
    /// # Errors
    /// The errors of Falchion's launches and of the timer.
    pub fn against(
        &mut self,
        ours: &mut dyn Launch,
        peers: &mut [&mut dyn Launch],
        sets: usize,
    ) -> Result<Outcome, Error> {
        let own = self.estimate(ours, sets)?;
        self.warm_up(ours, own, sets)?;
        let began = self.timer.seconds();
        let times = self.screen(peers, sets)?;
        let chosen = select(&times);
        let mut estimates = vec![own];
        estimates.extend(chosen.iter().filter_map(|&i| times[i]));
        let mut contenders: Vec<&mut dyn Launch> = vec![ours];
        contenders.extend(
            peers
                .iter_mut()
                .enumerate()
                .filter(|(i, _)| chosen.contains(i))
                .map(|(_, p)| &mut **p as &mut dyn Launch),
        );
        let rounds = self.rounds(&mut contenders, &estimates, sets, began)?;

        let Rounds { mut stats, noisy, captured, .. } = rounds;
        let ours = stats.remove(0);
        let best = stats
            .iter()
            .min_by(|left, right| left.quartiles_us.median.total_cmp(&right.quartiles_us.median));
        let peer_us = best.map(|peer| peer.quartiles_us.median);
        Ok(Outcome {
            peer: best.map(|peer| peer.name.clone()),
            peer_us,
            peer_first_us: stats
                .first()
                .filter(|_| chosen.first() == Some(&0))
                .map(|first| first.quartiles_us.median),
            peer_count: times.iter().flatten().count(),
            ratio: peer_us.map(|peer| peer / ours.quartiles_us.median),
            ours,
            peers: stats,
            noisy,
            captured,
        })
    }

    /// Measures all `candidates` in interleaved rounds. The first candidate is Falchion.
    ///
    /// # Errors
    /// The errors of the candidates and of the timer; [`Error::Measurement`] if there is no
    /// candidate.
    pub fn interleave(
        &mut self,
        candidates: &mut [&mut dyn Launch],
        sets: usize,
    ) -> Result<Rounds, Error> {
        let estimates = candidates
            .iter_mut()
            .map(|c| self.estimate(*c, sets))
            .collect::<Result<Vec<_>, _>>()?;
        if let (Some(ours), Some(&own)) = (candidates.first_mut(), estimates.first()) {
            self.warm_up(*ours, own, sets)?;
        }
        let began = self.timer.seconds();
        self.rounds(candidates, &estimates, sets, began)
    }

    /// Warms the device up with launches of `candidate`, before a brief timing without another
    /// warm-up.
    ///
    /// # Errors
    /// The errors of the candidate and of the timer.
    pub fn warm(&mut self, candidate: &mut dyn Launch, sets: usize) -> Result<(), Error> {
        let time = self.estimate(candidate, sets)?;
        self.warm_up(candidate, time, sets)
    }

    /// Times each of `peers` briefly. Returns microseconds per launch; `None` for a peer that
    /// cannot be launched.
    ///
    /// # Errors
    /// The errors of the timer.
    pub fn screen(
        &mut self,
        peers: &mut [&mut dyn Launch],
        sets: usize,
    ) -> Result<Vec<Option<f64>>, Error> {
        let began = self.timer.seconds();
        // A refusal by the peer is not an error. A device that has failed reports it again at
        // Falchion's next launch.
        let mut times: Vec<Option<f64>> =
            peers.iter_mut().map(|peer| self.estimate(*peer, sets).ok()).collect();
        let estimates: Vec<f64> = times.iter().flatten().copied().collect();
        let mut running: Vec<&mut dyn Launch> = peers
            .iter_mut()
            .zip(&times)
            .filter(|(_, time)| time.is_some())
            .map(|(p, _)| &mut **p as &mut dyn Launch)
            .collect();
        let paces = self.paces(&mut running, &estimates, sets, self.settings.screen_ms * 1000.0)?;
        let mut best = vec![f64::INFINITY; running.len()];
        for pass in 0..SCREEN_PASSES {
            // GEMMs of more than a tenth of a second would use up the whole time limit here.
            if pass > 0 && self.timer.seconds() - began > self.settings.seconds / 3.0 {
                break;
            }
            for (slot, peer) in running.iter_mut().enumerate() {
                best[slot] = best[slot].min(self.block(slot, *peer, paces[slot], sets)?);
            }
        }
        for (time, best) in times.iter_mut().flatten().zip(best) {
            *time = best;
        }
        Ok(times)
    }

    fn rounds(
        &mut self,
        candidates: &mut [&mut dyn Launch],
        estimates: &[f64],
        sets: usize,
        began: f64,
    ) -> Result<Rounds, Error> {
        let Settings { rounds_min, rounds_max, spread, seconds, block_ms, .. } = self.settings;
        let paces = self.paces(candidates, estimates, sets, block_ms * 1000.0)?;
        let count = candidates.len();
        let mut tally = Tally::new(count);
        let settled = loop {
            let round = tally.rounds();
            let settled = round >= rounds_min && tally.settled(spread);
            let spent = round >= rounds_min
                && (round >= rounds_max || self.timer.seconds() - began >= seconds);
            if settled || spent || count == 0 {
                break settled;
            }
            for slot in order(round, count) {
                let time = self.block(slot, &mut *candidates[slot], paces[slot], sets)?;
                tally.push(slot, time);
            }
        };
        let captured = matches!(paces.first(), Some(Pace::Replayed { .. }));
        let stats = tally.stats(candidates.iter().map(|c| c.name().to_owned()));
        match (stats, tally.ratio()) {
            (Some(stats), Some(ratio)) => Ok(Rounds { stats, ratio, noisy: !settled, captured }),
            _ => Err(Error::Measurement {
                because: "there is no candidate, or a time is not a number".to_owned(),
            }),
        }
    }

    /// Returns the approximate microseconds per launch. The first launch, which loads the module,
    /// does not count unless it is long.
    fn estimate(&mut self, candidate: &mut dyn Launch, sets: usize) -> Result<f64, Error> {
        let touch = self.looped(candidate, 1, sets)?;
        if touch >= LONG_US {
            return Ok(touch);
        }
        let mut launches = 1;
        loop {
            let time = self.looped(candidate, launches, sets)?;
            if time >= ESTIMATE_US || launches >= 4096 {
                return Ok(time / launches as f64);
            }
            launches *= 4;
        }
    }

    fn warm_up(&mut self, ours: &mut dyn Launch, own: f64, sets: usize) -> Result<(), Error> {
        let Settings { first_warm_seconds, warm_seconds, block_ms, .. } = self.settings;
        let target = if self.warm { warm_seconds } else { first_warm_seconds } * 1e6;
        let (launches, began) = (launches_in(block_ms * 1000.0, own), self.timer.seconds());
        let mut spent = 0.0;
        // Device time, limited by twice as much wall-clock time.
        while spent < target && self.timer.seconds() - began < 2e-6 * target {
            spent += self.looped(ours, launches, sets)?;
        }
        self.warm = true;
        Ok(())
    }

    /// Returns blocks of `block_us` for all candidates: from graphs if one candidate is short and
    /// all can be captured, otherwise in a loop.
    fn paces(
        &mut self,
        candidates: &mut [&mut dyn Launch],
        estimates: &[f64],
        sets: usize,
        block_us: f64,
    ) -> Result<Vec<Pace>, Error> {
        let looped = || {
            estimates
                .iter()
                .map(|&time| Pace::Looped { launches: launches_in(block_us, time) })
                .collect()
        };
        let of_call = estimates
            .iter()
            .zip(candidates.iter())
            .map(|(time, candidate)| time / candidate.calls().max(1) as f64);
        if !of_call.into_iter().any(|time| time < self.settings.graph_below_us) {
            return Ok(looped());
        }
        // Whole turns over the sets, so that a replay continues after the previous one.
        let sets = sets.max(1);
        let launches = sets * GRAPH_LAUNCHES.div_ceil(sets);
        let mut paces = Vec::new();
        for (slot, candidate) in candidates.iter_mut().enumerate() {
            if !self.timer.capture(slot, *candidate, Stretch { first_set: 0, launches, sets })? {
                return Ok(looped());
            }
            self.timer.replayed(slot, 1)?;
            let once = self.timer.replayed(slot, 1)?;
            paces.push(Pace::Replayed { launches, replays: launches_in(block_us, once) });
        }
        Ok(paces)
    }

    /// Runs one block. Returns microseconds per launch.
    fn block(
        &mut self,
        slot: usize,
        candidate: &mut dyn Launch,
        pace: Pace,
        sets: usize,
    ) -> Result<f64, Error> {
        match pace {
            Pace::Looped { launches } => {
                Ok(self.looped(candidate, launches, sets)? / launches as f64)
            }
            Pace::Replayed { launches, replays } => {
                Ok(self.timer.replayed(slot, replays)? / (launches * replays) as f64)
            }
        }
    }

    /// Runs launches from the set after the last used one, which was used longest ago.
    fn looped(
        &mut self,
        candidate: &mut dyn Launch,
        launches: usize,
        sets: usize,
    ) -> Result<f64, Error> {
        let sets = sets.max(1);
        let first_set = self.next_set % sets;
        self.next_set = (first_set + launches) % sets;
        self.timer.looped(candidate, Stretch { first_set, launches, sets })
    }
}

/// Returns the number of launches of `time_us` that fill `block_us`, at least one.
fn launches_in(block_us: f64, time_us: f64) -> usize {
    // The cast saturates for large floats, and no launch takes less than 0.1 µs.
    (block_us / time_us.max(0.1)).ceil().max(1.0) as usize
}

#[cfg(test)]
#[path = "protocol_tests.rs"]
mod tests;
