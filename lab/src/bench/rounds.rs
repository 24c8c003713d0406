//! The samples of the rounds, and the test whether they suffice.

use super::statistics::{Quartiles, median};

/// The rounds of one contender.
#[derive(Clone, Debug, PartialEq)]
pub struct Stats {
    /// Name of the contender.
    pub name: String,
    /// Time per launch in each round, in microseconds.
    pub samples_us: Vec<f64>,
    /// The quartiles of the samples.
    pub quartiles_us: Quartiles,
}

/// The rounds of all contenders. The first is Falchion.
#[derive(Clone, Debug, PartialEq)]
pub struct Rounds {
    /// Statistics of each contender, in the given order.
    pub stats: Vec<Stats>,
    /// Quartiles of the fastest peer's time divided by Falchion's within each round. Without a
    /// peer, Falchion's time divided by its own median.
    pub ratio: Quartiles,
    /// Whether the ratio did not settle.
    pub noisy: bool,
    /// Whether launches were replayed from a graph.
    pub captured: bool,
}

/// The samples so far: `samples[contender][round]`.
#[derive(Debug)]
pub(super) struct Tally {
    samples: Vec<Vec<f64>>,
}

impl Tally {
    pub(super) fn new(contenders: usize) -> Self {
        Self { samples: vec![Vec::new(); contenders] }
    }

    pub(super) fn push(&mut self, contender: usize, time_us: f64) {
        self.samples[contender].push(time_us);
    }

    pub(super) fn rounds(&self) -> usize {
        self.samples.iter().map(Vec::len).min().unwrap_or(0)
    }

    /// Computes the ratio within each round, so that drift of clocks and power cancels.
    pub(super) fn ratio(&self) -> Option<Quartiles> {
        let (ours, peers) = self.samples.split_first()?;
        let own = median(ours)?;
        let best = peers
            .iter()
            .filter_map(|peer| median(peer).map(|time| (time, peer)))
            .min_by(|left, right| left.0.total_cmp(&right.0));
        let ratios: Vec<f64> = match best {
            Some((_, peer)) => peer.iter().zip(ours).map(|(peer, ours)| peer / ours).collect(),
            None => ours.iter().map(|ours| ours / own).collect(),
        };
        Quartiles::from_samples(&ratios)
    }

    /// Returns whether the ratio has settled. NaN has not settled.
    pub(super) fn settled(&self, spread: f64) -> bool {
        self.ratio().is_some_and(|ratio| ratio.spread() < spread)
    }

    pub(super) fn stats(&self, names: impl Iterator<Item = String>) -> Option<Vec<Stats>> {
        names
            .zip(&self.samples)
            .map(|(name, samples)| {
                Quartiles::from_samples(samples).map(|quartiles_us| Stats {
                    name,
                    samples_us: samples.clone(),
                    quartiles_us,
                })
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(samples: &[&[f64]]) -> Tally {
        Tally { samples: samples.iter().map(|s| s.to_vec()).collect() }
    }

    #[test]
    fn drift_common_to_all_cancels() {
        let drifting = tally(&[&[10.0, 11.0, 12.0, 13.0], &[20.0, 22.0, 24.0, 26.0]]);
        let ratio = drifting.ratio().unwrap();
        assert_eq!((ratio.median, ratio.spread()), (2.0, 0.0));
        assert!(drifting.settled(0.01));
    }

    #[test]
    fn the_ratio_is_to_the_peer_of_the_smallest_median() {
        let t = tally(&[&[10.0, 10.0, 10.0], &[5.0, 30.0, 30.0], &[20.0, 20.0, 20.0]]);
        assert_eq!(t.ratio().unwrap().median, 2.0);
    }

    #[test]
    fn without_a_peer_our_own_spread_decides() {
        assert!(tally(&[&[100.0, 100.1, 99.9]]).settled(0.01));
        assert!(!tally(&[&[100.0, 110.0, 90.0]]).settled(0.01));
        assert!(!tally(&[&[f64::NAN, 1.0]]).settled(0.01));
        assert!(!Tally::new(1).settled(0.01));
    }
}
