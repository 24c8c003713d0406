//! Paths: every file or folder that a document or a comment names exists.

use super::{files, root};
use crate::harness::words::missing_variants;
use std::collections::BTreeSet;

/// Folders of the repository whose paths are checked.
const FOLDERS: [&str; 14] = [
    "src/",
    "layout/src/",
    "layout/kernels/",
    "kernels/",
    "check/",
    "lab/",
    "cli/",
    "tests/",
    "docs/",
    "benches/",
    "book/",
    "examples/",
    "scripts/",
    "peers/",
];

/// Returns the paths of a text: words that begin with a folder of the repository. `*`, `{a,b}`,
/// `SUITE`, and `NAME` stand for several names; only the part before them is checked.
fn named(text: &str) -> BTreeSet<String> {
    let ends = |c: char| !(c.is_alphanumeric() || "_./-*{,}".contains(c));
    let words = text.split(ends).map(|word| word.trim_end_matches(['.', ',']));
    words
        .filter(|word| FOLDERS.iter().any(|folder| word.starts_with(folder)))
        .map(str::to_owned)
        .collect()
}

/// Returns whether the part of a path before the first placeholder exists.
fn exists(path: &str) -> bool {
    let said = path
        .split(['*', '{'])
        .next()
        .unwrap_or_default()
        .split("SUITE")
        .next()
        .unwrap_or_default()
        .split("NAME")
        .next()
        .unwrap_or_default();
    let folder = said.rsplit_once('/').map_or(said, |(folder, _)| folder);
    root().join(if said == path { said } else { folder }).exists()
}

/// Returns whether a path names a main loop or an MMA that the tree lacks.
fn names_missing_variant(path: &str) -> bool {
    let whole = path.replace('_', "");
    missing_variants().iter().any(|variant| {
        let of_ring = ["tmaring", "simtring", "syncring", "wgmmaring"];
        let is_ring = *variant == "warpspecialized";
        let stems = if is_ring { &of_ring[..] } else { std::slice::from_ref(variant) };
        stems.iter().any(|stem| whole.contains(stem))
    })
}

#[test]
fn every_named_path_exists() {
    let mut texts =
        files(&["src", "layout", "kernels", "check", "lab", "cli", "tests", "peers"], "rs");
    texts.extend(files(&["kernels", "layout/kernels", "lab/kernels"], "cuh"));
    texts.extend(files(&["docs", "book"], "md"));
    texts.extend(
        ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "tests/README.md"].map(|page| {
            (page.to_owned(), std::fs::read_to_string(root().join(page)).expect("text"))
        }),
    );
    // The examples in the tests of twins and layers do not exist.
    let tried = |name: &str| name.starts_with("tests/laws/house/");
    let gone: Vec<_> = texts
        .iter()
        .filter(|(name, _)| !tried(name))
        .flat_map(|(name, text)| {
            named(text)
                .into_iter()
                .filter(|path| !exists(path) && !names_missing_variant(path))
                .map(move |path| format!("{name}: {path}"))
        })
        .collect();
    assert_eq!(gone, [""; 0]);
}

#[test]
fn a_path_that_does_not_exist_is_found() {
    let found = named(
        "see `src/lib.rs` and (src/gone.rs), docs/performance/*.md; kernels/warp/{simt,gone}.cuh.",
    );
    let gone: Vec<_> = found.iter().filter(|path| !exists(path)).map(String::as_str).collect();
    assert_eq!((found.len(), gone), (4, vec!["src/gone.rs"]));
}

/// Returns the functions that a page names after a file: `` `file.rs`: `one`, `two` ``.
fn named_functions(text: &str) -> Vec<(&str, &str)> {
    let parts: Vec<_> = text.split('`').collect();
    let mut found = Vec::new();
    for (at, file) in parts.iter().enumerate().skip(1).step_by(2) {
        if !file.ends_with(".rs") {
            continue;
        }
        for (number, pair) in parts[at + 1..].chunks_exact(2).enumerate() {
            let between = if number == 0 { pair[0].trim() == ":" } else { pair[0].trim() == "," };
            let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            if !between || !pair[1].chars().all(is_name) {
                break;
            }
            found.push((*file, pair[1]));
        }
    }
    found
}

/// Returns whether a file of the repository has a function, or a suite of the macro `suites`, which
/// begins with its name and a colon.
fn has_function((file, function): (&str, &str)) -> bool {
    let text = std::fs::read_to_string(root().join(file)).unwrap_or_default();
    text.contains(&format!("fn {function}(")) || text.contains(&format!(" {function}: run of "))
}

#[test]
fn every_function_that_the_book_names_exists() {
    let pages = files(&["book"], "md");
    let named: Vec<_> = pages.values().flat_map(|text| named_functions(text)).collect();
    assert!(named.len() > 80, "{}", named.len());
    let gone = named.into_iter().filter(|one| !names_missing_variant(one.0) && !has_function(*one));
    assert_eq!(Vec::from_iter(gone), []);
}

#[test]
fn a_function_that_does_not_exist_is_found() {
    let here = "tests/laws/house/paths.rs";
    let text = format!("(`{here}`: `named`,\n`gone`), and `{here}`, `not_named`");
    let found = named_functions(&text);
    assert_eq!(found, [(here, "named"), (here, "gone")]);
    let gone = found.into_iter().filter(|one| !has_function(*one));
    assert_eq!(Vec::from_iter(gone), [(here, "gone")]);
}

/// Returns the targets of a page's relative Markdown links without anchors.
fn links(text: &str) -> Vec<&str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let html = text.split("srcset=\"").skip(1).chain(text.split("src=\"").skip(1));
    let pictures = html.filter_map(|rest| rest.split('"').next());
    targets
        .chain(pictures)
        .map(|target| target.split('#').next().unwrap_or_default())
        .filter(|target| !target.is_empty() && !target.contains("://") && !target.contains(' '))
        .collect()
}

/// Returns the links of a page whose target does not exist, relative to the page's folder.
fn dead_links(name: &str, text: &str) -> Vec<String> {
    let folder = root().join(name).parent().expect("a folder").to_owned();
    let is_dead = |target: &&str| !folder.join(target).exists();
    links(text).into_iter().filter(is_dead).map(|target| format!("{name}: {target}")).collect()
}

#[test]
fn markdown_links_have_targets() {
    let mut pages = files(&["docs", "book", "peers"], "md");
    for name in ["README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"] {
        let text = std::fs::read_to_string(root().join(name)).expect(name);
        pages.insert(name.to_owned(), text);
    }
    let dead: Vec<_> = pages.iter().flat_map(|(name, text)| dead_links(name, text)).collect();
    assert_eq!(dead, [""; 0]);
}

#[test]
fn dead_links_are_found() {
    let text = "[a](README.md#x) [b](gone.md) <img src=\"gone.svg\"> [c](https://example.org/x)";
    assert_eq!(dead_links("page.md", text), ["page.md: gone.md", "page.md: gone.svg"]);
}
