//! What a thread makes of its fragments: accumulators, or a record of what it would have
//! multiplied.

use super::accumulators::Accumulators;
use crate::{
    numeric::{Instruction, emulation::RegisterParts},
    operand::OperandKind,
};

/// A value in a fragment: which k-block of which tile it belongs to.
#[derive(Clone, Copy)]
pub(super) struct Held {
    /// A number, or the name of a matrix element.
    pub word: u64,
    pub tile: u32,
    pub k_block: u32,
}

/// The words of each row, k after k, of those of each k.
fn turned(of_k: &[Vec<Held>]) -> Vec<Vec<u64>> {
    let rows = of_k.first().map_or(0, Vec::len);
    (0..rows).map(|row| of_k.iter().map(|held| held[row].word).collect()).collect()
}

/// The accumulators of a thread.
#[derive(Clone)]
pub(super) enum Accumulated {
    /// Numbers, row by row of the thread's tile.
    Numbers(Accumulators),
    /// Names: for each product, those of A in its rows and those of B in its columns.
    Names([Vec<u64>; 2]),
}

impl Accumulated {
    /// Adds the outer product of a fragment of A and one of B.
    pub fn multiply(&mut self, a: &[Held], b: &[Held]) {
        match self {
            Self::Numbers(numbers) => {
                numbers.add_products([a.len(), b.len()], |i| a[i].word, |j| b[j].word)
            }
            Self::Names(names) => {
                names
                    .iter_mut()
                    .zip([a, b])
                    .for_each(|(names, side)| names.extend(side.iter().map(|held| held.word)));
            }
        }
    }

    /// Adds the products of a k-block, of each k a fragment of A and one of B, as an instruction
    /// adds them; without one, one after the other.
    pub fn add_steps(
        &mut self,
        instruction: Option<&(Instruction, RegisterParts)>,
        a: &[Vec<Held>],
        b: &[Vec<Held>],
    ) {
        match (self, instruction) {
            (Self::Numbers(numbers), Some(instruction)) => {
                numbers.add_steps(instruction, &turned(a), &turned(b))
            }
            (Self::Numbers(numbers), None) => numbers.add_at_once(|numbers| {
                a.iter().zip(b).for_each(|(a, b)| {
                    numbers.add_products([a.len(), b.len()], |i| a[i].word, |j| b[j].word)
                });
            }),
            (names, _) => a.iter().zip(b).for_each(|(a, b)| names.multiply(a, b)),
        }
    }

    /// The names of an operand.
    pub fn names(&self, operand: OperandKind) -> &[u64] {
        match self {
            Self::Names(names) => &names[operand.index()],
            Self::Numbers(_) => &[],
        }
    }

    /// One accumulator.
    pub fn word(&self, index: u32) -> u64 {
        match self {
            Self::Numbers(numbers) => numbers.word(index as usize),
            _ => 0,
        }
    }

    /// Adds the partial accumulators of another slice of K.
    pub fn add(&mut self, index: u32, word: u64) {
        if let Self::Numbers(numbers) = self {
            numbers.add(index as usize, word);
        }
    }
}
