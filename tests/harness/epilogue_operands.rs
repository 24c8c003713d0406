//! Descriptions whose epilogues read vectors and matrices with element types of their own.

use super::{groups::largest, prelude::*, words::has_all_variants};

/// Epilogues that compute in f32, with operands of every type that f32 represents.
const OF_F32: [&str; 6] = [
    "alpha * acc + beta * source + aux0:f32",
    "relu(multiply(acc, scale_m:f32) + bias_n:bf16) + aux1",
    "multiply(alpha * acc + aux2:f16, aux3:e4m3) + bias_m:i8",
    "max(acc, aux0:e5m2) + beta * (source + scale_n:f32)",
    "aux1:f32 + aux0:u8 + alpha * acc + multiply(aux2, bias_m) + bias_n:f32",
    "alpha * acc + s2 * aux3:f32 + beta * source",
];

/// Epilogues that compute in f64 or i32, with operands of D's type.
const PLAIN: [&str; 2] = ["alpha * acc + beta * source + aux0 + bias_n", "max(acc, aux1) + aux3"];

/// Epilogues of integers, one of which an operand of f32 turns into an epilogue of f32.
const OF_I32: [&str; 2] =
    ["acc + aux0:i8 + beta * source", "multiply(acc, scale_m:f32) + aux1:f32"];

/// Returns random kernels of each main loop and MMA that read vectors and matrices, with the seed
/// of each.
pub fn descriptions(seed: u64, count: usize) -> Vec<(u64, GemmDesc)> {
    with_epilogues(seed, count, |compute| match compute {
        ComputeKind::F32 => OF_F32.to_vec(),
        ComputeKind::F64 => PLAIN.to_vec(),
        ComputeKind::I32 => [PLAIN, OF_I32].concat(),
    })
}

/// Returns random kernels of each main loop and MMA that apply a mathematical function, with the
/// seed of each. Each function occurs in each compute type.
pub fn math_functions(seed: u64, count: usize) -> Vec<(u64, GemmDesc)> {
    let text = |function: &MathFunction| match function.arity() {
        1 => format!("{}(alpha * acc + beta * source)", function.name()),
        _ => format!("{}(acc, beta * source)", function.name()),
    };
    let texts: Vec<_> = MathFunction::ALL.iter().map(text).collect();
    // A tree without a variant has fewer kernels of f64.
    let count = if has_all_variants() { count } else { 3 * count };
    let found = with_epilogues(seed, count, |_| texts.iter().map(String::as_str).collect());
    for function in MathFunction::ALL {
        let apply =
            |(_, desc): &&(u64, GemmDesc)| desc.epilogue.ops().contains(&Op::Math(*function));
        let computes: HashSet<_> =
            found.iter().filter(apply).map(|(_, desc)| desc.output.compute).collect();
        assert_eq!(computes.len(), 3, "{function:?} has kernels of f32, f64, and i32");
    }
    found
}

/// Returns random kernels of each main loop and MMA with the epilogues that `texts` lists for a
/// compute type, with the seed of each.
fn with_epilogues<'t>(
    seed: u64,
    count: usize,
    texts: impl Fn(ComputeKind) -> Vec<&'t str>,
) -> Vec<(u64, GemmDesc)> {
    let kinds =
        [KernelKind::Simt, KernelKind::MmaSync, KernelKind::WgmmaRing, KernelKind::SimtRing];
    let mut found: Vec<(u64, GemmDesc)> = Vec::new();
    for i in 0.. {
        let (seed, kind) = (draw(seed, i), kinds[i as usize % kinds.len()]);
        let (arch, largest_tile) = (kind.arch_of_one_rounding(), largest(kind));
        let wanted = Wanted { kernel_kind: kind, arch, largest_tile, ..Wanted::default() };
        let desc = description(seed, wanted);
        let texts = texts(desc.output.compute);
        let before = found.iter().filter(|(_, other)| other.output.compute == desc.output.compute);
        let text = texts[before.count() % texts.len()];
        let epilogue = text.parse::<EpilogueDesc>().expect("an expression").enter(desc.frame);
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
