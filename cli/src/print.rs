//! Printing on stdout and stderr. A closed pipe is not an error, but a full disk is.

use crate::failure::Failure;
use std::{
    io::{self, ErrorKind, IsTerminal, Write},
    path::Path,
    sync::{
        OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

/// Whether stdout holds the output file, so that the report goes to stderr.
static STDOUT_IS_FILE: AtomicBool = AtomicBool::new(false);

/// Moves the report to stderr, because stdout holds the output file.
pub fn report_to_stderr() {
    STDOUT_IS_FILE.store(true, Ordering::Relaxed);
}

/// Whether stdout has output.
static PRINTED: AtomicBool = AtomicBool::new(false);

/// Whether stdout has no output.
pub fn nothing() -> bool {
    !PRINTED.load(Ordering::Relaxed)
}

/// The first error of a write to stdout.
static LOST: OnceLock<io::Error> = OnceLock::new();

/// Prints a line on stdout, or on stderr after [`report_to_stderr`]. If the reader has closed the
/// pipe, the line is lost. [`finish`] reports other errors.
pub fn line(text: &str) {
    PRINTED.store(true, Ordering::Relaxed);
    if STDOUT_IS_FILE.load(Ordering::Relaxed) {
        return error(text);
    }
    keep_error(writeln!(io::stdout().lock(), "{text}"));
}

fn keep_error(result: io::Result<()>) {
    if let Err(error) = result
        // A reader may close the pipe early.
        && error.kind() != ErrorKind::BrokenPipe
    {
        // `LOST` keeps only the first error.
        let _ = LOST.set(error);
    }
}

/// Flushes stdout, and returns the first error.
pub fn finish() -> Result<(), Failure> {
    keep_error(io::stdout().lock().flush());
    LOST.get()
        .map_or(Ok(()), |error| Err(Failure::refused(format!("stdout cannot be written: {error}"))))
}

/// Whether to print colours: only on a terminal, without `TERM=dumb` and without `NO_COLOR`.
pub fn coloured(terminal: bool) -> bool {
    let unset = |name| std::env::var_os(name).is_none_or(|value| value.is_empty());
    terminal && unset("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// A word of good news on stdout, green on a terminal.
pub fn good(word: &str) -> String {
    let terminal = if STDOUT_IS_FILE.load(Ordering::Relaxed) {
        io::stderr().is_terminal()
    } else {
        io::stdout().is_terminal()
    };
    paint(word, 32, coloured(terminal))
}

/// A word of bad news on stderr, red on a terminal.
pub fn bad(word: &str) -> String {
    paint(word, 31, coloured(io::stderr().is_terminal()))
}

/// A word in an SGR colour.
fn paint(word: &str, colour: u8, coloured: bool) -> String {
    if coloured { format!("\x1b[1;{colour}m{word}\x1b[0m") } else { word.to_owned() }
}

/// Prints a line on stderr.
pub fn error(text: &str) {
    // No stream is left for an error of stderr.
    let _ = writeln!(io::stderr().lock(), "{text}");
}

/// Erases the line of stderr that may hold a progress bar.
pub fn erase() {
    let _ = write!(io::stderr().lock(), "\r\x1b[2K");
}

/// Escapes control characters other than newlines, and characters that change the text direction.
pub fn visible(text: &str) -> String {
    let moves = |c: char| {
        (c.is_control() && c != '\n')
            || matches!(c, '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars()
        .map(|c| if moves(c) { c.escape_unicode().to_string() } else { c.to_string() })
        .collect()
}

/// A path on one line, escaped.
pub fn path(path: &Path) -> String {
    visible(&path.display().to_string()).replace('\n', "\\n")
}

/// Prints rows as a table.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_printed_only_on_terminals() {
        assert_eq!(paint("falchion", 31, true), "\x1b[1;31mfalchion\x1b[0m");
        assert_eq!(paint("falchion", 31, false), "falchion");
        assert!(!coloured(false));
    }
}
