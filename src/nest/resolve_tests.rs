//! Tests of the resolver against the enumerated requests.

use super::*;
use crate::{
    nest::{
        AOperandKind, Completions, PromotionKind, SaturateKind, SpillKind, random_kernels::*,
        resolve_requests::*,
    },
    numeric::EmulationKind,
    threadblock::MainloopKind,
    warp::WarpMmaKind,
};
use rayon::prelude::*;

/// Number of results of each kind.
#[derive(Clone, Copy, Default, Debug)]
struct Tally {
    /// Classes that have a kernel.
    classes: usize,
    found: usize,
    refused: usize,
    /// Refused requests that have a kernel.
    missed: usize,
    advised: usize,
    most_checks: u32,
    /// Work of the requests that have a kernel.
    most_places: u32,
    most_sized: u32,
    /// Refused requests whose search ended at a limit of [`SearchBudget`].
    limited: usize,
}

impl Tally {
    fn and(self, other: Self) -> Self {
        Self {
            classes: self.classes + other.classes,
            found: self.found + other.found,
            refused: self.refused + other.refused,
            missed: self.missed + other.missed,
            advised: self.advised + other.advised,
            most_checks: self.most_checks.max(other.most_checks),
            most_places: self.most_places.max(other.most_places),
            most_sized: self.most_sized.max(other.most_sized),
            limited: self.limited + other.limited,
        }
    }
}

/// Returns whether a description has the pins, in the user's frame.
fn has(desc: &GemmDesc, asked: &Asked) -> bool {
    let pins = without_thread_instruction(asked.pins, &asked.user);
    let missing = pins.differing_from(&desc.user_pins());
    // The description holds the resolved source of A.
    let auto = pins.a_operand == Some(AOperandKind::Auto) && desc.user_pins().a_operand.is_some();
    // A transform takes precedence over the emulation of its operand.
    let transformed = pins.transform_a.is_some() && pins.transform_b.is_some();
    Pins {
        a_operand: if auto { None } else { missing.a_operand },
        emulation: if transformed { None } else { missing.emulation },
        ..missing
    }
    .is_none()
}

/// Returns whether the resolver may choose a description: it has the pins. The resolver changes no
/// knob by itself that allows spills or changes sums.
fn may_choose(desc: &GemmDesc, asked: &Asked) -> bool {
    let (pins, knobs) = (&asked.pins, desc.user_pins());
    let promotes = knobs.promotion == Some(PromotionKind::Stage);
    has(desc, asked)
        && (pins.spills.is_some() || knobs.spills == Some(SpillKind::Refused))
        && (pins.saturate.is_some() || knobs.saturate != Some(SaturateKind::On))
        && (pins.promotion.is_some() || promotes == desc.emulation().decomposes())
        && (pins.transform_a.is_some() || knobs.transform_a.is_none())
        && (pins.transform_b.is_some() || knobs.transform_b.is_none())
        && (pins.emulation.is_some()
            || desc.emulation().is_among(&[
                EmulationKind::None,
                EmulationKind::Bf16x6,
                EmulationKind::Tf32x3,
            ]))
}

/// Resolves a request. A result has the pins. A request is missed if it is refused, and one of
/// `kernels` or of `draws` random kernels has the pins. The advice of a refusal resolves.
fn judge(asked: &Asked, kernels: &[GemmDesc], (seed, draws): (u64, usize)) -> Tally {
    let &Asked { user, frame, pins } = asked;
    let mut work = SearchBudget::LIMIT;
    let completed = complete(user, frame, pins, &mut work);
    let (places, sized) =
        (SearchBudget::LIMIT.places - work.places, SearchBudget::LIMIT.sized - work.sized);
    let tally = Tally { most_checks: work.checks, ..Tally::default() };
    let tally = match completed {
        Ok(_) => Tally { most_places: places, most_sized: sized, ..tally },
        Err(_) => Tally { limited: work.is_spent().into(), ..tally },
    };
    match (resolve(user, frame, pins), completed) {
        (Ok(first), _) => {
            assert_eq!(first.desc.check(), Ok(()), "{asked:?}");
            assert!(has(&first.desc, asked), "{asked:?}\n{:?}", first.desc);
            Tally { found: 1, ..tally }
        }
        (Err(unresolved), Err(refused)) => {
            let known = kernels.iter().find(|desc| may_choose(desc, asked)).copied();
            let mut draw = Draw::new(seed);
            let kernel = known.or_else(|| {
                (0..draws)
                    .filter_map(|_| kernel_with(&mut draw, asked))
                    .find(|desc| may_choose(desc, asked))
            });
            if let Some(kernel) = kernel {
                println!("missed: {asked:?}\n{unresolved}\n{:?}", kernel.user_pins());
                return Tally { refused: 1, missed: 1, ..tally };
            }
            let given = !matches!(unresolved.because.advice, Advice::None | Advice::Words(_))
                && unresolved.because.rule != Rule::Knob;
            let advised = refused.advised(user, pins).filter(|_| given);
            let mut next = advised;
            for _ in 0..MOST_ADVICE {
                let followed = next.map(|(user, pins)| {
                    (user, pins, complete(user, frame, pins, &mut { SearchBudget::LIMIT }))
                });
                let Some((user, pins, Err(refused))) = followed else { break };
                next = refused.advised(user, pins);
            }
            if let Some((user, pins)) = next {
                assert!(resolve(user, frame, pins).is_ok(), "{asked:?}\n{unresolved}");
            }
            assert_eq!(advised.is_some(), next.is_some(), "{asked:?}\n{unresolved}");
            Tally { refused: 1, advised: advised.is_some().into(), ..tally }
        }
        (Err(unresolved), Ok(_)) => panic!("{asked:?}\n{unresolved}"),
    }
}

/// Judges the requests of every `step`th class. The number of a class, from `seed` on, selects its
/// requests.
fn judge_classes(seed: u64, step: usize, draws: usize) -> Tally {
    let classes: Vec<_> = (seed..).zip(classes()).step_by(step).collect();
    let judged = classes.into_par_iter().map(|(seed, class)| {
        let kernels = kernels(seed, class);
        let requests = requests(seed, class, &kernels);
        let one = |(i, asked): (u64, &Asked)| judge(asked, &kernels, (seed << 32 | i, draws));
        let judged = (0..).zip(&requests).map(one).fold(Tally::default(), Tally::and);
        Tally { classes: usize::from(judged.found > 0), ..judged }
    });
    judged.reduce(Tally::default, Tally::and)
}

#[test]
fn no_kernel_is_missed_in_a_sample() {
    let tally = judge_classes(0, 13, 50);
    let Tally { classes, found, refused, advised, .. } = tally;
    assert!(found > 125 * classes && refused > 2_000 && advised > 100, "{tally:?}");
    assert!(classes == 8 || WarpMmaKind::ALL.len() < 3, "{tally:?}");
    assert!(tally.missed == 0 && tally.limited < 10, "{tally:?}");
    assert!(tally.most_checks <= MOST_CHECKS, "{tally:?}");
}

#[test]
#[ignore = "takes minutes: run by name"]
fn no_kernel_is_missed() {
    for seed in (0..10_000).step_by(1_000) {
        let tally = judge_classes(seed, 1, 400);
        println!("seed {seed}: {tally:?}");
        let Tally { found, refused, missed, advised, .. } = tally;
        assert!(found > 20_000 && refused > 30_000 && advised > 5_000, "{tally:?}");
        assert!(missed == 0 && tally.limited < 50, "{tally:?}");
        assert!(tally.most_checks <= MOST_CHECKS, "{tally:?}");
    }
}

/// The arithmetic accepts the knobs of every kernel, so no candidate is lost before its check.
#[test]
fn knobs_of_kernels_suffice() {
    let kinds = [
        (false, WarpMmaKind::Simt),
        (false, WarpMmaKind::MmaSync),
        (true, WarpMmaKind::Simt),
        (true, WarpMmaKind::Wgmma),
    ];
    let mut count = kinds.map(|_| 0);
    for (seed, class) in (0u64..).zip(classes()).step_by(3) {
        for desc in kernels(seed, class) {
            let stages = Pins { stages: Some(desc.stages()), ..Pins::NONE };
            assert!(desc.nests(), "{desc:?}");
            assert_eq!(desc.sufficing(&stages), Some(desc), "{desc:?}");
            let kind = (desc.has_producer(), desc.mma.kind());
            kinds.iter().position(|of| *of == kind).into_iter().for_each(|i| count[i] += 1);
        }
    }
    let has_producers = MainloopKind::ALL.iter().any(|kind| kind.has_producer());
    let kinds = if has_producers { &count[..] } else { &count[..2] };
    assert!(kinds.iter().all(|count| *count > 50), "{count:?}");
}

/// The compiler resolves the first candidate of a type, and a program computes all of them.
#[test]
fn first_candidate_is_the_first_of_all() {
    let mut longest = 0;
    for (seed, class) in (0u64..).zip(classes()).step_by(9) {
        for Asked { user, frame, pins } in requests(seed, class, &[]) {
            let all = Completions::new(user, frame, pins);
            let first = resolve(user, frame, pins).map(|first| first.desc);
            assert_eq!(first, all.clone().map(|all| all.first()));
            longest = longest.max(all.map_or(0, |all| all.all().len()));
        }
    }
    assert!(longest > 10);
}
