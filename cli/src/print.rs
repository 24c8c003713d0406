//! Output that a closed pipe does not turn into a panic.

use std::io::{self, Write};

/// A line on stdout. When nobody reads it any more, the line is lost and that is all.
pub fn line(text: &str) {
    // Whoever closed the pipe has read enough.
    let _ = writeln!(io::stdout().lock(), "{text}");
}

/// A line on stderr.
pub fn error(text: &str) {
    // There is no one left to tell.
    let _ = writeln!(io::stderr().lock(), "{text}");
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
