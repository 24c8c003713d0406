//! Refusals of unlike emulations of A and B.

use crate::{
    harness::{on_tensor_cores::ORDERS, prelude::*},
    transforms::{TENSOR_OP, small},
};

#[test]
fn unlike_terms_of_a_and_b_are_refused() {
    let mut unlike = small(TENSOR_OP[1], ElementKind::F32, ORDERS[0], &[("emulation", "bf16x6")]);
    unlike.operands[1].multiplied = Multiplied::Terms(EmulationKind::Bf16x3);
    let said = unlike.check().map_err(|refusal| refusal.to_string()).expect_err("unlike terms");
    assert!(said.contains("multiplied type of A = 3 terms differs from 2 terms"), "{said}");
    // bf16x6 and f16x3 also differ in their element types.
    unlike.operands[1].multiplied = Multiplied::Terms(EmulationKind::F16x3);
    let said = unlike.check().map_err(|refusal| refusal.to_string()).expect_err("unlike types");
    assert!(said.contains("multiplied type of A = bf16 differs from f16"), "{said}");
}
