//! Tests of the tiles that problems select by the cost model.

use crate::{
    arch::{ArchKind, OpKind},
    layout::{MatrixType, Order},
    nest::{GemmDesc, ProblemSize, Request},
    numeric::ElementKind,
};

#[path = "cost_model_tests/multistage"]
mod multistage {
    mod mma_sync;
    mod simt;
}

/// Returns the description that a problem selects whose matrices have one element type. D is
/// row-major.
fn choose_for_one_type(
    element: ElementKind,
    op: OpKind,
    orders: [Order; 2],
    size: ProblemSize,
) -> GemmDesc {
    let matrix = |order| Some(MatrixType { element, order });
    let [a, b] = orders.map(matrix);
    let request = Request { a, b, c: matrix(Order::Row), op: Some(op), ..Request::default() };
    request.resolve_for(ArchKind::Sm90, size, None).expect("a row").desc
}
