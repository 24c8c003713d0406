//! The space and its census.

use super::base;
use falchion::{
    arch::{ArchKind, OpKind},
    internals::nest::Request,
    nest::{GemmDesc, Pins},
    threadblock::MainloopKind,
};
use falchion_lab::{
    Error,
    explore::{Census, Space, sample},
};
use proptest::prelude::*;
use std::collections::{BTreeSet, HashSet};

fn census(space: &Space) -> Census {
    Census::new(space, &|desc| Ok(desc.check()?)).expect("a census")
}

/// Axes of which some combinations are valid.
const LISTS: [(&str, &[&str]); 6] = [
    ("threadblock", &["64x64x8", "128x128x8", "128x100x8", "1024x128x8"]),
    ("warp", &["32x32x8", "32x64x8", "64x64x8", "12x32x8"]),
    ("stages", &["1", "2", "3"]),
    ("mainloop", &["singlestage", "pipelined", "multistage"]),
    ("align_a", &["1", "4", "8"]),
    ("smem_b", &["auto", "k+1", "mn^3,2,0"]),
];

fn small(base: &GemmDesc) -> Space {
    let mut space = Space::from_description(base);
    LISTS.iter().for_each(|(name, values)| space.set(name, values).expect("values"));
    space
}

/// `{ at(p) : p }` is the set that nested loops over the axes produce, and the valid points are
/// those that `check` accepts. This holds for a row-major and for a column-major D, whose knobs
/// belong to the user's A and B.
#[test]
fn the_census_equals_brute_force() {
    for base in [
        base("f32:row", "f32:col", "f32:row"),
        base("f32:col", "f32:col", "f32:col"),
        base("i8:row", "i8:col", "i32:row"),
    ] {
        let space = small(&base);
        let census = census(&space);
        let mut looped: Vec<GemmDesc> = Vec::new();
        let mut places = [0; LISTS.len()];
        'all: loop {
            let mut knobs = base.user_pins();
            for ((name, values), place) in LISTS.iter().zip(places) {
                knobs.set(name, values[place]).expect("a value");
            }
            looped.push(base.with(knobs));
            for (place, (_, values)) in places.iter_mut().zip(LISTS) {
                *place += 1;
                if *place < values.len() {
                    continue 'all;
                }
                *place = 0;
            }
            break;
        }
        assert_eq!(census.points, looped.len() as u64);
        let wanted: HashSet<GemmDesc> =
            looped.iter().copied().filter(|desc| desc.check().is_ok()).collect();
        let found: HashSet<GemmDesc> = census.legal.iter().map(|&point| space.at(point)).collect();
        assert_eq!(found, wanted);
        assert!(wanted.len() > 10 && found.len() == census.legal.len());
        let all: HashSet<GemmDesc> = (0..census.points).map(|point| space.at(point)).collect();
        assert_eq!(all, looped.into_iter().collect());
    }
}

/// `legal + sum of refusals = product of the axis lengths`. Each refusal form occurs once and
/// matches its example, and the first point of a refusal is refused for its reason.
#[test]
fn counts_of_refusals_add_up() {
    for base in [base("f32:row", "f32:row", "f32:row"), base("f32:col", "f32:col", "f32:col")] {
        let space = small(&base);
        let census = census(&space);
        let product: usize = LISTS.iter().map(|(_, values)| values.len()).product();
        assert_eq!((space.points().unwrap(), census.points), (product as u64, product as u64));
        assert_eq!(
            census.legal.len() as u64
                + census.refused.iter().map(|reason| reason.count).sum::<u64>(),
            census.points
        );
        let forms: BTreeSet<&str> =
            census.refused.iter().map(|reason| reason.form.as_str()).collect();
        assert_eq!(forms.len(), census.refused.len());
        assert!(census.refused.windows(2).all(|pair| pair[0].count >= pair[1].count));
        for reason in &census.refused {
            let refusal = space.checked(reason.point).expect_err("a refusal");
            let refusal = refusal.leave(base.frame);
            assert_eq!(refusal.to_string(), reason.first);
            let before = reason.form.split('#').next().unwrap();
            assert!(reason.first.starts_with(before), "{reason:?}");
        }
        // Nothing is counted under another reason: without the knob of a refusal, its count is 0.
        let alignment = |census: &Census| {
            census.refused.iter().find(|r| r.form.starts_with("align_a")).map(|r| r.count)
        };
        assert!(alignment(&census).is_some());
        let mut narrow = space.clone();
        narrow.set("align_a", &["1", "4"]).unwrap();
        assert_eq!(alignment(&self::census(&narrow)), None);
    }
}

/// [`Space::around`] has a subspace for each main loop of both operation classes, and each has
/// valid kernels. On an architecture without asynchronous copies, kernels that need them are
/// refused for that reason.
#[test]
fn every_main_loop_has_a_subspace() {
    let simt = base("f32:row", "f32:row", "f32:row");
    let hopper = Request {
        a: Some("bf16:row".parse().unwrap()),
        op: Some(OpKind::TensorOp),
        ..Request::default()
    };
    let tensor_op = hopper.resolve(ArchKind::Sm90).unwrap().desc;
    let mut all = Vec::new();
    for (base, tile) in [(simt, "128x128x8"), (tensor_op, "128x128x64")] {
        let space = Space::around(&base).unwrap();
        for subspace in space.subspaces() {
            let name = subspace.list("mainloop")[0].clone();
            let mut space = space.clone();
            space.narrow("mainloop", &[&name]).unwrap();
            space.narrow("threadblock", &[tile]).unwrap();
            assert_eq!(space.subspaces().len(), 1);
            let census = census(&space);
            assert!(census.legal.len() > 10, "{name}: {census:?}");
            assert!(census.legal.iter().all(|&point| space.at(point).op() == base.op()));
            all.push(name);
        }
    }
    assert_eq!(all, MainloopKind::ALL.map(MainloopKind::name));
    // On Hopper, the last subspace has both operation classes.
    let mut fed = Space::around(&but!(simt, arch: ArchKind::Sm90)).unwrap();
    assert_eq!(fed.subspaces().len(), 4);
    fed.narrow("mainloop", &["warpspecialized"]).unwrap();
    let found = census(&fed);
    assert!(
        found.legal.len() > 100 && found.legal.iter().all(|&point| fed.at(point).op() == simt.op()),
        "{found:?}"
    );
    let mut old = Space::from_description(&but!(simt, arch: ArchKind::Sm75));
    old.narrow("threadblock", &["128x128x8"]).unwrap();
    assert_eq!(
        census(&old).refused[0].form,
        "mainloop = multistage is not supported by sm75 (asynchronous copies need sm80)"
    );
    for (a, c) in [
        ("f64:row", "f64:row"),
        ("f16:row", "f16:row"),
        ("bf16:row", "f32:row"),
        ("i8:row", "i32:row"),
        ("u8:row", "u8:row"),
    ] {
        let mut space = Space::around(&base(a, a, c)).unwrap();
        space.narrow("threadblock", &["64x64x16"]).unwrap();
        space.narrow("blocks_per_sm", &["1"]).unwrap();
        let census = census(&space);
        let loops: BTreeSet<&str> =
            census.legal.iter().map(|&point| space.at(point).mainloop.kind().name()).collect();
        assert_eq!(loops.len(), 3, "{a}: {loops:?}");
    }
}

/// A space of `mma.sync` has every instruction of the architecture for the types, and valid kernels
/// with each.
#[test]
fn mma_sync_has_a_subspace_on_every_architecture() {
    let (f64s, halves, bytes) =
        (["f64:row"; 3], ["f16:row", "f16:col", "f16:row"], ["i8:row", "i8:col", "i32:row"]);
    let fp8 = ["e4m3:row", "e4m3:col", "bf16:row"];
    for ([a, b, c], arch, tile, instructions) in [
        (halves, ArchKind::Sm75, "64x64x32", &["16x8x8"][..]),
        (bytes, ArchKind::Sm75, "64x64x64", &["8x8x16"]),
        (halves, ArchKind::Sm80, "64x64x32", &["16x8x16", "16x8x8"]),
        (bytes, ArchKind::Sm86, "64x64x64", &["16x8x32", "16x8x16", "8x8x16"]),
        (fp8, ArchKind::Sm89, "64x64x64", &["16x8x32"]),
        (f64s, ArchKind::Sm80, "64x64x16", &["8x8x4"]),
        (f64s, ArchKind::Sm90, "64x64x16", &["16x8x16", "16x8x8", "16x8x4", "8x8x4"]),
    ] {
        let [a, b, c] = [a, b, c].map(|matrix| matrix.parse().ok());
        let request =
            Request { a, b, c, op: Some(OpKind::TensorOp), arch: Some(arch), ..Request::default() };
        let mut space = Space::around(&request.resolve(arch).unwrap().desc).unwrap();
        space.narrow("threadblock", &[tile]).unwrap();
        space.narrow("stages", &["2"]).unwrap();
        let subspace = &space.subspaces()[0];
        let found: BTreeSet<&str> =
            subspace.list("instruction").iter().map(String::as_str).collect();
        assert_eq!(
            (space.subspaces().len(), found),
            (1, instructions.iter().copied().collect()),
            "{arch}"
        );
        let census = census(&space);
        let used: BTreeSet<String> = census
            .legal
            .iter()
            .map(|&point| space.at(point).user_pins().instruction.expect("one").to_string())
            .collect();
        assert_eq!(used.len(), instructions.len(), "{arch}: {used:?}");
    }
}

#[test]
fn values_parse_as_flags_do() {
    let default = base("f32:row", "f32:row", "f32:row");
    let mut space = Space::from_description(&default);
    space.narrow("smem_a", &["mn^3,2,0,auto,k+1", "k^2,1,0"]).unwrap();
    assert_eq!(space.subspaces()[0].list("smem_a"), ["mn^3,2,0", "auto", "k+1", "k^2,1,0"]);
    space.narrow("stages", &["2,3", "3,02"]).unwrap();
    assert_eq!(space.subspaces()[0].list("stages"), ["2", "3"]);
    space.narrow("epilogue", &["clamp(acc, 0, 1),alpha * acc"]).unwrap();
    assert_eq!(space.subspaces()[0].list("epilogue").len(), 2);
    assert!(space.subspaces()[0].list("depth").is_empty());
    assert_eq!(space.points().unwrap(), 16);
}

fn said<T>(result: Result<T, Error>) -> String {
    result.err().expect("a refusal").to_string()
}

#[test]
fn invalid_spaces_are_refused() {
    let default = base("f32:row", "f32:row", "f32:row");
    let space = || Space::around(&default).unwrap();
    let none: [&str; 0] = [];
    for (name, texts, part) in [
        ("stages", &none[..], "stages cannot be ``: its list of values is empty"),
        ("stages", &[""], "its list of values is empty"),
        ("stages", &["2,,3"], "stages cannot be ``: the value must be a whole number"),
        ("stages", &["2,"], "stages cannot be"),
        ("stages", &["2,many"], "stages cannot be `many`: the value must be a whole number"),
        ("smem_a", &["mn^3,2"], "smem_a cannot be `mn^3`"),
        ("depth", &["1,2"], "depth cannot be `1,2`: there is no knob of this name"),
        ("mainloop", &["pipelined,loopy"], "mainloop cannot be `loopy`"),
    ] {
        let sentence = said(space().narrow(name, texts));
        assert!(sentence.contains(part), "{sentence}");
    }
    let mut one = space();
    one.narrow("mainloop", &["pipelined"]).unwrap();
    let sentence = said(one.narrow("mainloop", &["multistage"]));
    assert_eq!(
        sentence,
        "mainloop cannot be `multistage`: the space has no such subspace; it has pipelined"
    );
    assert!(said(Space::with_subspaces::<&str>(&default, &[])).contains("no subspace"));
    // Spaces of 7^9 points and more are refused before enumeration, also beyond 64 bits.
    let numbers: Vec<String> = (1..200).map(|number| number.to_string()).collect();
    let mut large = Space::from_description(&default);
    for name in [
        "stages",
        "swizzle",
        "align_a",
        "align_b",
        "align_c",
        "blocks_per_sm",
        "interleave",
        "unroll",
    ] {
        large.set(name, &numbers).unwrap();
    }
    assert!(
        said(large.points())
            .contains("2459374191553118401 points, and at most 67108864 are looked at")
    );
    large.set("smem_a", &["auto", "k+1", "k+2", "k+3", "k+4", "k+5", "k+6", "k+7"]).unwrap();
    assert!(said(large.points()).contains("more than 2^64 points"));
    assert!(said(Census::new(&large, &|_| Ok(()))).contains("more than 2^64"));
}
#[test]
fn spaces_are_parsed_from_json() {
    let default = base("f32:row", "f32:row", "f32:row");
    let space = Space::from_json(
        &default,
        r#"[{"stages": [2, "3"], "warp": "32x32x8"}, {"mainloop": ["pipelined"], "stages": 2}]"#,
    )
    .unwrap();
    assert_eq!((space.subspaces().len(), space.points().unwrap()), (2, 3));
    assert_eq!(space.at(2).mainloop.kind().name(), "pipelined");
    assert_eq!(Space::from_json(&default, "{}").unwrap(), Space::from_description(&default));
    for (text, part) in [
        ("", "the space cannot be read: EOF"),
        ("[", "the space cannot be read"),
        ("[]", "the space has no subspace"),
        ("3", "a subspace is 3, but it must be an object"),
        (r#"{"stages": [true]}"#, "a value of `stages` is true, and it is a text or a number"),
        (r#"{"stages": []}"#, "its list of values is empty"),
        (r#"{"stages": {}}"#, "a value of `stages` is {}"),
        (r#"{"depth": [1]}"#, "there is no knob of this name"),
        (r#"{"stages": [2.5]}"#, "stages cannot be `2.5`"),
    ] {
        let sentence = said(Space::from_json(&default, text));
        assert!(sentence.contains(part), "{text}: {sentence}");
    }
}

/// Points of a description: every knob of [`Pins::TABLE`] varies in the order of the table, the
/// last one fastest.
#[test]
fn points_are_in_the_order_of_the_table() {
    let mut space = Space::from_description(&base("f32:row", "f32:row", "f32:row"));
    space.set("stages", &["2", "3"]).unwrap();
    space.set("align_c", &["1", "2", "4"]).unwrap();
    let point = |stages, align_c| but!(space.at(0), stages, align_c);
    let wanted = [point(2, 1), point(2, 2), point(2, 4), point(3, 1), point(3, 2), point(3, 4)];
    assert_eq!((0..6).map(|at| space.at(at)).collect::<Vec<_>>(), wanted);
    assert!(
        Pins::TABLE.iter().position(|row| row.0 == "stages")
            < Pins::TABLE.iter().position(|row| row.0 == "align_c")
    );
}

proptest! {
    /// `sample(P, n, s)` is a subset of P with `min(n, |P|)` distinct points, and equal for equal
    /// seeds. `sample(P, n, s)` is a prefix of `sample(P, n + 1, s)`, and contains all of P if
    /// `n >= |P|`.
    #[test]
    fn samples_are_without_replacement(count in 0usize..60, wanted in 0usize..70, seed: u64) {
        let points: Vec<u64> = (0..count as u64).map(|point| point * 7 + 3).collect();
        let drawn = sample(&points, wanted, seed);
        prop_assert_eq!(drawn.len(), wanted.min(count));
        let set: BTreeSet<u64> = drawn.iter().copied().collect();
        prop_assert!(set.len() == drawn.len() && set.iter().all(|point| points.contains(point)));
        prop_assert_eq!(&sample(&points, wanted, seed), &drawn);
        prop_assert_eq!(&sample(&points, wanted + 1, seed)[..drawn.len()], &drawn[..]);
        let all: BTreeSet<u64> = sample(&points, usize::MAX, seed).into_iter().collect();
        prop_assert_eq!(all.len(), count);
    }
}

/// For 2 of 6 points and many seeds, all 30 ordered pairs are about equally frequent: 100 each of
/// 3000 samples, within 5 standard deviations of about 10.
#[test]
fn samples_are_uniform() {
    let points: Vec<u64> = (0..6).collect();
    let mut counts = [0; 36];
    (0..3000).for_each(|seed| {
        let drawn = sample(&points, 2, seed);
        counts[(drawn[0] * 6 + drawn[1]) as usize] += 1;
    });
    for (at, count) in counts.into_iter().enumerate() {
        let wanted = if at / 6 == at % 6 { 0..1 } else { 50..151 };
        assert!(wanted.contains(&count), "{at}: {count}");
    }
}
