//! Sizes: rooms are small, and unsafe code has two places.

use super::{files, library_code};

/// Lines that a file may have.
const MOST_LINES: usize = 400;

/// Files that may have more, and why.
const LARGE: [(&str, &str); 0] = [];

/// Half of all files are shorter than this.
const MEDIAN_LINES: usize = 150;

/// Where unsafe code lies.
const UNSAFE: [&str; 2] = ["src/sys/", "lab/src/sys/"];

/// Lines without unit tests that `src/` may have: what callers link is no larger than it has to be. A family is some 1,500 of them: its instructions, the maps of their fragments, and its room.
const OF_SRC: [(&str, usize); 31] = [
    ("four families, their passes, the host and its machine, the caches and the calls", 33_535),
    ("groups, a further kind of work with a walk of its own in both languages", 400),
    ("streams of k-tiles", 200),
    ("parts of K that a cluster's blocks have", 200),
    ("the machine of both", 150),
    ("arrays, in three families", 700),
    ("arrays of more products", 30),
    ("maps of arrays that a device makes, with their machine", 470),
    ("what a choice knows of pitches, and of the parts of a cluster", 140),
    ("offsets of groups by value, and who reads them", 205),
    ("streams of the families of one schedule", 230),
    ("what reads operands in place", 250),
    ("streams in the host's fast mode and in the choice", 170),
    ("the operator of the machine at hand", 210),
    ("a way round for tiles of columns", 30),
    ("rows of few tiles", 60),
    ("how many parts are loaded ahead", 25),
    ("what a process remembers of its choices, and what is weighed once of each", 80),
    ("what lanes exchange before they store single elements", 90),
    ("costs of f32 by themselves", 20),
    ("parallel split-K in three families and in the choice", 220),
    ("grids that begin while others end", 80),
    ("what a choice does not weigh, and what it knows of last waves", 50),
    ("what a predicted time is made of", 50),
    ("offsets of groups checked on a device", 70),
    ("columns of any whole number of eight", 20),
    ("what a sentence says of a batch of matrices", 40),
    ("what a code of the driver asks of the caller", 15),
    ("the other frame of a tile that is pinned", 35),
    ("times of what D has beyond the cache, and of launches by their accesses", 16),
    ("two fragments of B, and promoted accumulators of parts of tf32", 63),
];

/// The same of the layout algebra, a crate of its own.
const OF_LAYOUTS: usize = 2_120;

#[test]
fn rooms_are_small() {
    let rust = files(&["src", "layout/src", "lab/src", "cli/src", "tests", "lab/tests", "cli/tests"], "rs");
    let kernels = files(&["kernels", "layout/kernels", "lab/kernels"], "cuh");
    let lines = |text: &String| text.lines().count();
    let large: Vec<_> = rust.iter().chain(&kernels).filter(|(_, text)| lines(text) > MOST_LINES).map(|(name, _)| name).collect();
    assert_eq!(large, LARGE.map(|(name, _)| name).iter().collect::<Vec<_>>());
    let mut sizes: Vec<_> = files(&["src"], "rs").values().map(lines).collect();
    sizes.sort_unstable();
    assert!(sizes[sizes.len() / 2] < MEDIAN_LINES, "half of src/ has {} lines and more", sizes[sizes.len() / 2]);
}

#[test]
fn the_library_is_no_larger_than_it_has_to_be() {
    let of_src = OF_SRC.iter().map(|(_, lines)| lines).sum();
    for (folder, most) in [("src", of_src), ("layout/src", OF_LAYOUTS)] {
        let sources = files(&[folder], "rs");
        let library = sources.iter().filter(|(name, _)| !name.ends_with("_tests.rs"));
        let lines: usize =
            library.map(|(_, text)| text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default().lines().count()).sum();
        println!("{lines} lines in {} files of {folder}", sources.len());
        assert!(lines <= most, "{lines} lines in {folder}");
    }
}

#[test]
fn unsafe_code_lies_in_sys() {
    let sources = files(&["src", "layout/src", "lab/src", "cli/src"], "rs");
    let code = |text: &String| library_code(text);
    let spells = |text: &str| text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "unsafe");
    let outside: Vec<_> = sources
        .iter()
        .filter(|(name, text)| !UNSAFE.iter().any(|folder| name.starts_with(folder)) && spells(&code(text)))
        .map(|(name, _)| name)
        .collect();
    assert_eq!(outside, [""; 0]);
}
