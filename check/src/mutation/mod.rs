//! Mutation engine for any program. It drops, swaps, and weakens the steps of a schedule, mutates
//! maps at their edges, and applies named faults. A test gives the programs, a function that
//! searches for a finding, and the number of expected findings. The functions panic if a mutant
//! survives, as assertions do.

mod edits;
pub mod tma_ring;

pub use edits::{
    Edit, Transposed, mutant, mutate, phase, redirect, revalue, stage, weaken, weaker, without,
};

use falchion::internals::{
    index::{Coord, IndexMap, Map, at},
    nest::Program,
    schedule::{Schedule, Section, Spelled, Step},
};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::{self, Debug},
};

/// Program that the engine mutates.
pub trait Mutable: Clone {
    /// Kind of the program's steps.
    type Step: Spelled + PartialEq + Debug + 'static;

    /// Returns the schedules with the names of their roles.
    fn schedules(&mut self) -> Vec<(&'static str, &mut Schedule<Self::Step>)>;

    /// Returns the maps whose edges are mutated, with their names.
    fn maps(&mut self) -> Vec<(&'static str, &mut Map)>;
}

impl Mutable for Program {
    type Step = Step;

    fn schedules(&mut self) -> Vec<(&'static str, &mut Schedule)> {
        vec![("all threads", &mut self.schedule)]
    }

    fn maps(&mut self) -> Vec<(&'static str, &mut Map)> {
        let maps = &mut self.maps;
        let ([copy_a, copy_b], [smem_a, smem_b]) = (maps.copy.each_mut(), maps.smem.each_mut());
        let [fragment_a, fragment_b] = maps.fragment.each_mut();
        vec![
            ("copy A", copy_a),
            ("copy B", copy_b),
            ("smem A", smem_a),
            ("smem B", smem_b),
            ("fragment A", fragment_a),
            ("fragment B", fragment_b),
            ("accumulator", &mut maps.accumulator),
        ]
    }
}

/// Place of a step: the number and the name of its schedule, its section, and its index.
pub struct Site<S> {
    schedule: usize,
    /// Name of the role that performs the schedule.
    pub role: &'static str,
    /// Section of the schedule.
    pub section: Section,
    index: usize,
    /// The step.
    pub step: S,
}

impl<S: Debug> Debug for Site<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { role, section, index, step, .. } = self;
        write!(f, "{role}, {section:?}, step {index}: {step:?}")
    }
}

/// Returns the places of all steps of a program.
pub fn sites<P: Mutable>(program: &P) -> Vec<Site<P::Step>> {
    let mut program = program.clone();
    let mut all = Vec::new();
    for (schedule, (role, steps)) in program.schedules().into_iter().enumerate() {
        let places = steps.places();
        let site = |(section, index, step)| Site { schedule, role, section, index, step };
        all.extend(places.map(site));
    }
    all
}

/// Returns the program with an edited section.
fn edited<P: Mutable>(program: &P, at: &Site<P::Step>, edit: impl FnOnce(&mut Vec<P::Step>)) -> P {
    let mut mutant = program.clone();
    edit(mutant.schedules().swap_remove(at.schedule).1.steps_mut(at.section));
    mutant
}

/// Returns the program without one step.
pub fn without_step<P: Mutable>(program: &P, at: &Site<P::Step>) -> P {
    edited(program, at, |steps| {
        steps.remove(at.index);
    })
}

/// Returns the program without the first step that equals `step` in a section.
///
/// # Panics
/// If the section has no such step.
pub fn without_first<P: Mutable>(program: &P, section: Section, step: P::Step) -> P {
    let all = sites(program);
    let site = all.iter().find(|site| site.section == section && site.step == step);
    without_step(program, site.expect("a step of the section"))
}

/// Mutants that were tried, and their findings.
#[derive(Default)]
pub struct Findings {
    table: BTreeMap<(String, String), usize>,
    /// Number of mutants.
    pub tried: usize,
    /// Number of mutants with a finding.
    pub found: usize,
    survivors: Vec<String>,
}

impl Findings {
    /// Records a mutant of a subject with its finding or, if it is expected to be equivalent, with
    /// the reason.
    ///
    /// # Panics
    /// If a mutant has a finding although it is expected to be equivalent.
    pub fn record(
        &mut self,
        (subject, mutant): (&str, &str),
        finding: Option<String>,
        equivalent: Option<&str>,
    ) {
        self.tried += 1;
        self.found += usize::from(finding.is_some());
        let row = match (finding, equivalent) {
            (Some(finding), None) => finding,
            (None, Some(reason)) => format!("equivalent: {reason}"),
            (None, None) => return self.survivors.push(format!("{subject}: {mutant}")),
            (Some(finding), Some(reason)) => {
                panic!("{subject}: {mutant} is not equivalent ({reason}): {finding}")
            }
        };
        *self.table.entry((mutant.to_owned(), row)).or_default() += 1;
    }

    /// Returns the distinct findings that begin with `begin`.
    pub fn kinds(&self, begin: &str) -> BTreeSet<&str> {
        self.table
            .keys()
            .map(|(_, row)| row.as_str())
            .filter(|row| row.starts_with(begin))
            .collect()
    }

    /// Prints the table.
    ///
    /// # Panics
    /// If a mutant survived, or if fewer than `least` mutants were found.
    pub fn check(&self, least: usize) {
        for ((mutant, row), count) in &self.table {
            println!("{mutant:48} {count:4}  {row}");
        }
        let (tried, found, left) = (self.tried, self.found, &self.survivors);
        println!("{tried} mutants, {found} found, {} survivors", left.len());
        assert!(left.is_empty(), "{left:#?}");
        assert!(found >= least, "only {found} mutants were found, not {least}");
    }
}

/// Drops each step of each subject.
pub fn drop_each<P: Mutable>(
    subjects: &[(String, P)],
    find: impl Fn(&P) -> Option<String>,
) -> Findings {
    let mut findings = Findings::default();
    for (name, program) in subjects {
        for site in sites(program) {
            let mutant = format!("{} {} without {}", site.role, site.section, site.step.name());
            findings.record((name, &mutant), find(&without_step(program, &site)), None);
        }
    }
    findings
}

/// Swaps each two neighboring steps of some sections. `commute` gives the reason why two steps may
/// be swapped. `find` receives the number of earlier equivalent mutants if the steps commute.
pub fn swap_each<P: Mutable>(
    subjects: &[(String, P)],
    sections: &[Section],
    commute: impl Fn(&P, P::Step, P::Step) -> Option<&'static str>,
    find: impl Fn(&P, Option<usize>) -> Option<String>,
) -> Findings {
    let mut findings = Findings::default();
    for (name, program) in subjects {
        for pair in sites(program).windows(2) {
            let (x, y) = (&pair[0], &pair[1]);
            if (x.schedule, x.section) != (y.schedule, y.section) || !sections.contains(&x.section)
            {
                continue;
            }
            let mutant = edited(program, x, |steps| steps.swap(x.index, y.index));
            let reason = commute(program, x.step, y.step);
            let number = findings.tried - findings.found;
            let label = format!("{} {}: {} before {}", x.role, x.section, y.step, x.step);
            findings.record((name, &label), find(&mutant, reason.map(|_| number)), reason);
        }
    }
    findings
}

/// Weakens each step for which `weaker` returns another step.
pub fn weaken_each<P: Mutable>(
    subjects: &[(String, P)],
    weaker: impl Fn(P::Step) -> Option<P::Step>,
    find: impl Fn(&P) -> Option<String>,
) -> Findings {
    let mut findings = Findings::default();
    for (name, program) in subjects {
        for site in sites(program) {
            let Some(step) = weaker(site.step) else { continue };
            let mutant = edited(program, &site, |steps| steps[site.index] = step);
            let label = format!("{} {}: {step} for {}", site.role, site.section, site.step.name());
            findings.record((name, &label), find(&mutant), None);
        }
    }
    findings
}

/// Formula of a map.
type Formula = fn(&dyn IndexMap, Coord) -> Option<u32>;

/// Mutations of a map at its edges: the first point, the last point, and the last value.
#[rustfmt::skip]
const EDGES: [(&str, Formula); 4] = [
    ("has no last point", |map, point| map.at(point).filter(|_| point != last(map))),
    ("repeats its first value at the last point", |map, point| { map.at(if point == last(map) { at(0, 0) } else { point }) }),
    ("is one too large at the first point", |map, point| { Some(map.at(point)? + u32::from(point == at(0, 0))) }),
    ("is one too large at the last point", |map, point| { Some(map.at(point)? + u32::from(point == last(map))) }),
];

fn last(map: &dyn IndexMap) -> Coord {
    at(map.domain().row - 1, map.domain().column - 1)
}

/// Mutates each map of each subject at its edges. `equivalent` gives the reason why a mutated map
/// computes the same result. `find` receives the number of earlier equivalent mutants if there is a
/// reason.
pub fn mutate_edges<P: Mutable>(
    subjects: &[(String, P)],
    equivalent: impl Fn(&P, &str, &str) -> Option<&'static str>,
    find: impl Fn(&P, Option<usize>) -> Option<String>,
) -> Findings {
    let mut findings = Findings::default();
    for (name, program) in subjects {
        for which in 0..program.clone().maps().len() {
            for (edge, formula) in EDGES {
                let mut mutant = program.clone();
                let (map, place) = mutant.maps().swap_remove(which);
                let before = place.clone();
                mutate(place, formula);
                let same = |point| before.at(point) == place.at(point);
                if same(at(0, 0)) && same(last(before.as_ref())) {
                    continue;
                }
                let reason = equivalent(program, map, edge);
                let number = findings.tried - findings.found;
                let finding = find(&mutant, reason.map(|_| number));
                findings.record((name, &format!("{map} {edge}")), finding, reason);
            }
        }
    }
    findings
}

/// Named fault: its name, the property that a program must have, and the change.
pub type NamedFault<P, Needs> = (&'static str, Needs, fn(&mut P));

/// Applies each fault to the part of each subject that has the property.
///
/// # Panics
/// If no subject has the property of a fault.
pub fn apply_each<P: Clone, Part, Needs: Copy>(
    subjects: &[(String, P)],
    faults: &[NamedFault<Part, Needs>],
    has: impl Fn(Needs, &P) -> bool,
    part: impl Fn(&mut P) -> &mut Part,
    find: impl Fn(&str, &P) -> Option<String>,
) -> Findings {
    let mut findings = Findings::default();
    for (fault, needs, change) in faults {
        let before = findings.tried;
        for (name, program) in subjects.iter().filter(|(_, program)| has(*needs, program)) {
            let mut mutant = program.clone();
            change(part(&mut mutant));
            findings.record((name, fault), find(name, &mutant), None);
        }
        assert!(findings.tried > before, "no subject for `{fault}`");
    }
    findings
}
