//! Operations of `mma.sync` kernels.

use super::super::operations::units_on;
use crate::harness::prelude::*;

#[test]
fn request_names_an_architecture_for_every_machine() {
    let bf16 = Some("bf16:row".parse().expect("a matrix"));
    let ampere = Request { a: bf16, b: bf16, arch: Some(ArchKind::Sm80), ..Request::default() };
    let ampere = GemmOperation::from_request(&ampere).expect("a kernel");
    assert_eq!(ampere.desc().op(), OpKind::TensorOp);
    assert_eq!(units_on(&ampere, ArchKind::Sm90), (OpKind::TensorOp, ArchKind::Sm80));
}
