//! Launches of a pointer array on a device, and the words of their records.

use crate::{
    layout::index_map::{IndexMap, at},
    nest::GemmDesc,
    operand::Problem,
    threadblock::{MATRICES_OF_PRODUCT, ProductRecords, positions::Spread},
};

impl Problem {
    /// Divides an array into launches of the kernel `desc`. The grid size limits the number of
    /// GEMMs of a launch. The distances of the matrices that TMA moves limit it too.
    pub(crate) fn array_launches<'p>(problems: &'p [Self], desc: &GemmDesc) -> Vec<&'p [Self]> {
        let most = problems.first().map_or(1, |first| desc.products_at_once((first.m, first.n)));
        let (mut launches, mut rest) = (Vec::new(), problems);
        while let Some(mut all) = Self::spreads(&rest[..rest.len().min(1)]) {
            let together = rest.iter().take(most).take_while(|problem| {
                let own = problem.matrix_addresses();
                all = core::array::from_fn(|i| all[i].merge(Spread::single(own[i])));
                all[..desc.matrices_by_tma()].iter().all(Spread::has_positions)
            });
            let (launch, others) = rest.split_at(together.count().max(1));
            launches.push(launch);
            rest = others;
        }
        launches
    }

    /// Returns the words of the records of the GEMMs of one launch. A matrix that TMA does not move
    /// may have no position; its word is 0.
    pub(crate) fn record_words(problems: &[Self], desc: &GemmDesc) -> Vec<u32> {
        let records = ProductRecords { products: 1, positions: desc.has_positions() };
        let mut words = vec![0; problems.len() * records.words() as usize];
        let Some(spreads) = Self::spreads(problems) else { return words };
        for (problem, record) in problems.iter().zip(words.chunks_mut(records.words() as usize)) {
            for (number, address) in (0..).zip(problem.matrix_addresses()) {
                let word_of = |piece| records.at(at(0, piece)).map(|word| word as usize);
                if let Some(word) = word_of(number) {
                    record[word..word + 2]
                        .copy_from_slice(&[address as u32, (address >> 32) as u32]);
                }
                let position = spreads[number as usize].position(address);
                if let Some((word, position)) = word_of(MATRICES_OF_PRODUCT + number).zip(position)
                {
                    record[word] = position;
                }
            }
        }
        words
    }
}

/// Returns the problems of a pointer array whose A, B, C, and D have these addresses.
#[cfg(test)]
pub(crate) fn problems(addresses: &[[u64; 4]], desc: &GemmDesc) -> Vec<Problem> {
    let of_each = addresses.iter().map(|&[a, b, c, d]| {
        let scalars = [1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
        let mut problem = Problem::new(desc, (64, 48, 32), [None; 3], scalars).at([a, b]);
        problem.d.memory.address = d;
        if let crate::operand::Source::Matrix(view) = &mut problem.c {
            view.memory.address = c;
        }
        problem
    });
    of_each.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        arch::{ArchKind, OpKind},
        layout::Order,
        nest::defaults::default_description,
        numeric::Combined,
        prelude::*,
    };

    type Hopper = Gemm<Bf16, RowMajor, Bf16, ColMajor, Bf16, RowMajor, f32, TensorOp, Sm90>;

    /// Each piece of a record is at the place of the map, and leads to the matrix.
    #[test]
    fn records_lead_to_the_matrices() {
        let desc = Hopper::DESC.for_array(3);
        let addresses = [1u64, 5, 2].map(|i| [i << 20, i << 36 | 256, i << 9, i << 33]);
        let all = problems(&addresses, &desc);
        let f32s = Combined::all_of(OpKind::Simt)[0];
        let simt = default_description(OpKind::Simt, ArchKind::Sm80, f32s, [Order::Row; 3]);
        for desc in [desc].into_iter().chain(simt.ok().map(|desc| desc.for_array(3))) {
            let positions = desc.has_positions();
            let records = ProductRecords { products: 3, positions };
            let words = Problem::record_words(&all, &desc);
            assert_eq!(words.len(), records.codomain() as usize);
            let together = Problem::from_array(&all, &desc).expect("an array").matrix_addresses();
            let spreads = Problem::spreads(&all).expect("an array");
            for (row, own) in (0..).zip(addresses) {
                for (column, address) in (0..).zip(own) {
                    let word = |piece| words[records.at(at(row, piece)).unwrap() as usize..].iter();
                    let halves: Vec<u64> = word(column).take(2).map(|&half| half.into()).collect();
                    assert_eq!(halves[0] | halves[1] << 32, address);
                    if positions {
                        let position = u64::from(*word(4 + column).next().unwrap());
                        let step = spreads[column as usize].step().expect("a step");
                        assert_eq!(together[column as usize] + position * step, address);
                    }
                }
            }
        }
    }
}
