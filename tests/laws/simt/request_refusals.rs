//! Requests for SIMT kernels.

use super::super::request_refusals::{BF16, request, said};
use crate::harness::prelude::*;

const F32: [&str; 3] = ["f32:row"; 3];

/// CUTLASS's notation for SIMT kernels.
#[test]
fn instruction_of_one_thread_is_accepted_for_simt() {
    let i8 = ["i8:row", "i8:col", "i32:row"];
    for (types, instruction) in [(F32, "1x1x1"), (["f64:row"; 3], "1x1x1"), (i8, "1x1x4")] {
        for arch in [ArchKind::Sm70, ArchKind::Sm80, ArchKind::Sm90] {
            let of = |knobs: &[_]| {
                request(Some(OpKind::Simt), types, knobs).resolve(arch).expect("a kernel").desc
            };
            let desc = of(&[]);
            assert_eq!(of(&[("instruction", instruction)]), desc);
            let knobs = vec![("instruction".to_owned(), instruction.to_owned())];
            let of_description =
                Request { description: Some(desc), knobs, ..Request::default() }.resolve(arch);
            assert_eq!(of_description.expect("a kernel").desc, desc);
        }
    }
    for (types, instruction) in [(F32, "1x1x4"), (i8, "1x1x8"), (F32, "16x8x8")] {
        let knobs = [("instruction", instruction)];
        request(Some(OpKind::Simt), types, &knobs).resolve(ArchKind::Sm80).expect_err("refused");
    }
}

#[test]
fn knob_of_other_units_names_the_units_that_have_it() {
    let first = first_tensor_cores(ElementKind::Bf16).expect("tensor cores");
    for arch in ArchKind::ALL.into_iter().filter(|arch| *arch >= first) {
        for (knob, value) in
            [("smem_a", "k+8"), ("smem_b", "k+8"), ("interleave", "2"), ("unroll", "2")]
        {
            assert_eq!(
                said(&request(Some(OpKind::TensorOp), BF16, &[(knob, value)]), arch),
                format!("{knob} is not a knob of tensor-core kernels; try op = simt")
            );
        }
    }
}
