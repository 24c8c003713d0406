//! Emulation of `f32` on tensor cores: the terms that a k-tile reads, and the output of the passes.

use crate::harness::{on_tensor_cores::Data, passes::DecomposeProgram, prelude::*};
use falchion::internals::{operand::PIECE, shape::Frame};

/// Consecutive k-tiles read the products of terms of one block in the order of the table. Each pair
/// (block of A, block of B) occurs once.
#[test]
fn k_tiles_read_every_product_of_every_block_once() {
    let frames = [Frame::USER, Frame::SWAPPED];
    for (emulation, frame) in
        EmulationKind::ALL.into_iter().flat_map(|emulation| frames.map(|frame| (emulation, frame)))
    {
        for count in [1, 2, 7, 100] {
            let blocks = EmulationBlocks { emulation, frame, blocks: count };
            assert_eq!(
                blocks,
                EmulationBlocks::new(
                    (emulation, frame),
                    (count * emulation.terms() * 64) as usize,
                    64
                )
            );
            assert!(
                points(&blocks)
                    .all(|point| blocks.at(point).is_some_and(|block| block < blocks.codomain()))
            );
            let mut pairs: Vec<_> = (0..blocks.tiles())
                .map(|tile| OperandKind::BOTH.map(|operand| blocks.block(operand, tile)))
                .collect();
            for (tile, pair) in pairs.iter().enumerate() {
                // Both operands read the same range of K.
                assert_eq!(pair[0] % count, pair[1] % count);
                let wanted = emulation.products()[tile % emulation.products().len()];
                let terms = pair.map(|block| block / count);
                assert_eq!(
                    OperandKind::BOTH.map(|operand| terms[operand.leave(frame).index()]),
                    wanted
                );
            }
            pairs.sort_unstable();
            pairs.dedup();
            assert_eq!(pairs.len(), count as usize * emulation.products().len());
        }
        let sums: Vec<u32> = emulation.products().iter().map(|[p, q]| p + q).collect();
        assert!(sums.is_sorted_by(|x, y| x >= y), "the smallest products are not first: {sums:?}");
    }
}

/// One thread copies each piece of a tile, in both orders of threads. Neighboring threads of a warp
/// read neighboring memory.
#[test]
fn each_piece_has_one_thread() {
    let desc = DecomposeDesc { emulation: EmulationKind::Bf16x6 };
    for along_k in [false, true] {
        let map = desc.pieces(along_k);
        assert_eq!(laws::bijective(&map), Ok(()));
        let place = |thread| map.at(at(thread, 0)).expect("a piece");
        assert_eq!(place(1) - place(0), if along_k { 1 } else { 64 / PIECE });
        assert_eq!(points(&map).count(), 512);
    }
}

/// The maps of the kernel write the terms of each number row by row, and then zeros as padding, in
/// both layouts. The sizes are close to multiples of tiles and pieces. A map without one of the
/// pieces, and padding that is not zero, change the output.
#[test]
fn decompose_passes_write_every_term_and_zeros() {
    for emulation in EmulationKind::MODES {
        for (mn, k) in [(1, 1), (64, 64), (65, 63), (63, 65), (3, 200), (130, 7)] {
            let layout = DecomposedLayout { emulation, mn, k };
            let rows = draws(Data::Normal, 4, mn, k);
            let columns: Vec<f32> = (0..mn * k).map(|at| rows[at % mn * k + at / mn]).collect();
            let (padded, leading) = (layout.padded() as usize, layout.leading() as usize);
            assert_eq!((padded % 64, leading), (0, padded * emulation.terms() as usize));
            let mut wanted = vec![0; mn * leading];
            for (at, &x) in rows.iter().enumerate() {
                let facts = LineFacts::new(rows[at / k * k..][..k].iter().copied());
                let shift = if emulation.scales() { shift_of(facts.largest) } else { 0 };
                for (term, bits) in emulation
                    .decompose(x, shift)
                    .into_iter()
                    .enumerate()
                    .take(emulation.terms() as usize)
                {
                    wanted[at / k * leading + term * padded + at % k] = bits;
                }
            }
            let desc = DecomposeDesc { emulation };
            for (source, strides, along_k) in [(&rows, (k, 1), true), (&columns, (1, mn), false)] {
                let program = DecomposeProgram::new(desc, layout, along_k);
                assert!(
                    program.run(source, strides).0 == wanted,
                    "{emulation:?} {mn} x {k}, {along_k}"
                );
                let mut mutant = program.clone();
                let (map, last) = (program.map.clone(), (mn as u32 - 1).min(63) * 8);
                mutant.map = Arc::new(Tabled::by(map.domain(), map.codomain(), move |point| {
                    map.at(point).filter(|&place| place != last)
                }));
                assert!(mutant.run(source, strides).0 != wanted, "a piece is omitted");
                let mut unpadded = program;
                unpadded.padded = false;
                // The last column has no padding.
                let shows = along_k && !k.is_multiple_of(64) && mn > 1;
                assert!(!shows || unpadded.run(source, strides).0 != wanted, "padding is not zero");
            }
        }
    }
}
