//! Tests of the rule against a device, against a second model, and with parts removed.

use super::{Merging, Rule, WarpAccess, deliveries, wavefronts};
use crate::banks::{BANKS, Direction, LANES, WORD_BYTES};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Returns the cases with their names. They are built again, because the lab's accesses have
/// another type here.
fn cases() -> Vec<(String, WarpAccess)> {
    let cases = crate::banks::cases::cases().unwrap().into_iter().map(|case| {
        let direction = if case.access.direction().name() == "load" {
            Direction::Load
        } else {
            Direction::Store
        };
        (
            case.name,
            WarpAccess::new(direction, case.access.bytes(), case.access.lanes().iter().copied())
                .unwrap(),
        )
    });
    cases.collect()
}

/// Returns the counted wavefronts of each case from `lab/data/banks.txt`, the output of
/// `scripts/banks.sh`.
fn measured() -> Vec<(String, &'static str, u32, u32)> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/data/banks.txt");
    let table = std::fs::read_to_string(path).unwrap();
    let rows = table.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        let direction = if words.next()? == "load" { "load" } else { "store" };
        let bytes = words.next()?.parse().ok()?;
        let counted = words.nth(1)?.parse().ok()?;
        Some((words.collect::<Vec<_>>().join(" "), direction, bytes, counted))
    });
    rows.collect()
}

/// Returns the names of the measured cases that a rule does not predict.
fn missed(rule: &Rule) -> Vec<String> {
    let (cases, measured) = (cases(), measured());
    assert_eq!(cases.len(), measured.len(), "every case is measured");
    let wrong = |((case, access), row): ((String, WarpAccess), (String, &str, u32, u32))| {
        let (name, direction, bytes, counted) = row;
        let access = &access;
        assert_eq!((&*case, access.direction().name(), access.bytes()), (&*name, direction, bytes));
        (rule.wavefronts(access).wavefronts != counted)
            .then(|| format!("{name}, {direction} {bytes}"))
    };
    cases.into_iter().zip(measured).filter_map(wrong).collect()
}

/// The rule predicts every access that was measured on a device.
#[test]
fn every_measured_case_is_predicted() {
    assert_eq!(missed(&Rule::HARDWARE), Vec::<String>::new());
    println!("{} cases", measured().len());
}

/// Each part of the rule is needed: without it, the rule misses the measured cases named here,
/// among others.
#[test]
fn a_rule_without_one_of_its_parts_misses_cases() {
    let whole = Rule::HARDWARE;
    let Merging::Partners { off_agrees, by_halves, stores } = whole.merging else {
        panic!("the hardware merges")
    };
    let merging = |merging| Rule { merging, ..whole };
    for (part, rule, named) in [
        (
            "broadcast",
            Rule { broadcast: false, ..whole },
            "CuTe walk-through: B by its formula, 8 (tid / 8), load 4",
        ),
        (
            "broadcast, on A",
            Rule { broadcast: false, ..whole },
            "CuTe walk-through: A by its formula, 8 (tid mod 8), load 4",
        ),
        ("phases", Rule { phases: false, ..whole }, "(i, i^16) equal, load 8"),
        ("merging", merging(Merging::Never), "eight lanes a row of 2, as a warp reads A, load 16"),
        (
            "lanes off agree",
            merging(Merging::Partners { off_agrees: !off_agrees, by_halves, stores }),
            "even lanes: (i, i^1) equal, load 16",
        ),
        (
            "the whole warp agrees",
            merging(Merging::Partners { off_agrees, by_halves: !by_halves, stores }),
            "(i, i^1) equal below lane 16, load 16",
        ),
        (
            "only loads merge",
            merging(Merging::Partners { off_agrees, by_halves, stores: !stores }),
            "(i, i^1) equal, store 8",
        ),
    ] {
        let missed = missed(&rule);
        println!("without `{part}`: {} missed", missed.len());
        assert!(
            missed.iter().any(|name| name == named),
            "without `{part}` the rule misses only {missed:?}"
        );
    }
}

/// A second model of the rule: pending words are delivered wavefront by wavefront. Each bank serves
/// one word at a time to all lanes of the phase that wait for it.
fn delivered(access: &WarpAccess) -> u32 {
    let (bytes, lanes) = (u64::from(access.bytes()), access.lanes());
    let load = access.direction() == Direction::Load;
    let shared = |distance: usize| {
        let pairs = (0..LANES).map(|lane| (lanes[lane], lanes[lane ^ distance]));
        pairs.into_iter().all(|pair| !matches!(pair, (Some(one), Some(other)) if one != other))
    };
    let quarters = if bytes < 8 { 1 } else { (bytes / 4) as usize };
    let phases =
        if load && quarters > 1 && (shared(1) || shared(2)) { quarters / 2 } else { quarters };
    let mut wavefronts = 0;
    for phase in 0..phases {
        let members = phase * LANES / phases..(phase + 1) * LANES / phases;
        let mut pending: BTreeSet<(u64, u64)> = BTreeSet::new();
        for address in members.filter_map(|lane| lanes[lane]) {
            for byte in address..address + bytes {
                let word = byte / WORD_BYTES;
                pending.insert((word % BANKS as u64, word));
            }
        }
        while !pending.is_empty() {
            let mut spoken = BTreeSet::new();
            pending.retain(|&(bank, _)| !spoken.insert(bank));
            wavefronts += 1;
        }
    }
    wavefronts
}

fn access() -> impl Strategy<Value = WarpAccess> {
    let vectors = prop::collection::vec((0u64..1024, prop::bool::weighted(0.85)), LANES);
    // The number of vectors to choose from, and a mask for the lane number, so that lanes share
    // vectors.
    let shape = (
        prop::sample::select(vec![2u64, 8, 40, 1024]),
        prop::sample::select(vec![31usize, 30, 29, 28, 15, 27]),
    );
    (0u32..5, any::<bool>(), any::<bool>(), vectors, shape).prop_map(
        |(exponent, load, whole, vectors, (pool, bits))| {
            let (bytes, direction) =
                (1 << exponent, if load { Direction::Load } else { Direction::Store });
            let lanes = (0..LANES).map(|lane| {
                (whole || vectors[lane].1)
                    .then_some(vectors[lane & bits].0 % pool * (1 << exponent))
            });
            WarpAccess::new(direction, bytes, lanes).unwrap()
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 50_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// Checks that `sum over S in P of d(S)` is the number of wavefronts until every word is
    /// delivered.
    #[test]
    fn the_formula_equals_the_simulated_delivery(access in access()) {
        prop_assert_eq!(wavefronts(&access).wavefronts, delivered(&access));
    }

    /// Checks that the delivered words are the words of the access, and that a bank serves one word
    /// per wavefront. The number of wavefronts must be the counted one.
    #[test]
    fn deliveries_take_the_wavefronts(access in access()) {
        let deliveries = deliveries(&access);
        let last = deliveries.iter().map(|delivery| delivery.wavefront + 1).max().unwrap_or(0);
        prop_assert_eq!(last, wavefronts(&access).wavefronts);
        let spoken: BTreeSet<_> = deliveries.iter().map(|delivery| (delivery.wavefront, delivery.word % BANKS as u64)).collect();
        prop_assert_eq!(spoken.len(), deliveries.len());
        let mut touched: Vec<_> = (0..LANES).flat_map(|lane| access.words(lane).map(move |word| (lane, word))).collect();
        let mut delivered: Vec<_> = deliveries.iter().flat_map(|d| d.lanes.iter().map(|&lane| (lane, d.word))).collect();
        touched.sort_unstable();
        delivered.sort_unstable();
        prop_assert_eq!(touched, delivered);
    }

    /// Checks `ideal <= wavefronts <= 32`, and that an access without an active lane has no
    /// wavefront.
    #[test]
    fn wavefronts_are_between_the_ideal_and_the_lanes(access in access()) {
        let taken = wavefronts(&access);
        prop_assert!(taken.ideal <= taken.wavefronts);
        prop_assert!(taken.wavefronts as usize <= access.active());
        prop_assert_eq!(taken.wavefronts == 0, access.active() == 0);
        prop_assert_eq!(taken.conflicts(), taken.wavefronts - taken.ideal);
    }

    /// Checks `wavefronts(address + 128 c) = wavefronts(address)`: 32 banks of 4 bytes.
    #[test]
    fn banks_repeat_after_128_bytes(access in access(), turns in 0u64..1000) {
        let moved = access.lanes().iter().map(|address| address.map(|address| address + turns * 128));
        let moved = WarpAccess::new(access.direction(), access.bytes(), moved).unwrap();
        prop_assert_eq!(wavefronts(&moved), wavefronts(&access));
    }

    /// Checks that the order of lanes has no effect up to 4 bytes per lane: `wavefronts(address
    /// after p) = wavefronts(address)` for a permutation `p` of lanes.
    #[test]
    fn the_order_of_lanes_has_no_effect_up_to_4_bytes(access in access().prop_filter("wide", |a| a.bytes() <= 4), by in 0usize..LANES, times in 0usize..16) {
        let permuted = (0..LANES).map(|lane| access.lanes()[((2 * times + 1) * lane + by) % LANES]);
        let permuted = WarpAccess::new(access.direction(), access.bytes(), permuted).unwrap();
        prop_assert_eq!(wavefronts(&permuted), wavefronts(&access));
    }
}
