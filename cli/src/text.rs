//! Text files.

use crate::failure::Failure;
use std::{
    fs::{self, File},
    io::Read,
    path::Path,
};

/// Maximum length of a text file in bytes.
const LONGEST: u64 = 1 << 24;

/// Reads the text of a file or a pipe.
pub fn read(what: &str, path: &Path) -> Result<String, Failure> {
    let refuse = |because: String| {
        Failure::refused(format!("{what} {} cannot be read: {because}", path.display()))
    };
    let facts = fs::metadata(path).map_err(|error| refuse(error.to_string()))?;
    if facts.is_dir() {
        return Err(refuse("the path is not a file".to_owned()));
    }
    let mut text = String::new();
    let file = File::open(path).map_err(|error| refuse(error.to_string()))?;
    // Pipes and devices have no length, so `take` limits the read.
    let read = file.take(LONGEST + 1).read_to_string(&mut text);
    if facts.len() > LONGEST || text.len() as u64 > LONGEST {
        return Err(refuse(format!("the limit is {LONGEST} bytes")));
    }
    read.map_err(|error| refuse(error.to_string()))?;
    Ok(text)
}
