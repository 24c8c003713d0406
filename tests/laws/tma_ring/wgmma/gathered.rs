//! Lines that the producer of a TMA ring gathers: their map, and the calls that use it.

use crate::harness::{
    indexed::{IndexedCase, descriptions},
    prelude::*,
};
use crate::routes::{SCALARS, bf16};
use falchion::{
    internals::operand::{AxisSplit, IndexList, Indices},
    refusal::Route::{self, Direct, Gathered},
    threadblock::GatheredLines,
    warp::wgmma::OperandTile,
};

const A: OperandKind = OperandKind::A;
const B: OperandKind = OperandKind::B;

/// Each chunk of 16 bytes of a tile has one thread and one step, at the place where TMA writes the
/// chunk.
#[test]
fn gathered_chunks_cover_a_tile_once() {
    for input in [ElementKind::Bf16, ElementKind::E4m3, ElementKind::I8, ElementKind::Tf32] {
        for mn in [8, 16, 24, 64, 104, 128, 192, 256] {
            let tile = OperandTile::new(input, Along::K, SwizzleMode::Bytes128, mn);
            let tile = tile.expect("a tile");
            let (map, chunk) = (GatheredLines(tile), input.elements_in(16));
            assert_eq!(laws::injective(&map), Ok(()));
            let mut offsets: Vec<_> = points(&map).filter_map(|point| map.at(point)).collect();
            offsets.sort_unstable();
            let whole: Vec<_> = (0..mn * tile.k() / chunk).map(|number| number * chunk).collect();
            assert_eq!(offsets, whole, "{input:?} {mn}");
            // Neighboring threads copy one line, and each chunk keeps its elements together.
            for point in points(&map).filter(|point| map.at(*point).is_some()) {
                let (mn, k) = (point.row / 8 + 16 * point.column, point.row % 8 * chunk);
                let wanted = (0..chunk).map(|i| tile.at(at(mn, k + i)));
                assert!(wanted.eq((0..chunk).map(|i| Some(map.at(point)? + i))));
            }
        }
    }
}

/// A list of `lines` indices of a matrix with 500 lines.
fn list(lines: usize) -> IndexList<Elements> {
    IndexList::new(Elements::new(lines), 500)
}

/// Returns a problem that gathers A, B, or both.
fn gathering(desc: &GemmDesc, (m, n, k): (usize, usize, usize), gathers: [bool; 2]) -> Problem {
    let [a, b] = [(gathers[0], m), (gathers[1], n)].map(|(yes, lines)| yes.then(|| list(lines)));
    Problem {
        indices: Indices { operands: [a, b], output: None },
        ..Problem::new(desc, (m, n, k), [None; 3], SCALARS)
    }
}

/// Returns the routes of A and B, and whether the producer gathers A and B. All are in the user's
/// frame.
fn found(desc: &GemmDesc, problem: &Problem) -> ([Route; 2], [bool; 2]) {
    let routes = desc.routes(problem).expect("a valid description");
    let addressing = problem.kernel_of(*desc).addressing().leave(desc.frame);
    ([routes.a.route, routes.b.route], addressing.gathers)
}

#[test]
fn producers_gather_aligned_lines_along_k() {
    let desc = bf16([Row, Col, Row]);
    let size = (300, 256, 64);
    let both = gathering(&desc, size, [true, true]);
    assert_eq!(found(&desc, &both), ([Direct, Direct], [true, true]));
    let only_b = gathering(&desc, size, [false, true]);
    assert_eq!(found(&desc, &only_b), ([Direct, Direct], [false, true]));
    let only_a = gathering(&desc, size, [true, false]);
    assert_eq!(found(&desc, &only_a), ([Direct, Direct], [true, false]));
    // A pass copies all other lines.
    let pass = ([Gathered, Direct], [false, false]);
    let shifted = Problem { a: only_a.a, ..only_a }.at([8, 0]);
    assert_eq!(found(&desc, &shifted), pass, "address");
    let odd = View::packed(Elements::ALL, Row, (500, 64), Some(68));
    assert_eq!(found(&desc, &Problem { a: odd, ..only_a }), pass, "pitch");
    let short = gathering(&desc, (300, 256, 60), [true, false]);
    let padded = View::packed(Elements::ALL, Row, (500, 60), Some(64));
    let of_b = View::packed(Elements::ALL, Col, (60, 256), Some(64));
    assert_eq!(found(&desc, &Problem { a: padded, b: of_b, ..short }), pass, "line");
    let far = View::packed(Elements::ALL, Row, (500, 64), Some(1 << 31));
    assert_eq!(found(&desc, &Problem { a: far, ..only_a }), pass, "pitch of 4 GiB");
    let columns = View::packed(Elements::ALL, Col, (500, 64), None);
    assert_eq!(found(&desc, &Problem { a: columns, ..only_a }), pass, "order");
    let splits = [AxisSplit::NONE, AxisSplit { inner: 32, outer: 1 << 20 }];
    let split = only_a.a.with_splits(splits);
    assert_eq!(found(&desc, &Problem { a: split, ..only_a }), pass, "split units");
    let other_order = bf16([Col, Col, Row]);
    assert_eq!(found(&other_order, &gathering(&other_order, size, [true, false])), pass);
}

/// TMA-fed kernels on CUDA cores and with `mma.sync` read copies.
#[test]
fn only_wgmma_has_producers_that_gather() {
    let mut kinds = BTreeSet::new();
    for (_, desc) in descriptions(0x6a31, 400) {
        if !desc.has_producer() || desc.emulation().decomposes() || desc.check().is_err() {
            continue;
        }
        let kind = desc.mma.kind().name();
        let problem = gathering(&desc, (300, 256, 64), [true, true]);
        let (_, gathers) = found(&desc, &problem);
        for operand in [A, B] {
            let user = operand.enter(desc.frame).index();
            let can = kind == "wgmma" && desc.k_contiguous(operand);
            assert!(can || !gathers[user], "{desc:?}");
            if gathers[user] {
                kinds.insert((kind, operand.name()));
            }
        }
    }
    assert_eq!(kinds, BTreeSet::from([("wgmma", "A"), ("wgmma", "B")]));
}

/// The kernel of a call gathers exactly the lines that have a list and no pass.
#[test]
fn kernels_gather_what_passes_do_not() {
    let (mut by_producer, mut by_pass) = (0, 0);
    for (seed, desc) in descriptions(0x6a32, 600) {
        if !desc.has_producer() || desc.check().is_err() {
            continue;
        }
        let problem = IndexedCase::random(&desc, draw(0x6a33, seed)).problem;
        let (routes, gathers) = found(&desc, &problem);
        let reads = problem.m > 0 && problem.n > 0 && problem.k > 0;
        for operand in [A, B].into_iter().filter(|_| reads) {
            let (route, listed) =
                (routes[operand.index()], problem.indices.operands[operand.index()].is_some());
            assert_eq!(gathers[operand.index()], listed && route == Direct, "{desc:?} {problem:?}");
            by_producer += usize::from(gathers[operand.index()]);
            by_pass += usize::from(listed && route == Gathered);
        }
        let kernel = problem.kernel_of(desc);
        assert_eq!(kernel.check(), Ok(()), "{desc:?} {problem:?}");
    }
    println!("{by_producer} operands by producers, {by_pass} by passes");
    assert!(by_producer >= 10 && by_pass >= 40, "{by_producer} {by_pass}");
}

/// A cluster multicasts only operands that TMA copies. Each CTA gathers its own lines.
#[test]
fn gathered_operands_are_not_multicast() {
    let desc = but!(bf16([Row, Col, Row]), cluster: Mn { m: 2, n: 1 });
    assert!(!desc.frame.swapped);
    let shares = |gathers| {
        let addressing = Addressing { gathers, ..Addressing::PLAIN };
        let kernel = desc.for_addressing(addressing);
        assert_eq!(kernel.check(), Ok(()));
        let ring = kernel.components().expect("a ring").ring;
        (ring.gathered, [ring.shares(A), ring.shares(B)], ring.empty_arrivals())
    };
    let readers = desc.components().expect("a ring").ring.readers() * 4;
    assert_eq!(shares([false, false]), ([false, false], [1, 2], 2 * readers));
    assert_eq!(shares([true, false]), ([true, false], [1, 2], 2 * readers));
    assert_eq!(shares([false, true]), ([false, true], [1, 1], readers));
}

/// The producer keeps the registers of its indices, and the consumers get the others.
#[test]
fn registers_of_a_producer_grow_with_its_lines() {
    let tile = Mnk { m: 128, n: 256, k: 64 };
    let desc = bf16([Row, Col, Row]);
    let desc = but!(desc, threadblock: tile, warp: Mnk { m: 64, ..tile }, instruction: Mnk { m: 64, n: 256, k: 16 }, schedule: ScheduleKind::Cooperative, stages: 3);
    let registers = |gathers| {
        let addressing = Addressing { gathers, ..Addressing::PLAIN };
        desc.for_addressing(addressing).components().expect("a ring").options.registers
    };
    assert_eq!(registers([false, false]), Some([24, 240]));
    assert_eq!(registers([true, false]), Some([40, 232]));
    assert_eq!(registers([false, true]), Some([48, 224]));
    assert_eq!(registers([true, true]), Some([56, 224]));
}

/// A description with a list that neither the producer nor a pass would read is refused.
#[test]
fn a_list_of_lines_across_k_is_refused() {
    let mut desc = bf16([Col, Col, Row]);
    desc.operands[0].indexed = true;
    let said = desc.check().expect_err("lines along M").to_string();
    assert!(said.contains("TMA copies boxes of neighboring rows"), "{said}");
    desc.operands[0].indexed = false;
    desc.operands[1].indexed = true;
    assert_eq!(desc.check(), Ok(()));
}
