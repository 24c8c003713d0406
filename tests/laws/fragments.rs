//! A in registers: the tile that is M-major, what a warpgroup loads of it, and which rows its
//! accumulators are of.

use crate::harness::prelude::*;
use falchion::warp::wgmma::{AccumulatorMap, FragmentMap, Instruction};
use falchion_lab::banks::Wavefronts;

const INPUTS: [ElementKind; 5] =
    [ElementKind::E4m3, ElementKind::E5m2, ElementKind::I8, ElementKind::U8, ElementKind::Tf32];

/// Every load that a kernel has, of up to 512 rows.
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

/// A's tile is a bijection from (m, k) onto its elements, and 16 bytes of M lie together.
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

/// load(t, e) = tile(64 i + rows(m), k) where the hardware takes element e of thread t to be (m, k)
/// of instruction i's rows; the same elements under no other permutation of the rows; and each
/// element of the tile is loaded once.
#[test]
fn a_thread_loads_what_the_instruction_takes_it_to_hold() {
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

/// The orders of rows are permutations of a warp's sixteen, and accumulators under them are a
/// bijection: what a thread stages is what it loaded.
#[test]
fn sums_are_named_as_the_rows_that_were_loaded() {
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

/// What the kernel does, access by access: `ldmatrix.x4.trans` gives lane l of matrix x the bytes 2
/// (l / 4), 2 (l / 4) + 1 of the rows that lanes 8 x + 2 (l mod 4) and the next point at; `prmt`
/// takes bytes of two words as the selector says; of 32 bits a lane loads two elements from its
/// address on, and lanes of odd l mod 4 exchange both accesses. All of that is the load's map.
#[test]
fn addresses_and_selectors_are_the_map() {
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

/// The wavefronts of one access of a warp, whose lanes point at these bytes.
fn cost(direction: Direction, bytes: u32, addresses: impl Fn(u32) -> u32) -> Wavefronts {
    let lanes = (0..32).map(|lane| Some(u64::from(addresses(lane))));
    wavefronts(&WarpAccess::new(direction, bytes, lanes).expect("an access"))
}

/// Every matrix of every `ldmatrix`, and every half warp of every access of 8 bytes, is one
/// wavefront: 32 words on 32 banks. Without the exchange of lanes (k of a matrix in order of the
/// lanes that want them; k and k + 4 the same way round in all lanes) it is two.
#[test]
fn loads_are_free_of_conflicts_and_without_the_exchange_are_not() {
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

/// Eight lanes of one row each, as `stmatrix` takes a matrix's, are different modulo 8 where rows
/// are crossed; where they are only paired two and two are the same.
#[test]
fn crossed_rows_are_different_modulo_eight() {
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

/// Where D is column-major a thread's two rows are neighbours of each of its columns, and a warp's
/// store of them is as many wavefronts as it has words for: of 16 bits one, of 32 bits two. Without
/// the swizzle it is four times as many.
#[test]
fn column_major_subtiles_are_free_of_conflicts_and_without_the_swizzle_are_not() {
    let of = |ab, accumulator, c| element_types(ab, accumulator, c);
    for types in [
        of(ElementKind::E4m3, ElementKind::F32, ElementKind::F16),
        of(ElementKind::I8, ElementKind::I32, ElementKind::I32),
        of(ElementKind::Tf32, ElementKind::F32, ElementKind::F32),
    ] {
        let d = default_of(OpKind::TensorOp, ArchKind::Sm90, types, [Order::Row; 3]);
        let (tile, n) = (Mnk { m: 128, n: 128, ..d.threadblock() }, 128);
        let d = but!(d, threadblock: tile, warp: tile, instruction: Mnk { n, ..d.instruction() }, stages: 4);
        let d = d.with(Pins {
            a_operand: Some(AOperandKind::Registers),
            schedule: Some(ScheduleKind::Pingpong),
            ..Pins::NONE
        });
        assert_eq!((d.check(), d.frame.d_order(), d.frame.swapped), (Ok(()), Order::Col, true));
        let components = d.components().expect("a kernel");
        let (map, rows) = (StagingMap::new(&components), components.fragment_rows());
        laws::bijective(&Elements(map, d.output.element.bytes_of(1)))
            .expect("each element has a place");
        let (bytes, box_rows, columns) = (
            d.output.element.bytes_of(1),
            components.subtile_box_rows(),
            components.subtile_columns,
        );
        let linear = |m: u32, n: u32| {
            (m / box_rows * columns * box_rows + n * box_rows + m % box_rows) * bytes
        };
        for (warp, octet, i) in
            (0..4).flat_map(|w| (0..columns / 8).flat_map(move |o| [0, 1].map(|i| (w, o, i))))
        {
            let place = |lane: u32, lower| {
                (rows.row(32 * warp + lane, lower), 8 * octet + lane % 4 * 2 + i)
            };
            let byte = |lane, lower| {
                map.at(at(place(lane, lower).0, place(lane, lower).1)).expect("inside")
            };
            assert!((0..32).all(|lane| byte(lane, 1) == byte(lane, 0) + bytes));
            let ideal = bytes / 2;
            let store = |f: &dyn Fn(u32) -> u32| cost(Direction::Store, 2 * bytes, f).wavefronts;
            assert_eq!(store(&|lane| byte(lane, 0)), ideal, "{types:?}");
            assert_eq!(
                store(&|lane| linear(place(lane, 0).0, place(lane, 0).1)),
                4 * ideal,
                "{types:?} without the swizzle"
            );
        }
    }
}

/// Where D is column-major and A in shared memory, each matrix of eight rows that lie side by side
/// in eight columns is one wavefront of `stmatrix`; and of 32 bits an access of one element a lane
/// is one. Without the swizzle they are eight and four.
#[test]
fn columns_of_ordinary_rows_are_free_of_conflicts_and_without_the_swizzle_are_not() {
    use ElementKind::{Bf16, F32};
    for (c, n) in [Bf16, F32].into_iter().flat_map(|c| [8, 24, 64, 152].map(|n| (c, n))) {
        let types = element_types(Bf16, F32, c);
        let orders = [Order::Row, Order::Col, Order::Row];
        let d = default_of(OpKind::TensorOp, ArchKind::Sm90, types, orders).with_rows_as_columns();
        let (tile, instruction) =
            (Mnk { m: 64, n, ..d.threadblock() }, Mnk { n, ..d.instruction() });
        let d = but!(d, threadblock: tile, warp: tile, instruction: instruction, schedule: ScheduleKind::Pingpong, stages: 4);
        assert_eq!(d.check(), Ok(()));
        let components = d.components().expect("a kernel");
        let (map, staged, bytes) =
            (StagingMap::new(&components), StagedMap::new(&components), c.bytes_of(1));
        laws::bijective(&Elements(map, bytes)).expect("each element has a place");
        laws::bijective(&Elements(staged, bytes)).expect("each accumulator has a place");
        let (box_rows, columns) = (components.subtile_box_rows(), components.subtile_columns);
        let linear = |m: u32, n: u32| {
            (m / box_rows * columns * box_rows + n * box_rows + m % box_rows) * bytes
        };
        for (warp, octet, lower) in
            (0..4).flat_map(|w| (0..columns / 8).flat_map(move |o| [0, 1].map(|l| (w, o, l))))
        {
            let row = 16 * warp + 8 * lower;
            let place = |lane: u32| match bytes {
                // A matrix: lane l points at column l mod 8, and so do the others.
                2 => (row, 8 * octet + lane % 8),
                _ => (row + lane / 4, 8 * octet + lane % 4 * 2),
            };
            let found = |f: &dyn Fn(u32, u32) -> u32| {
                let lanes = (0..32).map(|lane| {
                    Some(u64::from(f(place(lane).0, place(lane).1)))
                        .filter(|_| bytes == 4 || lane < 8)
                });
                wavefronts(
                    &WarpAccess::new(Direction::Store, if bytes == 2 { 16 } else { 4 }, lanes)
                        .expect("an access"),
                )
                .wavefronts
            };
            assert_eq!(found(&|m, n| map.at(at(m, n)).expect("inside")), 1, "{c} {n}");
            assert_eq!(
                found(&linear),
                if bytes == 2 { 8 } else { 4 },
                "{c} {n} without the swizzle"
            );
        }
    }
}

/// A map to bytes as one to elements.
struct Elements<M>(M, u32);

impl<M: IndexMap> IndexMap for Elements<M> {
    fn domain(&self) -> Coord {
        self.0.domain()
    }
    fn codomain(&self) -> u32 {
        self.0.codomain() / self.1
    }
    fn at(&self, point: Coord) -> Option<u32> {
        self.0.at(point).map(|byte| byte / self.1)
    }
}
