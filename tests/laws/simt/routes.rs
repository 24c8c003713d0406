//! Routes of operands to SIMT kernels.

use super::super::routes::{check_other_orders, routes};
use crate::harness::prelude::*;
use falchion::refusal::Route::{Direct, Transposed};

/// SIMT kernels read every operand in place.
#[test]
fn simt_operands_need_no_pass() {
    let types = element_types(ElementKind::I8, ElementKind::I32, ElementKind::I32);
    let simt = default_of(OpKind::Simt, ArchKind::Sm90, types, [Col, Row, Row]);
    assert_eq!(routes(&simt, (77, 77, 77), [None; 2], [1, 1]).workspace_bytes(), 0);
}

#[test]
fn inputs_with_the_other_order_are_transposed_and_outputs_are_strided() {
    let types = element_types(ElementKind::F32, ElementKind::F32, ElementKind::F32);
    let simt = default_of(OpKind::Simt, ArchKind::Sm80, types, [Row, Col, Col]);
    check_other_orders(&simt, [Transposed, Direct]);
}
