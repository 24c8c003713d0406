//! The ladder: its configurations equal those of the sources, its counts equal their formulas, and
//! every rung computes the GEMM.

use falchion::shape::Mnk;
use falchion_lab::counters::Counters;
use falchion_lab::ladder::{
    Climb, Machine, Program, Rung, Textbook, check_size, rungs, traffic, verify,
};

const SIZE: usize = 2048;

fn all() -> Vec<Rung> {
    rungs().expect("every configuration checks")
}

fn named(name: &str) -> Rung {
    all()
        .into_iter()
        .find(|rung| rung.name == name)
        .unwrap_or_else(|| panic!("there is no rung {name}"))
}

fn counted(name: &str) -> Counters {
    traffic(&named(name).program, SIZE).unwrap()
}

/// Returns the rows and columns that a CTA computes.
fn tile(rung: &Rung) -> (u64, u64) {
    match rung.program {
        Program::Textbook(Textbook::Naive) => (1, 1),
        Program::Textbook(Textbook::SharedMemory) => {
            (u64::from(Textbook::SIDE), u64::from(Textbook::SIDE))
        }
        Program::Gemm(d) => (u64::from(d.threadblock().m), u64::from(d.threadblock().n)),
    }
}

#[test]
fn names_are_distinct_and_wrong_turns_leave_a_rung_below_them() {
    let rungs = all();
    for (i, rung) in rungs.iter().enumerate() {
        assert!(rungs[..i].iter().all(|other| other.name != rung.name), "{}", rung.name);
        if let Some(of) = rung.wrong_turn_of {
            assert!(
                rungs[..i].iter().any(|other| other.name == of && other.wrong_turn_of.is_none()),
                "{}",
                rung.name
            );
        }
    }
    assert_eq!(rungs.iter().filter(|rung| rung.wrong_turn_of.is_some()).count(), 3);
    // V3 to V6 and the last kernels of the sources are configurations. Only two rungs are separate
    // kernels.
    assert_eq!(rungs.iter().filter(|rung| matches!(rung.program, Program::Textbook(_))).count(), 2);
}

/// The parameters of the sources: threads per CTA, tile, thread tile, and bytes of shared memory
/// (at most 48 KB, as their assertions state).
#[test]
fn configurations_equal_those_of_the_sources() {
    for (name, threads, tile, thread, stages) in [
        ("V3 2x2 per thread", 256, Mnk::new(32, 32, 16), (2, 2), 1),
        ("V4 4x4, vectors", 256, Mnk::new(64, 64, 16), (4, 4), 1),
        ("V5 double buffer", 256, Mnk::new(32, 32, 16), (2, 2), 2),
        ("V6 no conflicts", 256, Mnk::new(32, 32, 16), (2, 2), 2),
        ("V6 larger tile", 256, Mnk::new(64, 64, 16), (4, 4), 2),
        ("64x64x64", 256, Mnk::new(64, 64, 64), (4, 4), 1),
        ("128x128x8", 256, Mnk::new(128, 128, 8), (8, 8), 1),
    ] {
        let Program::Gemm(d) = named(name).program else { panic!("{name} is a configuration") };
        let base = d.base();
        let lanes = base.tiles.lanes;
        assert_eq!(
            (base.tiles.threads(), d.threadblock(), d.stages()),
            (threads, tile, stages),
            "{name}"
        );
        assert_eq!((d.warp().m / lanes.m, d.warp().n / lanes.n), thread, "{name}");
        assert!(base.smem_bytes() <= 48 * 1024, "{name}");
    }
    // The tuning notes: two arrays of 64 x 64 floats, padded to 64 x 65.
    let shared = |name| match named(name).program {
        Program::Gemm(d) => d.base().smem_bytes(),
        Program::Textbook(_) => 0,
    };
    assert_eq!(shared("64x64x64"), 2 * 64 * 64 * 4);
    assert_eq!(shared("64x64x64, padded"), 2 * 64 * 65 * 4);
}

/// `2MNK` elements are read without tiles, and `MNK (1/bm + 1/bn)` with tiles of `bm` x `bn`. The
/// executor's accesses equal these formulas of the sources.
#[test]
fn global_reads_follow_the_formulas_of_the_sources() {
    let products = (SIZE as u64).pow(3);
    for rung in all() {
        let (bm, bn) = tile(&rung);
        let counters = traffic(&rung.program, SIZE).unwrap();
        assert_eq!(
            counters.a.elements + counters.b.elements,
            products / bm + products / bn,
            "{}",
            rung.name
        );
        assert_eq!(counters.multiply_adds, products, "{}", rung.name);
    }
    let naive = counted("V1 naive");
    assert_eq!(naive.a.elements + naive.b.elements, 2 * products);
}

/// The counts show the effect of each rung.
#[test]
fn each_rung_saves_the_documented_accesses() {
    let requests = |c: &Counters| c.a.requests + c.b.requests;
    let wavefronts = |c: &Counters| c.loads.wavefronts + c.stores.wavefronts;
    let [v1, v2, v3, v4] =
        ["V1 naive", "V2 shared memory", "V3 2x2 per thread", "V4 4x4, vectors"].map(counted);
    assert_eq!(v1.loads.accesses, 0);
    // With tiles of 16, each element is fetched a sixteenth as often.
    assert_eq!(requests(&v1), 16 * requests(&v2));
    assert!(v3.loads.accesses < v2.loads.accesses && v4.loads.accesses < v3.loads.accesses);
    // With vectors of four, B needs a quarter of the requests.
    assert_eq!(v4.b.requests * 4, v4.a.requests);
    // The SGEMM ladder: padding removes the conflicts of A's rows, which are 32 words apart with
    // two rows per thread.
    let [v5, v6] = ["V5 double buffer", "V6 no conflicts"].map(counted);
    assert_eq!(v6.loads.wavefronts, v6.loads.ideal, "no conflicts");
    assert!(v5.loads.wavefronts > v5.loads.ideal && wavefronts(&v6) < wavefronts(&v5));
    // The tuning notes: rows of 65 elements split the vectors, so there are four times as many
    // stores.
    let [plain, padded] = ["64x64x64", "64x64x64, padded"].map(counted);
    assert_eq!(padded.stores.accesses, 4 * plain.stores.accesses);
}

/// The order that the counts predict: each rung is faster than the previous one, except where the
/// source itself returned to a smaller tile. Every wrong turn is slower than the rung before it.
#[test]
fn the_predicted_order_equals_that_of_the_ladder() {
    let climb = Climb::predicted(SIZE, &Machine::H200, "predicted").unwrap();
    let rate =
        |name: &str| climb.rungs.iter().find(|rung| rung.name == name).unwrap().predicted_tflops;
    for rung in &climb.rungs {
        println!("{:24} {:6.2}", rung.name, rung.predicted_tflops);
    }
    for rung in climb.rungs.iter().filter(|rung| rung.wrong_turn_of.is_some()) {
        assert!(rung.predicted_tflops < rate(rung.wrong_turn_of.unwrap()), "{}", rung.name);
    }
    for (below, above) in [
        ("V1 naive", "V2 shared memory"),
        ("V2 shared memory", "V3 2x2 per thread"),
        ("V3 2x2 per thread", "V4 4x4, vectors"),
        ("V5 double buffer", "V6 no conflicts"),
        ("V6 no conflicts", "V6 larger tile"),
        ("V6 larger tile", "128x128x8"),
        ("128x128x8", "multistage"),
    ] {
        assert!(rate(below) < rate(above), "{below} and {above}");
    }
}

#[test]
fn every_rung_computes_the_gemm() {
    for rung in all() {
        let verdict = verify(&rung).unwrap();
        assert!(
            verdict.is_right() && verdict.elements_checked == 256 * 256,
            "{}: {verdict:?}",
            rung.name
        );
    }
}

/// A thread of a textbook kernel adds in the order of all other kernels.
#[test]
fn the_textbook_has_the_bits_of_the_parameterized_kernel() {
    use falchion::prelude::*;
    let (m, n, k) = (37, 45, 61);
    let draw = |seed: u64, count: usize| -> Vec<f32> {
        (0..count as u64)
            .map(|i| (falchion_lab::verify::draw(seed, i) % 4096) as f32 / 512.0 - 4.0)
            .collect()
    };
    let (a, b) = (draw(1, m * k), draw(2, k * n));
    let (mut d, mut e) = (vec![f32::NAN; m * n], vec![f32::NAN; m * n]);
    Textbook::multiply(n, k, &a, &b, &mut d);
    Gemm::<f32, RowMajor, f32, RowMajor, f32, RowMajor>::new()
        .run(Arguments::new((m, n, k), &a, &b, &mut e))
        .unwrap();
    assert!(d.iter().zip(&e).all(|(x, y)| x.to_bits() == y.to_bits()));
}

#[test]
fn indivisible_sizes_are_refused_with_the_nearest() {
    for (size, words) in [
        (0, "size = 0 is outside 256 to 32768; try 256"),
        (2000, "size = 2000 is not a multiple of 256; try 2048"),
        (usize::MAX, "try 32768"),
    ] {
        let sentence = check_size(size).unwrap_err().to_string();
        assert!(sentence.ends_with(words), "{sentence}");
    }
}

#[test]
fn the_chart_has_every_rung() {
    let climb = Climb::predicted(256, &Machine::H200, "a < b & c").unwrap();
    let (svg, letters) = (climb.svg(), climb.letters(20));
    for rung in all() {
        assert!(
            svg.contains(&format!(">{}<", rung.name)) && letters.contains(rung.name),
            "{}",
            rung.name
        );
    }
    assert!(
        svg.starts_with("<svg") && svg.ends_with("</svg>\n") && svg.contains("a &lt; b &amp; c")
    );
    assert_eq!(letters.lines().count(), all().len());
}
