//! The results of one thread: accumulators, or the names of the elements that it multiplied.

use crate::accumulators::Accumulators;
use falchion::{
    internals::shape::OperandKind,
    numeric::{HostTransform, Instruction, emulation::RegisterTerms},
};

/// A value in a fragment, with the k-tile and the k-block that it belongs to.
#[derive(Clone, Copy)]
pub(crate) struct FragmentValue {
    /// A number, or the name of a matrix element.
    pub word: u64,
    pub tile: u32,
    pub k_block: u32,
}

/// The accumulators of one thread.
#[derive(Clone)]
pub(crate) enum Accumulated {
    /// Numbers, in row-major order of the thread's tile.
    Numbers(Accumulators),
    /// Names. For each outer product, the names of A along its rows and the names of B along its
    /// columns.
    Names([Vec<u64>; 2]),
}

impl Accumulated {
    /// Adds the outer product of a fragment of A and a fragment of B, after their transforms.
    pub fn multiply(
        &mut self,
        a: &[FragmentValue],
        b: &[FragmentValue],
        transforms: [Option<HostTransform>; 2],
    ) {
        match self {
            Self::Numbers(numbers) => {
                let words = |fragment: &[FragmentValue], transform: Option<HostTransform>| {
                    let word = |held: &FragmentValue| match transform {
                        Some(transform) => Accumulators::transformed(held.word, transform),
                        None => held.word,
                    };
                    fragment.iter().map(word).collect::<Vec<_>>()
                };
                let (a, b) = (words(a, transforms[0]), words(b, transforms[1]));
                numbers.add_products([a.len(), b.len()], |i| a[i], |j| b[j])
            }
            Self::Names(names) => {
                names
                    .iter_mut()
                    .zip([a, b])
                    .for_each(|(names, side)| names.extend(side.iter().map(|held| held.word)));
            }
        }
    }

    /// Adds the products of k-blocks. `a` and `b` hold one fragment of `rows` or `columns` words
    /// per k. With an instruction, the additions follow its rounding. Without an instruction, the
    /// outer products are added in ascending k.
    pub fn add_steps(
        &mut self,
        instruction: Option<&(Instruction, RegisterTerms)>,
        [rows, columns]: [usize; 2],
        [a, b]: [&[u64]; 2],
    ) {
        match (self, instruction) {
            (Self::Numbers(numbers), Some(instruction)) => {
                numbers.add_steps(instruction, [rows, columns], [a, b])
            }
            (Self::Numbers(numbers), None) => numbers.add_at_once(|numbers| {
                a.chunks(rows)
                    .zip(b.chunks(columns))
                    .for_each(|(a, b)| numbers.add_products([rows, columns], |i| a[i], |j| b[j]));
            }),
            (Self::Names(names), _) => {
                names.iter_mut().zip([a, b]).for_each(|(names, words)| names.extend(words));
            }
        }
    }

    /// Returns the recorded names of an operand, or an empty slice for numbers.
    pub fn names(&self, operand: OperandKind) -> &[u64] {
        match self {
            Self::Names(names) => &names[operand.index()],
            Self::Numbers(_) => &[],
        }
    }

    /// Returns accumulator `index` as a word, or 0 for names.
    pub fn word(&self, index: u32) -> u64 {
        match self {
            Self::Numbers(numbers) => numbers.word(index as usize),
            _ => 0,
        }
    }

    /// Adds the partial accumulator of another warp slice.
    pub fn add(&mut self, index: u32, word: u64) {
        if let Self::Numbers(numbers) = self {
            numbers.add(index as usize, word);
        }
    }
}
