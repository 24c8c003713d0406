//! Progress on a terminal, for work that takes longer than two seconds.

use crate::interrupt;
use core::fmt;
use falchion::internals::host::progress::Gauge;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::{
    io::{IsTerminal, stderr},
    sync::mpsc::{RecvTimeoutError, channel},
    thread,
    time::{Duration, Instant},
};

/// Template of a bar, for work with counted steps.
const SHARE: &str = "{msg} {bar:30} {percent}% [{since}{rest}]";
/// Template of a spinner, for work without counted steps.
const SPINNER: &str = "{spinner} {msg} [{since}]";
/// Time before the terminal shows progress.
const PATIENCE: Duration = Duration::from_secs(2);

/// Clears the line of a progress bar. The function is safe during an interrupt.
pub fn clear() {
    if stderr().is_terminal() {
        crate::print::erase();
    }
}

/// Runs `work`. After two seconds, a terminal shows the name of the work and the elapsed time.
pub fn during<T>(what: &str, work: impl FnOnce() -> T) -> T {
    watched(what, None, work)
}

/// Runs `work` with counted steps. After two seconds, a terminal shows the completed share, the
/// elapsed time, and the remaining time.
pub fn measured<T>(what: &str, gauge: &'static Gauge, work: impl FnOnce() -> T) -> T {
    watched(what, Some(gauge), work)
}

fn watched<T>(what: &str, gauge: Option<&'static Gauge>, work: impl FnOnce() -> T) -> T {
    if !stderr().is_terminal() {
        return work();
    }
    interrupt::watch();
    let before = gauge.map_or((0, 0), Gauge::now);
    let (done, wait) = channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            if wait.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr())
                    .with_elapsed(PATIENCE);
                let template = if gauge.is_some() { SHARE } else { SPINNER };
                if let Ok(style) = ProgressStyle::with_template(template) {
                    bar.set_style(timed_style(style));
                }
                bar.set_message(what.to_owned());
                // The loop ends when `drop(done)` drops the sender.
                while wait.recv_timeout(Duration::from_millis(100))
                    == Err(RecvTimeoutError::Timeout)
                {
                    if let Some((done, all)) = gauge.map(Gauge::now) {
                        bar.set_length(all - before.1);
                        bar.set_position(done - before.0);
                    }
                    bar.tick();
                }
                bar.finish_and_clear();
            }
        });
        let result = work();
        drop(done);
        result
    })
}

/// Adds the elapsed time to a style, and the remaining time if any step is done.
fn timed_style(style: ProgressStyle) -> ProgressStyle {
    let since = |state: &ProgressState, to: &mut dyn fmt::Write| {
        let _ = to.write_str(&format_seconds(state.elapsed().as_secs_f64()));
    };
    let rest = |state: &ProgressState, to: &mut dyn fmt::Write| {
        let (done, all) = (state.pos() as f64, state.len().unwrap_or(0) as f64);
        if done > 0.0 {
            let _ = write!(
                to,
                ", {} to go",
                format_seconds(state.elapsed().as_secs_f64() * (all - done).max(0.0) / done)
            );
        }
    };
    style.with_key("since", since).with_key("rest", rest)
}

/// Formats seconds as hours, minutes, and seconds.
fn format_seconds(seconds: f64) -> String {
    let seconds = seconds.round() as u64;
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds}s"),
        (0, minutes, seconds) => format!("{minutes}m{seconds:02}s"),
        (hours, minutes, _) => format!("{hours}h{minutes:02}m"),
    }
}

/// The result of `work`, and its time in seconds.
pub fn timed<T>(work: impl FnOnce() -> T) -> (T, f64) {
    let began = Instant::now();
    let result = work();
    (result, began.elapsed().as_secs_f64())
}

/// A progress bar of counted steps.
pub struct Steps(ProgressBar);

impl Steps {
    /// A bar with `count` steps.
    pub fn new(count: usize) -> Self {
        interrupt::watch();
        // `ProgressDrawTarget` hides the bar if stderr is not a terminal.
        let bar = ProgressBar::with_draw_target(Some(count as u64), ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{bar:40} {pos}/{len} [{since}{rest}]") {
            bar.set_style(timed_style(style));
        }
        Self(bar)
    }

    /// Sets the number of finished steps.
    pub fn done(&self, count: usize) {
        self.0.set_position(count as u64);
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::format_seconds;

    #[test]
    fn times_have_at_most_two_units() {
        assert_eq!(
            [0.4, 59.4, 59.6, 90.0, 3599.0, 3600.0, 7290.0].map(format_seconds),
            ["0s", "59s", "1m00s", "1m30s", "59m59s", "1h00m", "2h01m"]
        );
    }
}
