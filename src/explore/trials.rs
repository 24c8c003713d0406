//! Trials: compile in parallel, verify, screen beside the reference, measure the best.
//!
//! What runs a kernel is a [`Device`], what compiles one a [`Compiler`], and time is a [`Session`]'s: tests have their own.

use super::{
    record::{Entry, Final, Finalist, LOG_BYTES, Outcome, Trial, tflops},
    standing::{Standing, last_final, screened},
};
use crate::{
    bench::{Launch, Session, protocol::SCREEN_PASSES, selection::select},
    desc::{GemmDesc, SpillKind},
    device::cuda::report::Report,
    error::Error,
    shape::Mnk,
};
use std::{
    collections::HashSet,
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

/// Candidates that are timed in the same rounds.
pub const BATCH: usize = 16;

/// What compiles kernels, in many threads at once.
pub trait Compiler: Sync {
    /// Compiles a description's kernel, or finds it where it is kept.
    ///
    /// # Errors
    ///
    /// [`Error::Compile`] when the kernel is refused; anything else ends the trials.
    fn compile(&self, desc: &GemmDesc) -> Result<Report, Error>;
}

/// What runs kernels of descriptions on one problem.
pub trait Device {
    /// Computes the product once, and compares it; `None` when it is right, what is wrong otherwise.
    ///
    /// # Errors
    ///
    /// When the device cannot go on.
    fn verify(&self, desc: &GemmDesc) -> Result<Option<String>, Error>;

    /// Enqueues the product on the buffers `set`.
    ///
    /// # Errors
    ///
    /// Whatever stopped it.
    fn launch(&self, desc: &GemmDesc, set: usize) -> Result<(), Error>;
}

/// A description on a device, to be timed.
pub struct Contestant<'d> {
    device: &'d dyn Device,
    desc: GemmDesc,
    name: String,
}

impl<'d> Contestant<'d> {
    /// A description under a name of its own.
    pub fn new(device: &'d dyn Device, desc: &GemmDesc, name: impl Into<String>) -> Self {
        Self { device, desc: *desc, name: name.into() }
    }
}

impl Launch for Contestant<'_> {
    fn launch(&mut self, set: usize) -> Result<(), Error> {
        self.device.launch(&self.desc, set)
    }

    fn name(&self) -> &str {
        &self.name
    }
}

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

    fn add(&mut self, entry: Entry) -> Result<(), Error> {
        (self.keep)(&entry)?;
        self.entries.push(entry);
        Ok(())
    }

    fn tried(&mut self, size: Mnk, description: &GemmDesc, outcome: Outcome) -> Result<(), Error> {
        self.add(Entry::Trial(Trial { size, description: *description, outcome }))
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
        let best: Vec<GemmDesc> =
            screened(entries, size).into_iter().take(self.finalists).map(|Standing { desc, .. }| desc).collect();
        let measured = |last: &Final| last.finalists.iter().map(|finalist| finalist.description).eq(best.iter().copied());
        if last_final(entries, size).is_some_and(measured) { Vec::new() } else { best }
    }

    /// Whether nothing is left to do on a problem.
    #[must_use]
    pub fn is_done(&self, entries: &[Entry], size: Mnk) -> bool {
        self.left(entries, size).is_empty() && self.finalists(entries, size).is_empty()
    }
}

/// One problem, and what candidates are measured beside on it.
pub struct Stage<'s> {
    /// The problem's extents.
    pub size: Mnk,
    /// What compiles.
    pub compiler: &'s dyn Compiler,
    /// What runs.
    pub device: &'s dyn Device,
    /// Buffer sets that launches rotate over.
    pub sets: usize,
}

impl Stage<'_> {
    /// Does what is left of `plan`: every trial is in `book` as soon as it is done, and the best at the end. `references` are timed
    /// first; the fastest runs in every round of the screening, and the fastest few with the finalists.
    ///
    /// # Errors
    ///
    /// The compiler's unless it is a kernel's own; the device's; the clock's; the book's. [`Error::Measurement`] when no reference runs.
    pub fn explore(
        &self,
        plan: &Plan,
        references: &mut [&mut dyn Launch],
        session: &mut Session<'_>,
        book: &mut Book<'_>,
    ) -> Result<(), Error> {
        let left = plan.left(book.entries(), self.size);
        if plan.is_done(book.entries(), self.size) {
            return Ok(());
        }
        let (fastest, chosen) = self.warm(references, session)?;
        let mut verified: HashSet<GemmDesc> = HashSet::new();
        for batch in left.chunks(BATCH) {
            let right = self.prepared(batch, plan.jobs, book)?;
            self.screen(&right, references[fastest], session, book)?;
            verified.extend(right);
        }
        let finalists = plan.finalists(book.entries(), self.size);
        if finalists.is_empty() {
            return Ok(());
        }
        for desc in finalists.iter().filter(|desc| !verified.contains(desc)) {
            self.compiler.compile(desc)?;
            if let Some(why) = self.device.verify(desc)? {
                return Err(stopped(format!("a kernel that the log has as right is wrong now: {why}")));
            }
        }
        let mut beside: Vec<&mut dyn Launch> = references
            .iter_mut()
            .enumerate()
            .filter(|(at, _)| chosen.contains(at))
            .map(|(_, r)| &mut **r as &mut dyn Launch)
            .collect();
        self.finals(&finalists, &mut beside, session, book)
    }

    /// Times every reference: the fastest, and which go beside the finalists.
    fn warm(&self, references: &mut [&mut dyn Launch], session: &mut Session<'_>) -> Result<(usize, Vec<usize>), Error> {
        if let Some(first) = references.first_mut() {
            session.warm(*first, self.sets)?;
        }
        let times = session.screen(references, self.sets)?;
        let ran = times.iter().enumerate().filter_map(|(at, time)| time.map(|time| (time, at)));
        let fastest = ran.min_by(|x, y| x.0.total_cmp(&y.0));
        let (_, fastest) = fastest.ok_or_else(|| stopped("there is nothing that runs to compare with".to_owned()))?;
        Ok((fastest, select(&times)))
    }

    /// Compiles and verifies: those that are right, while the others are entered in the book.
    fn prepared(&self, batch: &[GemmDesc], jobs: usize, book: &mut Book<'_>) -> Result<Vec<GemmDesc>, Error> {
        let mut right = Vec::new();
        for (desc, built) in batch.iter().zip(compile_all(self.compiler, batch, jobs)) {
            if let Some(outcome) = lost(desc, built)? {
                book.tried(self.size, desc, outcome)?;
                continue;
            }
            match self.device.verify(desc) {
                Ok(None) => right.push(*desc),
                Ok(Some(why)) => book.tried(self.size, desc, Outcome::Wrong { why })?,
                Err(error) => {
                    // The next run must not fail on it again.
                    if matches!(error, Error::Driver { .. }) {
                        book.tried(self.size, desc, Outcome::Wrong { why: error.to_string() })?;
                    }
                    return Err(error);
                }
            }
        }
        Ok(right)
    }

    /// A brief timing of all, interleaved with the reference.
    fn screen(
        &self,
        right: &[GemmDesc],
        reference: &mut dyn Launch,
        session: &mut Session<'_>,
        book: &mut Book<'_>,
    ) -> Result<(), Error> {
        if right.is_empty() {
            return Ok(());
        }
        let mut all: Vec<Contestant<'_>> = right.iter().map(|desc| Contestant::new(self.device, desc, "candidate")).collect();
        let mut running: Vec<&mut dyn Launch> = vec![reference];
        running.extend(all.iter_mut().map(|contestant| contestant as &mut dyn Launch));
        let times = session.screen(&mut running, self.sets)?;
        let Some(&Some(reference_us)) = times.first() else {
            return Err(stopped("the reference ran once, and then no more".to_owned()));
        };
        for (desc, time) in right.iter().zip(&times[1..]) {
            let outcome = match *time {
                Some(us) => Outcome::Timed { us, tflops: tflops(self.size, us), rounds: SCREEN_PASSES, reference_us },
                None => Outcome::Wrong { why: "it ran once, and then could not be launched".to_owned() },
            };
            book.tried(self.size, desc, outcome)?;
        }
        Ok(())
    }

    /// The full protocol.
    fn finals(
        &self,
        finalists: &[GemmDesc],
        references: &mut [&mut dyn Launch],
        session: &mut Session<'_>,
        book: &mut Book<'_>,
    ) -> Result<(), Error> {
        let mut ours: Vec<Contestant<'_>> = finalists.iter().map(|desc| Contestant::new(self.device, desc, "finalist")).collect();
        let mut all: Vec<&mut dyn Launch> = ours.iter_mut().map(|contestant| contestant as &mut dyn Launch).collect();
        all.extend(references.iter_mut().map(|reference| &mut **reference as &mut dyn Launch));
        let rounds = session.interleave(&mut all, self.sets)?;
        let (own, beside) = rounds.stats.split_at(finalists.len().min(rounds.stats.len()));
        let best = beside.iter().min_by(|x, y| x.quartiles_us.median.total_cmp(&y.quartiles_us.median));
        let best = best.ok_or_else(|| stopped("there is nothing to compare with".to_owned()))?;
        let finalist = |(desc, us): (&GemmDesc, f64)| Finalist { description: *desc, us, tflops: tflops(self.size, us) };
        book.add(Entry::Final(Final {
            size: self.size,
            finalists: finalists.iter().zip(own.iter().map(|stats| stats.quartiles_us.median)).map(finalist).collect(),
            reference_us: best.quartiles_us.median,
            reference: best.name.clone(),
            rounds: best.samples_us.len(),
            noisy: rounds.noisy,
        }))
    }
}

/// Why a compiled candidate is not run, if it is not.
///
/// # Errors
///
/// What is not the kernel's own: a compiler that is not there.
pub fn lost(desc: &GemmDesc, built: Result<Report, Error>) -> Result<Option<Outcome>, Error> {
    match built {
        Ok(report) => {
            let bytes = report.spill_store_bytes.saturating_add(report.spill_load_bytes);
            Ok((bytes > 0 && desc.spills == SpillKind::Refused).then_some(Outcome::Spilled { bytes }))
        }
        Err(Error::Compile { mut log, .. }) => {
            let end = (0..=LOG_BYTES.min(log.len())).rev().find(|&end| log.is_char_boundary(end)).unwrap_or(0);
            log.truncate(end);
            Ok(Some(Outcome::CompileFailed { log }))
        }
        Err(other) => Err(other),
    }
}

/// Compiles descriptions in `jobs` threads, at least one; the results in their order.
pub fn compile_all(compiler: &dyn Compiler, descs: &[GemmDesc], jobs: usize) -> Vec<Result<Report, Error>> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(desc) = descs.get(at) else { return done };
            done.push((at, compiler.compile(desc)));
        }
    };
    let mut all = thread::scope(|scope| {
        let others: Vec<_> = (1..jobs.min(descs.len())).map(|_| scope.spawn(work)).collect();
        let mut all = work();
        for other in others {
            match other.join() {
                Ok(done) => all.extend(done),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    });
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, built)| built).collect()
}

fn stopped(because: String) -> Error {
    Error::Measurement { because }
}
