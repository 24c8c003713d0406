//! Names: each type name has one meaning in the whole library, and no name is meaningless.

use super::{files, library_code, root};
use crate::harness::{prelude::*, words::has_all_variants};
use std::fs;

/// Names without meaning.
const EMPTY: [&str; 6] = ["Base", "Helper", "Helpers", "Impl", "Util", "Utils"];

/// Names that several levels share by design. The module states the level.
const OF_LEVELS: [&str; 3] = ["AccumulatorMap", "FragmentMap", "Mma"];

/// Names that still have two meanings. `Layout`, `Mode`, and `Step` are names of CuTe's algebra and
/// of kernel facts. The list may shrink, but must not grow.
const TWICE: [&str; 21] = [
    "Block",
    "Choice",
    "Composed",
    "Fault",
    "Instruction",
    "Lanes",
    "Layout",
    "Map",
    "Mode",
    "Node",
    "Panel",
    "Place",
    "Product",
    "Program",
    "Reader",
    "Reads",
    "Rows",
    "Scalar",
    "Spelled",
    "Step",
    "Word",
];

/// Returns the types and traits that a text defines outside of functions. Definitions in the braces
/// of a macro such as `words!` count.
fn defined(code: &str) -> BTreeSet<String> {
    let name = |line: &str| {
        let line = line.strip_prefix("pub").map_or(line, |rest| {
            let rest = rest
                .strip_prefix('(')
                .and_then(|rest| rest.split_once(')'))
                .map_or(rest, |(_, rest)| rest);
            rest.trim_start()
        });
        let after = ["struct ", "enum ", "trait ", "type "]
            .iter()
            .find_map(|word| line.strip_prefix(word))?;
        Some(after.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>())
    };
    let mut made = false;
    let lines = code.lines().map(|line| {
        made = (made || line.ends_with("! {") && !line.starts_with(' ')) && line != "}";
        if made { line.strip_prefix("    ").unwrap_or(line) } else { line }
    });
    lines.filter_map(name).filter(|name| !name.is_empty()).collect()
}

/// Returns the files that define each name.
fn names(sources: &BTreeMap<String, String>) -> BTreeMap<String, Vec<String>> {
    let mut names = BTreeMap::<String, Vec<String>>::new();
    for (file, text) in sources.iter().filter(|(file, _)| !file.ends_with("_tests.rs")) {
        for name in defined(&library_code(text)) {
            names.entry(name).or_default().push(file.clone());
        }
    }
    names
}

#[test]
fn a_name_means_one_thing() {
    let names = names(&files(&["src", "layout/src", "check/src"], "rs"));
    let twice: BTreeSet<_> =
        names.iter().filter(|(_, files)| files.len() > 1).map(|(name, _)| name.as_str()).collect();
    let known: BTreeSet<_> = OF_LEVELS.into_iter().chain(TWICE).collect();
    let grown: Vec<_> = twice.difference(&known).map(|name| (name, &names[*name])).collect();
    assert!(grown.is_empty(), "{grown:?}");
    let gone: Vec<_> = known.difference(&twice).collect();
    // A tree without a variant lacks some meanings.
    assert!(
        gone.is_empty() || !has_all_variants(),
        "{gone:?} have one meaning now; remove them from the list"
    );
}

#[test]
fn no_name_is_empty() {
    let names = names(&files(&["src", "layout/src", "check/src", "lab/src", "cli/src"], "rs"));
    let empty = |name: &&String| {
        EMPTY.contains(&name.as_str())
            || name.ends_with('2') && name.to_lowercase().starts_with("new")
    };
    assert_eq!(names.keys().filter(empty).collect::<Vec<_>>(), [""; 0]);
}

/// Returns the names that `pub use` lists, without their paths.
fn exported(code: &str) -> BTreeSet<&str> {
    let lists = code.split("pub use ").skip(1).filter_map(|rest| rest.split(';').next());
    lists
        .flat_map(|list| list.split([',', '{', '}']))
        .map(|path| path.trim().rsplit("::").next().unwrap_or_default())
        .filter(|name| !["", "*"].contains(name))
        .collect()
}

#[test]
fn every_internal_name_has_a_user() {
    let code =
        library_code(&fs::read_to_string(root().join("src/device/internals.rs")).expect("text"));
    let mut sources = files(&["src", "check", "lab", "cli", "tests"], "rs");
    sources.retain(|file, text| file != "src/device/internals.rs" && text.contains("internals"));
    let words: BTreeSet<&str> = sources
        .values()
        .flat_map(|text| text.split(|c: char| !c.is_alphanumeric() && c != '_'))
        .collect();
    let names = exported(&code);
    assert!(names.len() > 50, "{names:?}");
    // A tree without a variant also lacks users.
    let unused: Vec<_> = names.difference(&words).collect();
    assert!(unused.is_empty() || !has_all_variants(), "{unused:?}");
}

#[test]
fn definitions_are_found() {
    let code = "pub struct A<T>;\npub(crate) enum B {}\n    struct Inner;\ntrait C {}\npub type D = u8;\nfn f() {}\nimpl A<u8> {}\n\
         words! {\n    pub enum E {\n        F,\n    }\n}\n    struct Inner;";
    assert_eq!(defined(code), ["A", "B", "C", "D", "E"].map(str::to_owned).into());
    let list = "pub use crate::a::{B, c::{D, e}};\npub use crate::f::G;";
    assert_eq!(exported(list), ["B", "D", "G", "e"].into());
}
