//! The house: floors, circles, names, operand memory, paths, sizes, twins, versions, and words.
//! Each exception has its reason beside it.

mod floors;
mod names;
mod operand_memory;
mod paths;
mod sizes;
mod twins;
mod versions;
mod words;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The files below folders of the repository with an extension, by their paths from its root.
fn files(below: &[&str], extension: &str) -> BTreeMap<String, String> {
    let (mut found, mut folders) =
        (BTreeMap::new(), below.iter().map(|folder| root().join(folder)).collect::<Vec<_>>());
    while let Some(next) = folders.pop() {
        let entries =
            fs::read_dir(&next).unwrap_or_else(|error| panic!("{}: {error}", next.display()));
        for path in entries.map(|entry| entry.expect("an entry").path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == extension) {
                found.insert(name_of(&path), fs::read_to_string(&path).expect("text"));
            }
        }
    }
    found
}

/// A path from the root, with slashes.
fn name_of(path: &Path) -> String {
    path.strip_prefix(root()).expect("below").to_string_lossy().replace('\\', "/")
}

/// Rust without comments, and without what is compiled for unit tests alone, which stands at the
/// end of a file.
fn library_code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    text.lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n")
}
