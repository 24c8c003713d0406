//! The cost model compared with measurements. For each problem with several pinned configurations
//! that were timed on one device, the test computes the time of the predicted best relative to the
//! fastest.

use crate::trials::{Trial, parse};
use falchion::{
    arch::ArchKind,
    internals::nest::defaults::default_gemm_configurations,
    nest::{DecompositionKind, GemmDesc, Knobs, Pins, SpillKind},
};
use falchion_lab::{bench::kernels::description, explain::size_of};
use std::collections::BTreeMap;

/// Microseconds below which separate launches measure the host: `book/src/lessons.md`, lesson 1.
const OF_THE_HOST_US: f64 = 15.0;

/// Predicted and measured times of a problem's configurations.
#[derive(Default)]
struct Tried(Vec<(GemmDesc, u128, f64)>);

impl Tried {
    /// Adds a configuration, or another measurement of it.
    fn add(&mut self, desc: GemmDesc, predicted: u128, us: f64) {
        match self.0.iter_mut().find(|(other, ..)| *other == desc) {
            Some((.., least)) => *least = least.min(us),
            None => self.0.push((desc, predicted, us)),
        }
    }

    /// Returns the time of the configuration with the lowest prediction, relative to the minimum
    /// time. If several have the same prediction, uses the geometric mean of their times.
    fn regret(&self) -> f64 {
        let best = self.0.iter().map(|(.., us)| *us).fold(f64::INFINITY, f64::min);
        let least = self.0.iter().map(|(_, predicted, _)| *predicted).min().unwrap_or(0);
        mean(
            self.0.iter().filter(|(_, predicted, _)| *predicted == least).map(|(.., us)| us / best),
        )
    }
}

fn mean(of: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = of.fold((0.0, 0), |(sum, count), x| (sum + x.ln(), count + 1));
    (sum / f64::from(count.max(1))).exp()
}

/// Returns the description of a trial that the heuristic could select, or `None`.
fn selectable(trial: &Trial) -> Option<GemmDesc> {
    let problem = &trial.problem;
    if problem.pointers || problem.ragged().is_some() {
        return None;
    }
    description(problem, ArchKind::Sm90).ok().filter(is_chosen_among)
}

/// Returns whether a candidate of the defaults has this configuration, with any number of split-K
/// slices, and with or without spills.
fn is_chosen_among(desc: &GemmDesc) -> bool {
    let whole = |knobs: Knobs| {
        let alike = Pins { spills: Some(SpillKind::Refused), ..Pins::NONE };
        let pins =
            Pins { split_k: Some(1), decomposition: Some(DecompositionKind::SplitK), ..alike };
        let pins =
            if knobs.work.decomposition == DecompositionKind::StreamK { alike } else { pins };
        knobs.pinned(&pins)
    };
    let all =
        default_gemm_configurations(desc.op(), desc.arch, desc.user_types()).unwrap_or_default();
    all.iter().any(|knobs| whole(*knobs) == whole(desc.user_knobs()))
}

/// Returns the trials of each GPU, problem, main loop, and launch method, if there are at least
/// three.
fn tried() -> BTreeMap<String, Tried> {
    let mut all = BTreeMap::<_, Tried>::new();
    for trial in parse(include_str!("../../data/trials.csv")).expect("trials") {
        let timed = trial.replayed || trial.us >= OF_THE_HOST_US;
        let Some(desc) = selectable(&trial).filter(|_| timed) else { continue };
        let mut problem = trial.problem.clone();
        problem.knobs.clear();
        let size = size_of(&problem.launched());
        let predicted = desc.predicted(&size, &ArchKind::Sm90.machine()).1;
        let how = if trial.replayed { "replayed" } else { "launched" };
        let (gpu, mainloop) = (&trial.gpu, desc.mainloop.kind().name());
        let problem = serde_json::to_string(&problem).expect("a problem");
        let key = format!("{gpu} {mainloop} {how} {problem}");
        all.entry(key).or_default().add(desc, predicted, trial.us);
    }
    all.retain(|_, tried| tried.0.len() >= 3);
    all
}

/// A change of the model's rates is checked here before it runs on a device: the mean slowdown of
/// the predicted best relative to the measured best.
#[test]
fn selected_kernels_are_close_to_the_fastest() {
    let all = tried();
    let mut regrets: Vec<_> = all.iter().map(|(key, tried)| (tried.regret(), key)).collect();
    regrets.sort_by(|one, other| other.0.total_cmp(&one.0));
    for (regret, key) in regrets.iter().take(20) {
        println!("{regret:.3} {key}");
    }
    for mainloop in ["pipelined", "multistage", "warpspecialized"] {
        let of: Vec<_> = regrets
            .iter()
            .filter(|(_, key)| key.contains(mainloop))
            .map(|(regret, _)| *regret)
            .collect();
        println!("{mainloop}: {:.3} of {}", mean(of.iter().copied()), of.len());
    }
    let all = mean(regrets.iter().map(|(regret, _)| *regret));
    println!("all: {all:.3} of {} problems", regrets.len());
    assert!(regrets.len() >= 100 && all < 1.04, "{all} of {} problems", regrets.len());
}
