//! CUTLASS's own configurations of `mma.sync`: each is a kernel whose products of integers are
//! exact, or it is counted under what refuses it.

use crate::harness::{
    cutlass_list::{kernels, list},
    integers::{ragged, wrong},
    prelude::*,
};

/// What refuses lines of the list, and how many. It may shrink, by whoever knows why.
const REFUSED: &[(&str, usize)] = &[
    // Types that are converted on their way to the instruction.
    ("bf16 by i8 accumulating in f32", 7),
    ("bf16 by u8 accumulating in f32", 2),
    // Accumulators of f16, and D of 8 bits.
    ("e4m3 by e4m3 accumulating in f16", 5),
    ("e4m3 by e4m3 accumulating in f32", 4),
    ("e4m3 by e5m2 accumulating in f16", 2),
    ("e4m3 by e5m2 accumulating in f32", 1),
    ("e5m2 by e4m3 accumulating in f16", 2),
    ("e5m2 by e4m3 accumulating in f32", 1),
    ("e5m2 by e5m2 accumulating in f16", 2),
    ("e5m2 by e5m2 accumulating in f32", 1),
    ("f16 by i8 accumulating in f16", 1),
    ("f16 by i8 accumulating in f32", 2),
    ("f16 by u8 accumulating in f16", 1),
    ("f16 by u8 accumulating in f32", 2),
    ("i8 by bf16 accumulating in f32", 10),
    ("i8 by f16 accumulating in f16", 1),
    ("i8 by f16 accumulating in f32", 2),
    ("u8 by bf16 accumulating in f32", 2),
    ("u8 by f16 accumulating in f16", 1),
    ("u8 by f16 accumulating in f32", 2),
];

/// Those whose threads need more registers than they can have: kernels with `--spills allowed`, as
/// the refusal says.
const SPILLED: usize = 3;

#[test]
fn cutlass_own_configurations_compute() {
    let mut list = list();
    let operators = |name: &str| list.iter().filter(|listed| listed.operator == name).count();
    assert_eq!(
        ["-", "saturate", "upcast", "fast_accum", "fast_bf16"].map(operators),
        [411, 129, 33, 2, 1]
    );
    let (kernels, refused, spilled) = kernels(&mut list);
    assert_eq!(
        refused.iter().map(|(kind, &count)| (kind.as_str(), count)).collect::<Vec<_>>(),
        REFUSED
    );
    assert_eq!((kernels.len() + refused.values().sum::<usize>(), spilled), (576, SPILLED));
    // Of those that differ in D alone, one is run on the machine that checks.
    let mut main_loops = BTreeSet::new();
    let runs: Vec<_> = kernels
        .iter()
        .map(|(listed, desc)| (listed, desc, main_loops.insert(listed.main_loop())))
        .collect();
    println!(
        "{} kernels, {} main loops; {} are refused",
        kernels.len(),
        main_loops.len(),
        refused.values().sum::<usize>()
    );
    runs.par_iter().for_each(|&(listed, desc, first)| {
        let program = desc.one_schedule().expect("one schedule");
        let mode = if first { Mode::Checked { seed: 7 } } else { Mode::Fast };
        // Two tiles of K: that stages come around is held by conformance.
        let [m, n, k] = ragged(desc);
        let problem = [m, n, k.min(2 * desc.threadblock().k as usize - 3)];
        assert_eq!(wrong(&program, mode, problem), None, "{}", listed.line);
    });
}
