//! Mutants of warp-specialized programs on the checked machine, compared with the fast mode.

use crate::harness::prelude::*;

/// Number of event orders without a fault in the unchanged program.
const SEEDS: u64 = 12;

/// Maximum number of event orders that are searched for a fault.
const MOST_SEEDS: u64 = 60;

/// Returns a problem with ragged edges: one rectangle of tiles and a part down, two and a part
/// across. K wraps around the ring in each tile of D.
fn guarded(d: &GemmDesc) -> Guarded {
    let rectangle = |tile: u32, cluster: u32| (tile * cluster) as usize;
    let (rows, columns) = (
        rectangle(d.threadblock().m, d.mainloop.cluster().m) + 24,
        2 * rectangle(d.threadblock().n, d.mainloop.cluster().n) + 40,
    );
    let user = |axis: Axis| if axis.leave(d.frame) == Axis::M { rows } else { columns };
    let (m, n) = (user(Axis::M), user(Axis::N));
    let k = ((d.stages() + 1) * d.threadblock().k - (d.threadblock().k / 2 - 1).min(24)) as usize;
    let matrix = |order: Order, rows, columns| {
        let leading = order.packed(rows, columns).next_multiple_of(16);
        View::new(Elements::new(order.packed(columns, rows) * leading), order, leading)
    };
    let orders = d.orders();
    let (a, b, c) = (matrix(orders.a, m, k), matrix(orders.b, k, n), matrix(orders.c, m, n));
    let scalars = scalars(1.0, 1.0);
    let problem = Problem { c: Source::Matrix(c), scalars, ..problem_of((m, n, k), [a, b, c]) };
    Guarded { problem, first: [0; 4], behind: [0; 4], poisoned: false }
}

/// Problem of a description, its operands, and the result of the fast mode.
pub struct Subject {
    guarded: Guarded,
    buffers: Buffers,
    wanted: HostBuffer,
}

fn operands<'a>(
    guarded: &Guarded,
    buffers: &'a Buffers,
    d: &'a mut HostBuffer,
) -> HostMatrices<'a> {
    let all = |buffer: &'a HostBuffer| buffer.slice(0..buffer.length()).expect("all of it");
    let length = guarded.problem.d.memory.length;
    let [a, b, c] = [&buffers.a, &buffers.b, &buffers.c].map(all);
    HostMatrices {
        c: Source::Matrix(c),
        ..matrices(a, b, d.slice_mut(0..length).expect("all of it"))
    }
}

impl Subject {
    pub fn new(desc: &GemmDesc) -> Self {
        Self::filled(desc, Fill::Random)
    }

    /// Creates a subject with integer data, whose sums are exact in any order.
    pub fn with_integers(desc: &GemmDesc) -> Self {
        Self::filled(desc, Fill::Integers)
    }

    fn filled(desc: &GemmDesc, fill: Fill) -> Self {
        let guarded = guarded(desc);
        let buffers = Buffers::filled(desc, &guarded, fill, 5).expect("host buffers");
        let mut wanted = buffers.d.clone();
        run_in_mode(
            desc,
            Mode::Fast,
            guarded.problem.with(operands(&guarded, &buffers, &mut wanted)),
        )
        .expect("the fast mode");
        Self { guarded, buffers, wanted }
    }

    /// Returns the error of some event order without its numbers, or `None`.
    pub fn find(&self, program: &WarpSpecializedProgram) -> Option<String> {
        let sentence = (0..MOST_SEEDS).find_map(|seed| self.wrong(program, seed))?;
        Some(without_numbers(&sentence))
    }

    /// Returns the error of one event order, or `None`.
    pub fn wrong(&self, program: &WarpSpecializedProgram, seed: u64) -> Option<String> {
        let mut d = self.buffers.d.clone();
        match run_in_mode(
            program,
            Mode::Checked { seed },
            self.guarded.problem.with(operands(&self.guarded, &self.buffers, &mut d)),
        ) {
            Err(error) => Some(error.to_string()),
            Ok(()) if d != self.wanted => Some("D has other bits".to_owned()),
            Ok(()) => None,
        }
    }
}

/// Returns the programs of some descriptions. Panics if one of them shows a fault.
pub fn programs(subjects: &[(&str, GemmDesc)]) -> Vec<(String, WarpSpecializedProgram)> {
    let right = |(name, desc): &(&str, GemmDesc)| {
        assert_eq!(desc.check(), Ok(()), "{name}");
        let (subject, right) = (Subject::new(desc), program(desc));
        for seed in 0..SEEDS {
            assert_eq!(subject.wrong(&right, seed), None, "{name}, unchanged, seed {seed}");
        }
        ((*name).to_owned(), right)
    };
    subjects.iter().map(right).collect()
}

pub fn program(desc: &GemmDesc) -> WarpSpecializedProgram {
    WarpSpecializedProgram {
        clusters: 2,
        ..WarpSpecializedProgram::new(desc).expect("a legal description")
    }
}
