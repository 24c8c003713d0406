//! CUTLASS's own configurations of `mma.sync`, as the flags of `falchion gemm` say them.

use falchion::{
    Error,
    arch::{ArchKind, OpKind},
    desc::{FamilyDesc, GemmDesc, Pins},
    internals::family::Request,
};
use std::collections::BTreeMap;

/// One line of the list.
pub struct Listed {
    pub line: &'static str,
    pub arch: ArchKind,
    pub request: Request,
    pub operator: &'static str,
}

impl Listed {
    /// The line without what becomes of sums.
    pub fn main_loop(&self) -> String {
        let words: Vec<&str> = self.line.split(' ').collect();
        [&words[..4], &words[5..11]].concat().join(" ")
    }
}

/// The knobs that a line has, as they are called.
const KNOBS: [&str; 6] = ["threadblock", "warp", "instruction", "stages", "align_a", "align_b"];

/// The knob that CUTLASS's option of an instruction is. Conversions and fast accumulation are no
/// knobs of this family; f32 without an option is one product of tf32 there, and three here.
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
        knobs: KNOBS
            .iter()
            .zip(knobs)
            .map(|(name, words)| (*name, *words))
            .chain(option_of(operator))
            .map(owned)
            .collect(),
        ..Request::default()
    };
    Listed { line, arch: arch.parse().expect("an architecture"), request, operator }
}

pub fn list() -> Vec<Listed> {
    include_str!("../data/cutlass_mma_sync.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(listed)
        .collect()
}

/// What refuses a request, as a list of refusals has it: its sentence up to the advice, of types as
/// it is but without D's, else numbers as `#`.
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
    let wanted: BTreeMap<_, _> =
        listed.request.knobs.iter().map(|(name, words)| (name.as_str(), words.as_str())).collect();
    let Pins {
        threadblock: Some(block),
        warp: Some(warp),
        instruction: Some(one),
        stages: Some(stages),
        ..
    } = resolved.knobs
    else {
        panic!("{}: {:?}", listed.line, resolved.knobs)
    };
    for (name, is) in [("threadblock", block), ("warp", warp), ("instruction", one)] {
        assert_eq!(wanted[name], format!("{}x{}x{}", is.m, is.n, is.k), "{}", listed.line);
    }
    assert_eq!(
        (wanted["stages"], resolved.desc.class.arch),
        (stages.to_string().as_str(), listed.arch),
        "{}",
        listed.line
    );
    assert!(matches!(resolved.desc.family, FamilyDesc::MmaSync(_)), "{}", listed.line);
    Ok(resolved.desc)
}

/// The kernels of a list, what refuses other lines, and how many of each; and how many kernels
/// spill, as the refusal says they may.
pub fn kernels(list: &mut [Listed]) -> (Vec<(&Listed, GemmDesc)>, BTreeMap<String, usize>, usize) {
    let mut refused: BTreeMap<String, usize> = BTreeMap::new();
    let (mut kernels, mut spilled) = (Vec::new(), 0);
    for listed in list {
        let mut found = kernel(listed);
        if found.as_ref().is_err_and(|error| error.to_string().contains("or --spills allowed")) {
            listed.request.knobs.push(("spills".to_owned(), "allowed".to_owned()));
            found = kernel(listed);
            spilled += 1;
        }
        match found {
            Ok(desc) => kernels.push((&*listed, desc)),
            Err(error) => *refused.entry(kind(&error)).or_default() += 1,
        }
    }
    (kernels, refused, spilled)
}
