//! Signal handlers. An interrupt leaves no unfinished file and no progress bar.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Files that are not complete.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// The list of unfinished files, locked. The lock excludes the signal handler while a caller
/// creates or renames a file and updates the list.
pub fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    watch();
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes a file from the list.
pub fn strike(list: &mut Vec<PathBuf>, path: &Path) {
    list.retain(|listed| listed != path);
}

/// Installs the signal handlers. INT, TERM, HUP, and QUIT remove unfinished files, clear the bar,
/// and end the process with the signal's exit status. A file beyond `ulimit -f` causes a write
/// error instead of a signal.
#[cfg(unix)]
pub fn watch() {
    use signal_hook::{consts, iterator::Signals, low_level};
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        // nohup, and `&` in a script, start programs with ignored signals, which stay ignored.
        let wanted = [consts::SIGINT, consts::SIGTERM, consts::SIGHUP, consts::SIGQUIT]
            .into_iter()
            .filter(|&signal| !is_ignored(signal));
        // With a handler for SIGXFSZ, a write returns an error.
        let _ = signal_hook::flag::register(consts::SIGXFSZ, Arc::default());
        let Ok(mut signals) = Signals::new(wanted) else { return };
        std::thread::spawn(move || {
            for signal in signals.forever() {
                let list = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
                for path in list.iter() {
                    // The file may not exist any more.
                    let _ = std::fs::remove_file(path);
                }
                crate::progress::clear();
                let _ = low_level::emulate_default_handler(signal);
            }
        });
    });
}

/// Systems other than Unix have only the default handlers.
#[cfg(not(unix))]
pub fn watch() {}

/// Whether the process ignored the signal when it started. HUP counts as ignored on systems without
/// /proc.
#[cfg(unix)]
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    match mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()) {
        Some(mask) => mask >> (signal - 1) & 1 == 1,
        None => signal == signal_hook::consts::SIGHUP,
    }
}
