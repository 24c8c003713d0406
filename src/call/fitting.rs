//! The kernel that a problem takes: that of its description, or one of narrower accesses.

use super::{Elements, OperandNeed, Problem, View};
use crate::{
    desc::GemmDesc,
    operand::{Axis, OperandKind},
    thread::access::dividing,
};

/// The description with accesses as wide as addresses, leading dimensions and extents of a problem
/// allow, whose operands are where the kernel reads them.
pub fn fitting(desc: &GemmDesc, problem: &Problem) -> GemmDesc {
    desc.narrowed(accesses(desc, problem))
}

/// Elements of A, B and D that an access may have at most, of a problem whose operands are where
/// the kernel reads them.
pub(crate) fn accesses(desc: &GemmDesc, problem: &Problem) -> [u32; 3] {
    let needs = desc.needs();
    let access = |operand: OperandKind| {
        let (view, class) = (problem.operand(operand), desc.class.operand(operand));
        // TMA reads whole vectors or nothing.
        let OperandNeed::Accesses(access) = needs[operand.index()] else { return u32::MAX };
        // An address of an odd byte is no element's: cudarc's slices have none.
        let first = class.element.matrix_elements(view.memory.address);
        let (contiguous, _) = problem.lines(operand, class.layout);
        let next = problem.batch_stride(view);
        let fits =
            dividing(access, &[first, view.leading(class.layout) as u64, contiguous as u64, next]);
        if fits < access { fits } else { u32::MAX }
    };
    let output = desc.class.output;
    let [_, _, align_c] = desc.alignments();
    let limits = |view: View<Elements>| {
        let (first, next) =
            (output.element.matrix_elements(view.memory.address), problem.batch_stride(&view));
        [first, view.leading(desc.frame.d_order()) as u64, next]
    };
    let align_c = dividing(align_c, &limits(problem.d));
    let align_c = dividing(align_c, &problem.read_source().map_or([0; 3], limits));
    // Groups begin anywhere: where D is contiguous along them, an access of more than one element
    // is of two groups.
    let along = if desc.frame.d_order().is_row() { Axis::N } else { Axis::M };
    let apart = u64::from(problem.groups.is_some_and(|groups| groups.axis == along));
    let align_c =
        dividing(align_c, &[desc.frame.d_order().packed(problem.m, problem.n) as u64, apart]);
    [access(OperandKind::A), access(OperandKind::B), align_c]
}
