//! Laws of the source tree: layers, names, operand memory, paths, sizes, twins, and versions. Each
//! exception states its reason.

mod layers;
mod names;
mod operand_memory;
mod paths;
mod sizes;
mod twins;
mod versions;

use crate::harness::prelude::*;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the files with an extension below folders of the repository, by path from its root.
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

/// Returns a path from the root with slashes.
fn name_of(path: &Path) -> String {
    path.strip_prefix(root()).expect("below").to_string_lossy().replace('\\', "/")
}

/// Returns Rust code without comments and without the unit tests at the end of the file.
fn library_code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    text.lines()
        .map(|line| line.split("//").next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n")
}
