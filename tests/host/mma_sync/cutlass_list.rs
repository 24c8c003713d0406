//! CUTLASS's configurations of `mma.sync`. Each is a kernel with exact integer results, or is
//! counted by its refusal.

use crate::harness::{
    integers::{ragged, wrong},
    mma_sync::cutlass_list::{kernels, list},
    prelude::*,
};

/// Refusals of the list, and the number of refused lines. A count may decrease if the reason is
/// known.
pub(in super::super) const REFUSED: &[(&str, usize)] = &[
    // Mixed types that need a conversion before the instruction.
    ("bf16 by i8 accumulating in f32", 7),
    ("bf16 by u8 accumulating in f32", 2),
    // f16 accumulators, and 8-bit D.
    ("e4m3 by e4m3 accumulating in f16", 5),
    ("e4m3 by e5m2 accumulating in f16", 2),
    ("e5m2 by e4m3 accumulating in f16", 2),
    ("e5m2 by e5m2 accumulating in f16", 2),
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

#[test]
fn operators_are_those_of_cutlass() {
    let list = list();
    let operators = |name: &str| list.iter().filter(|listed| listed.operator == name).count();
    assert_eq!(
        ["-", "saturate", "upcast", "fast_accum", "fast_bf16"].map(operators),
        [411, 129, 33, 2, 1]
    );
}

/// Checks `count` lines of some architectures: their refusals, the results of the kernels, and the
/// number of kernels whose threads exceed the register limit. The latter need `--spills allowed`,
/// as the refusal says.
pub(in super::super) fn lines_are_exact(
    count: usize,
    archs: impl Fn(ArchKind) -> bool,
    expected: &[(&str, usize)],
    spills: usize,
) {
    let mut list: Vec<_> = list().into_iter().filter(|listed| archs(listed.arch)).collect();
    let (kernels, refused, spilled) = kernels(&mut list);
    assert_eq!(
        refused.iter().map(|(kind, &count)| (kind.as_str(), count)).collect::<Vec<_>>(),
        expected
    );
    assert_eq!((kernels.len() + refused.values().sum::<usize>(), spilled), (count, spills));
    // If several kernels differ in D only, one of them runs on the checked machine.
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
        // K has two tiles. The conformance suites cover more trips around the ring.
        let [m, n, k] = ragged(desc);
        let problem = [m, n, k.min(2 * desc.threadblock().k as usize - 3)];
        assert_eq!(wrong(&program, mode, problem), None, "{}", listed.line);
    });
}
