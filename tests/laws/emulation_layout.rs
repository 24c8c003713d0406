//! How `f32` is emulated on tensor cores: which parts a k-tile reads, what the passes write, and
//! how much room it takes.

use crate::harness::{
    on_tensor_cores::{Data, desc, problem},
    passes::DecomposeProgram,
    prelude::*,
};
use falchion::internals::{
    operand::Frame,
    pass::{DecomposeStep, PIECE},
};

/// K-tiles read, product after product of a block, the parts that the table has: each pair (block
/// of A, block of B) once.
#[test]
fn tiles_read_every_product_of_every_block_once() {
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
                // Both read the same stretch of K.
                assert_eq!(pair[0] % count, pair[1] % count);
                let wanted = emulation.products()[tile % emulation.products().len()];
                let parts = pair.map(|block| block / count);
                assert_eq!(
                    OperandKind::BOTH.map(|operand| parts[operand.leave(frame).index()]),
                    wanted
                );
            }
            pairs.sort_unstable();
            pairs.dedup();
            assert_eq!(pairs.len(), count as usize * emulation.products().len());
        }
        let sums: Vec<u32> = emulation.products().iter().map(|[p, q]| p + q).collect();
        assert!(sums.is_sorted_by(|x, y| x >= y), "the smallest products first: {sums:?}");
    }
}

/// Each piece of a tile is one thread's, in both orders of threads; neighbours in a warp are
/// neighbours in memory.
#[test]
fn pieces_are_shared_out_once() {
    let desc = DecomposeDesc { emulation: EmulationKind::Bf16x6 };
    for along_k in [false, true] {
        let map = desc.pieces(along_k);
        assert_eq!(laws::bijective(&map), Ok(()));
        let place = |thread| map.at(at(thread, 0)).expect("a piece");
        assert_eq!(place(1) - place(0), if along_k { 1 } else { 64 / PIECE });
        assert_eq!(points(&map).count(), 512);
    }
}

/// What the kernel's maps write is what each number's parts are, row by row, zeros behind; for
/// sizes around tiles and pieces, in both layouts. A map that leaves a piece out, and padding that
/// is not zero, show.
#[test]
fn the_passes_write_every_part_and_zeros() {
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
                for (part, bits) in emulation
                    .decompose(x, shift)
                    .into_iter()
                    .enumerate()
                    .take(emulation.terms() as usize)
                {
                    wanted[at / k * leading + part * padded + at % k] = bits;
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
                assert!(mutant.run(source, strides).0 != wanted, "a piece left out");
                let mut unpadded = program;
                unpadded.padded = false;
                // Behind the last column there is nothing.
                let shows = along_k && !k.is_multiple_of(64) && mn > 1;
                assert!(
                    !shows || unpadded.run(source, strides).0 != wanted,
                    "padding that is not zero"
                );
            }
        }
    }
}

/// The workspace holds both operands' parts, each at a multiple of 256 bytes, and 16 bytes a row
/// where rows are scaled.
#[test]
fn the_workspace_is_as_large_as_the_parts() {
    let [m, n, k] = [100, 50, 130];
    for (emulation, bytes) in [
        (EmulationKind::Bf16x6, (100 * 192 * 3 * 2) + (50 * 192 * 3 * 2) + 256),
        (EmulationKind::Bf16x3, (100 * 192 * 2 * 2) + (50 * 192 * 2 * 2) + 256),
        (
            EmulationKind::F16x3,
            (100 * 192 * 2 * 2) + 1792 + 256 + (50 * 192 * 2 * 2) + 1024 + 256 + 256,
        ),
    ] {
        for orders in ORDERS {
            let routes = desc(emulation, orders)
                .routes(&problem(orders, [m, n, k]).at([4, 8]))
                .expect("a kernel");
            let whole = |bytes: u64| bytes.next_multiple_of(256);
            assert_eq!(
                (routes.to_string().as_str(), routes.a.leading),
                ("A decomposed, B decomposed", 192 * emulation.terms() as usize)
            );
            let of_kernel = routes.leave(desc(emulation, orders).frame);
            assert!(
                of_kernel.b.offset.is_multiple_of(256) && of_kernel.b.offset == of_kernel.a.bytes
            );
            assert!(
                routes.workspace_bytes().abs_diff(whole(bytes)) <= 512,
                "{} {bytes}",
                routes.workspace_bytes()
            );
        }
    }
    assert_eq!(
        (
            DecomposeStep::for_emulation(EmulationKind::Bf16x6).len(),
            DecomposeStep::for_emulation(EmulationKind::F16x3).len()
        ),
        (1, 4)
    );
}
