//! Trials on a fake device: their steps and their order.

use super::{
    base,
    fake::{Call, Fake, FakeCompiler, Fate},
};
use falchion::{nest::GemmDesc, shape::Mnk, threadblock::SwizzleKind};
use falchion_lab::{
    Error,
    bench::Launch,
    explore::{
        Census, Space,
        record::{Entry, LOG_BYTES, Outcome, Trial},
        sample,
        standing::{Standing, Summary, Tally, last_final, screened, standings, table},
        trials::{Book, Plan, Stage},
    },
};
use std::collections::HashSet;

pub const SIZE: Mnk = Mnk::new(512, 256, 128);

/// Returns candidates whose outcome depends on `stages` and `swizzle`.
pub fn candidates(count: usize) -> Vec<GemmDesc> {
    let mut space = Space::from_description(&base("f32:row", "f32:row", "f32:row"));
    space.set("stages", &["2", "3", "4", "5"]).unwrap();
    space.set("swizzle", &["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"]).unwrap();
    let census = Census::new(&space, &|desc| Ok(desc.check()?)).unwrap();
    assert_eq!(census.legal.len(), 40);
    sample(&census.legal, count, 1).into_iter().map(|point| space.at(point)).collect()
}

/// Returns the group size.
fn group_size(desc: &GemmDesc) -> u32 {
    match desc.swizzle() {
        SwizzleKind::Identity(group_size) => group_size,
        other => panic!("{other:?}"),
    }
}

/// Kernels with 5 stages are fast and wrong. Larger groups are faster.
pub fn fate(desc: &GemmDesc) -> Fate {
    let group_size = group_size(desc);
    match (desc.stages(), group_size) {
        (5, _) => Fate::Wrong,
        (4, 1..=3) => Fate::Fails,
        (4, 4..=6) => Fate::Spills,
        (stages, group_size) => {
            Fate::Takes(200.0 - 10.0 * f64::from(group_size) - f64::from(stages))
        }
    }
}

pub fn plan(count: usize) -> Plan {
    Plan { candidates: candidates(count), finalists: 3, jobs: 4 }
}

/// Explores on a fake device after `entries`. Returns the new entries, and all entries.
pub fn explored(
    fake: &Fake,
    plan: &Plan,
    entries: Vec<Entry>,
) -> Result<(Vec<Entry>, Vec<Entry>), Error> {
    let compiler = FakeCompiler::new(fate);
    let mut added = Vec::new();
    let mut keep = |entry: &Entry| {
        added.push(entry.clone());
        Ok(())
    };
    let mut book = Book::new(entries, &mut keep);
    let stage = Stage { size: SIZE, compiler: &compiler, device: fake, sets: 2 };
    let (mut slow, mut fast) = (fake.reference(0, 100.0), fake.reference(1, 80.0));
    let mut references: Vec<&mut dyn Launch> = vec![&mut slow, &mut fast];
    fake.with_session(|session| stage.explore(plan, &mut references, session, &mut book))?;
    let all = book.entries().to_vec();
    Ok((added, all))
}

fn trials(entries: &[Entry]) -> Vec<&Trial> {
    entries
        .iter()
        .filter_map(|entry| if let Entry::Trial(trial) = entry { Some(&**trial) } else { None })
        .collect()
}

/// Every candidate has one trial with its configured outcome.
/// `compile_failed + spilled + wrong + timed` is their number.
#[test]
fn every_candidate_has_one_trial() {
    let (fake, plan) = (Fake::new(fate), plan(40));
    let (added, all) = explored(&fake, &plan, Vec::new()).unwrap();
    assert_eq!(added, all);
    let trials = trials(&all);
    assert_eq!(
        trials.iter().map(|trial| trial.description).collect::<HashSet<_>>(),
        plan.candidates.iter().copied().collect()
    );
    assert_eq!(trials.len(), 40);
    for trial in trials {
        match (fate(&trial.description), &trial.outcome) {
            (Fate::Wrong, Outcome::Wrong { why }) => assert_eq!(why, "7 elements are wrong"),
            (Fate::Fails, Outcome::CompileFailed { log }) => {
                assert!(log.len() <= LOG_BYTES && log.len() > LOG_BYTES - 4)
            }
            (Fate::Spills, Outcome::Spilled { bytes }) => assert_eq!(*bytes, 64),
            (Fate::Takes(us), Outcome::Timed { us: timed, reference_us, tflops, .. }) => {
                assert!((us - timed).abs() < 1e-9 && (reference_us - 80.0).abs() < 1e-9);
                assert!((tflops * timed * 1e6 - 2.0 * 512.0 * 256.0 * 128.0).abs() < 1.0);
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(
        Tally::from_entries(&all, SIZE),
        Tally { compile_failed: 3, spilled: 3, wrong: 10, timed: 24 }
    );
    assert_eq!(Tally::from_entries(&all, Mnk::new(1, 1, 1)), Tally::default());
}

/// A description is verified before it is launched: for every `Launched(d)` at i there is a
/// `Verified(d)` at j < i. Descriptions that are wrong, spill, or do not compile are never
/// launched, or the fake panics.
#[test]
fn nothing_is_timed_before_it_is_verified() {
    let fake = Fake::new(fate);
    explored(&fake, &plan(40), Vec::new()).unwrap();
    let mut verified = HashSet::new();
    let mut launched = HashSet::new();
    for asked in fake.asked.borrow().iter() {
        match asked {
            Call::Verified(desc) => assert!(verified.insert(*desc), "verified twice"),
            Call::Launched(desc) => {
                assert!(verified.contains(desc));
                launched.insert(*desc);
            }
            _ => {}
        }
    }
    assert_eq!((verified.len(), launched.len()), (34, 24));
    assert!(verified.iter().all(|desc| !matches!(fate(desc), Fate::Fails | Fate::Spills)));
}

/// The fastest kernel is wrong, so it is not in the standings. The best kernels are those of the
/// configured outcomes, and the full protocol uses the fastest one as reference.
#[test]
fn wrong_kernels_never_win() {
    fn tempting(desc: &GemmDesc) -> Fate {
        if desc.stages() == 5 { Fate::Wrong } else { fate(desc) }
    }
    let fake = Fake::new(tempting);
    let (_, all) = explored(&fake, &plan(40), Vec::new()).unwrap();
    let standings = standings(&all, SIZE);
    assert!(standings.iter().all(|standing| matches!(fate(&standing.desc), Fate::Takes(_))));
    assert_eq!(standings.len(), 24);
    let first: Vec<(u32, u32)> =
        standings[..4].iter().map(|s| (group_size(&s.desc), s.desc.stages())).collect();
    assert_eq!(first, [(10, 4), (10, 3), (10, 2), (9, 4)]);
    assert_eq!(
        standings.iter().map(|standing| standing.is_final).collect::<Vec<_>>()[..4],
        [true, true, true, false]
    );
    let last = last_final(&all, SIZE).unwrap();
    assert!(
        (last.reference_us - 80.0).abs() < 1e-9 && (standings[0].ratio - 80.0 / 96.0).abs() < 1e-9,
        "{last:?}"
    );
    assert!(standings[3..].windows(2).all(|pair| pair[0].ratio >= pair[1].ratio));

    let table = table(&standings[..4]);
    assert_eq!(
        table[0],
        ["threadblock", "warp", "mainloop", "stages", "swizzle", "us", "TFLOP/s", "ratio"]
    );
    assert_eq!(table[1][3..], ["4", "10", "96.0", "0.3", "0.833"]);
    assert!(table[4][7].ends_with(" ~"));
    let summary = Summary::from_entries(&all, SIZE, 2);
    assert_eq!((summary.best.len(), summary.reference.as_deref()), (2, Some("the reference")));
}

/// In each pass over a batch, every contender and the reference have one block. A device that slows
/// down therefore affects all of them. The order by the ratio to the reference equals the order on
/// a device without slowdown, and the order by time differs.
#[test]
fn all_contenders_are_timed_in_the_same_rounds() {
    let (still, drifting) = (Fake::new(fate), Fake::new(fate));
    drifting.drift.set(3e-5);
    let plan = plan(40);
    let (_, calm) = explored(&still, &plan, Vec::new()).unwrap();
    let (_, drifted) = explored(&drifting, &plan, Vec::new()).unwrap();
    let order =
        |standings: &[Standing]| standings.iter().map(|standing| standing.desc).collect::<Vec<_>>();
    let (calm, drifted) = (screened(&calm, SIZE), screened(&drifted, SIZE));
    assert_eq!(order(&calm), order(&drifted));
    let mut by_time = drifted.clone();
    by_time.sort_by(|x, y| x.us.total_cmp(&y.us));
    assert_ne!(order(&calm), order(&by_time));

    // Contenders in the order of the timed blocks.
    let asked = still.asked.borrow();
    let mut blocks: Vec<Call> = Vec::new();
    let mut who = None;
    for asked in asked.iter() {
        match asked {
            Call::Launched(_) | Call::Reference(_) => who = Some(*asked),
            Call::Timed(launches) if *launches > 1 => blocks.extend(who),
            _ => {}
        }
    }
    // The last passes are the finals: 3 finalists and 2 references, rotated from round to round.
    let finals = &blocks[blocks.len() - 25..];
    for round in finals.chunks(5) {
        assert_eq!(round.iter().collect::<HashSet<_>>().len(), 5, "{round:?}");
    }
    let firsts: HashSet<_> = finals.chunks(5).map(|round| round[0]).collect();
    assert_eq!(firsts.len(), 5);
}

/// A run that continues from the entries of another run does only the rest, and has the same
/// result: for every prefix of the entries.
#[test]
fn a_run_continues_where_another_ended() {
    let plan = plan(20);
    let (whole, _) = explored(&Fake::new(fate), &plan, Vec::new()).unwrap();
    assert!(plan.is_done(&whole, SIZE) && whole.len() == 21);
    for cut in 0..=whole.len() {
        let fake = Fake::new(fate);
        let (added, all) = explored(&fake, &plan, whole[..cut].to_vec()).unwrap();
        assert_eq!(trials(&all).len(), 20, "{cut}");
        assert_eq!(added.len(), whole.len() - cut, "{cut}");
        assert_eq!(standings(&all, SIZE)[0].desc, standings(&whole, SIZE)[0].desc);
        assert_eq!(fake.asked.borrow().is_empty(), cut == whole.len());
    }
    // Additional trials continue the run, and measure the best ones again if they changed.
    let more = Plan { candidates: candidates(40), ..plan };
    let (added, all) = explored(&Fake::new(fate), &more, whole).unwrap();
    assert_eq!((trials(&added).len(), trials(&all).len()), (20, 40));
}

#[test]
fn a_kernel_that_crashes_the_device_is_in_the_log() {
    fn killing(desc: &GemmDesc) -> Fate {
        if desc.stages() == 5 { Fate::Kills } else { fate(desc) }
    }
    let plan = plan(20);
    let mut entries = Vec::new();
    let mut deaths = 0;
    // Every run ends at the next kernel that crashes the device, and no run repeats such a kernel.
    loop {
        let fake = Fake::new(killing);
        let compiler = FakeCompiler::new(killing);
        let mut keep = |_: &Entry| Ok(());
        let mut book = Book::new(entries, &mut keep);
        let stage = Stage { size: SIZE, compiler: &compiler, device: &fake, sets: 2 };
        let mut reference = fake.reference(0, 100.0);
        let done = fake.with_session(|session| {
            stage.explore(&plan, &mut [&mut reference], session, &mut book)
        });
        entries = book.entries().to_vec();
        match done {
            Ok(()) => break,
            Err(error) => assert!(
                matches!(error, Error::Falchion(falchion::Error::Driver { code: 700, .. })),
                "{error}"
            ),
        }
        deaths += 1;
    }
    let killers = plan.candidates.iter().filter(|desc| desc.stages() == 5).count();
    assert!(killers > 2 && deaths == killers);
    let wrong = |trial: &&&Trial| matches!(&trial.outcome, Outcome::Wrong { why } if why.contains("CUDA_ERROR_ILLEGAL_ADDRESS"));
    assert_eq!(trials(&entries).iter().filter(wrong).count(), killers);
    assert_eq!(
        trials(&entries).iter().map(|trial| trial.description).collect::<HashSet<_>>().len(),
        20
    );
    assert_eq!(trials(&entries).len(), 20);
}

/// References that cannot be launched are omitted. Without any reference, nothing is tried.
#[test]
fn nothing_is_tried_without_a_reference() {
    let never = f64::INFINITY;
    for (times, works) in
        [(&[][..], false), (&[never], false), (&[never, 100.0], true), (&[100.0, never], true)]
    {
        let (fake, plan, compiler) = (Fake::new(fate), plan(8), FakeCompiler::new(fate));
        let mut keep = |_: &Entry| Ok(());
        let mut book = Book::new(Vec::new(), &mut keep);
        let stage = Stage { size: SIZE, compiler: &compiler, device: &fake, sets: 2 };
        let mut all: Vec<_> =
            times.iter().enumerate().map(|(at, &us)| fake.reference(at, us)).collect();
        let mut references: Vec<&mut dyn Launch> =
            all.iter_mut().map(|reference| reference as &mut dyn Launch).collect();
        let done =
            fake.with_session(|session| stage.explore(&plan, &mut references, session, &mut book));
        match done {
            Ok(()) => assert!(works && book.entries().len() == 9),
            Err(error) => {
                assert!(!works && error.to_string().contains("no reference runs"), "{error}");
                assert!(book.entries().is_empty());
            }
        }
    }
}

#[test]
fn a_log_that_cannot_be_written_ends_the_run() {
    let (fake, plan, compiler) = (Fake::new(fate), plan(20), FakeCompiler::new(fate));
    let full =
        || falchion::Error::Io { path: "log".into(), because: "the disk is full".to_owned() };
    let mut keep = |_: &Entry| Err(full().into());
    let mut book = Book::new(Vec::new(), &mut keep);
    let stage = Stage { size: SIZE, compiler: &compiler, device: &fake, sets: 2 };
    let mut reference = fake.reference(0, 100.0);
    let error = fake
        .with_session(|session| stage.explore(&plan, &mut [&mut reference], session, &mut book))
        .unwrap_err();
    assert_eq!(error.to_string(), "log: the disk is full");
}
