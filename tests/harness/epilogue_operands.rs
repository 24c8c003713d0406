//! Descriptions whose epilogues read vectors and matrices with element types of their own.

use super::{groups::largest, prelude::*};

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

/// Returns random kernels of each main loop and MMA, with the seed of each.
pub fn descriptions(seed: u64, count: usize) -> Vec<(u64, GemmDesc)> {
    let kinds =
        [KernelKind::Simt, KernelKind::MmaSync, KernelKind::WgmmaRing, KernelKind::SimtRing];
    let mut found = Vec::new();
    for i in 0.. {
        let (seed, kind) = (draw(seed, i), kinds[i as usize % kinds.len()]);
        let (arch, largest_tile) = (kind.arch_of_one_rounding(), largest(kind));
        let wanted = Wanted { kernel_kind: kind, arch, largest_tile, ..Wanted::default() };
        let desc = description(seed, wanted);
        let texts: &[&str] = match desc.output.compute {
            ComputeKind::F32 => &OF_F32,
            ComputeKind::F64 => &PLAIN,
            ComputeKind::I32 => &[PLAIN[0], PLAIN[1], OF_I32[0], OF_I32[1]],
        };
        let text = texts[(i as usize / kinds.len()) % texts.len()];
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
