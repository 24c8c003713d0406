//! Descriptions whose epilogues read vectors and matrices with element types of their own.

use super::{
    case::Tally, conformance::judge_both, epilogue_trees::tree, groups::largest, prelude::*,
    problems, words::has_all_variants,
};

/// Epilogues that compute in f32, with operands of every type that f32 represents.
const OF_F32: [&str; 8] = [
    "alpha_ptr:f32 * acc + beta_ptr * c",
    "alpha_ptr * relu(acc + bias_n) + multiply(beta_ptr:f16, aux1)",
    "alpha * acc + beta * c + aux1:f32",
    "relu(multiply(acc, scale_m:f32) + bias_n:bf16) + aux2",
    "multiply(alpha * acc + aux3:f16, aux4:e4m3) + bias_m:i8",
    "max(acc, aux1:e5m2) + beta * (c + scale_n:f32)",
    "aux2:f32 + aux1:u8 + alpha * acc + multiply(aux3, bias_m) + bias_n:f32",
    "alpha * acc + s2 * aux4:f32 + beta * c",
];

/// Epilogues that compute in f64 or i32, with operands of D's type.
const PLAIN: [&str; 2] = ["alpha * acc + beta * c + aux1 + bias_n", "max(acc, aux2) + aux4"];

/// Epilogues of integers, one of which an operand of f32 turns into an epilogue of f32.
const OF_I32: [&str; 2] = ["acc + aux1:i8 + beta * c", "multiply(acc, scale_m:f32) + aux2:f32"];

/// Returns random kernels of each main loop and MMA that read vectors and matrices, with the seed
/// of each.
pub fn descriptions(seed: u64, count: usize) -> Vec<(u64, GemmDesc)> {
    let mut next = HashMap::new();
    with_epilogues(seed, count, |compute, _| {
        let texts = match compute {
            ComputeKind::F32 => OF_F32.to_vec(),
            ComputeKind::F64 => PLAIN.to_vec(),
            ComputeKind::I32 => [PLAIN, OF_I32].concat(),
        };
        let at = next.entry(compute).or_insert(0);
        *at += 1;
        texts[(*at - 1) % texts.len()].parse().expect("an expression")
    })
}

/// Runs descriptions with the seed of each on the fast host, and compares them with the reference.
pub fn judge_on_host(descriptions: &[(u64, GemmDesc)]) -> Tally {
    let wanted = problems::Wanted { most_work: 2_000_000, aligned: false };
    let judged = |(seed, desc): &(u64, GemmDesc)| {
        let seed = draw(*seed, 1);
        judge_both(&OnHost(Mode::Fast), desc, &guarded(seed, desc, wanted), (0, seed))
    };
    descriptions.par_iter().map(judged).reduce(Tally::default, Tally::and)
}

/// Returns random kernels of each main loop and MMA that apply a mathematical function, with the
/// seed of each. Each function occurs in each compute type that has it. An epilogue of integers
/// with a function that integers do not have computes in f32.
pub fn math_functions(seed: u64, count: usize) -> Vec<(u64, GemmDesc)> {
    let of_type = |compute: ComputeKind| {
        let all = MathFunction::ALL.iter().copied();
        all.filter(move |one| compute != ComputeKind::F64 || one.computes_in(compute))
    };
    let text = |function: MathFunction| {
        let text = match function.arity() {
            1 => format!("{}(alpha * acc + beta * c)", function.name()),
            _ => format!("{}(acc, beta * c)", function.name()),
        };
        text.parse::<EpilogueDesc>().expect("an expression")
    };
    // A tree without a variant has fewer kernels of f64.
    let count = if has_all_variants() { count } else { 3 * count };
    let mut next = HashMap::new();
    let found = with_epilogues(seed, count, |compute, _| {
        let known: Vec<_> = of_type(compute).collect();
        let at = next.entry(compute).or_insert(0);
        *at += 1;
        text(known[(*at - 1) % known.len()])
    });
    for function in MathFunction::ALL {
        for compute in [ComputeKind::F32, ComputeKind::F64, ComputeKind::I32] {
            let applies = |(_, desc): &(u64, GemmDesc)| {
                desc.output.compute == compute && desc.epilogue.ops().contains(&Op::Math(*function))
            };
            let known = function.computes_in(compute);
            assert_eq!(found.iter().any(applies), known, "{function:?} in {compute:?}");
        }
    }
    found
}

/// Returns random kernels of each main loop and MMA with random trees, with the seed of each.
pub fn random_trees(seed: u64, count: usize) -> Vec<(u64, GemmDesc)> {
    with_epilogues(seed, count, |compute, seed| tree(&mut Random::new(seed), compute))
}

/// Returns random kernels of each main loop and MMA with the epilogues that `epilogue` returns for
/// a compute type and a seed, with the seed of each.
pub fn with_epilogues(
    seed: u64,
    count: usize,
    mut epilogue: impl FnMut(ComputeKind, u64) -> EpilogueDesc,
) -> Vec<(u64, GemmDesc)> {
    let kinds =
        [KernelKind::Simt, KernelKind::MmaSync, KernelKind::WgmmaRing, KernelKind::SimtRing];
    let mut found: Vec<(u64, GemmDesc)> = Vec::new();
    for i in 0.. {
        let (seed, kind) = (draw(seed, i), kinds[i as usize % kinds.len()]);
        let (arch, largest_tile) = (kind.arch_of_one_rounding(), largest(kind));
        let wanted = Wanted { kernel_kind: kind, arch, largest_tile, ..Wanted::default() };
        let desc = description(seed, wanted);
        let epilogue = epilogue(desc.output.compute, seed).enter(desc.frame);
        let desc = desc.pinned(Pins { epilogue: Some(epilogue), ..Pins::NONE });
        if desc.check().is_ok() {
            found.push((seed, desc));
        }
        if found.len() == count {
            return found;
        }
    }
    found
}
