//! The model of time beside what was measured: of each problem of which several configurations were
//! pinned and timed on one device, how much longer the one takes that the model likes best.

use falchion::{
    arch::ArchKind,
    desc::{DecompositionKind, FamilyDesc, GemmDesc, Pins, SpillKind},
    internals::family::default_gemm_configuration::default_gemm_configurations,
};
use falchion_lab::{
    bench::{
        kernels::description,
        measure::configuration,
        record::{Line, read_lines},
    },
    explain::size_of,
};
use std::{collections::BTreeMap, fs, path::Path};

/// Microseconds below which individual launches measure the host and not the device:
/// `docs/performance/lessons.md`, lesson 1.
const OF_THE_HOST_US: f64 = 15.0;

/// What a problem's configurations were predicted to take, and took.
#[derive(Default)]
struct Tried(Vec<(GemmDesc, u128, f64)>);

impl Tried {
    /// One more, or what one took when it was measured again.
    fn add(&mut self, desc: GemmDesc, predicted: u128, us: f64) {
        match self.0.iter_mut().find(|(other, ..)| *other == desc) {
            Some((.., least)) => *least = least.min(us),
            None => self.0.push((desc, predicted, us)),
        }
    }

    /// The time of what is predicted to take the least over the least time; of several that are
    /// predicted to take the same, their geometric mean.
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

/// The description that a line ran with, where its knobs say all of it that its name does.
fn pinned(line: &Line) -> Option<GemmDesc> {
    let mut problem = line.problem.clone();
    problem.op = Some(line.op.clone());
    let whole = problem.knobs.contains_key("threadblock")
        && !problem.pointers
        && problem.group_rows.is_none();
    let desc =
        description(&problem, ArchKind::Sm90).ok().filter(|_| whole && line.refused.is_none())?;
    // Into how many parts a problem cut K by itself then, its line does not say.
    let told = problem.knobs.contains_key("split_k") || desc.split_k() == 1;
    // Lines since 27 November 2026 say more than the configuration.
    let ran = line.config.split(' ').next() == Some(configuration(&desc).as_str());
    (told && ran && is_chosen_among(&desc)).then_some(desc)
}

/// Whether a choice among the defaults has it, in whatever parts of K, and whether or not it may
/// spill.
fn is_chosen_among(desc: &GemmDesc) -> bool {
    let whole = |family: FamilyDesc| {
        let alike = Pins { spills: Some(SpillKind::Refused), ..Pins::NONE };
        let pins =
            Pins { split_k: Some(1), decomposition: Some(DecompositionKind::SplitK), ..alike };
        let pins = if family.pins().decomposition == Some(DecompositionKind::StreamK) {
            alike
        } else {
            pins
        };
        family.pinned(pins)
    };
    let all = default_gemm_configurations(desc.class.op, desc.class.arch, desc.user_types())
        .unwrap_or_default();
    all.iter().any(|family| whole(*family) == whole(desc.family_of_user()))
}

/// Lines of what was explored, by device and problem, and by how they were launched.
fn tried() -> BTreeMap<String, Tried> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/performance/explore");
    let mut files: Vec<_> = fs::read_dir(folder)
        .expect("what was explored")
        .map(|entry| entry.expect("a file").path())
        .collect();
    files.sort();
    let mut all = BTreeMap::<_, Tried>::new();
    for file in
        files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "jsonl"))
    {
        for line in read_lines(&fs::read_to_string(file).expect("lines")).unwrap_or_default() {
            let replayed = line.captured == Some(true);
            let Some(desc) = pinned(&line).filter(|_| replayed || line.ours_us >= OF_THE_HOST_US)
            else {
                continue;
            };
            let mut problem = line.problem.clone();
            problem.knobs.clear();
            let size = size_of(&problem.launched());
            let predicted = desc.predicted(&size, &ArchKind::Sm90.machine()).1;
            let (how, problem) = (
                if replayed { "replayed" } else { "launched" },
                serde_json::to_string(&problem).expect("a problem"),
            );
            let key = format!("{} {} {how} {problem}", line.device, line.family);
            all.entry(key).or_default().add(desc, predicted, line.ours_us);
        }
    }
    all.retain(|_, tried| tried.0.len() >= 3);
    all
}

/// A change of the model's numbers is weighed here before it is on a device: the mean of what its
/// likings cost beside the best that was measured.
#[test]
fn what_the_model_likes_takes_little_longer_than_the_best() {
    let all = tried();
    let mut regrets: Vec<_> = all.iter().map(|(key, tried)| (tried.regret(), key)).collect();
    regrets.sort_by(|one, other| other.0.total_cmp(&one.0));
    for (regret, key) in regrets.iter().take(20) {
        println!("{regret:.3} {key}");
    }
    for family in ["pipelined", "multistage", "warpspecialized"] {
        let of: Vec<_> = regrets
            .iter()
            .filter(|(_, key)| key.contains(family))
            .map(|(regret, _)| *regret)
            .collect();
        println!("{family}: {:.3} of {}", mean(of.iter().copied()), of.len());
    }
    let all = mean(regrets.iter().map(|(regret, _)| *regret));
    println!("all: {all:.3} of {} problems", regrets.len());
    assert!(regrets.len() >= 100 && all < 1.04, "{all} of {} problems", regrets.len());
}
