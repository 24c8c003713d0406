//! What to try, what has been tried, and what is left.

use crate::{
    Error,
    explore::{
        record::{Entry, Final, Outcome, Trial},
        standing::{Standing, last_final, screened},
    },
};
use falchion::{desc::GemmDesc, shape::Mnk};
use std::collections::HashSet;

/// What to try.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Checked descriptions, each once.
    pub candidates: Vec<GemmDesc>,
    /// How many go into the full protocol.
    pub finalists: usize,
    /// Threads that compile.
    pub jobs: usize,
}

/// What is kept while trials go on: entries so far, and who hears of each new one.
pub struct Book<'k> {
    entries: Vec<Entry>,
    keep: &'k mut dyn FnMut(&Entry) -> Result<(), Error>,
}

impl<'k> Book<'k> {
    /// A book that begins with `entries`; `keep` hears of each that is added.
    pub fn new(entries: Vec<Entry>, keep: &'k mut dyn FnMut(&Entry) -> Result<(), Error>) -> Self {
        Self { entries, keep }
    }

    /// All entries.
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

/// What is left of a plan on one problem.
impl Plan {
    /// The candidates without a trial.
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

    /// The best of the trials, unless just they were measured last.
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

    /// Whether nothing is left to do on a problem.
    #[must_use]
    pub fn is_done(&self, entries: &[Entry], size: Mnk) -> bool {
        self.left(entries, size).is_empty() && self.finalists(entries, size).is_empty()
    }
}
