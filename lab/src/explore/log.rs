//! The log file of trials, line by line, so that an interrupted run can continue.
//!
//! The first line is the [`Header`], and every other line is an [`Entry`]. Text after the last
//! newline is an incomplete line of an interrupted run. It is cut off, and its trial is repeated.

use super::record::{Entry, FORMAT, Header, to_line};
use crate::Error;
use serde_json::Value;
use std::{
    fs::{self, File, OpenOptions, TryLockError},
    io::{Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

/// An open log. While it is open, no other run can open the file.
#[derive(Debug)]
pub struct Log {
    path: PathBuf,
    file: File,
}

impl Log {
    /// Opens or creates a log, and reads its entries.
    ///
    /// # Errors
    /// - [`falchion::Error::Io`] if the file cannot be opened or read.
    /// - [`Error::Measurement`] if the file is not a log, has a header other than `header`, or is
    ///   open in another run.
    pub fn open(path: &Path, header: &Header) -> Result<(Self, Vec<Entry>), Error> {
        let io = |error: std::io::Error| falchion::Error::Io {
            path: path.to_owned(),
            because: error.to_string(),
        };
        let refuse =
            |because: &str| Error::Measurement { because: format!("{} {because}", path.display()) };
        if fs::metadata(path).is_ok_and(|facts| !facts.is_file()) {
            return Err(refuse("is not a regular file"));
        }
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(io)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(refuse("is being written by another run")),
            // Some file systems have no locks. The user must then not start two runs at once.
            Err(TryLockError::Error(_)) => {}
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(io)?;
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
        let start = format!("{{\"format\":\"{FORMAT}\"");
        let shared = start.len().min(bytes.len());
        if bytes[..shared] != start.as_bytes()[..shared] {
            return Err(refuse(&format!(
                "does not begin like a log of `{FORMAT}`; give --log another file"
            )));
        }
        let text = std::str::from_utf8(&bytes[..whole])
            .map_err(|_| refuse("has lines that are not UTF-8"))?;
        let mut lines = text.lines();
        let entries = match lines.next() {
            Some(first) => {
                agrees(first, header).map_err(|because| refuse(&because))?;
                (2..)
                    .zip(lines)
                    .map(|(at, line)| entry(at, line).map_err(|because| refuse(&because)))
                    .collect::<Result<_, _>>()?
            }
            None => Vec::new(),
        };
        file.set_len(whole as u64).and_then(|()| file.seek(SeekFrom::End(0))).map_err(io)?;
        let mut log = Self { path: path.to_owned(), file };
        if whole == 0 {
            log.line(&to_line(header)?)?;
        }
        Ok((log, entries))
    }

    /// Appends an entry.
    ///
    /// # Errors
    /// [`falchion::Error::Io`] if the file cannot be written.
    pub fn keep(&mut self, entry: &Entry) -> Result<(), Error> {
        self.line(&entry.to_json()?)
    }

    fn line(&mut self, line: &str) -> Result<(), Error> {
        let bytes = format!("{line}\n");
        let written = self.file.write_all(bytes.as_bytes());
        Ok(written.map_err(|error| falchion::Error::Io {
            path: self.path.clone(),
            because: error.to_string(),
        })?)
    }
}

/// Checks that the first line equals `header`, or returns the name of a differing field.
fn agrees(line: &str, header: &Header) -> Result<(), String> {
    let read = |text: &str| {
        serde_json::from_str::<Value>(text)
            .map_err(|error| format!("is a log whose first line cannot be read: {error}"))
    };
    let (theirs, ours) = (read(line)?, read(&to_line(header).map_err(|error| error.to_string())?)?);
    let Value::Object(ours) = ours else { return Ok(()) };
    for (field, wanted) in &ours {
        let found = &theirs[field.as_str()];
        if found != wanted {
            return Err(format!(
                "is the log of other trials: its {field} is {found}, and this run's is {wanted}; give --log another file"
            ));
        }
    }
    Ok(())
}

fn entry(at: usize, line: &str) -> Result<Entry, String> {
    serde_json::from_str(line)
        .map_err(|error| format!("has an invalid trial in line {at}: {error}"))
}
