//! A GEMM with one knob pinned.

use crate::Error;
use falchion::{internals::nest::Request, layout::MatrixType, nest::GemmDesc};

/// Returns the resolver's result for the same GEMM with one knob pinned.
pub(super) fn by(desc: &GemmDesc, name: &str, word: &str) -> Result<GemmDesc, Error> {
    let (types, orders) = (desc.user_types(), desc.orders());
    let matrix = |element, order| Some(MatrixType { element, order });
    let request = Request {
        a: matrix(types.a, orders.a),
        b: matrix(types.b, orders.b),
        c: matrix(types.c, orders.c),
        accumulator: Some(types.accumulator),
        op: Some(desc.op()),
        arch: Some(desc.arch),
        knobs: vec![(name.to_owned(), word.to_owned())],
        ..Request::default()
    };
    let mut found = request.resolve(desc.arch)?.desc;
    (found.output.compute, found.epilogue) =
        (desc.output.compute, desc.epilogue.leave(desc.frame).enter(found.frame));
    Ok(found)
}
