//! The trials of one problem, from compilation to the final measurement.

use super::{
    Contestant, Device,
    compile::{BATCH, Compiler, compile_all, lost},
    plan::{Book, Plan},
};
use crate::{
    Error,
    bench::{Launch, Session, protocol::SCREEN_PASSES, selection::select},
    explore::record::{Entry, Final, Finalist, Outcome, tflops},
};
use falchion::{nest::GemmDesc, shape::Mnk};
use std::collections::HashSet;

/// One problem, with its compiler and its device.
pub struct Stage<'s> {
    /// The problem size.
    pub size: Mnk,
    /// The compiler.
    pub compiler: &'s dyn Compiler,
    /// The device.
    pub device: &'s dyn Device,
    /// Number of buffer sets that launches rotate over.
    pub sets: usize,
}

impl Stage<'_> {
    /// Runs the remaining work of `plan`. Each trial is in `book` as soon as it is done, and the
    /// final measurement follows at the end. `references` are timed first. The fastest one runs in
    /// every round of the screening, and the fastest few run with the finalists.
    ///
    /// # Errors
    /// The errors of the device, the timer, and the book, and those of the compiler other than
    /// [`falchion::Error::Compile`]; [`Error::Measurement`] if no reference runs.
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
                return Err(stopped(format!(
                    "a kernel that the log has as right is wrong now: {why}"
                )));
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

    /// Times every reference. Returns the fastest, and those that run beside the finalists.
    fn warm(
        &self,
        references: &mut [&mut dyn Launch],
        session: &mut Session<'_>,
    ) -> Result<(usize, Vec<usize>), Error> {
        // A reference that cannot be launched warms nothing. The screening reports whether any can.
        let _ =
            references.iter_mut().find_map(|reference| session.warm(*reference, self.sets).ok());
        let times = session.screen(references, self.sets)?;
        let ran = times.iter().enumerate().filter_map(|(at, time)| time.map(|time| (time, at)));
        let fastest = ran.min_by(|x, y| x.0.total_cmp(&y.0));
        let (_, fastest) = fastest.ok_or_else(|| stopped("no reference runs".to_owned()))?;
        Ok((fastest, select(&times)))
    }

    /// Compiles and verifies a batch. Returns the right candidates, and adds the others to the
    /// book.
    fn prepared(
        &self,
        batch: &[GemmDesc],
        jobs: usize,
        book: &mut Book<'_>,
    ) -> Result<Vec<GemmDesc>, Error> {
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
                    // The next run must not fail again on the same kernel. A refusal is not the
                    // kernel's fault.
                    if matches!(
                        error,
                        Error::Falchion(falchion::Error::Driver { .. }) | Error::Measurement { .. }
                    ) {
                        book.tried(self.size, desc, Outcome::Wrong { why: error.to_string() })?;
                    }
                    return Err(error);
                }
            }
        }
        Ok(right)
    }

    /// Times all candidates briefly, interleaved with the reference.
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
        let mut all: Vec<Contestant<'_>> =
            right.iter().map(|desc| Contestant::new(self.device, desc, "candidate")).collect();
        let mut running: Vec<&mut dyn Launch> = vec![reference];
        running.extend(all.iter_mut().map(|contestant| contestant as &mut dyn Launch));
        let times = session.screen(&mut running, self.sets)?;
        let Some(&Some(reference_us)) = times.first() else {
            return Err(stopped("the reference ran once, and then no more".to_owned()));
        };
        for (desc, time) in right.iter().zip(&times[1..]) {
            let outcome = match *time {
                Some(us) => Outcome::Timed {
                    us,
                    tflops: tflops(self.size, us),
                    rounds: SCREEN_PASSES,
                    reference_us,
                },
                None => {
                    Outcome::Wrong { why: "it ran once, and then could not be launched".to_owned() }
                }
            };
            book.tried(self.size, desc, outcome)?;
        }
        Ok(())
    }

    /// Measures the finalists with the full protocol.
    fn finals(
        &self,
        finalists: &[GemmDesc],
        references: &mut [&mut dyn Launch],
        session: &mut Session<'_>,
        book: &mut Book<'_>,
    ) -> Result<(), Error> {
        let mut ours: Vec<Contestant<'_>> =
            finalists.iter().map(|desc| Contestant::new(self.device, desc, "finalist")).collect();
        let mut all: Vec<&mut dyn Launch> =
            ours.iter_mut().map(|contestant| contestant as &mut dyn Launch).collect();
        all.extend(references.iter_mut().map(|reference| &mut **reference as &mut dyn Launch));
        let rounds = session.interleave(&mut all, self.sets)?;
        let (own, beside) = rounds.stats.split_at(finalists.len().min(rounds.stats.len()));
        let best =
            beside.iter().min_by(|x, y| x.quartiles_us.median.total_cmp(&y.quartiles_us.median));
        let best = best.ok_or_else(|| stopped("there is nothing to compare with".to_owned()))?;
        let finalist = |(desc, us): (&GemmDesc, f64)| Finalist {
            description: *desc,
            us,
            tflops: tflops(self.size, us),
        };
        book.add(Entry::Final(Final {
            size: self.size,
            finalists: finalists
                .iter()
                .zip(own.iter().map(|stats| stats.quartiles_us.median))
                .map(finalist)
                .collect(),
            reference_us: best.quartiles_us.median,
            reference: best.name.clone(),
            rounds: best.samples_us.len(),
            noisy: rounds.noisy,
        }))
    }
}

fn stopped(because: String) -> Error {
    Error::Measurement { because }
}
