//! A in registers: the M-major tile, the loads of a warpgroup, and the rows of its accumulators.

use crate::harness::prelude::*;
use falchion::warp::wgmma::{AccumulatorMap, FragmentMap, Instruction};
use falchion_lab::banks::Wavefronts;

const INPUTS: [ElementKind; 5] =
    [ElementKind::E4m3, ElementKind::E5m2, ElementKind::I8, ElementKind::U8, ElementKind::Tf32];

/// Returns every load of the kernels, for up to 512 rows.
fn loads() -> Vec<FragmentLoad> {
    let mut loads = Vec::new();
    for input in INPUTS {
        let of = 128 / input.bytes_of(1);
        let rows = if input.bytes_of(1) == 1 {
            &[FragmentRows::Paired, FragmentRows::Crossed][..]
        } else {
            &[FragmentRows::Paired]
        };
        for m in [64, 128, 256, 384, 512].into_iter().filter(|m| m % of == 0) {
            let tile = OperandTile::for_fragments(input, m).expect("whole boxes");
            loads.extend(rows.iter().map(|&rows| FragmentLoad { tile, rows }));
        }
    }
    assert!(loads.len() >= 4 * 4 * 2 + 5);
    loads
}

/// A's tile is a bijection from (m, k) onto its elements, and each 16 bytes along M are contiguous.
#[test]
fn tiles_are_bijective_and_chunks_are_whole() {
    for load in loads() {
        let tile = load.tile;
        laws::bijective(&tile).unwrap_or_else(|violation| panic!("{tile:?}: {violation}"));
        let chunk = 16 / tile.input().bytes_of(1);
        for point in points(&tile).filter(|point| point.row % chunk == 0) {
            let first = tile.at(point).expect("inside");
            assert!(
                (0..chunk).all(|i| tile.at(at(point.row + i, point.column)) == Some(first + i)),
                "{tile:?} {point:?}"
            );
        }
    }
    assert_eq!(OperandTile::for_fragments(ElementKind::I8, 192), None, "a box and a half");
}

/// load(t, e) = tile(64 i + rows(m), k) if element e of thread t is (m, k) of instruction i in the
/// hardware. No other permutation of the rows gives the same elements, and each element of the tile
/// is loaded once.
#[test]
fn threads_load_the_fragments_of_the_instruction() {
    for load in loads() {
        laws::bijective(&load).unwrap_or_else(|violation| panic!("{load:?}: {violation}"));
        let map = FragmentMap { input: load.tile.input() };
        let mut otherwise = 0;
        for point in points(&load) {
            let (instruction, thread) = (point.row / 128, point.row % 128);
            let (step, i) = (point.column / map.held(), point.column % map.held());
            let (m, k) = map.place(thread, i).expect("an element");
            let lower = m % 16 / 8;
            let named = |rows: FragmentRows| {
                assert_eq!(FragmentRows::Ordinary.row(thread, lower), m);
                load.tile.at(at(
                    64 * instruction + rows.row(thread, lower),
                    step * map.input.elements_in(32) + k,
                ))
            };
            assert_eq!(load.at(point), named(load.rows), "{load:?} {point:?}");
            otherwise += u32::from(load.at(point) != named(FragmentRows::Ordinary));
        }
        assert!(otherwise > load.codomain() / 2);
    }
}

/// Each order of rows is a permutation of a warp's 16 rows, and the permuted accumulators are a
/// bijection: a thread stages the rows that it loaded.
#[test]
fn accumulators_have_the_rows_that_were_loaded() {
    for rows in [FragmentRows::Ordinary, FragmentRows::Paired, FragmentRows::Crossed] {
        for warp in 0..4 {
            let mut named: Vec<_> = (0..8)
                .flat_map(|p| [0, 1].map(|lower| rows.row(32 * warp + 4 * p, lower)))
                .collect();
            named.sort_unstable();
            assert_eq!(named, (16 * warp..16 * warp + 16).collect::<Vec<_>>(), "{rows:?}");
        }
        let s8 = ElementKind::I8;
        for n in [8, 32, 256] {
            let along = Along::K;
            let wgmma = Instruction::new((s8, s8), ElementKind::I32, n, AOperand::Registers, along)
                .expect("an instruction");
            let map = AccumulatorMap::new(&wgmma).with_rows(rows);
            laws::bijective(&map).unwrap_or_else(|violation| panic!("{rows:?} {n}: {violation}"));
            vectors_whole(&map, 2).unwrap_or_else(|violation| panic!("{rows:?} {n}: {violation}"));
        }
    }
}

/// The kernel's accesses equal the load's map. `ldmatrix.x4.trans` gives lane l of matrix x the
/// bytes 2 (l / 4) and 2 (l / 4) + 1 of the rows whose addresses lanes 8 x + 2 (l mod 4) and its
/// successor give. `prmt` selects bytes of two words. For 32-bit types, a lane loads two adjacent
/// elements, and lanes with an odd l mod 4 swap both accesses.
#[test]
fn addresses_and_selectors_equal_the_map() {
    for load in loads() {
        let (input, bytes) = (load.tile.input(), load.tile.input().bytes_of(1));
        let address =
            |thread, m, step, access| load.address(thread, m, step, access).expect("inside");
        for instruction in 0..load.tile.mn() / 64 {
            for (thread, step) in (0..128).flat_map(|thread| (0..4).map(move |step| (thread, step)))
            {
                let (lane, first) = (thread % 32, thread / 32 * 32);
                for i in 0..16 / bytes {
                    let (register, part) = (i * bytes / 4, i % (4 / bytes));
                    let (half, lower) = (register / 2, register % 2);
                    let byte = if bytes == 1 {
                        let source = load.selector(lane, lower) >> (4 * part) & 7;
                        let (matrix, within) = (2 * half + source / 4, source % 4);
                        let points_at = first + 8 * matrix + 2 * (lane % 4) + within / 2;
                        address(points_at, 64 * instruction, step, 0) + 2 * (lane / 4) + within % 2
                    } else {
                        address(thread, 64 * instruction, step, half ^ (lane % 2)) + 4 * lower
                    };
                    let wanted = load
                        .at(at(128 * instruction + thread, step * 16 / bytes + i))
                        .expect("an element");
                    assert_eq!(
                        byte,
                        wanted * bytes,
                        "{load:?} thread {thread} step {step} element {i} of {input}"
                    );
                }
            }
        }
    }
}

/// Returns the wavefronts of one access of a warp with these byte addresses.
pub fn cost(direction: Direction, bytes: u32, addresses: impl Fn(u32) -> u32) -> Wavefronts {
    let lanes = (0..32).map(|lane| Some(u64::from(addresses(lane))));
    wavefronts(&WarpAccess::new(direction, bytes, lanes).expect("an access"))
}

/// Every matrix of every `ldmatrix`, and every half warp of every 8-byte access, takes one
/// wavefront: 32 words in 32 banks. Without the swap of lanes it takes two, both with k in the
/// order of the reading lanes, and with k and k + 4 in the same order in all lanes.
#[test]
fn loads_have_conflicts_only_without_the_lane_swap() {
    for load in loads() {
        let input = load.tile.input();
        for (m, warp, step) in (0..load.tile.mn() / 64)
            .flat_map(|i| (0..4).flat_map(move |w| (0..4).map(move |s| (64 * i, w, s))))
        {
            let in_order = |lane: u32, access: u32| {
                let (row, k) = match input.bytes_of(1) {
                    1 => (0, lane / 16 * 16 + lane % 8 / 2 * 4 + lane / 8 % 2 * 2 + lane % 2),
                    _ => (2 * (lane / 4), lane % 4 + 4 * access),
                };
                load.tile
                    .byte_offset(m + 16 * warp + row, step * input.elements_in(32) + k)
                    .expect("inside")
            };
            for access in 0..if input.bytes_of(1) == 1 { 1 } else { 2 } {
                let (width, ideal) = if input.bytes_of(1) == 1 { (16, 4) } else { (8, 2) };
                let found = cost(Direction::Load, width, |lane| {
                    load.address(32 * warp + lane, m, step, access).expect("inside")
                });
                assert_eq!((found.wavefronts, found.ideal), (ideal, ideal), "{load:?}");
                assert_eq!(
                    cost(Direction::Load, width, |lane| in_order(lane, access)).wavefronts,
                    2 * ideal,
                    "{load:?} in order"
                );
            }
        }
    }
}

/// The addresses of eight lanes, one row each as for `stmatrix`, differ modulo 8 if rows are
/// crossed. If rows are only paired, pairs of addresses are equal.
#[test]
fn crossed_rows_differ_modulo_eight() {
    let distinct = |rows: FragmentRows, lower| {
        let mut seen: Vec<_> = (0..8).map(|p| rows.row(4 * p, lower) % 8).collect();
        seen.sort_unstable();
        seen.dedup();
        seen.len()
    };
    for lower in [0, 1] {
        let found = [FragmentRows::Ordinary, FragmentRows::Paired, FragmentRows::Crossed]
            .map(|rows| distinct(rows, lower));
        assert_eq!(found, [8, 4, 8]);
    }
}
