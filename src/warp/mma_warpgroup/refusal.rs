//! Why a request is no instruction, no tile or no descriptor.

use super::{Swizzle, WgmmaAccumulator, WgmmaInput};

/// What a warpgroup cannot multiply, in words.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotWgmma {
    /// Two input types that no instruction multiplies.
    #[error("a = {} and b = {}: the two are one 16- or 32-bit type, or both 8-bit floating-point, or both 8-bit integers; the nearest b is {}", a.name(), b.name(), a.name())]
    Inputs {
        /// The type of A.
        a: WgmmaInput,
        /// The type of B.
        b: WgmmaInput,
    },
    /// An accumulator that the input type does not add into.
    #[error("accumulator = {}: products of {} are added in {}; the nearest is {}", given.name(), a.name(), a.accumulators(), a.accumulator().name())]
    Accumulator {
        /// The type of A.
        a: WgmmaInput,
        /// What was asked for.
        given: WgmmaAccumulator,
    },
    /// A width that no instruction has.
    #[error("n = {n}: {} has instructions for {widths}; the nearest is {nearest}", a.name())]
    Width {
        /// The type of A.
        a: WgmmaInput,
        /// What was asked for.
        n: u32,
        /// The widths there are.
        widths: &'static str,
        /// The legal width next to it.
        nearest: u32,
    },
    /// An operand along MN whose type has no transposing read.
    #[error("{operand} of {} lies along mn: only f16 and bf16 are read so; the nearest is along k", input.name())]
    AlongMn {
        /// A, B or a tile.
        operand: &'static str,
        /// Its type.
        input: WgmmaInput,
    },
    /// A tile that is not made of whole atoms.
    #[error("mn = {mn} of a tile: it is a multiple of {of}, from {of} to {most}; the nearest is {nearest}")]
    Rows {
        /// What was asked for.
        mn: u32,
        /// Rows of an atom, or elements of its row.
        of: u32,
        /// The most there may be.
        most: u32,
        /// The legal extent next to it.
        nearest: u32,
    },
    /// A tile that the instruction reads beyond.
    #[error("the tile of {operand} has mn = {mn}, and the instruction reads {needed}; the nearest is {needed}")]
    TooShort {
        /// A or B.
        operand: &'static str,
        /// Its extent.
        mn: u32,
        /// What is read.
        needed: u32,
    },
    /// An address, or a distance, that is no multiple of what it has to be.
    #[error("{field} = {value} is no multiple of {of}; the nearest is {nearest}")]
    Misaligned {
        /// Which.
        field: &'static str,
        /// What was asked for.
        value: u32,
        /// What it has to be a multiple of.
        of: u32,
        /// The legal value next to it.
        nearest: u32,
    },
    /// A value beyond a field's range.
    #[error("{field} = {value} is above {most}; the nearest is {most}")]
    Beyond {
        /// Which.
        field: &'static str,
        /// What was asked for.
        value: u32,
        /// The largest legal value.
        most: u32,
    },
    /// A step that a stage of K does not have.
    #[error("step = {step}: the {swizzle} tile has steps 0 to 3; the nearest is 3")]
    Step {
        /// What was asked for.
        step: u32,
        /// The tile's swizzle.
        swizzle: Swizzle,
    },
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
