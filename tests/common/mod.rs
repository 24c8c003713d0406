//! What the test suites share: descriptions and problems drawn from a seed, and buffers with guard zones around them.
#![allow(dead_code, reason = "each test binary uses its own part")]

pub mod case;
#[path = "../descriptions/mod.rs"]
pub mod descriptions;
#[cfg(feature = "cuda")]
pub mod on_cuda;
pub mod on_tensor_cores;
pub mod problems;
pub mod subject;
#[cfg(feature = "cuda")]
pub mod tensor_checks;
#[cfg(feature = "cuda")]
pub mod tensor_device;
#[cfg(feature = "cuda")]
pub mod tensor_kernels;
pub mod tensors;
pub mod transposes;

pub use descriptions::Random;

/// Asks for the seed of one case: `FALCHION_CASE=<description>:<problem>`, as a failure prints it.
pub fn asked_for() -> Option<(u64, u64)> {
    let text = std::env::var("FALCHION_CASE").ok()?;
    let (description, problem) = text.split_once(':').expect("FALCHION_CASE is <description>:<problem>");
    let number = |text: &str| text.parse().expect("FALCHION_CASE holds two numbers");
    Some((number(description), number(problem)))
}

/// The line that reproduces one case.
pub fn reproduce(binary: &str, (description, problem): (u64, u64)) -> String {
    format!("FALCHION_CASE={description}:{problem} cargo test --test {binary}")
}
