//! CUTLASS's own configurations of `mma.sync`, as the flags of `falchion gemm` say them: each is a kernel whose products of integers are exact, or it is counted under what refuses it.

use crate::harness::integers::{ragged, wrong};
use falchion::{
    Error,
    arch::{ArchKind, OpKind},
    desc::{FamilyDesc, GemmDesc, Pins},
    internals::{family::Request, host::Mode},
};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// One line of the list.
struct Listed {
    line: &'static str,
    arch: ArchKind,
    request: Request,
    operator: &'static str,
}

impl Listed {
    /// The line without what becomes of sums.
    fn main_loop(&self) -> String {
        let words: Vec<&str> = self.line.split(' ').collect();
        [&words[..4], &words[5..11]].concat().join(" ")
    }
}

/// The knobs that a line has, as they are called.
const KNOBS: [&str; 6] = ["threadblock", "warp", "instruction", "stages", "align_a", "align_b"];

/// The knob that CUTLASS's option of an instruction is. Conversions and fast accumulation are no knobs of this family; f32 without an option is one product of tf32 there, and three
/// here.
fn option_of(operator: &str) -> Option<(&'static str, &'static str)> {
    match operator {
        "saturate" => Some(("saturate", "on")),
        "fast_bf16" => Some(("emulation", "bf16x1")),
        _ => None,
    }
}

fn owned((name, words): (&str, &str)) -> (String, String) {
    (name.to_owned(), words.to_owned())
}

fn listed(line: &'static str) -> Listed {
    let words: Vec<&str> = line.split(' ').collect();
    let [arch, a, b, accumulator, c, knobs @ .., operator] = &words[..] else { panic!("{line}") };
    assert_eq!(knobs.len(), KNOBS.len(), "{line}");
    let request = Request {
        a: Some(a.parse().expect("a matrix")),
        b: Some(b.parse().expect("a matrix")),
        c: Some(c.parse().expect("a matrix")),
        accumulator: Some(accumulator.parse().expect("an element")),
        op: Some(OpKind::TensorOp),
        knobs: KNOBS.iter().zip(knobs).map(|(name, words)| (*name, *words)).chain(option_of(operator)).map(owned).collect(),
        ..Request::default()
    };
    Listed { line, arch: arch.parse().expect("an architecture"), request, operator }
}

fn list() -> Vec<Listed> {
    include_str!("../data/cutlass_mma_sync.txt").lines().filter(|line| !line.starts_with('#')).map(listed).collect()
}

/// What refuses a request: its sentence up to the advice, of types as it is but without D's, else numbers as `#`.
fn kind(error: &Error) -> String {
    let sentence = error.to_string();
    let said = sentence.split(';').next().expect("a sentence");
    match said.strip_prefix("no kernel multiplies ") {
        Some(types) => types.split(" into ").next().expect("types").to_owned(),
        None => said.split(|c: char| c.is_ascii_digit()).collect::<Vec<_>>().join("#"),
    }
}

/// The kernel of a line.
fn kernel(listed: &Listed) -> Result<GemmDesc, Error> {
    let resolved = listed.request.resolve(listed.arch)?;
    let wanted: BTreeMap<_, _> = listed.request.knobs.iter().map(|(name, words)| (name.as_str(), words.as_str())).collect();
    let Pins { threadblock: Some(block), warp: Some(warp), instruction: Some(one), stages: Some(stages), .. } = resolved.knobs
    else {
        panic!("{}: {:?}", listed.line, resolved.knobs)
    };
    for (name, is) in [("threadblock", block), ("warp", warp), ("instruction", one)] {
        assert_eq!(wanted[name], format!("{}x{}x{}", is.m, is.n, is.k), "{}", listed.line);
    }
    assert_eq!((wanted["stages"], resolved.desc.class.arch), (stages.to_string().as_str(), listed.arch), "{}", listed.line);
    assert!(matches!(resolved.desc.family, FamilyDesc::MmaSync(_)), "{}", listed.line);
    Ok(resolved.desc)
}

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

/// Those whose threads need more registers than they can have: kernels with `--spills allowed`, as the refusal says.
const SPILLED: usize = 3;

#[test]
fn cutlass_own_configurations_compute() {
    let mut list = list();
    let operators = |name: &str| list.iter().filter(|listed| listed.operator == name).count();
    assert_eq!(["-", "saturate", "upcast", "fast_accum", "fast_bf16"].map(operators), [411, 129, 33, 2, 1]);
    let mut refused: BTreeMap<String, usize> = BTreeMap::new();
    let (mut kernels, mut spilled) = (Vec::new(), 0);
    for listed in &mut list {
        let mut found = kernel(listed);
        if found.as_ref().is_err_and(|error| error.to_string().contains("or --spills allowed")) {
            listed.request.knobs.push(("spills".to_owned(), "allowed".to_owned()));
            found = kernel(listed);
            spilled += 1;
        }
        match found {
            Ok(desc) => kernels.push((listed, desc)),
            Err(error) => *refused.entry(kind(&error)).or_default() += 1,
        }
    }
    assert_eq!(refused.iter().map(|(kind, &count)| (kind.as_str(), count)).collect::<Vec<_>>(), REFUSED);
    assert_eq!((kernels.len() + refused.values().sum::<usize>(), spilled), (576, SPILLED));
    // Of those that differ in D alone, one is run on the machine that checks.
    let mut main_loops = BTreeSet::new();
    let runs: Vec<_> = kernels.iter().map(|(listed, desc)| (listed, desc, main_loops.insert(listed.main_loop()))).collect();
    println!("{} kernels, {} main loops; {} are refused", kernels.len(), main_loops.len(), refused.values().sum::<usize>());
    runs.par_iter().for_each(|&(listed, desc, first)| {
        let program = desc.one_schedule().expect("one schedule");
        let mode = if first { Mode::Checked { seed: 7 } } else { Mode::Fast };
        // Two tiles of K: that stages come around is held by conformance.
        let [m, n, k] = ragged(desc);
        let problem = [m, n, k.min(2 * desc.threadblock().k as usize - 3)];
        assert_eq!(wrong(&program, mode, problem), None, "{}", listed.line);
    });
}
