//! Output: a closed pipe is no mistake, a full disk is one.

use crate::failure::Failure;
use std::{
    io::{self, ErrorKind, Write},
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

/// Whether anything was printed on stdout.
static PRINTED: AtomicBool = AtomicBool::new(false);

/// Whether nothing was printed on stdout yet.
pub fn nothing() -> bool {
    !PRINTED.load(Ordering::Relaxed)
}

/// Why stdout could not be written, if it could not.
static LOST: OnceLock<io::Error> = OnceLock::new();

/// A line on stdout. When nobody reads it any more, the line is lost and that is all; [`finish`] says what else went wrong.
pub fn line(text: &str) {
    PRINTED.store(true, Ordering::Relaxed);
    written(writeln!(io::stdout().lock(), "{text}"));
}

fn written(result: io::Result<()>) {
    if let Err(error) = result
        // Whoever closed the pipe has read enough.
        && error.kind() != ErrorKind::BrokenPipe
    {
        // The first reason is the reason.
        let _ = LOST.set(error);
    }
}

/// Whether all that was printed has arrived.
pub fn finish() -> Result<(), Failure> {
    written(io::stdout().lock().flush());
    LOST.get().map_or(Ok(()), |error| Err(Failure::refused(format!("stdout cannot be written: {error}"))))
}

/// A line on stderr.
pub fn error(text: &str) {
    // There is no one left to tell.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Erases the line of stderr on which a bar may stand.
pub fn erase() {
    let _ = write!(io::stderr().lock(), "\r\x1b[2K");
}

/// A table of names and what is said of them.
pub fn table(rows: impl IntoIterator<Item = Vec<String>>) {
    let mut table = comfy_table::Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    for row in rows {
        table.add_row(row);
    }
    for text in table.to_string().lines() {
        line(text.trim_end());
    }
}
