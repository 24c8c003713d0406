//! Why a request is no instruction, no tile or no descriptor.

use super::{Swizzle, WgmmaAccumulator, WgmmaInput};

/// What a warpgroup cannot multiply, in words.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "each variant's sentence says what its fields are")]
pub enum NotWgmma {
    #[error("a = {} and b = {}: the two are one 16- or 32-bit type, or both 8-bit floating-point, or both 8-bit integers; try b = {}", a.name(), b.name(), a.name())]
    Inputs { a: WgmmaInput, b: WgmmaInput },
    #[error("accumulator = {}: products of {} are added in {}; try {}", given.name(), a.name(), a.accumulators(), a.accumulator().name())]
    Accumulator { a: WgmmaInput, given: WgmmaAccumulator },
    #[error("n = {n}: {} has instructions for {widths}; try {nearest}", a.name())]
    Width { a: WgmmaInput, n: u32, widths: &'static str, nearest: u32 },
    #[error("{operand} of {} is MN-major: only f16 and bf16 may be; try K-major", input.name())]
    AlongMn { operand: &'static str, input: WgmmaInput },
    #[error("mn = {mn} of a tile: it is a multiple of {of}, from {of} to {most}; try {nearest}")]
    Rows { mn: u32, of: u32, most: u32, nearest: u32 },
    #[error("the tile of {operand} has mn = {mn}, and the instruction reads {needed}; try {needed}")]
    TooShort { operand: &'static str, mn: u32, needed: u32 },
    #[error("{field} = {value} is not a multiple of {of}; try {nearest}")]
    Misaligned { field: &'static str, value: u32, of: u32, nearest: u32 },
    #[error("{field} = {value} is above {most}; try {most}")]
    Beyond { field: &'static str, value: u32, most: u32 },
    #[error("step = {step}: the {swizzle} tile has steps 0 to 3; try 3")]
    Step { step: u32, swizzle: Swizzle },
}

/// The multiple of `of` next to `value`, at least `of` and at most `most`.
pub(super) const fn nearest_multiple(value: u32, of: u32, most: u32) -> u32 {
    let near = (value / of).saturating_add((value % of > of / 2) as u32).saturating_mul(of);
    if near < of {
        of
    } else if near > most {
        most / of * of
    } else {
        near
    }
}
