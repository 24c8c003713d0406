//! cuBLASLt as a contender: conversion of a suite's problem.

use super::suite::{Accumulate, Operand, SuiteProblem};
use super::timer::Launch;
use crate::{
    Error,
    sys::cublaslt::{self, ALIGNMENT_BYTES, LtEpilogue, LtLaunch, LtOperand, LtProblem},
};
use cudarc::cublaslt::sys::cublasComputeType_t::{self, *};
use falchion::{
    epilogue::EpilogueDesc,
    internals::{
        operand::{Elements, View},
        shape::EpilogueOperand,
    },
    layout::Order,
    numeric::ElementKind,
};

/// The peer's name in a record.
pub const NAME: &str = "cublaslt";
/// The peer's name if it is called once per group of a ragged grouped GEMM.
pub const OF_GROUPS: &str = "cublaslt called for each group";
/// The peer's name if a strided batch replaces a pointer array.
pub const OF_BATCH: &str = "cublaslt's strided batch of the same products";
/// Number of algorithms that are requested from the peer.
pub const REQUESTED: usize = 64;
/// Workspace of the peer in bytes: NVIDIA's recommendation for Hopper, which exceeds the needs of
/// all heuristics.
pub const WORKSPACE_BYTES: usize = 64 << 20;

impl Launch for LtLaunch<'_> {
    fn launch(&mut self, set: usize) -> Result<(), Error> {
        self.enqueue(set)
    }

    fn name(&self) -> &str {
        LtLaunch::name(self)
    }
}

/// Converts `problem` for cuBLASLt; `None` if the peer does not support it (an epilogue other than
/// ReLU, GELU, and a bias; a mix of types; or ragged groups). A pointer array becomes a batch.
///
/// f32 is true f32 for any `op`, as for a user who does not allow tf32. D and C are the same
/// memory.
#[must_use]
pub fn lt_problem(problem: &SuiteProblem) -> Option<LtProblem> {
    if problem.ragged().is_some() {
        return None;
    }
    let epilogue = lt_epilogue(problem)?;
    let (a, b, c) = (problem.a.element.name(), problem.b.element.name(), problem.c.element.name());
    let fp8 = |element| ["e4m3", "e5m2"].contains(&element);
    if a != b && !(fp8(a) && fp8(b)) {
        return None;
    }
    let (compute, scale) = arithmetic(a, c, problem.acc.as_deref())?;
    let operand = |x: Operand, view: View<Elements>| LtOperand {
        element: x.element,
        order: x.order,
        ld: view.leading(x.order) as u64,
        batch_stride: view.batch_stride as u64,
    };
    let call = problem.problem();
    let d = operand(problem.c, call.d);
    Some(LtProblem {
        m: problem.m as u64,
        n: problem.n as u64,
        k: problem.k as u64,
        a: operand(problem.a, call.a),
        b: operand(problem.b, call.b),
        c: d,
        d,
        batch: u32::try_from(call.batch).ok()?,
        compute,
        scale,
        alpha: call.scalars[0],
        beta: call.scalars[1],
        alignment: [ALIGNMENT_BYTES; 4],
        epilogue,
        fast_accumulation: fp8(a)
            && problem.accumulate.unwrap_or(Accumulate::Fast) == Accumulate::Fast,
    })
}

/// Returns the vector that the peer adds as a bias: one value per column of a row-major D, or per
/// row of a column-major D.
pub(super) fn bias_operand(problem: &SuiteProblem) -> EpilogueOperand {
    match problem.c.order {
        Order::Row => EpilogueOperand::BiasN,
        Order::Col => EpilogueOperand::BiasM,
    }
}

/// Returns the peer's form of an epilogue: ReLU or GELU (with tanh) of the product, with or without
/// a bias of D's type. `None` for other epilogues.
fn lt_epilogue(problem: &SuiteProblem) -> Option<LtEpilogue> {
    let Some(text) = &problem.epilogue else { return Some(LtEpilogue::Default) };
    let desc: EpilogueDesc = text.parse().ok()?;
    let bias = bias_operand(problem);
    [
        ("acc + bias", LtEpilogue::Bias),
        ("relu(acc)", LtEpilogue::Relu),
        ("relu(acc + bias)", LtEpilogue::ReluBias),
        ("gelu_tanh(acc)", LtEpilogue::Gelu),
        ("gelu_tanh(acc + bias)", LtEpilogue::GeluBias),
    ]
    .into_iter()
    .find(|(form, _)| form.replace("bias", bias.name()).parse() == Ok(desc))
    .map(|(_, epilogue)| epilogue)
}

/// Returns the compute type and the type of the scalars, for inputs of type `ab`, results of type
/// `c`, and the requested accumulator.
///
/// Source: the table of supported types at `cublasLtMatmul` in the cuBLAS documentation.
fn arithmetic(
    ab: &str,
    c: &str,
    accumulator: Option<&str>,
) -> Option<(cublasComputeType_t, ElementKind)> {
    let compute = match (ab, accumulator) {
        ("f64", None | Some("f64")) => CUBLAS_COMPUTE_64F,
        ("tf32", None | Some("f32")) => CUBLAS_COMPUTE_32F_FAST_TF32,
        ("f16", Some("f16")) => CUBLAS_COMPUTE_16F,
        ("f32" | "f16" | "bf16" | "e4m3" | "e5m2", None | Some("f32")) => CUBLAS_COMPUTE_32F,
        ("i8" | "u8", None | Some("i32")) => CUBLAS_COMPUTE_32I,
        _ => return None,
    };
    // Integer products that are scaled into another type need f32 scalars.
    let scale = if compute == CUBLAS_COMPUTE_32I && c != "i32" {
        ElementKind::F32
    } else {
        cublaslt::scale(compute)
    };
    Some((compute, scale))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::suite::parse;

    fn asked(line: &str) -> Option<LtProblem> {
        lt_problem(&parse("test", line).unwrap()[0])
    }

    fn typed(a: &str, b: &str, c: &str, more: &str) -> Option<LtProblem> {
        asked(&format!(r#"{{"m":3,"n":5,"k":7,"a":"{a}:row","b":"{b}:col","c":"{c}:row"{more}}}"#))
    }

    #[test]
    fn f32_is_true_f32_unless_tf32_is_requested() {
        assert_eq!(
            typed("f32", "f32", "f32", r#","op":"tensorop""#).unwrap().compute,
            CUBLAS_COMPUTE_32F
        );
        assert_eq!(typed("tf32", "tf32", "f32", "").unwrap().compute, CUBLAS_COMPUTE_32F_FAST_TF32);
        assert_eq!(typed("f16", "f16", "f16", r#","acc":"f16""#).unwrap().scale, ElementKind::F16);
        let integer = typed("i8", "i8", "i32", "").unwrap();
        assert_eq!(
            (integer.compute, integer.scale, integer.d.element),
            (CUBLAS_COMPUTE_32I, ElementKind::I32, ElementKind::I32)
        );
        assert_eq!(typed("i8", "i8", "i8", "").unwrap().scale, ElementKind::F32);
    }

    #[test]
    fn epilogues_of_the_peer_are_recognized() {
        let of = |text: &str| {
            let more = format!(r#","epilogue":"{text}""#);
            typed("bf16", "bf16", "bf16", &more).map(|problem| problem.epilogue)
        };
        assert_eq!(of("gelu_tanh(acc + bias_n)"), Some(LtEpilogue::GeluBias));
        assert_eq!(of("relu( acc )"), Some(LtEpilogue::Relu));
        assert_eq!(of("acc + bias_n"), Some(LtEpilogue::Bias));
        assert_eq!(of("gelu_tanh(acc + bias_n:f32)"), None);
        assert_eq!(of("gelu(acc)"), None);
    }

    #[test]
    fn fp8_accumulates_fast_by_default() {
        assert!(typed("e4m3", "e5m2", "bf16", "").unwrap().fast_accumulation);
        assert!(
            !typed("e4m3", "e4m3", "bf16", r#","accumulate":"slow""#).unwrap().fast_accumulation
        );
        assert!(!typed("bf16", "bf16", "bf16", "").unwrap().fast_accumulation);
    }

    #[test]
    fn problems_beyond_the_peer_have_no_peer_problem() {
        assert_eq!(typed("f32", "f32", "f32", r#","epilogue":"silu(acc)""#), None);
        assert_eq!(typed("f32", "f32", "f32", r#","epilogue":"relu(acc + bias_m)""#), None);
        assert_eq!(typed("f32", "f16", "f32", ""), None);
        assert_eq!(typed("f32", "f32", "f32", r#","acc":"f64""#), None);
        assert_eq!(typed("i32", "i32", "i32", ""), None);
    }

    #[test]
    fn leading_dimensions_and_batches_carry_over() {
        let p = typed("bf16", "bf16", "bf16", r#","lda":16,"batch":2,"alpha":2.0"#).unwrap();
        assert_eq!(
            (p.a.ld, p.a.batch_stride, p.b.ld, p.b.batch_stride, p.d.ld, p.d.batch_stride),
            (16, 48, 7, 35, 5, 15)
        );
        assert_eq!((p.batch, p.alpha, p.beta), (2, 2.0, 0.0));
        for (operand, strides) in [("a", [0, 35]), ("b", [21, 0])] {
            let p = typed(
                "bf16",
                "bf16",
                "bf16",
                &format!(r#","batch":2,"broadcast":"{operand}","beta":-1.0"#),
            )
            .unwrap();
            assert_eq!(([p.a.batch_stride, p.b.batch_stride], p.d.batch_stride), (strides, 15));
            assert_eq!((p.c, p.beta), (p.d, -1.0));
        }
    }
}
