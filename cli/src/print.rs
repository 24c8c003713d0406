//! Output: a closed pipe is no mistake, a full disk is one.

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

/// Moves the report to stderr: stdout holds the output file.
pub fn report_to_stderr() {
    STDOUT_IS_FILE.store(true, Ordering::Relaxed);
}

/// Whether anything was printed on stdout.
static PRINTED: AtomicBool = AtomicBool::new(false);

/// Whether nothing was printed on stdout yet.
pub fn nothing() -> bool {
    !PRINTED.load(Ordering::Relaxed)
}

/// Why stdout could not be written, if it could not.
static LOST: OnceLock<io::Error> = OnceLock::new();

/// A line on stdout, or on stderr after [`report_to_stderr`]. If the reader has closed the pipe,
/// the line is lost. [`finish`] reports other errors.
pub fn line(text: &str) {
    PRINTED.store(true, Ordering::Relaxed);
    if STDOUT_IS_FILE.load(Ordering::Relaxed) {
        return error(text);
    }
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
    LOST.get()
        .map_or(Ok(()), |error| Err(Failure::refused(format!("stdout cannot be written: {error}"))))
}

/// Whether colours are wanted where somebody looks on: NO_COLOR and a dumb terminal say that they
/// are not.
pub fn coloured(terminal: bool) -> bool {
    let unset = |name| std::env::var_os(name).is_none_or(|value| value.is_empty());
    terminal && unset("NO_COLOR") && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// A word of stdout that is good news, green on a terminal.
pub fn good(word: &str) -> String {
    let terminal = if STDOUT_IS_FILE.load(Ordering::Relaxed) {
        io::stderr().is_terminal()
    } else {
        io::stdout().is_terminal()
    };
    painted(word, 32, coloured(terminal))
}

/// A word of stderr that is bad news, red on a terminal.
pub fn bad(word: &str) -> String {
    painted(word, 31, coloured(io::stderr().is_terminal()))
}

/// A word in a colour of SGR.
fn painted(word: &str, colour: u8, coloured: bool) -> String {
    if coloured { format!("\x1b[1;{colour}m{word}\x1b[0m") } else { word.to_owned() }
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

/// The text, what would move a terminal's cursor or turn its lines around spelled out.
pub fn visible(text: &str) -> String {
    let moves = |c: char| {
        (c.is_control() && c != '\n')
            || matches!(c, '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars()
        .map(|c| if moves(c) { c.escape_unicode().to_string() } else { c.to_string() })
        .collect()
}

/// A path, all on one line.
pub fn path(path: &Path) -> String {
    visible(&path.display().to_string()).replace('\n', "\\n")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_painted_for_terminals_alone() {
        assert_eq!(painted("falchion", 31, true), "\x1b[1;31mfalchion\x1b[0m");
        assert_eq!(painted("falchion", 31, false), "falchion");
        assert!(!coloured(false));
    }
}
