//! A sign of life for work that takes longer than two seconds, where someone looks on.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::{
    io::{IsTerminal, stderr},
    sync::mpsc::{RecvTimeoutError, channel},
    thread,
    time::{Duration, Instant},
};

/// Work below this shows nothing.
const PATIENCE: Duration = Duration::from_secs(2);

/// Does `work`; from its third second on, a terminal is told what goes on and since when.
pub fn during<T>(what: &str, work: impl FnOnce() -> T) -> T {
    if !stderr().is_terminal() {
        return work();
    }
    let (done, wait) = channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            if wait.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr()).with_elapsed(PATIENCE);
                if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} [{elapsed}]") {
                    bar.set_style(style);
                }
                bar.set_message(what.to_owned());
                bar.enable_steady_tick(Duration::from_millis(100));
                // It ends when the sender is dropped.
                let _ = wait.recv();
                bar.finish_and_clear();
            }
        });
        let result = work();
        drop(done);
        result
    })
}

/// The result of `work`, and how many seconds it took.
pub fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let began = Instant::now();
    let result = work();
    (result, began.elapsed().as_secs_f64())
}

/// Steps of work, counted for a terminal that looks on.
pub struct Steps(ProgressBar);

impl Steps {
    /// So many steps, none done.
    pub fn new(count: usize) -> Self {
        // A target that is no terminal hides the bar.
        let bar = ProgressBar::with_draw_target(Some(count as u64), ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} [{elapsed}]") {
            bar.set_style(style);
        }
        Self(bar)
    }

    /// So many are done.
    pub fn done(&self, count: usize) {
        self.0.set_position(count as u64);
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
