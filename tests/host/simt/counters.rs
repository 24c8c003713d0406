//! Counters of the executor's accesses equal formulas and independent counts.

use crate::harness::{prelude::*, random_cases::shipped};
use falchion_lab::{
    banks::SECTOR_BYTES,
    counters::{Counters, count},
    ladder,
};

/// Returns the descriptions of the ladder, some defaults, and sliced K.
fn subjects() -> Vec<GemmDesc> {
    let rungs = ladder::rungs().expect("the ladder").into_iter();
    let mut descriptions: Vec<_> = rungs
        .filter_map(|rung| match rung.program {
            ladder::Program::Gemm(desc) => Some(desc),
            ladder::Program::Textbook(_) => None,
        })
        .collect();
    descriptions.extend(shipped().step_by(37));
    let classic = default_f32(ArchKind::Sm70, [Order::Row, Order::Col, Order::Row]);
    descriptions
        .push(but!(classic, threadblock: Mnk::new(64, 64, 24), warp: Mnk::new(32, 32, 8)).expect());
    descriptions
}

/// Returns a problem of `tiles` tiles of the description. The leading dimensions exceed those of
/// packed matrices by 32.
fn problem(desc: &GemmDesc, tiles: [usize; 3]) -> Problem {
    let Mnk { m, n, k } = desc.threadblock();
    let (m, n, k) = (m as usize * tiles[0], n as usize * tiles[1], k as usize * tiles[2]);
    let user = |axis: Axis| if axis.leave(desc.frame) == Axis::M { m } else { n };
    let (m, n) = (user(Axis::M), user(Axis::N));
    let (packed, orders) = (Problem::new(desc, (m, n, k), [None; 3], [1.0; 8]), desc.orders());
    Problem::new(
        desc,
        (m, n, k),
        [Some(packed.a.leading(orders.a) + 32), Some(packed.b.leading(orders.b) + 32), None],
        [1.0; 8],
    )
}

fn counted(desc: &GemmDesc, problem: &Problem) -> Counters {
    count(&desc.one_schedule().expect("a kernel without a producer"), problem)
        .unwrap_or_else(|error| panic!("{error}: {desc:?}"))
}

/// Elements read = `MNK (1/tile_m + 1/tile_n)`, multiplications = `MNK`.
#[test]
fn elements_read_equal_the_formula() {
    for desc in subjects() {
        let problem = problem(&desc, [2, 3, 4]);
        let (entered, Mnk { m, n, .. }) =
            (problem.enter(&desc).expect("its layouts"), desc.threadblock());
        let mnk = (entered.m * entered.n * entered.k) as u64;
        let counters = counted(&desc, &problem);
        assert_eq!(
            counters.a.elements + counters.b.elements,
            mnk / u64::from(m) + mnk / u64::from(n),
            "{desc:?}"
        );
        // A is read once for each column of tiles, B once for each row of tiles.
        let (a, b) = (mnk / u64::from(n), mnk / u64::from(m));
        let [a, b] = OperandKind::BOTH
            .map(|operand| if operand.leave(desc.frame) == OperandKind::A { a } else { b });
        assert_eq!((counters.a.elements, counters.b.elements), (a, b), "{desc:?}");
        assert_eq!(counters.multiply_adds, mnk, "{desc:?}");
    }
}

/// Returns requests and sectors of every CTA and every tile of an operand, computed from the thread
/// map.
fn every_block(desc: &GemmDesc, problem: &Problem, operand: OperandKind) -> (u64, u64) {
    let (entered, facts) =
        (problem.enter(desc).expect("its layouts"), desc.base().operand(operand));
    let (extent, leading, others) = match operand {
        OperandKind::A => (
            entered.m,
            entered.a.leading(desc.operands[0].layout),
            entered.n / desc.threadblock().n as usize,
        ),
        OperandKind::B => (
            entered.n,
            entered.b.leading(desc.operands[1].layout),
            entered.m / desc.threadblock().m as usize,
        ),
    };
    let (map, bytes) = (facts.thread_map(), u64::from(facts.element.bytes_of(1)));
    let (mut requests, mut sectors) = (0, 0);
    for origin in (0..extent).step_by(facts.smem.mn as usize) {
        for tile in (0..entered.k).step_by(desc.threadblock().k as usize) {
            for (warp, access) in (0..map.threads / 32)
                .flat_map(|warp| (0..map.accesses()).map(move |access| (warp, access)))
            {
                let touched: Vec<u64> = (0..32)
                    .filter_map(|lane| map.vector(warp * 32 + lane, access))
                    .flat_map(|vector| (0..facts.access).map(move |i| facts.coordinate(vector, i)))
                    .map(|(mn, k)| {
                        let (mn, k) = (origin + mn as usize, tile + k as usize);
                        let element =
                            if facts.k_contiguous { mn * leading + k } else { k * leading + mn };
                        element as u64 * bytes / SECTOR_BYTES
                    })
                    .collect();
                requests += u64::from(!touched.is_empty());
                sectors += touched.into_iter().collect::<BTreeSet<_>>().len() as u64;
            }
        }
    }
    (requests * others as u64, sectors * others as u64)
}

/// All CTAs have equal counts: the count of one CTA times the number of CTAs is the total.
#[test]
fn one_cta_times_the_number_of_ctas_is_every_cta() {
    for desc in subjects() {
        let problem = problem(&desc, [2, 3, 5]);
        let counters = counted(&desc, &problem);
        for (user, reads) in [(OperandKind::A, counters.a), (OperandKind::B, counters.b)] {
            let operand = user.enter(desc.frame);
            assert_eq!(
                (reads.requests, reads.sectors),
                every_block(&desc, &problem, operand),
                "{} of {desc:?}",
                operand.name()
            );
        }
    }
}

/// One tile of 128x128x8 with 256 threads, counted manually.
#[test]
fn counts_of_a_classic_tile_equal_manual_counts() {
    let desc = but!(default_f32(ArchKind::Sm70, [Order::Row; 3]), align_a: 4, align_b: 4).expect();
    let counters =
        counted(&desc, &Problem::new(&desc, (128, 128, 8), [None, None, None], [1.0; 8]));
    // 1024 floats each: one vector of four for each of 256 threads in 8 warps. 4096 bytes are 128
    // sectors.
    assert_eq!((counters.a.requests, counters.a.sectors, counters.a.elements), (8, 128, 1024));
    assert_eq!((counters.b.requests, counters.b.sectors, counters.b.elements), (8, 128, 1024));
    // A is stored element by element: four stores per thread. B is stored as vectors, in four
    // wavefronts per warp.
    assert_eq!(
        (counters.stores.accesses, counters.stores.ideal, counters.stores.wavefronts),
        (8 * 4 + 8, 8 * 4 + 8 * 4, 64)
    );
    // 8 x 8 per thread: two loads of 16 bytes of each operand, 8 k-blocks, and 8 warps.
    assert_eq!(counters.loads.accesses, 8 * 8 * 4);
}

/// The counters follow the maps: without the padding of A's tile, its stores conflict.
#[test]
fn counters_follow_a_changed_map() {
    let desc = default_f32(ArchKind::Sm70, [Order::Row; 3]);
    let problem = problem(&desc, [1, 1, 2]);
    let program = desc.one_schedule().expect("a kernel without a producer");
    let mut unpadded = program.clone();
    unpadded.maps.smem[0] =
        Arc::new(SmemTile { padding: 0, ..desc.base().operand(OperandKind::A).smem });
    let (padded, unpadded) =
        (count(&program, &problem).unwrap(), count(&unpadded, &problem).unwrap());
    assert_eq!(padded.stores.wavefronts, padded.stores.ideal);
    assert!(unpadded.stores.wavefronts > 2 * padded.stores.wavefronts, "{unpadded:?}");
    // The same change by the description's knob.
    let knob = but!(desc, smem_a: SmemLayout::Padded { along: Along::Mn, padding: 0 });
    assert_eq!(counted(&knob, &problem), unpadded);
    // A map that omits points is a fault.
    let mut broken = program;
    broken.maps.smem[0] = mutant(&broken.maps.smem[0], |_, _| None);
    assert!(count(&broken, &problem).is_err());
}

#[test]
fn problems_that_cannot_be_counted_are_refused() {
    let desc = default_f32(ArchKind::Sm70, [Order::Row; 3]);
    let program = desc.one_schedule().expect("a kernel without a producer");
    let says = |extents, leading| {
        count(&program, &Problem::new(&desc, extents, leading, [1.0; 8])).unwrap_err().to_string()
    };
    assert_eq!(
        says((100, 128, 64), [None; 3]),
        "the measurement failed: M = 100 is not a whole number of tiles of 128, so blocks are not alike; try 128"
    );
    assert!(says((256, 256, 60), [None; 3]).contains("K = 60 is not a whole number of tiles of 8"));
    // 128 rows of 17 floats are whole sectors.
    assert!(
        count(&program, &Problem::new(&desc, (256, 256, 16), [Some(17), None, None], [1.0; 8]))
            .is_ok()
    );
    let wide = but!(desc, align_a: 4);
    let problem = Problem::new(&wide, (256, 256, 16), [Some(17), None, None], [1.0; 8]);
    let says = count(&wide.one_schedule().expect("a kernel without a producer"), &problem)
        .unwrap_err()
        .to_string();
    assert!(says.contains("is not a multiple of the access's 16 bytes"), "{says}");
    assert!(
        count(&program, &Problem::new(&desc, (1 << 30, 1 << 30, 1 << 30), [None; 3], [1.0; 8]))
            .is_err()
    );
    assert_eq!(
        count(&program, &Problem::new(&desc, (0, 128, 64), [None; 3], [1.0; 8])).unwrap(),
        Counters::default()
    );
}
