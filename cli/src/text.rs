//! Files of text.

use crate::failure::Failure;
use std::{fs, path::Path};

/// Longer files are not read: no description or suite is so long.
const LONGEST: u64 = 1 << 24;

/// The text of a plain file.
pub fn read(what: &str, path: &Path) -> Result<String, Failure> {
    let refuse = |because: String| {
        Failure::refused(format!("{what} {} cannot be read: {because}", path.display()))
    };
    let facts = fs::metadata(path).map_err(|error| refuse(error.to_string()))?;
    if !facts.is_file() {
        return Err(refuse("it is not a file".to_owned()));
    }
    if facts.len() > LONGEST {
        return Err(refuse(format!(
            "it has {} bytes, and at most {LONGEST} are read",
            facts.len()
        )));
    }
    fs::read_to_string(path).map_err(|error| refuse(error.to_string()))
}
