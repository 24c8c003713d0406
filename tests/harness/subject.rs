//! Mutants of warp-specialized programs on the checked machine, compared with the fast mode.

use crate::harness::prelude::*;

/// Number of event orders without a fault in the unchanged program.
const SEEDS: u64 = 12;

/// Maximum number of event orders that are searched for a fault.
const MOST_SEEDS: u64 = 60;

/// Name, requirement, and change of a mutant.
pub type Named<Needs> = (&'static str, Needs, fn(&mut WarpSpecializedProgram));

/// Checks that some event order reveals each fault in every subject that meets its requirement. The
/// unchanged programs must show none. At least `least` faults must have a subject.
pub fn every_fault_is_found<Needs: Copy>(
    subjects: &[(&'static str, GemmDesc)],
    faults: &[Named<Needs>],
    has: impl Fn(Needs, &WarpSpecializedProgram) -> bool,
    least: usize,
) {
    let mut found: BTreeMap<&str, usize> = BTreeMap::new();
    let mut sentences = BTreeSet::new();
    for (name, desc) in subjects {
        assert_eq!(desc.check(), Ok(()), "{name}");
        let (subject, right) = (Subject::new(desc), program(desc));
        for seed in 0..SEEDS {
            assert_eq!(subject.wrong(&right, seed), None, "{name}, unchanged, seed {seed}");
        }
        for (fault, _, change) in faults.iter().filter(|fault| has(fault.1, &right)) {
            let mut mutant = right.clone();
            change(&mut mutant);
            let first = (0..MOST_SEEDS).find_map(|seed| subject.wrong(&mutant, seed));
            let sentence = first.unwrap_or_else(|| {
                panic!("{name}: {fault}: not found in {MOST_SEEDS} orders of events")
            });
            println!("{name}: {fault}: {sentence}");
            sentences.insert(
                sentence
                    .split(' ')
                    .filter(|word| !word.contains(|c: char| c.is_ascii_digit()))
                    .collect::<String>(),
            );
            *found.entry(fault).or_default() += 1;
        }
    }
    let never: Vec<_> =
        faults.iter().map(|fault| fault.0).filter(|fault| !found.contains_key(fault)).collect();
    println!(
        "{} faults, found {} times, in {} ways",
        found.len(),
        found.values().sum::<usize>(),
        sentences.len()
    );
    assert!(never.is_empty(), "no subject for {never:?}");
    assert!(found.len() >= least && sentences.len() >= 10);
}

/// Removes steps from a section of a role.
pub fn without(
    program: &mut WarpSpecializedProgram,
    role: Role,
    section: Section,
    left_out: impl Fn(RoleStep) -> bool,
) {
    program.ring.roles.of_mut(role).steps_mut(section).retain(|step| !left_out(*step));
}

/// Replaces each step of a section of a role.
pub fn replace(
    program: &mut WarpSpecializedProgram,
    role: Role,
    section: Section,
    f: impl Fn(RoleStep) -> RoleStep,
) {
    program.ring.roles.of_mut(role).steps_mut(section).iter_mut().for_each(|step| *step = f(*step));
}

/// Returns a problem with ragged edges: one rectangle of tiles and a part down, two and a part
/// across. K wraps around the ring in each tile of D.
fn guarded(d: &GemmDesc) -> Guarded {
    let rectangle = |tile: u32, cluster: u32| (tile * cluster) as usize;
    let (rows, columns) = (
        rectangle(d.threadblock().m, d.roles().knobs.cluster.m) + 24,
        2 * rectangle(d.threadblock().n, d.roles().knobs.cluster.n) + 40,
    );
    let user = |axis: Axis| if axis.leave(d.frame) == Axis::M { rows } else { columns };
    let (m, n) = (user(Axis::M), user(Axis::N));
    let k = ((d.stages() + 1) * d.threadblock().k - (d.threadblock().k / 2 - 1).min(24)) as usize;
    let matrix = |order: Order, rows, columns| {
        let leading = order.packed(rows, columns).next_multiple_of(16);
        View::new(Elements::of(order.packed(columns, rows) * leading), order, leading)
    };
    let orders = d.orders();
    let (a, b, c) = (matrix(orders.a, m, k), matrix(orders.b, k, n), matrix(orders.c, m, n));
    let mut scalars = [0.0; 8];
    (scalars[0], scalars[1]) = (1.0, 1.0);
    let problem = Problem {
        m,
        n,
        k,
        batch: 1,
        groups: None,
        a,
        b,
        c: Source::Matrix(c),
        d: c,
        vectors: Default::default(),
        scalars,
        workspace: None,
    };
    Guarded { problem, first: [0; 4], behind: [0; 4], poisoned: false }
}

/// Problem of a description, its operands, and the result of the fast mode.
pub struct Subject {
    guarded: Guarded,
    buffers: Buffers,
    wanted: HostBuffer,
}

fn matrices<'a>(
    guarded: &Guarded,
    buffers: &'a Buffers,
    d: &'a mut HostBuffer,
) -> HostMatrices<'a> {
    let all = |buffer: &'a HostBuffer| buffer.slice(0..buffer.length()).expect("all of it");
    let length = guarded.problem.d.memory.length;
    let [a, b, c] = [&buffers.a, &buffers.b, &buffers.c].map(all);
    HostMatrices {
        a,
        b,
        c: Source::Matrix(c),
        d: d.slice_mut(0..length).expect("all of it"),
        vectors: Default::default(),
    }
}

impl Subject {
    pub fn new(desc: &GemmDesc) -> Self {
        Self::of(desc, Fill::Random)
    }

    /// Creates a subject with integer data, whose sums are exact in any order.
    pub fn of_integers(desc: &GemmDesc) -> Self {
        Self::of(desc, Fill::Integers)
    }

    fn of(desc: &GemmDesc, fill: Fill) -> Self {
        let guarded = guarded(desc);
        let buffers = Buffers::filled(desc, &guarded, fill, 5).expect("host buffers");
        let mut wanted = buffers.d.clone();
        run_on_host(
            desc,
            Mode::Fast,
            guarded.problem.with(matrices(&guarded, &buffers, &mut wanted)),
        )
        .expect("the fast mode");
        Self { guarded, buffers, wanted }
    }

    /// Returns the error of one event order, or `None`.
    pub fn wrong(&self, program: &WarpSpecializedProgram, seed: u64) -> Option<String> {
        let mut d = self.buffers.d.clone();
        match run_on_host(
            program,
            Mode::Checked { seed },
            self.guarded.problem.with(matrices(&self.guarded, &self.buffers, &mut d)),
        ) {
            Err(error) => Some(error.to_string()),
            Ok(()) if d != self.wanted => Some("D has other bits".to_owned()),
            Ok(()) => None,
        }
    }
}

pub fn program(desc: &GemmDesc) -> WarpSpecializedProgram {
    WarpSpecializedProgram { clusters: 2, ..desc.roles().program().expect("a legal description") }
}
