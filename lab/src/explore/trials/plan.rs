//! The plan of an exploration, and the trials that remain.

use crate::{
    Error,
    explore::{
        record::{Entry, Final, Outcome, Trial},
        standing::{Standing, last_final, screened},
    },
};
use falchion::{nest::GemmDesc, shape::Mnk};
use std::collections::HashSet;

/// The candidates of an exploration and its limits.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Checked descriptions, each once.
    pub candidates: Vec<GemmDesc>,
    /// Number of descriptions that are measured with the full protocol.
    pub finalists: usize,
    /// Number of compiler threads.
    pub jobs: usize,
}

/// The entries of an exploration so far, and the callback for each new one.
pub struct Book<'k> {
    entries: Vec<Entry>,
    keep: &'k mut dyn FnMut(&Entry) -> Result<(), Error>,
}

impl<'k> Book<'k> {
    /// Returns a book that begins with `entries`. It calls `keep` for each new entry.
    pub fn new(entries: Vec<Entry>, keep: &'k mut dyn FnMut(&Entry) -> Result<(), Error>) -> Self {
        Self { entries, keep }
    }

    /// Returns all entries.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    pub(super) fn add(&mut self, entry: Entry) -> Result<(), Error> {
        (self.keep)(&entry)?;
        self.entries.push(entry);
        Ok(())
    }

    pub(super) fn tried(
        &mut self,
        size: Mnk,
        description: &GemmDesc,
        outcome: Outcome,
    ) -> Result<(), Error> {
        self.add(Entry::Trial(Box::new(Trial { size, description: *description, outcome })))
    }
}

/// The remaining work of a plan on one problem.
impl Plan {
    /// Returns the candidates without a trial.
    #[must_use]
    pub fn left(&self, entries: &[Entry], size: Mnk) -> Vec<GemmDesc> {
        let done: HashSet<&GemmDesc> = entries
            .iter()
            .filter_map(|entry| match entry {
                Entry::Trial(trial) if trial.size == size => Some(&trial.description),
                _ => None,
            })
            .collect();
        self.candidates.iter().filter(|desc| !done.contains(desc)).copied().collect()
    }

    /// Returns the best descriptions of the trials, or none if the last final measurement already
    /// has exactly these.
    #[must_use]
    pub fn finalists(&self, entries: &[Entry], size: Mnk) -> Vec<GemmDesc> {
        let best: Vec<GemmDesc> = screened(entries, size)
            .into_iter()
            .take(self.finalists)
            .map(|Standing { desc, .. }| desc)
            .collect();
        let measured = |last: &Final| {
            last.finalists.len() == best.len()
                && last.finalists.iter().all(|known| best.contains(&known.description))
        };
        if last_final(entries, size).is_some_and(measured) { Vec::new() } else { best }
    }

    /// Returns whether no work remains on a problem.
    #[must_use]
    pub fn is_done(&self, entries: &[Entry], size: Mnk) -> bool {
        self.left(entries, size).is_empty() && self.finalists(entries, size).is_empty()
    }
}
