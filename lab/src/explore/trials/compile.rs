//! Parallel compilation of candidates, and the reasons why some of them are not run.

use crate::explore::record::{LOG_BYTES, Outcome};
use falchion::{
    Error,
    cuda::report::Report,
    nest::{GemmDesc, SpillKind},
};
use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

/// Number of candidates that are timed in the same rounds.
pub const BATCH: usize = 16;

/// A compiler of kernels, used by several threads at once.
pub trait Compiler: Sync {
    /// Compiles a description's kernel, or finds it in a cache.
    ///
    /// # Errors
    /// [`Error::Compile`] if NVRTC rejects the kernel. Any other error ends the trials.
    fn compile(&self, desc: &GemmDesc) -> Result<Report, Error>;
}

/// Returns the reason why a compiled candidate is not run, if there is one.
///
/// # Errors
/// Errors that do not come from the kernel, such as a missing compiler.
pub(super) fn lost(
    desc: &GemmDesc,
    built: Result<Report, Error>,
) -> Result<Option<Outcome>, Error> {
    match built {
        Ok(report) => {
            let bytes = report.spill_store_bytes.saturating_add(report.spill_load_bytes);
            Ok((bytes > 0 && desc.pins().spills == Some(SpillKind::Refused))
                .then_some(Outcome::Spilled { bytes }))
        }
        Err(Error::Compile { mut log, .. }) => {
            let end = (0..=LOG_BYTES.min(log.len()))
                .rev()
                .find(|&end| log.is_char_boundary(end))
                .unwrap_or(0);
            log.truncate(end);
            Ok(Some(Outcome::CompileFailed { log }))
        }
        Err(other) => Err(other),
    }
}

/// Compiles descriptions with `jobs` threads, at least one. Returns the results in order.
pub fn compile_all(
    compiler: &dyn Compiler,
    descs: &[GemmDesc],
    jobs: usize,
) -> Vec<Result<Report, Error>> {
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

/// The result of many compilations.
#[derive(Clone, PartialEq, Eq, Debug, Default, serde::Serialize)]
pub struct Compiled {
    /// Kernels in the cache that can be run.
    pub kernels: usize,
    /// Kernels that spill, although their descriptions forbid it.
    pub spilled: usize,
    /// Descriptions that NVRTC rejected.
    pub compile_failed: usize,
    /// The error if a kernel could not be written to the cache. The remaining kernels were not
    /// compiled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unwritten: Option<String>,
}

/// Compiles descriptions into the cache of `compiler`, and calls `done` with the number of compiled
/// ones. It needs no device. It stops after the batch in which a kernel could not be written.
///
/// # Errors
/// The errors of `compiler`, except kernels that NVRTC rejects and [`Error::Io`]. [`Compiled`]
/// counts the former and stores the latter.
pub fn compile_only(
    descs: &[GemmDesc],
    compiler: &dyn Compiler,
    jobs: usize,
    done: &mut dyn FnMut(usize),
) -> Result<Compiled, Error> {
    let mut compiled = Compiled::default();
    for (batch, begun) in descs.chunks(BATCH).zip((0..).step_by(BATCH)) {
        for (desc, built) in batch.iter().zip(compile_all(compiler, batch, jobs)) {
            if let Err(error @ Error::Io { .. }) = &built {
                compiled.unwritten.get_or_insert_with(|| error.to_string());
                continue;
            }
            *match lost(desc, built)? {
                Some(Outcome::Spilled { .. }) => &mut compiled.spilled,
                Some(_) => &mut compiled.compile_failed,
                None => &mut compiled.kernels,
            } += 1;
        }
        done(begun + batch.len());
        if compiled.unwritten.is_some() {
            break;
        }
    }
    Ok(compiled)
}
