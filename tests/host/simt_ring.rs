//! TMA-fed SIMT kernels on the host: the subjects of faults, and their maps.

use super::tma_ring::{faults::find_faults, transform_refusals::check_refusals};
use crate::harness::{descriptions::tma_ring::simt::plain, prelude::*, tma_ring::subject::program};

/// Rings of two and three stages, cooperative and ping-pong consumers, clusters along M and along
/// N, and operands in every order.
fn subjects() -> Vec<(&'static str, GemmDesc)> {
    let (row, col) = (Order::Row, Order::Col);
    let four = |orders, block| plain(orders, block, (32, 16), (4, 4));
    let eight = plain([col, row, row], (64, 128, 8), (32, 64), (8, 8));
    let pingpong =
        but!(four([row, row, row], (64, 32, 8)), schedule: ScheduleKind::Pingpong, stages: 2);
    #[rustfmt::skip]
    let table = [
        ("MN-major", four([col, row, row], (64, 64, 8))),
        ("8 x 8 per thread", eight),
        ("both K-major, stored one by one", but!(four([row, col, row], (128, 32, 16)), align_c: 1, stages: 2)),
        ("ping-pong", pingpong),
        ("cluster 2x1", but!(four([col, col, row], (64, 64, 8)), cluster: Mn { m: 2, n: 1 })),
        ("cluster 1x2, column-major D", but!(four([col, row, col], (64, 64, 8)), cluster: Mn { m: 1, n: 2 })),
    ];
    table.into()
}

/// For each subject, the map of a stage is a bijection to its elements, and threads read whole
/// 16-byte vectors within one box. Threads hold each row and column that they share, and each
/// element of the tile belongs to one accumulator.
#[test]
fn thread_maps_are_bijections() {
    for (name, desc) in subjects() {
        let components = desc.components().expect("components");
        let program = program(&desc);
        let maps = program.threads.as_ref().expect("threads multiply");
        for operand in OperandKind::BOTH {
            let boxed = components.boxed_tile(operand);
            assert_eq!(laws::bijective(&boxed), Ok(()), "{name}");
            assert_eq!(
                boxed.codomain() * 4,
                components.ring.stage_bytes[operand.index()],
                "{name}"
            );
            let fragment = &maps.fragment[operand.index()];
            assert_eq!(vectors_whole(fragment.as_ref(), 4), Ok(()), "{name}");
            let mut held: Vec<u32> = (0..fragment.domain().row)
                .flat_map(|row| (0..fragment.domain().column).map(move |column| at(row, column)))
                .map(|point| fragment.at(point).expect("an element"))
                .collect();
            held.sort_unstable();
            held.dedup();
            assert_eq!(held, (0..boxed.mn).collect::<Vec<_>>(), "{name}");
            // The tile of a warp is inside one box.
            for thread in 0..fragment.domain().row {
                let boxes = |i| fragment.at(at(thread / 32 * 32, i)).map(|mn| mn / boxed.one.mn);
                assert!((0..fragment.domain().column).all(|i| boxes(i) == boxes(0)), "{name}");
            }
        }
        assert_eq!(laws::bijective(maps.accumulator.as_ref()), Ok(()), "{name}");
    }
}

#[test]
fn tma_fed_simt_kernels_refuse_a_second_kernel() {
    let knobs = [("mainloop", "warpspecialized"), ("decomposition", "splitkparallel")];
    let knobs = knobs.map(|(name, words)| (name.to_owned(), words.to_owned())).into();
    let request = Request { arch: Some(ArchKind::Sm90), knobs, ..Request::default() };
    let said = GemmOperation::from_request(&request).message();
    assert_eq!(
        said,
        "decomposition = splitkparallel is not supported by the warpspecialized main loop; try splitk; no kernel was found with this mainloop and this decomposition"
    );
}

#[test]
fn every_named_fault_of_a_program_is_found() {
    let [(tiles, of_tiles), (rings, of_rings)] = find_faults(&subjects());
    assert_eq!((tiles, rings), (27, 10));
    of_tiles.check(142);
    of_rings.check(48);
}

#[test]
fn tma_rings_refuse_a_transform_by_name() {
    check_refusals(OpKind::Simt);
}
