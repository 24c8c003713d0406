//! Words: texts use the terms of the field.

use super::{files, root};
use std::collections::BTreeMap;

/// Forbidden words, each with its replacement.
const OTHERS: [(&str, &str); 23] = [
    ("copy engine", "TMA"),
    ("relay", "repack"),
    ("relaid", "repacked"),
    ("detour", "a pass"),
    ("laid out again", "repacked"),
    ("lays out again", "repacks"),
    ("abreast", "group size"),
    ("deposit", "stage, or store partial accumulators"),
    ("is no kernel", "invalid or unsupported"),
    ("are no kernel", "invalid or unsupported"),
    ("the nearest is", "try"),
    ("k-group", "k-block"),
    ("let go", "released"),
    ("in turns", "ping-pong"),
    ("partial sum", "partial accumulators"),
    ("promoted sum", "promoted accumulators"),
    ("block that stays", "persistent CTA"),
    ("clusters that stay", "persistent clusters"),
    ("warpgroups have roles", "warp-specialized"),
    ("source_a", "a_operand"),
    ("source-a", "a-operand"),
    ("the seeds", "the sources"),
    ("departs from the plan", "a decision"),
];

/// Returns a line without its comment prefix, so that a word across a line break is found.
fn bare(line: &str) -> &str {
    line.trim().trim_start_matches(['/', '!', '*', '#', '>', '\\']).trim()
}

/// Returns whether the match at `at` is a whole word, also with the ending `s` or `ed`.
fn stands(text: &str, at: usize, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    let rest = &text[at + word.len()..];
    let rest = rest.strip_prefix("ed").or(rest.strip_prefix('s')).unwrap_or(rest);
    !text[..at].ends_with(part) && !rest.starts_with(part)
}

/// Returns each forbidden word of a text with its line number from 1.
fn found(text: &str) -> Vec<(usize, &'static str)> {
    let lines: Vec<String> = text.lines().map(str::to_lowercase).collect();
    let mut found = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let next = lines.get(number + 1).map_or("", |next| bare(next));
        let own = line.trim_end_matches(['\\', ' ']);
        let both = format!("{own} {next}");
        for (word, _) in OTHERS {
            if both.match_indices(word).any(|(at, _)| at < own.len() && stands(&both, at, word)) {
                found.push((number + 1, word));
            }
        }
    }
    found
}

/// Returns all texts that are checked. Recorded data (JSON lines, pictures) and the change log keep
/// their words.
fn texts() -> BTreeMap<String, String> {
    let folders = [
        "src", "layout", "kernels", "lab", "cli", "tests", "docs", "book", "benches", "scripts",
        "peers", "examples",
    ];
    let mut texts = BTreeMap::new();
    for extension in ["rs", "cuh", "md", "sh", "toml", "json", "stderr", "txt"] {
        texts.extend(files(&folders, extension));
    }
    texts.insert(
        "README.md".to_owned(),
        std::fs::read_to_string(root().join("README.md")).expect("text"),
    );
    texts.remove("tests/laws/house/words.rs");
    texts
}

#[test]
fn texts_say_it_as_the_field_does() {
    let texts = texts();
    assert!(texts.len() > 600, "{} texts", texts.len());
    let mut wrong = Vec::new();
    for (name, text) in &texts {
        for (line, word) in found(text) {
            let say = OTHERS.iter().find(|(other, _)| *other == word).map_or("", |(_, say)| say);
            wrong.push(format!("{name}:{line}: {word}; say {say}"));
        }
    }
    assert_eq!(wrong, [""; 0]);
}

/// Each forbidden word is found with its line, in any case and across a line break.
#[test]
fn a_word_of_before_is_found() {
    for (word, _) in OTHERS {
        assert_eq!(
            found(&format!("plain\n/// The {} of a tile.", word.to_uppercase())),
            [(2, word)],
            "{word}"
        );
        if let Some((first, second)) = word.split_once(' ') {
            assert_eq!(
                found(&format!("//! One {first}\n//! {second} here")),
                [(1, word)],
                "{word}"
            );
        }
    }
    assert_eq!(found("// slices are Deposited: two detours"), [(1, "detour"), (1, "deposit")]);
    assert_eq!(found("let gone = relaying; // TMA lays it out; a delay"), []);
}
