//! Writes the generated parts of the documentation from `docs/performance/*.jsonl`: the page of
//! every suite, the overview, the README's speed table, and the README's pictures.
//!
//! `cargo run --release -p falchion-lab --example pages`

use falchion_lab::pages;
use std::{error::Error, fs, path::Path};

fn main() -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let read = |path: &str| {
        fs::read_to_string(root.join(path)).map_err(|error| format!("{path}: {error}"))
    };
    for (path, text) in pages::files(read)? {
        fs::write(root.join(path), text)?;
    }
    Ok(())
}
