//! One problem's measurement: warm up, time every peer briefly, then interleave ours with the best
//! of them.
//!
//! A round is one block of launches of each contender; blocks of the same length in time, rotating
//! over buffers larger together than the L2 cache. The order within a round changes, so that
//! everybody runs after everybody else equally often.

use super::order::order;
use super::rounds::{Rounds, Stats, Tally};
use super::selection::select;
use super::timer::{Launch, Stretch, Timer};
use crate::Error;

/// Bytes all buffer sets together should exceed: about four times the L2 cache of an H200.
pub const ROTATED_BYTES: usize = 256 << 20;
/// No more sets than this, however small they are.
const SETS_MAX: usize = 4096;
/// Launches in one graph, at least.
const GRAPH_LAUNCHES: usize = 64;
/// Passes of the brief timing of several contenders, at most.
pub const SCREEN_PASSES: usize = 2;
/// A brief timing is long enough at this many microseconds.
const ESTIMATE_US: f64 = 2_000.0;
/// A single first launch this long, in microseconds, needs no second one to know its length.
const LONG_US: f64 = 20_000.0;

/// How many buffer sets of `bytes` each there should be: at least 2, and together at least
/// [`ROTATED_BYTES`].
#[must_use]
pub fn sets(bytes: usize) -> usize {
    ROTATED_BYTES.div_ceil(bytes.max(1)).clamp(2, SETS_MAX)
}

/// How long to measure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Work before the very first block, in seconds: clocks oscillate before they settle.
    pub first_warm_seconds: f64,
    /// Work before the blocks of each further problem, in seconds.
    pub warm_seconds: f64,
    /// Length of a block, in milliseconds.
    pub block_ms: f64,
    /// Length of a block of the brief timing, in milliseconds.
    pub screen_ms: f64,
    /// Rounds, at least; the budget does not cut below it.
    pub rounds_min: usize,
    /// Rounds, at most.
    pub rounds_max: usize,
    /// The ratio has settled when its interquartile range is below this share of its median.
    pub spread: f64,
    /// No new round for a problem after this many seconds, the first warm-up not counted.
    pub seconds: f64,
    /// Launches shorter than this, in microseconds for each call that they are of, are replayed
    /// from a graph where all contenders can be captured.
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

/// What one problem's measurement says. Times are of one launch, in microseconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// Ours.
    pub ours: Stats,
    /// The peers of the rounds, in the order they were given.
    pub peers: Vec<Stats>,
    /// The fastest peer of the rounds.
    pub peer: Option<String>,
    /// Its median.
    pub peer_us: Option<f64>,
    /// The median of the first peer given.
    pub peer_first_us: Option<f64>,
    /// Peers that ran.
    pub peer_count: usize,
    /// `peer_us` over our median: above 1 we are faster.
    pub ratio: Option<f64>,
    /// The ratio did not settle.
    pub noisy: bool,
    /// Launches were replayed from a graph.
    pub captured: bool,
}

impl Outcome {
    /// Ours alone, beside nobody.
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

/// How a block of one contender is made.
#[derive(Clone, Copy, Debug)]
enum Pace {
    Looped { launches: usize },
    Replayed { launches: usize, replays: usize },
}

/// Measurements on one clock, problem after problem.
pub struct Session<'t> {
    timer: &'t mut dyn Timer,
    settings: Settings,
    warm: bool,
    next_set: usize,
}

impl<'t> Session<'t> {
    /// A session that has not warmed up yet.
    pub fn new(timer: &'t mut dyn Timer, settings: Settings) -> Self {
        Self { timer, settings, warm: false, next_set: 0 }
    }

    /// Measures ours beside the peers: all are timed briefly, the three fastest and the first go
    /// into the rounds.
    ///
    /// `peers` come in the peer's own order of preference. A peer that cannot be launched is left
    /// out; without one, ours is measured alone. Every contender has `sets` buffer sets, see
    /// [`sets`].
    ///
    /// # Errors
    /// Ours or the clock's.
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

    /// Measures all of `candidates`, the first being ours, in interleaved rounds.
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

    /// Warms the device up with launches of `candidate`, before a brief timing that nothing else
    /// warms it up for.
    ///
    /// # Errors
    /// The candidate's or the clock's.
    pub fn warm(&mut self, candidate: &mut dyn Launch, sets: usize) -> Result<(), Error> {
        let time = self.estimate(candidate, sets)?;
        self.warm_up(candidate, time, sets)
    }

    /// Times each of `peers` briefly: microseconds of one launch, `None` for one that cannot be
    /// launched.
    ///
    /// # Errors
    /// The clock's.
    pub fn screen(
        &mut self,
        peers: &mut [&mut dyn Launch],
        sets: usize,
    ) -> Result<Vec<Option<f64>>, Error> {
        let began = self.timer.seconds();
        // A refusal by the peer is no error of ours. A device that has failed says so again when
        // ours is next launched.
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
            // Products of a tenth of a second and more would spend the whole budget here.
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

    /// Microseconds of one launch, roughly. The very first launch, which loads the module, does not
    /// count unless it is long.
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
        // Device time, bounded by twice as much by the clock on the wall.
        while spent < target && self.timer.seconds() - began < 2e-6 * target {
            spent += self.looped(ours, launches, sets)?;
        }
        self.warm = true;
        Ok(())
    }

    /// Blocks of `block_us` for all: from graphs when one is short and all can be captured, else in
    /// a loop.
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
        // Whole turns over the sets, so that a replay follows on the one before.
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

    /// One block: microseconds of one launch in it.
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

    /// A stretch that goes on where the one before stopped: its first set was used longest ago.
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

/// How many of `time_us` fill `block_us`; at least one.
fn launches_in(block_us: f64, time_us: f64) -> usize {
    // A float too large for usize saturates; a tenth of a microsecond is below any launch.
    (block_us / time_us.max(0.1)).ceil().max(1.0) as usize
}

#[cfg(test)]
#[path = "protocol_tests.rs"]
mod tests;
