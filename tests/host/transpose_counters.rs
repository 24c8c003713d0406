//! Accesses of transposes, as counted by the host executor, equal formulas and the tuning notes.

use crate::harness::{
    prelude::*,
    transposes::{gathered, named, scalars},
};
use falchion_lab::{
    counters::{GlobalAccesses, TransposeCounters},
    ladder::{TransposeClimb, TransposeRung as Rung, verify_transpose},
};

fn count(desc: &TransposeDesc, problem: &Problem) -> TransposeCounters {
    count_transpose(&TransposeProgram::new(desc), problem).expect("it counts")
}

fn rung(rung: Rung) -> TransposeDesc {
    rung.desc(Combine::Move, 4)
}

/// Returns the wavefronts of each store and of each load, if all accesses of a direction have the
/// same number.
fn each(counters: &TransposeCounters) -> [Option<u64>; 2] {
    [counters.stores, counters.loads].map(|shared: SharedAccesses| {
        (shared.accesses > 0 && shared.wavefronts.is_multiple_of(shared.accesses))
            .then(|| shared.wavefronts / shared.accesses)
    })
}

/// The tuning notes: a warp's access down a column of `[32][32]` takes 32 wavefronts, and of
/// `[32][33]` one. A wavefront serves at most 32 lanes. For accesses of one word per lane, a mean
/// of 32 therefore means 32 each, and a mean of 1 means 1 each.
#[test]
fn a_pitch_of_32_takes_32_wavefronts_and_33_takes_one() {
    let problem = Problem::packed_transpose(256, 192);
    let (bare, padded) =
        (count(&rung(Rung::Coalesced), &problem), count(&rung(Rung::Padded), &problem));
    assert_eq!(rung(Rung::Coalesced).smem().pitch(), 32);
    assert_eq!(rung(Rung::Padded).smem().pitch(), 33);
    assert_eq!(each(&bare), [Some(32), Some(1)]);
    assert_eq!(each(&padded), [Some(1), Some(1)]);
    let accesses = 256 * 192 / 32;
    assert_eq!(
        (bare.stores.accesses, bare.stores.wavefronts, bare.stores.ideal),
        (accesses, 32 * accesses, accesses)
    );
    assert_eq!((padded.stores.accesses, padded.stores.wavefronts), (accesses, accesses));
}

/// With `n` elements of 4 bytes in whole tiles, neighboring lanes access `n / 8` sectors, and lanes
/// in separate rows of D access `n` sectors.
#[test]
fn each_rung_saves_the_documented_accesses() {
    let (rows, columns) = (1024, 512);
    let (problem, n) = (Problem::packed_transpose(rows, columns), (rows * columns) as u64);
    let of = |r: Rung| count(&rung(r), &problem);
    for r in Rung::ALL {
        let counters = of(r);
        assert_eq!(
            (counters.a.elements, counters.d.elements, counters.c.elements),
            (n, n, 0),
            "{r:?}"
        );
        assert_eq!(counters.a.sectors, n / 8, "{r:?}");
        let requests = if r == Rung::Vectorized { n / 128 } else { n / 32 };
        assert_eq!((counters.a.requests, counters.d.requests), (requests, requests), "{r:?}");
    }
    let sectors = Rung::ALL.map(|r| of(r).d.sectors);
    assert_eq!(sectors, [n, n, n / 8, n / 8, n / 8]);
    let lines = Rung::ALL.map(|r| of(r).d.lines);
    assert_eq!(lines, [n, n, n / 32, n / 32, n / 32]);
    assert_eq!(Rung::ALL.map(|r| of(r).stores.wavefronts), [0, n, n, n / 32, n / 32]);
    assert_eq!(Rung::ALL.map(|r| of(r).loads.wavefronts), [0, n, n / 32, n / 32, n / 32]);
    // 16 bytes per lane are four wavefronts, and a quarter of the accesses.
    assert_eq!(each(&of(Rung::Vectorized)), [Some(4), Some(4)]);
    assert_eq!(of(Rung::Vectorized).stores.accesses, n / 128);
}

/// Counting one CTA of each kind equals counting every CTA: for whole tiles, partial tiles, gaps,
/// and a batch.
#[test]
fn counting_one_cta_of_each_kind_counts_every_cta() {
    let descs = [
        rung(Rung::Naive),
        rung(Rung::Padded),
        Rung::Coalesced.desc(Combine::Move, 2),
        Rung::Tiled.desc(Combine::Move, 8),
    ];
    for desc in descs {
        for (rows, columns, batch, [gap_a, gap_d]) in [
            (32, 32, 1, [0, 0]),
            (45, 70, 1, [0, 0]),
            (33, 97, 3, [5, 9]),
            (1, 100, 2, [0, 1]),
            (100, 1, 1, [3, 0]),
        ] {
            let strided = |rows: usize, columns: usize, gap: usize| {
                View::new(Elements::ALL, Order::Row, columns + gap)
                    .batched(rows * (columns + gap) + gap)
            };
            let (a, d) = (strided(rows, columns, gap_a), strided(columns, rows, gap_d));
            let problem =
                Problem { a: a.transposed(), d, batch, ..Problem::packed_transpose(rows, columns) };
            assert_eq!(
                global(&desc, &problem),
                [count(&desc, &problem).a, count(&desc, &problem).d],
                "{desc} {problem:?}"
            );
        }
    }
}

/// Counts accesses to A and D of one element per lane, from the description's maps, CTA by CTA.
fn global(desc: &TransposeDesc, problem: &Problem) -> [GlobalAccesses; 2] {
    use std::collections::{BTreeMap, BTreeSet};
    /// Matrix, tile, warp, and step, with the first bytes of its lanes.
    type Requests = BTreeMap<(usize, usize, u32, u32), Vec<u64>>;
    let mut requests: [Requests; 2] = Default::default();
    let bytes = u64::from(desc.element_bytes);
    for matrix in 0..problem.batch {
        for tile in 0..problem.n.div_ceil(32) * problem.m.div_ceil(32) {
            let (row, column) =
                (tile / problem.m.div_ceil(32) * 32, tile % problem.m.div_ceil(32) * 32);
            for thread in 0..desc.threads {
                for step in 0..desc.fetch().steps() {
                    let (i, j) = desc.fetch().place(thread, step);
                    let (out_j, out_i) =
                        if desc.is_staged() { desc.write().place(thread, step) } else { (j, i) };
                    for (which, i, j) in [(0, i, j), (1, out_i, out_j)] {
                        let (i, j) = (row + i as usize, column + j as usize);
                        if i < problem.n && j < problem.m {
                            let element = match which {
                                0 => matrix * problem.a.batch_stride + problem.a.offset(j, i),
                                _ => matrix * problem.d.batch_stride + problem.d.offset(j, i),
                            };
                            requests[which]
                                .entry((matrix, tile, thread / 32, step))
                                .or_default()
                                .push(element as u64 * bytes);
                        }
                    }
                }
            }
        }
    }
    requests.map(|requests| {
        let mut counted = GlobalAccesses::default();
        for lanes in requests.values() {
            let pieces = |size: u64| {
                lanes.iter().map(|byte| byte / size).collect::<BTreeSet<_>>().len() as u64
            };
            counted.elements += lanes.len() as u64;
            counted.requests += 1;
            counted.sectors += pieces(32);
            counted.lines += pieces(128);
        }
        counted
    })
}

/// B is read at the elements of D. With alpha = 0 no sector of A is read, and with beta = 0 no
/// sector of B.
#[test]
fn unread_operands_cost_nothing() {
    let packed = Problem::packed_transpose(128, 64);
    let desc = Rung::Vectorized.desc(Combine::F32, 4);
    let with = |alpha, beta| {
        count(
            &desc,
            &Problem { scalars: scalars([alpha, beta]), c: Source::Matrix(packed.d), ..packed },
        )
    };
    let n = 128 * 64 / 8;
    for ((alpha, beta), sectors) in [
        ((2.0, 3.0), [n, n, n]),
        ((2.0, 0.0), [n, 0, n]),
        ((0.0, 3.0), [0, n, n]),
        ((0.0, 0.0), [0, 0, n]),
    ] {
        let counters = with(alpha, beta);
        assert_eq!(
            [counters.a.sectors, counters.c.sectors, counters.d.sectors],
            sectors,
            "{alpha} {beta}"
        );
    }
    let in_place =
        count(&desc, &Problem { scalars: scalars([1.0, 1.0]), c: Source::InPlace, ..packed });
    assert_eq!(in_place.c, in_place.d);
}

/// Every kernel writes each element of D once, and reads each element of A once. With gathered
/// rows, elements at a tile's border are read for two tiles.
#[test]
fn each_element_is_accessed_once() {
    let gathered = gathered();
    for desc in named().into_iter().filter(|desc| !desc.is_gathered()) {
        let (rows, columns) = (2 * desc.rows as usize + 16, desc.columns as usize + 32);
        let problem = Problem::packed_transpose(rows, columns);
        let counters = count(&desc, &problem);
        assert_eq!(
            [counters.a.elements, counters.d.elements],
            [(rows * columns) as u64; 2],
            "{desc}"
        );
    }
    // Rows with any alignment.
    let problem = Problem::packed_transpose(101, 131);
    let counters = count(&gathered, &problem);
    assert_eq!(counters.d.elements, 101 * 131);
    assert!(counters.a.elements > 101 * 131 && counters.a.elements < 2 * 101 * 131, "{counters:?}");
    // Except at the ends of rows, accesses have 16 bytes, and one warp writes a sector.
    let single = Rung::Padded.desc(Combine::Move, 1);
    let [single, whole] =
        [single, gathered].map(|desc| count(&desc, &Problem::packed_transpose(1001, 1003)).d);
    assert!(
        whole.requests * 4 < single.requests && whole.sectors * 4 < single.sectors * 3,
        "{single:?} {whole:?}"
    );
}

#[test]
fn the_ladder_has_the_recorded_counts() -> Result<(), falchion_lab::Error> {
    let climb = TransposeClimb::counted((1024, 512), ElementKind::F32, "the host")?;
    assert_eq!(climb.rungs.len(), Rung::ALL.len());
    for (reached, r) in climb.rungs.iter().zip(Rung::ALL) {
        assert_eq!(
            (reached.name, reached.counters),
            (r.name(), count(&rung(r), &Problem::packed_transpose(1024, 512)))
        );
        assert!(reached.measured.is_none());
        for kind in [ElementKind::F32, ElementKind::U8, ElementKind::Bf16, ElementKind::F64] {
            let verdict = verify_transpose(r, kind)?;
            assert!(
                verdict.is_right() && verdict.elements_checked > 1000,
                "{r:?} {kind}: {verdict}"
            );
        }
    }
    let table = climb.table();
    assert_eq!(table[2][4..6], ["32.00 (1.00)", "1.00 (1.00)"]);
    assert_eq!(table[3][4..6], ["1.00 (1.00)", "1.00 (1.00)"]);
    assert_eq!(table[4][4..6], ["4.00 (4.00)", "4.00 (4.00)"]);
    assert_eq!(table[0][4..6], ["–", "–"]);
    Ok(())
}

#[test]
fn invalid_transposes_are_not_counted() {
    let program = TransposeProgram::new(&rung(Rung::Vectorized));
    let said =
        |problem: &Problem| count_transpose(&program, problem).expect_err("refused").to_string();
    let odd = said(&Problem::packed_transpose(64, 33));
    assert!(
        odd.contains("the measurement failed: lane ")
            && odd.contains("is not a multiple of the access's 16 bytes"),
        "{odd}"
    );
    let scaled =
        said(&Problem { scalars: scalars([2.0, 0.0]), ..Problem::packed_transpose(64, 64) });
    assert_eq!(
        scaled,
        "scalar alpha is not supported by a kernel that moves elements; use a kernel that combines in f32 or f64"
    );
    let nothing = count_transpose(&program, &Problem::packed_transpose(0, 7)).expect("nothing");
    assert_eq!(nothing, TransposeCounters::default());
    let desc = Choice::Auto.desc(ElementKind::F32, &Problem::packed_transpose(64, 33));
    assert_eq!(count(&desc, &Problem::packed_transpose(64, 33)).d.elements, 64 * 33);
}
