//! Numbers through the ring: for every order of events, each tile of D is the sum over its own
//! k-tiles, in order.

use crate::harness::{prelude::*, tma_ring::programs::*};
use falchion::internals::schedule::{ShareName, SubtileName, WarpName};
use falchion_check::{
    Accumulators,
    machine::{Bytes, Staged, run},
};

/// Returns the number of a share, derived from its name. A stage's operand is the sum of its
/// shares.
fn number(name: ShareName) -> f64 {
    let owner = name.block.map_or(0, |block| block + 1);
    f64::from(
        (name.tile * 31
            + name.k * 17
            + name.share * 7
            + owner * 5
            + name.operand.index() as u32 * 3)
            % 23,
    ) / 8.0
}

/// Returns the number of a subtile of C.
fn source(block: u32, warpgroup: u32, name: SubtileName) -> f64 {
    f64::from((name.tile * 13 + name.subtile * 5 + warpgroup * 3 + block) % 19) / 4.0
}

/// Returns the weight of an instruction tile of a stage.
fn weight(part: u8) -> f64 {
    f64::from(part + 1)
}

#[derive(Default)]
struct Numbers {
    d: HashMap<(u32, u32, u32, u32), [f64; 4]>,
    /// Numbers that threads store, by CTA, warp, and tile.
    threads: HashMap<(u32, u32, u32), f64>,
}

/// Returns a number as bytes for a copy.
fn bytes(x: f64) -> Bytes {
    x.to_le_bytes().to_vec().into()
}

fn bytes_to_number(bytes: &[u8]) -> f64 {
    f64::from_le_bytes(bytes.try_into().expect("a number"))
}

/// Returns the sum of a warp.
fn sum(accumulators: &Accumulators) -> f64 {
    if let Accumulators::F64(accumulators) = accumulators { accumulators[0] } else { 0.0 }
}

impl Payload for Numbers {
    fn read(&mut self, name: ShareName) -> Bytes {
        bytes(number(name))
    }

    fn multiply(
        &mut self,
        warp: WarpName,
        part: Option<u8>,
        first: bool,
        accumulators: &mut Accumulators,
        operands: [&[Bytes]; 2],
    ) {
        let [a, b] =
            operands.map(|shares| shares.iter().map(|share| bytes_to_number(share)).sum::<f64>());
        let product = a * b * f64::from(1 + warp.warpgroup * 4 + warp.warp);
        let product = part.map_or(product, |part| product * weight(part));
        // The last bits show the order of additions.
        *accumulators = Accumulators::F64(vec![if first {
            product
        } else {
            sum(accumulators) / 3.0 + product
        }]);
    }

    fn promote(
        &mut self,
        _: WarpName,
        _: u8,
        first: bool,
        partial: &Accumulators,
        accumulators: &mut Accumulators,
    ) {
        *accumulators = Accumulators::F64(vec![
            if first { 0.0 } else { sum(accumulators) } / 3.0 + sum(partial),
        ]);
    }

    fn fetch(&mut self, block: u32, warpgroup: u32, name: SubtileName) -> Bytes {
        bytes(source(block, warpgroup, name))
    }

    fn stage(
        &mut self,
        _: WarpName,
        name: SubtileName,
        zero: bool,
        accumulators: &Accumulators,
        source: Option<&Bytes>,
    ) -> Staged {
        let product = if zero { 0.0 } else { sum(accumulators) + f64::from(name.subtile) };
        let number = product + source.map_or(0.0, |source| bytes_to_number(source));
        Staged { places: vec![0], elements: number.to_le_bytes().to_vec() }
    }

    fn store(&mut self, block: u32, warpgroup: u32, name: SubtileName, parts: [&Staged; 4]) {
        self.d.insert(
            (block, warpgroup, name.tile, name.subtile),
            parts.map(|part| bytes_to_number(&part.elements)),
        );
    }

    fn store_threads(
        &mut self,
        warp: WarpName,
        tile: u32,
        zero: bool,
        accumulators: &Accumulators,
    ) {
        self.threads.insert(
            (warp.block, warp.warpgroup * 4 + warp.warp, tile),
            if zero { 0.0 } else { sum(accumulators) },
        );
    }
}

/// Returns the numbers that a warp stages, computed without a ring.
fn wanted(
    program: &RingProgram,
    work: ClusterWork<'_>,
    block: u32,
    name: SubtileName,
    warp: u32,
) -> f64 {
    let tile = name.tile;
    let accumulators = (0..work.k_tiles[tile as usize]).fold(None, |accumulators, k| {
        let [a, b] = OperandKind::BOTH.map(|operand| {
            let shares = program.ring.shares(operand);
            let block = (shares == 1).then_some(block);
            (0..shares)
                .map(|share| number(ShareName { tile, k, operand, block, share }))
                .sum::<f64>()
        });
        let product = a * b * f64::from(1 + warp);
        if program.promoted_tiles == 0 {
            return Some(
                accumulators.map_or(product, |accumulators: f64| accumulators / 3.0 + product),
            );
        }
        // Instruction tiles in order, starting before the first. A warp of this payload has one
        // number for all tiles.
        let after = |accumulators: Option<f64>, part| {
            Some(
                if k == 0 { 0.0 } else { accumulators.unwrap_or(0.0) } / 3.0
                    + product * weight(part),
            )
        };
        (0..program.promoted_tiles as u8).fold(accumulators, after)
    });
    let product = accumulators.map_or(0.0, |accumulators| accumulators + f64::from(name.subtile));
    product + if work.source { source(block, warp / 4, name) } else { 0.0 }
}

/// For every order of events,
/// `D[block, tile] = C[block, tile] + fold over k of A[block, tile, k] B[block, tile,
/// k]`, bit by bit.
#[test]
fn every_order_of_events_computes_the_same_bits() {
    let mut compared = 0;
    for shared in [None, Some(OperandKind::A), Some(OperandKind::B)] {
        let ring = Pipeline { source: true, ..ring(3, shared) };
        for options in [options(0), options(1), promoting(1), promoting(2)] {
            let program = legal(ring, &options);
            for (k_tiles, source) in
                [(&[0][..], true), (&[1, 1], false), (&[4, 0, 6], true), (&[7, 7, 7, 7], true)]
            {
                let (work, tiles) = (ClusterWork { k_tiles, source }, k_tiles.len() as u32);
                for seed in 0..50 {
                    let numbers = run_numbers(&program, work, seed);
                    assert_eq!(numbers.d.len() as u32, ring.blocks() * ring.consumers * tiles * 4);
                    for (&(block, warpgroup, tile, subtile), parts) in &numbers.d {
                        for (warp, part) in (warpgroup * 4..).zip(parts) {
                            let name = SubtileName { tile, subtile };
                            let wanted = wanted(&program, work, block, name, warp);
                            assert_eq!(part.to_bits(), wanted.to_bits(), "block {block}, {name:?}");
                            compared += 1;
                        }
                    }
                }
            }
        }
    }
    println!("{compared} numbers, all equal");
    assert!(compared > 10_000);
}

/// Returns the numbers that a program stores in one order of events.
fn run_numbers(program: &RingProgram, work: ClusterWork<'_>, seed: u64) -> Numbers {
    let mut numbers = Numbers::default();
    run(program, work, seed, &mut numbers).unwrap_or_else(|fault| panic!("{fault}"));
    numbers
}

/// TMA-fed SIMT kernels compute the same bits in every order. Each warp stores its accumulators of
/// each tile once.
#[test]
fn threads_store_the_same_bits_in_every_order_of_events() {
    let mut compared = 0;
    for (shared, pingpong) in
        [(None, false), (Some(OperandKind::A), false), (Some(OperandKind::B), true), (None, true)]
    {
        let program = by_threads(Pipeline { pingpong, ..ring(3, shared) });
        for k_tiles in [&[0][..], &[1, 1], &[4, 0, 6], &[7, 2, 7, 3]] {
            let (work, tiles) = (ClusterWork { k_tiles, source: false }, k_tiles.len() as u32);
            let warps = program.ring.blocks() * program.ring.readers() * 4;
            for seed in 0..50 {
                let numbers = run_numbers(&program, work, seed);
                assert!(numbers.d.is_empty());
                assert_eq!(numbers.threads.len() as u32, warps * tiles);
                for (&(block, warp, tile), accumulators) in &numbers.threads {
                    assert!(!pingpong || warp / 4 == tile % 2, "warp {warp} stores tile {tile}");
                    let wanted =
                        wanted(&program, work, block, SubtileName { tile, subtile: 0 }, warp);
                    let same = accumulators.to_bits() == wanted.to_bits();
                    assert!(same, "tile {tile}, warp {warp}: {accumulators} and {wanted}");
                    compared += 1;
                }
            }
        }
    }
    println!("{compared} numbers, all equal");
    assert!(compared > 10_000);
}
