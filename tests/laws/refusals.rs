//! Refusals of types, calls, and operands: the message names the field, the value, and the limit,
//! and the suggested value is valid. The files of a main loop or an MMA have its refusals.
//!
//! `Rule::Apart`, `Rule::SameDevice`, and `Rule::Uncaptured` concern operands on a device. Their
//! messages are checked here, and the tests of the CUDA executor cause them.

use crate::harness::prelude::*;

pub(crate) const ROWS: [Order; 3] = [Order::Row; 3];

/// Checks each sentence, and whether it suggests a valid value.
pub(crate) fn are_refused(table: Vec<(Changed, &str, bool)>) {
    for (desc, wanted, nearest) in table {
        let (refusal, advice) = refused_as(&desc, (wanted, nearest));
        let sentence = refusal.to_string();
        if let Some(advice) = advice {
            // The valid values of a field do not depend on faults in other fields.
            assert_ne!(
                advice.check().map_err(|again| again
                    .to_string()
                    .split(" = ")
                    .next()
                    .map(str::to_owned)),
                Err(sentence.split(" = ").next().map(str::to_owned)),
                "{sentence}"
            );
        }
    }
}

#[test]
fn unlisted_type_combinations_are_refused() {
    let types = element_types(ElementKind::F64, ElementKind::F64, ElementKind::F64);
    let whole = element_types(ElementKind::I32, ElementKind::I32, ElementKind::I32);
    let refused = |op, types| default_gemm_configurations(op, ArchKind::Sm70, types).message();
    assert_eq!(
        refused(OpKind::TensorOp, whole),
        "no kernel multiplies i32 by i32 accumulating in i32 into i32 on tensor cores; try op = simt"
    );
    let halves = element_types(ElementKind::F16, ElementKind::F32, ElementKind::F16);
    let first = first_tensor_cores(ElementKind::F16).expect("tensor cores");
    assert_eq!(
        refused(OpKind::TensorOp, halves),
        format!(
            "no kernel multiplies f16 by f16 accumulating in f32 into f16 on tensor cores (sm70); try arch = {first}"
        )
    );
    let mixed = falchion::numeric::Combined { b: ElementKind::F32, ..types };
    assert_eq!(
        refused(OpKind::Simt, mixed),
        "no kernel multiplies f64 by f32 accumulating in f64 into f64; try f64 by f64 accumulating in f64 into f64"
    );
}

#[test]
fn implementable_calls_run() {
    let gemm = Gemm::<i8, RowMajor, i8, ColMajor, i32, ColMajor>::new();
    let (a, b) = ([1i8; 4], [1i8; 4]);
    for alpha in [1.0, 0.5, f64::INFINITY, f64::NAN] {
        let (mut d, mut e) = ([7; 4], [7; 4]);
        let can =
            gemm.can_implement(&Arguments::new((2, 2, 2), &a, &b, &mut d).alpha(alpha)).is_ok();
        let ran = gemm.run(Arguments::new((2, 2, 2), &a, &b, &mut e).alpha(alpha)).is_ok();
        assert_eq!((can, ran), (true, true), "alpha {alpha}");
        let size = gemm.workspace_size(&Arguments::new((2, 2, 2), &a, &b, &mut e).alpha(alpha));
        assert_eq!(size.expect("a valid call"), 0, "alpha {alpha}");
    }
}

#[test]
fn refusals_of_device_operands_are_readable() {
    #[rustfmt::skip]
    let table = [
        (Refusal::other_device(Operand::D), "D is on another device than D of GEMM 0"),
        (Refusal::overlap(Operand::D, Operand::A), "D overlaps A (the kernel reads and writes at once); use separate memory"),
        (Refusal::partly_shared(Operand::C), "D overlaps C (in a part only); use one matrix, or separate memory"),
        (Refusal::other_device(Operand::C), "C is on another device than D"),
        (Refusal::workspace_captured(16, 512), "growth of the workspace = 512 bytes is not possible during stream capture (16 bytes exist); reserve the bytes before the capture"),
        (Refusal::NOT_PREPARED, "compilation of the kernel is not possible during stream capture; call prepare before the capture"),
        (Refusal::LISTS_CAPTURED, "check of group offsets or indices is not possible during stream capture; do not check the list, or pass it by value"),
    ];
    for (refusal, words) in table {
        assert_eq!(refusal.to_string(), words);
    }
}
