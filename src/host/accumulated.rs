//! What a thread makes of its fragments: accumulators, or a record of what it would have multiplied.

use super::accumulators::Accumulators;

/// A value in a fragment: which k-group of which tile it belongs to.
#[derive(Clone, Copy)]
pub(super) struct Held {
    /// A number, or the name of a matrix element.
    pub word: u64,
    pub tile: u32,
    pub group: u32,
}

/// The accumulators of a thread.
#[derive(Clone)]
pub(super) enum Accumulated {
    /// Numbers, row by row of the thread's tile.
    Numbers(Accumulators),
    /// Names: for each product, those in its rows and in its columns.
    Names {
        /// Of A.
        rows: Vec<u64>,
        /// Of B.
        columns: Vec<u64>,
    },
    /// Only how many products there were.
    Counted(u64),
}

impl Accumulated {
    /// Adds the outer product of a fragment of A and one of B.
    pub fn multiply(&mut self, a: &[Held], b: &[Held]) {
        match self {
            Self::Numbers(numbers) => numbers.add_products([a.len(), b.len()], |i| a[i].word, |j| b[j].word),
            Self::Names { rows, columns } => {
                rows.extend(a.iter().map(|held| held.word));
                columns.extend(b.iter().map(|held| held.word));
            }
            Self::Counted(products) => *products += (a.len() * b.len()) as u64,
        }
    }

    /// One accumulator.
    pub fn word(&self, index: u32) -> u64 {
        match self {
            Self::Numbers(numbers) => numbers.word(index as usize),
            _ => 0,
        }
    }

    /// Adds what another slice of K deposited.
    pub fn add(&mut self, index: u32, word: u64) {
        if let Self::Numbers(numbers) = self {
            numbers.add(index as usize, word);
        }
    }
}
