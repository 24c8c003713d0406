//! CUTLASS's own configurations of `mma.sync` kernels, in the notation of `falchion gemm`.

use crate::harness::prelude::*;

/// Line of the list.
pub struct Listed {
    pub line: &'static str,
    pub arch: ArchKind,
    pub request: Request,
    pub operator: &'static str,
}

impl Listed {
    /// Returns the line without the output type and the operator.
    pub fn main_loop(&self) -> String {
        let words: Vec<&str> = self.line.split(' ').collect();
        [&words[..4], &words[5..11]].concat().join(" ")
    }
}

/// Names of the knobs of a line.
const KNOBS: [&str; 6] = ["threadblock", "warp", "instruction", "stages", "align_a", "align_b"];

/// Returns the knob for CUTLASS's option of an instruction. `mma.sync` kernels have no knobs for
/// conversions and fast accumulation. For f32 without an option, CUTLASS multiplies in tf32 once,
/// and Falchion three times.
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
    include_str!("../../data/cutlass_mma_sync.txt")
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(listed)
        .collect()
}

/// Returns the kind of a refusal: its sentence up to the advice. For refused types, it keeps the
/// types without D. Otherwise it replaces numbers by `#`.
fn kind(error: &Error) -> String {
    let sentence = error.to_string();
    let said = sentence.split(';').next().expect("a sentence");
    match said.strip_prefix("no kernel multiplies ") {
        Some(types) => types.split(" into ").next().expect("types").to_owned(),
        None => said.split(|c: char| c.is_ascii_digit()).collect::<Vec<_>>().join("#"),
    }
}

/// Resolves the kernel of a line.
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
    } = resolved.desc.user_pins()
    else {
        panic!("{}: {:?}", listed.line, resolved.desc)
    };
    for (name, is) in [("threadblock", block), ("warp", warp), ("instruction", one)] {
        assert_eq!(wanted[name], format!("{}x{}x{}", is.m, is.n, is.k), "{}", listed.line);
    }
    assert_eq!(
        (wanted["stages"], resolved.desc.arch),
        (stages.to_string().as_str(), listed.arch),
        "{}",
        listed.line
    );
    assert!(resolved.desc.mma.kind() == WarpMmaKind::MmaSync, "{}", listed.line);
    Ok(resolved.desc)
}

/// Returns the kernels of a list, the number of refused lines per kind of refusal, and the number
/// of kernels that need `--spills allowed`.
pub fn kernels(list: &mut [Listed]) -> (Vec<(&Listed, GemmDesc)>, BTreeMap<String, usize>, usize) {
    let mut refused: BTreeMap<String, usize> = BTreeMap::new();
    let (mut kernels, mut spilled) = (Vec::new(), 0);
    for listed in list {
        let mut found = kernel(listed);
        if found.as_ref().is_err_and(|error| error.to_string().contains("or spills = allowed")) {
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
