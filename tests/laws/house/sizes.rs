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

/// Lines without unit tests: of `src/`, and of the layout algebra, a crate of its own. What callers link is no larger than it has to be.
/// A family is some 1,500 lines: its instructions, the maps of their fragments, and its room. Groups, a further kind of work with a walk of its own in both languages, are some 400, streams of k-tiles, and parts of a cluster, some 200 each, and some 150 of the machine; arrays, in three families, some 700, longer ones some 30, and maps of them that a device makes, some 470, of which the machine and what gathers their matrices are some 120; what a choice knows of pitches, some 70, and of the parts of a cluster, some 70; offsets of groups by value, some 200; streams of the families of one schedule, some 230; what reads operands in place, some 250; streams in the host's fast mode and in the choice, some 170; the operator of the machine at hand, some 210; a way round for tiles of columns, some 30; rows of few tiles, some 60; how many parts are loaded ahead, some 25; what a process remembers of its choices, and what is weighed once of each, some 80; what lanes exchange before they store single elements, some 90, and costs of f32 by themselves, some 20; parallel split-K in three families and in the choice, some 220; grids that begin while others end, some 80; what a choice does not weigh, and what it knows of last waves, some 50; what a predicted time is made of, some 50; offsets of groups checked on a device, some 70; columns of any whole number of eight, some 20; what a sentence says of a batch of matrices, some 40; what a code of the driver asks of the caller, some 10.
const LIBRARY_LINES: [(&str, usize); 2] = [("src", 37_760), ("layout/src", 2_120)];

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
    for (folder, most) in LIBRARY_LINES {
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
