//! Shared code of the four test binaries: random descriptions and problems, mutated maps, buffers
//! with guard zones, and runners.
#![allow(dead_code, reason = "each test binary uses its part")]

#[macro_use]
pub mod changed;

pub mod advice;
pub mod case;
pub mod completions;
pub mod conformance;
pub mod cute_partitions;
pub mod decompositions;
pub mod descriptions;
pub mod epilogue_operands;
pub mod epilogue_trees;
pub mod functions;
pub mod gate;
pub mod gates;
pub mod gemms;
pub mod groups;
pub mod groups_k;
pub mod indexed;
pub mod integers;
pub mod mma_sync;
pub mod multicast;
#[cfg(feature = "cuda")]
pub mod on_cuda;
pub mod on_host;
pub mod on_tensor_cores;
pub mod passes;
pub mod prelude;
pub mod problems;
pub mod product;
pub mod random;
pub mod random_cases;
pub mod results;
pub mod same_bits;
pub mod swizzles;
#[cfg(feature = "cuda")]
pub mod tensor_checks;
#[cfg(feature = "cuda")]
pub mod tensor_device;
#[cfg(feature = "cuda")]
pub mod tensor_kernels;
pub mod tensor_steps;
pub mod tensors;
pub mod tma_ring;
pub mod transforms;
pub mod transposes;
#[cfg(feature = "cuda")]
pub mod twins;
pub mod vectors;
pub mod wgmma;
pub mod whole;
pub mod words;

pub use changed::pinned;
pub use random::Random;

use falchion_lab::verify::draw;

/// Returns both seeds of `FALCHION_CASE=<description>:<problem>`, which a failure prints.
pub fn requested_case() -> Option<(u64, u64)> {
    let text = std::env::var("FALCHION_CASE").ok()?;
    let (description, problem) =
        text.split_once(':').expect("FALCHION_CASE is <description>:<problem>");
    let number = |text: &str| text.parse().expect("FALCHION_CASE holds two numbers");
    Some((number(description), number(problem)))
}

/// Returns the line that reproduces one case of a suite.
pub fn reproduce(suite: &str, (description, problem): (u64, u64)) -> String {
    format!("FALCHION_CASE={description}:{problem} cargo test --test host {suite}")
}

/// Returns all items, or with `FALCHION_SAMPLE=10:7` the seventh of ten random parts and one random
/// item. Part numbers wrap around, so ten consecutive numbers cover all items.
pub fn sample<T>(all: Vec<T>) -> Vec<T> {
    let Ok(text) = std::env::var("FALCHION_SAMPLE") else { return all };
    let (parts, part) = text.split_once(':').expect("FALCHION_SAMPLE is <parts>:<part>");
    let number = |text: &str| text.parse::<u64>().expect("FALCHION_SAMPLE holds two numbers");
    let (parts, part) = (number(parts).max(1), number(part));
    let one = draw(part, 0) as usize % all.len().max(1);
    let taken = |index: usize| index == one || draw(0, index as u64) % parts == part % parts;
    all.into_iter().enumerate().filter(|(index, _)| taken(*index)).map(|(_, item)| item).collect()
}

/// Returns the words of a sentence without numbers, and without the letters T, W, and B that
/// replace numbers in the book.
pub fn without_numbers(sentence: &str) -> String {
    let is_number = |word: &str| {
        word.contains(|c: char| c.is_ascii_digit()) || ["T", "W", "W's", "B"].contains(&word)
    };
    sentence.split_whitespace().filter(|word| !is_number(word)).collect::<Vec<_>>().join(" ")
}
