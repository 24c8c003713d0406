//! What an interrupt leaves behind: no file that is half written, and no bar.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Files that are not whole yet.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// The list, which an interrupt waits for: a file is made and listed, or renamed and struck off, as
/// one step.
pub fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    watch();
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Strikes a file off the list.
pub fn strike(list: &mut Vec<PathBuf>, path: &Path) {
    list.retain(|listed| listed != path);
}

/// From now on INT, TERM, HUP and QUIT remove unfinished files and clear the bar, and then end the
/// process as they always do. A file that grows beyond `ulimit -f` is an error of its writing, and
/// no signal.
#[cfg(unix)]
pub fn watch() {
    use signal_hook::{consts, iterator::Signals, low_level};
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        // Under nohup, and behind an `&` of a script, some signals are ignored, and have to stay
        // so.
        let wanted = [consts::SIGINT, consts::SIGTERM, consts::SIGHUP, consts::SIGQUIT]
            .into_iter()
            .filter(|&signal| !is_ignored(signal));
        // Where a handler is, the system call says what the signal would have said.
        let _ = signal_hook::flag::register(consts::SIGXFSZ, Arc::default());
        let Ok(mut signals) = Signals::new(wanted) else { return };
        std::thread::spawn(move || {
            for signal in signals.forever() {
                let list = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
                for path in list.iter() {
                    // What is gone need not be removed.
                    let _ = std::fs::remove_file(path);
                }
                crate::progress::clear();
                let _ = low_level::emulate_default_handler(signal);
            }
        });
    });
}

/// Interrupts are left to the system.
#[cfg(not(unix))]
pub fn watch() {}

/// Whether the process was started with this signal ignored; where the system does not say, HUP is.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    match mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()) {
        Some(mask) => mask >> (signal - 1) & 1 == 1,
        None => signal == signal_hook::consts::SIGHUP,
    }
}
